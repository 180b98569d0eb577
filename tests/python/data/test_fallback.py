"""Branches that the core cannot read are read by uproot, and what neither reads is refused."""

import tracemalloc
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data import file_tree as filetree
from treemill.data import open_tree as shared
from treemill.data.from_core import layout
from treemill.data.uproot_fallback import Fallback
from uproot.interpretation.objects import AsObjects

from tests.corpus_files import corpus, found
from tests.python.written import jagged, write
from tests.raising import raises

MODES = ("threads", "processes")
N = 50


UNREADABLE = {"x", "v", "a"}


@pytest.fixture
def path(core, tmp_path):
    return write(
        tmp_path / "f.root",
        x=np.arange(N, dtype="f4"),
        v=jagged(*([i] * (i % 3) for i in range(N))),
        a=np.arange(3 * N, dtype="i4").reshape(N, 3),
        k=np.arange(N, dtype="i8"),
    )


def refuse_values(monkeypatch):
    """The core reads no value of UNREADABLE."""
    read = filetree.FileTree._read_cores

    def blind(self, names, *arguments):
        for name in names:
            if name in UNREADABLE:
                raise tm.UnsupportedError("it is blind", branch=name)
        return read(self, names, *arguments)

    monkeypatch.setattr(filetree.FileTree, "_read_cores", blind)


@pytest.fixture
def blind(path, monkeypatch):
    """The dataset, whose core knows that it can read `k` and `nv` only."""
    described = shared.OpenTree.described
    unknown = {"supported": False, "kind": "unsupported", "reason": "it is blind", "dtype": None}

    def blind(self):
        return [b | (unknown if b["name"] in UNREADABLE else {}) for b in described(self)]

    monkeypatch.setattr(shared.OpenTree, "described", blind)
    refuse_values(monkeypatch)
    # With any default at all, queries ask for such columns before they ask the core.
    return tm.dataset(path, missing={"nowhere": 0})


def test_arrays_come_from_uproot_instead(blind, path):
    assert not blind.branches["x"].supported
    assert {name: b.how for name, b in blind.branches.items()} == {
        "x": "uproot",
        "v": "uproot",
        "a": "uproot",
        "nv": "core",
        "k": "core",
    }
    for names in (None, ["v", "k"], "a", ["k", "x"]):
        for start, stop in ((0, N), (7, 21), (5, 5)):
            ours = blind.arrays(names, start, stop)
            theirs = uproot.open(path)["t"].arrays(names, entry_start=start, entry_stop=stop)
            assert ours.layout.form == theirs[ours.fields].layout.form
            assert ours.to_list() == theirs[ours.fields].to_list()


def test_show_says_so(blind, capsys):
    blind.show()
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("x "))
    assert "uproot" in row.split()
    assert "3 of 5 branches are read by uproot, slower" in out


def test_selectors_read_it_too(blind):
    class Sum(tm.Selector):
        def begin_worker(self, inputs):
            self.output["sum"] = 0.0

        def process(self, events):
            self.output["sum"] += float(ak.sum(events.x) + ak.sum(events.v) + ak.sum(events.a))

    expected = sum(range(N)) + sum(i * (i % 3) for i in range(N)) + sum(range(3 * N))
    assert tm.run(Sum(), blind)["sum"] == expected


def test_values_that_turn_out_to_be_unsupported(path, monkeypatch):
    """The core lists the branch as supported, and refuses a value of it."""
    refuse_values(monkeypatch)
    arrays = tm.dataset(path).arrays(["k", "x"])
    assert arrays.x.to_list() == arrays.k.to_list() == list(range(N))


@pytest.mark.parametrize("mode", MODES)
def test_queries_read_it_too(blind, mode, monkeypatch):
    read = Fallback.read
    asked = []

    def noting(self, branch, *arguments):
        asked.append(branch)
        return read(self, branch, *arguments)

    monkeypatch.setattr(Fallback, "read", noting)
    good = blind.filter("k >= 10 and nowhere == 0")
    with tm.connect(workers=2, mode=mode) as session:
        total, items, first, hist = session.run(
            good.sum("x"), good.sum("v[v > 20]"), good.sum("a[0]"), good.hist("x", bins=(5, 0, 50))
        )
    assert total == sum(range(10, N))
    assert items == sum(i * (i % 3) for i in range(21, N))
    assert first == sum(range(30, 3 * N, 3))
    assert hist.values().tolist() == [0, 10, 10, 10, 10]
    assert set(asked) == UNREADABLE or mode == "processes"


