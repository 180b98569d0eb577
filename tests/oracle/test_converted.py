"""A tree and the RNTuples that ROOT makes of it are the same dataset: the same names, values and
answers, alone and mixed.
"""

import awkward as ak
import pytest
import treemill as tm
from treemill.facility.generate import write

NAMES = ["run", "event", "MET_pt", "nMuon", "Muon_pt", "Jet_eta", "Muon_charge"]
BINS = (64, 0, 128)


@pytest.fixture(scope="module")
def files(root_program, tmp_path_factory):
    """The same 3,000 events as a tree and as two RNTuples."""
    folder = tmp_path_factory.mktemp("converted")
    write(folder / "tree.root", events=3000, codec="zstd", seed=3, index=0, cluster=700)
    root_program("write_converted.py", folder / "tree.root", "Events", folder)
    return {name: str(folder / f"{name}.root") for name in ("tree", "imported", "snapshot")}


def answers(*paths):
    events = tm.dataset([f"{path}:Events" for path in paths])
    good = events.filter("nMuon >= 1 and any(Muon_pt > 20)").define("n", "sum(Jet_pt > 30)")
    booked = (
        good.hist("MET_pt", bins=BINS),
        good.hist("Muon_pt[abs(Muon_eta) < 1]", bins=BINS),
        good.hist("Jet.pt", "Jet.eta", bins=[BINS, (10, -5, 5)]),
        good.hist("n", bins=(10, 0, 10), weight="genWeight"),
        events.count(),
    )
    *histograms, count = tm.run(*booked, progress=False)
    return [h.values(flow=True).tolist() for h in histograms], count


@pytest.mark.slow
@pytest.mark.parametrize("name", ["imported", "snapshot"])
def test_same_arrays(files, name):
    tree, ntuple = (tm.dataset(files[which]).arrays(NAMES) for which in ("tree", name))
    assert len(tree) == 3000
    for column in NAMES:
        assert ak.array_equal(tree[column], ntuple[column], dtype_exact=False), column


@pytest.mark.parametrize("name", ["imported", "snapshot"])
def test_same_answers(files, name):
    histograms, count = answers(files["tree"])
    assert count == 3000
    assert sum(histograms[0]) > 100
    assert answers(files[name]) == (histograms, count)


def test_trees_and_ntuples_in_one_dataset(files):
    (met, muons, jets, weighted), count = answers(files["tree"])
    found, total = answers(files["imported"], files["tree"], files["snapshot"])
    assert total == 3 * count
    three = [[3 * x for x in met], [3 * x for x in muons], [[3 * x for x in r] for r in jets]]
    assert found[:3] == three
    assert found[3] == pytest.approx([3 * x for x in weighted], rel=1e-12)
    arrays = tm.dataset([files["tree"], files["snapshot"]], tree="Events").arrays(["Muon_pt"])
    assert ak.array_equal(arrays[:3000], arrays[3000:])
