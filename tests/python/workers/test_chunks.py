"""Chunks of selectors: which columns are read, when, and how they are cut."""

import awkward as ak
import pyarrow
import pytest
import treemill as tm
from treemill.session.api import connect
from treemill.workers.chunk import EventReader

from tests.corpus_files import corpus
from tests.raising import raises


class CountingTree:
    """A tree that notes what is read."""

    def __init__(self, tree):
        self._tree = tree
        self.calls = []

    def branches(self):
        return self._tree.branches()

    def read(self, names, start, stop, control=None):
        if stop > start:
            self.calls.append((list(names), start, stop))
        return self._tree.read(names, start, stop, control)


def test_fields_are_read_when_touched_and_together_afterwards(events):
    tree = CountingTree(events.chain.trees[0])
    touched = set()
    reader = EventReader(tree, touched)
    first = reader.chunk(0, 1000, {})
    assert tree.calls == []
    assert len(first) == 1000
    _ = ak.sum(first.MET_pt[first.nMuon >= 2])
    assert sorted(tree.calls) == [(["MET_pt"], 0, 1000), (["nMuon"], 0, 1000)]
    tree.calls.clear()
    second = reader.chunk(1000, 2000, {})
    assert tree.calls == [(["MET_pt", "nMuon"], 1000, 2000)]
    _ = ak.sum(second.MET_pt), ak.sum(second.nMuon)
    _ = ak.sum(second.Jet_pt)
    assert tree.calls[1:] == [(["Jet_pt"], 1000, 2000)]


def test_columns_are_read_ahead_and_cut_into_chunks(events, truth):
    tree = CountingTree(events.chain.trees[0])
    reader = EventReader(tree, {"MET_pt"}, collections=True)
    chunks = [reader.chunk(a, a + 500, {}, ahead=2000) for a in range(100, 2000, 500)]
    assert tree.calls == [(["MET_pt"], 100, 2000), (["MET_pt"], 1600, 2100)]
    found = [(ak.to_list(c.MET.pt), ak.to_list(c.Jet.pt)) for c in chunks[:3]]
    assert tree.calls[2:] == [(["nJet"], 100, 2000), (["Jet_pt"], 100, 2000)]
    for begin, (met, jets) in zip((100, 600, 1100), found, strict=True):
        assert met == ak.to_list(truth.MET_pt[begin : begin + 500])
        assert jets == ak.to_list(truth.Jet_pt[begin : begin + 500])


TOUCHED = [[], ["Jet_pt"], ["Jet_eta", "Jet_pt"], ["nJet"]]


@pytest.mark.parametrize("touched", TOUCHED, ids="-".join)
@pytest.mark.parametrize("kept", [None, [3, 5, 900]], ids=["all", "some"])
def test_what_was_touched_before_changes_nothing(events, truth, touched, kept):
    reader = EventReader(events.chain.trees[0], set(touched), collections=True)
    part = truth[2000:3000] if kept is None else truth[2000:3000][kept]
    chunk = reader.chunk(2000, 3000, {}, kept=kept, ahead=4000)
    assert ak.to_list(ak.num(chunk.Jet)) == ak.to_list(part.nJet)
    good = chunk.Jet[chunk.Jet.pt > 30]
    assert ak.to_list(good.eta) == ak.to_list(part.Jet_eta[part.Jet_pt > 30])
    assert ak.to_list(ak.flatten(chunk.Jet.phi)) == ak.to_list(ak.flatten(part.Jet_phi))


def test_columns_that_do_not_belong_together_are_not_zipped_in_silence(events):
    class Wrong(CountingTree):
        def read(self, names, start, stop, control=None):
            columns = super().read(names, start, stop, control)
            if stop > start and "Jet_eta" in names:
                i = list(names).index("Jet_eta")
                item = pyarrow.field("item", pyarrow.float32(), nullable=False)
                columns[i] = pyarrow.array([[1, 2]] * (stop - start), pyarrow.list_(item))
            return columns

    chunk = EventReader(Wrong(events.chain.trees[0]), set(), collections=True).chunk(0, 10, {})
    _ = ak.to_list(chunk.Jet.pt)
    with raises(tm.FormatError, said="as many items"):
        ak.to_list(chunk.Jet.eta)


@pytest.mark.parametrize("collections", [False, True])
def test_chunks_are_what_uproot_reads(events, truth, collections):
    reader = EventReader(events.chain.trees[0], set(), collections)
    chunk = reader.chunk(100, 300, {"dataset": "d"})
    assert chunk.metadata == {"dataset": "d"}
    assert chunk[chunk.nJet > 1].metadata == {"dataset": "d"}
    part = truth[100:300]
    if collections:
        assert ak.all(chunk.Jet.pt == part.Jet_pt)
        assert ak.all(chunk.Muon.eta == part.Muon_eta)
        assert ak.num(chunk.Jet).to_list() == part.nJet.to_list()
        assert ak.all(chunk.MET.pt == part.MET_pt)
    else:
        for name in truth.fields:
            assert ak.to_list(chunk[name]) == ak.to_list(part[name])


class Unreadable(CountingTree):
    """A tree of which some columns cannot be read, though they are listed."""

    def read(self, names, start, stop, control=None):
        for name in ("Jet_eta", "MET_phi"):
            if name in names:
                raise tm.UnsupportedError("without data", branch=name)
        return super().read(names, start, stop, control)


@pytest.mark.parametrize("collections", [False, True])
def test_a_column_that_cannot_be_read_fails_when_it_is_touched(events, truth, collections):
    touched = {"Jet_eta", "Jet_pt"}
    chunk = EventReader(Unreadable(events.chain.trees[0]), touched, collections).chunk(0, 50, {})
    part = truth[:50]
    if collections:
        assert ak.to_list(chunk.Jet[chunk.Jet.pt > 30].phi) == ak.to_list(
            part.Jet_phi[part.Jet_pt > 30]
        )
        assert ak.to_list(chunk[part.nMuon > 0].MET.pt) == ak.to_list(part.MET_pt[part.nMuon > 0])
    else:
        assert ak.to_list(chunk.Jet_pt) == ak.to_list(part.Jet_pt)
    for touch in (
        lambda: chunk.Jet.eta if collections else chunk.Jet_eta,
        lambda: chunk.MET.phi if collections else chunk.MET_phi,
    ):
        with raises(tm.UnsupportedError, said="without data"):
            ak.to_list(touch())


@pytest.mark.parametrize("collections", [False, True])
def test_of_a_tree_with_two_branches_of_one_name(collections):
    """BDSIM's, which lists one name as a group and, second, as an object."""
    data = tm.dataset(corpus("uproot-issue494.root") + ":Event")

    class Sums(tm.Selector):
        def process(self, events):
            return {"n": len(events), "time": float(ak.sum(events["Summary.durationWall"]))}

    class Touches(tm.Selector):
        def process(self, events):
            return {"n": len(ak.to_list(events["Primary;2"]))}

    Sums.collections = Touches.collections = collections
    with connect(workers=1) as session:
        found = session.run(Sums(), data)
        derived = session.run(Sums(), data.filter("Summary.index >= 0"))
        assert session.run(Touches(), data)["n"] == len(data)
    assert found["n"] == derived["n"] == len(data)
    assert found["time"] == pytest.approx(data.sum("Summary.durationWall").value)
