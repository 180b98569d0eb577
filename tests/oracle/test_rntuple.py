"""RNTuples of the corpus: arrays against uproot's, queries against awkward."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import treemill._core as core
import uproot
from treemill.errors import SourceError, TreemillError

from tests.corpus_files import CORPUS, with_slow_ones

FILES = sorted(CORPUS.glob("*rntuple*.root"))
NANOAOD = CORPUS / "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root"

pytestmark = pytest.mark.skipif(not FILES, reason=f"no corpus of RNTuples at {CORPUS}")


def signed(values):
    """All bytes with a sign: uproot takes characters for unsigned numbers, and test_ntuples.py
    compares with ROOT which bytes have one."""

    def change(layout, **_):
        is_byte = isinstance(layout, ak.contents.NumpyArray) and layout.dtype == np.uint8
        return ak.contents.NumpyArray(layout.data.view(np.int8)) if is_byte else None

    return ak.transform(change, values)


def ntuples(path):
    return [t for t in core.File(str(path)).trees() if t["class"] == "ROOT::RNTuple"]


@pytest.mark.parametrize("path", with_slow_ones(FILES), ids=lambda path: path.name)
def test_all_top_fields_equal_uproots(path):
    """Whole, and with uproot's layout as it is: no options or dimensions of our own."""
    listed = ntuples(path)
    assert listed
    compared = 0
    with uproot.open(path) as file:
        for ntuple in listed:
            events, theirs = tm.dataset(f"{path}:{ntuple['path']}"), file[ntuple["path"]]
            entries = theirs.num_entries
            assert events.num_entries == entries
            for name, branch in events.branches.items():
                if branch.is_member or not branch.supported:
                    continue
                want, got = theirs[name].array(), events.arrays(name)[name]
                below = (b for n, b in events.branches.items() if n.startswith(f"{name}."))
                if any("char" in one.cpp_type for one in (branch, *below)):
                    want, got = signed(want), signed(got)
                assert got.fields == want.fields, name
                assert str(got.type.content) == str(want.type.content), name
                assert ak.array_equal(got, want, equal_nan=True, check_parameters=False), name
                compared += 1
    assert compared


@pytest.mark.skipif(not NANOAOD.exists(), reason=f"no {NANOAOD.name}")
def test_queries_over_nanoaod_equal_awkward():
    events = tm.dataset(str(NANOAOD))
    pt, eta = (uproot.open(NANOAOD)["Events"][name].array() for name in ("Jet_pt", "Jet_eta"))
    chosen = events.filter("any(Jet_pt > 30 and abs(Jet_eta) < 2.4)")
    good = (pt > 30) & (abs(eta) < 2.4)
    count, total = chosen.count(), chosen.sum("Jet_pt")
    assert 0 < count.value == ak.sum(ak.any(good, axis=1))
    want = ak.sum(ak.values_astype(pt[ak.any(good, axis=1)], np.float64))
    assert total.value == pytest.approx(want, rel=1e-12)


def test_unknown_names_are_refused_with_near_ones():
    path = FILES[0]
    name = ntuples(path)[0]["path"]
    with pytest.raises((SourceError, TreemillError), match=name):
        core.File(str(path)).tree(name + "x")
