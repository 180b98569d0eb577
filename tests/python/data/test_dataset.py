import os
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.dataset import Dataset

from tests.corpus_files import corpus
from tests.raising import raises


def same(ours, theirs):
    assert str(ours.type) == str(theirs.type)
    assert ours.layout.form == theirs.layout.form
    assert ak.array_equal(ours, theirs, equal_nan=True)


def test_what_there_is(events, paths):
    assert events.num_entries == len(events) == 12322
    assert events.files == tuple(paths)
    assert list(events.branches)[:5] == ["run", "luminosityBlock", "event", "nMuon", "Muon_pt"]
    jets = events.branches["Jet_pt"]
    assert (jets.kind, jets.dtype, jets.counter) == ("list", "float32", "nJet")
    assert jets.reads_as == "list[float32]"
    assert events.branches["event"].reads_as == "uint64"
    assert "nowhere" not in events.branches


def test_nothing_is_opened_before_it_is_needed(core, tmp_path):
    (tmp_path / "not.root").write_bytes(b"nonsense")
    events = tm.dataset(tmp_path / "not.root")
    booking = events.filter("x > 1").hist("x", bins=(1, 0, 1))
    with pytest.raises(tm.FormatError):
        _ = booking.value
    with raises(tm.FormatError, about="not.root"):
        _ = events.branches


def test_arrays_are_uproots(events, paths):
    names = ["event", "Jet_pt", "Muon_charge", "MET_pt"]
    theirs = ak.concatenate([uproot.open(path)["Events"].arrays(names) for path in paths])
    same(events.arrays(names), theirs)
    one = tm.dataset(paths[0])
    same(one.arrays(), uproot.open(paths[0])["Events"].arrays())


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        *((0, 10), (4990, 5010), (5000, 5001), (5001, 5002), (12320, 99999), (-5, None)),
        *((-7400, -10), (None, 3), (99999, None), (5, 5), (None, -12322)),
    ],
)
def test_ranges_of_the_chain(events, truth, start, stop):
    same(events.arrays(["event", "Jet_pt"], start, stop), truth[["event", "Jet_pt"]][start:stop])


def test_files_behind_the_range_are_not_opened(paths, tmp_path):
    (tmp_path / "bad.root").write_bytes(b"nonsense")
    events = tm.dataset([*paths, str(tmp_path / "bad.root")], tree="Events")
    assert len(events.arrays("MET_pt", 0, 5000)) == 5000


def test_names_and_globs(events):
    assert events.arrays("MET_*").fields == ["MET_pt", "MET_phi"]
    assert events.arrays(["n*", "MET_pt", "MET_*"], 0, 1).fields == [
        *("nMuon", "nJet", "nElectron"),
        *("MET_pt", "MET_phi"),
    ]
    assert events.arrays([], 0, 10).fields == []
    with raises(tm.QueryError, said="did you mean MET_pt"):
        events.arrays("MET_px")
    with raises(tm.QueryError, said="no readable branch"):
        events.arrays("X*")


def test_arrow_and_numpy(events, truth):
    table = events.to_arrow(["nJet", "Jet_pt"], 4990, 5010)
    assert table.column_names == ["nJet", "Jet_pt"]
    assert table["Jet_pt"].to_pylist() == truth.Jet_pt[4990:5010].to_list()
    arrays = events.to_numpy(["nJet", "Jet_pt"], 4990, 5010)
    assert arrays["nJet"].dtype == np.int32
    assert arrays["nJet"].tolist() == truth.nJet[4990:5010].to_list()
    assert arrays["Jet_pt"].dtype == object
    assert [row.tolist() for row in arrays["Jet_pt"]] == truth.Jet_pt[4990:5010].to_list()


@pytest.mark.parametrize(
    ("file", "tree"),
    [
        ("uproot-HZZ-uncompressed.root", "events"),
        ("uproot-Zmumu-zstd.root", "events"),
        ("uproot-sample-6.20.04-lzma.root", "sample"),
        ("uproot-small-dy-withoffsets.root", "tree"),
        ("string-example.root", None),
    ],
)
def test_corpus_like_uproot(core, file, tree):
    path = corpus(file)
    events = tm.dataset(path, tree)
    with uproot.open(path) as opened:
        theirs = opened[events.chain.trees[0].name]
        compared = 0
        for name, branch in events.branches.items():
            plain = isinstance(
                theirs[name].interpretation, (uproot.AsDtype, uproot.AsJagged, uproot.AsStrings)
            )
            if branch.readable and plain:
                same(events.arrays(name), theirs.arrays(filter_name=name))
                compared += 1
    assert compared


def test_trees(core):
    path = corpus("uproot-nesteddirs.root")
    with raises(tm.QueryError, about="one/two/tree") as caught:
        _ = tm.dataset(path).branches
    assert "3 trees" in str(caught.value)
    assert tm.dataset(f"{path}:one/tree").num_entries > 0
    with raises(tm.TreemillError, about="one/tree"):
        _ = tm.dataset(f"{path}:one/trea").branches


def test_show(events, capsys):
    events.show()
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("Jet_pt"))
    assert row.split()[:3] == ["Jet_pt", "float[nJet]", "list[float32]"]


def test_show_lists_the_unsupported(core, capsys):
    events = tm.dataset(corpus("uproot-HZZ-uncompressed.root"), "events")
    unsupported = [name for name, branch in events.branches.items() if not branch.supported]
    events.show()
    out = capsys.readouterr().out
    for name in unsupported:
        assert name in out
        with pytest.raises(tm.UnsupportedError, match=name):
            events.arrays(name)


def test_a_file_that_was_written_anew_is_opened_anew(paths, tmp_path):
    path = tmp_path / "f.root"
    path.write_bytes(Path(paths[1]).read_bytes())
    events = tm.dataset(path, "Events")
    assert events.count().value == 1
    path.write_bytes(Path(paths[0]).read_bytes())
    assert events.num_entries == 5000
    assert events.count().value == 5000
    os.remove(path)
    with raises(tm.SourceError, said="no such file"):
        _ = events.num_entries


def test_repr(events, paths):
    assert repr(events) == f"<dataset {paths[0]}:Events and 2 more>"
    assert "branches" in repr(events.branches)
    assert isinstance(events, Dataset)


def test_no_entries_have_types_too(events):
    empty = events.arrays(["event", "Jet_pt"], 10, 2)
    assert str(empty.type) == "0 * {event: uint64, Jet_pt: var * float32}"