def test_what_neither_reads_is_refused_by_name_and_type(blind, monkeypatch):
    monkeypatch.setattr(Fallback, "can", lambda self, *_: False)
    assert blind.arrays().fields == ["nv", "k"]
    for ask in (
        lambda: blind.arrays("v"),
        lambda: blind.arrays(["k", "v"]),
    ):
        with raises(tm.UnsupportedError, said="float nv of branch v: it is blind"):
            ask()


def test_where_uproot_fails_it_is_unsupported(blind, monkeypatch):
    def fail(*_, **__):
        raise ValueError("no idea\nof this")

    monkeypatch.setattr(uproot.TBranch, "array", fail)
    with raises(tm.UnsupportedError, said="float of branch x; no idea") as caught:
        blind.arrays("x")
    assert caught.value.branch == "x"


def test_a_class_that_its_file_does_not_describe(core):
    name = "AntiKt4EMPFlowJetsAuxDyn.GhostMuonSegment"
    path = corpus("uproot-issue-210.root")
    events = tm.dataset(path, "CollectionTree")
    theirs = uproot.open(path)["CollectionTree"].arrays(filter_name=name)
    assert events.branches[name].how in ("core", "uproot")
    assert events.arrays(name).to_list() == theirs.to_list()


@pytest.mark.parametrize("keys", ["i32", "str"])
@pytest.mark.parametrize("values", ["vec_i16", "vec_str", "set_str"])
def test_uproot_makes_no_room_for_more_items_than_there_are_bytes(core, keys, values):
    """It skips six bytes of these maps where two are to be skipped, and takes others for lengths:
    of a billion items where keys are strings. The core reads them."""
    path = found("groot__testdata__std-containers-split00.root")
    name = f"map_{keys}_{values}"
    tracemalloc.start()
    try:
        with raises(tm.UnsupportedError, about=[path, name]):
            Fallback(path, "tree").read(name, "map", 0, 2)
        assert tracemalloc.get_traced_memory()[1] < 1e8
    finally:
        tracemalloc.stop()
    key, value = {"i32": -1, "str": "one"}[keys], {"i16": -1, "str": "one"}[values[4:]]
    assert tm.dataset(path).arrays([name], stop=1)[name].to_list() == [[(key, [value])]]


@pytest.mark.parametrize(
    ("file", "tree"),
    [
        ("uproot-issue-1221.root", "TrkAna/trkana"),
        ("uproot-issue367b.root", "tree"),
    ],
)
def test_objects_are_what_uproot_makes_of_them(core, file, tree):
    path, tried = corpus(file), 0
    fallback = Fallback(path, tree)
    for name, branch in uproot.open(path)[tree].iteritems():
        if type(branch.interpretation) is not AsObjects:
            continue
        try:
            known = branch.array(library="ak")
        except Exception:
            continue
        column = fallback.read(name, branch.typename, 0, branch.num_entries)
        assert ak.to_list(layout(column)) == known.to_list()
        tried += 1
    assert tried


def test_files_after_the_first_need_not_be_opened_by_uproot(blind, path, tmp_path, monkeypatch):
    """A selector that touches no branch of uproot's opens one file of many with uproot: to know
    what there is."""
    again = [path, *(tmp_path / f"{i}.root" for i in range(3))]
    for each in again[1:]:
        each.write_bytes(Path(path).read_bytes())
    opened = []
    open_ = uproot.open
    monkeypatch.setattr(
        uproot, "open", lambda file, **how: opened.append(file) or open_(file, **how)
    )

    class Count(tm.Selector):
        def begin_worker(self, inputs):
            self.output["sum"] = 0

        def process(self, events):
            self.output["sum"] += int(ak.sum(events.k))

    events = tm.dataset(again)
    assert tm.run(Count(), events)["sum"] == 4 * sum(range(N))
    assert len(opened) <= 2  # more than one only where two workers began at the same time
    assert tm.dataset(again).arrays("x").x.to_list() == 4 * list(range(N))


def test_without_names_what_turns_out_to_be_unreadable_is_left_out(path, monkeypatch):
    """Only the values tell: both readers list the branch."""
    read = filetree.FileTree._read_cores

    def blind(self, names, start, stop, *arguments):
        if "x" in names and stop > start:
            raise tm.UnsupportedError("it is blind", branch="x")
        return read(self, names, start, stop, *arguments)

    def fail(*_, **__):
        raise ValueError("no idea")

    monkeypatch.setattr(filetree.FileTree, "_read_cores", blind)
    monkeypatch.setattr(uproot.TBranch, "array", fail)
    events = tm.dataset(path)
    with pytest.warns(UserWarning, match=r"read x.*: left out"):
        assert "x" not in events.arrays().fields
    assert "x" not in events.to_numpy()
    assert events.branches["x"].how == "no"
    with raises(tm.UnsupportedError, said="branch x"):
        events.arrays(["k", "x"])
