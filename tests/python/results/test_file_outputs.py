"""Files of selectors have the order of what they were made of; hidden folders of parts go."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import awkward as ak
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import treemill as tm
from treemill.errors import QueryError, UnsupportedError
from treemill.results import parts
from treemill.results.file_output import FileOutput

from tests.raising import raises


@pytest.fixture(params=["threads", "processes"])
def session(request, shared_session):
    return shared_session(2, request.param)


class Skim(tm.Selector):
    """Writes some columns of all entries, a few at a time."""

    def begin_worker(self, inputs):
        self.output["skim"] = tm.FileOutput(inputs["path"], **inputs["options"])

    def process(self, events):
        half = len(events) // 2
        for some in (events[:half], events[half:]):
            self.output["skim"].write(
                {
                    "event": some.event,
                    "double": 2 * some.MET_pt,
                    "nJet": some.nJet,
                    "Jet_pt": some.Jet_pt,
                    "Jet_eta": some.Jet_eta,
                    "Muon_pt": some.Muon_pt[some.Muon_pt > 30],
                    "nMuon": some.nMuon,
                }
            )


def test_entries_are_in_their_order(session, events, truth, tmp_path):
    path = tmp_path / "skim.root"
    session.run(Skim(), events, inputs={"path": str(path), "options": {}})
    made = tm.dataset(path)
    found = made.arrays()
    assert found.event.to_list() == truth.event.to_list()
    assert found.Jet_pt.to_list() == truth.Jet_pt.to_list()
    # What is a counter is one; what is called so, and is none, is a column like others.
    assert made.branches["Jet_eta"].counter == made.branches["Jet_pt"].counter == "nJet"
    assert made.branches["nJet"].dtype == events.branches["nJet"].dtype
    assert found.nMuon.to_list() == truth.nMuon.to_list()
    assert made.branches["Muon_pt"].counter == "nMuon_pt"
    # So it is a friend by number.
    both = events.add_friend(made, alias="f")
    assert both.filter("f.double != 2*MET_pt").count().value == 0
    assert [p.name for p in tmp_path.iterdir()] == ["skim.root"]


def test_a_folder_of_files_is_no_friend_by_number(session, events, truth, tmp_path):
    path = tmp_path / "skim"
    session.run(Skim(), events, inputs={"path": str(path), "options": {"as_dataset": True}})
    made = tm.dataset(f"{path}/*.root")
    assert sorted(made.arrays(["event"]).event.to_list()) == sorted(truth.event.to_list())
    with raises(QueryError, said="its friend f are in no particular order index"):
        _ = events.add_friend(made, alias="f").count().value
    with raises(QueryError, said="in no particular order"):
        _ = made.add_friend(events, alias="f").count().value
    both = events.add_friend(made, alias="f", index="event")
    assert both.filter("f.double != 2*MET_pt").count().value == 0


def written(path, *steps):
    """A file of what is written in these steps."""
    output = FileOutput(path)
    for step in steps:
        output.write(step)
    output.close()
    output.finish()
    return tm.dataset(path)


def test_types_are_those_of_all_steps(tmp_path):
    first = {"x": np.array([1], "i4"), "v": ak.Array([[]]), "t": ak.Array(["a"])}
    second = {"x": np.array([2**40]), "v": ak.Array([[1.5, 2.5]]), "t": ak.Array([""])}
    found = written(tmp_path / "a.root", first, second).arrays()
    assert found.x.to_list() == [1, 2**40]
    assert found.v.to_list() == [[], [1.5, 2.5]]
    assert found.t.to_list() == ["a", ""]
    output = FileOutput(tmp_path / "b.root")
    output.write({"x": np.array([2**60])})
    output.write({"x": np.array([0.5])})
    output.close()
    with raises(QueryError, said="x of the tree Events float64 and int64"):
        output.finish()
    assert [p.name for p in tmp_path.iterdir()] == ["a.root"]


def test_arrays_of_arrays_and_records(tmp_path):
    triples = ak.from_numpy(np.arange(12.0).reshape(4, 3), regulararray=True)
    columns = {
        "m": np.arange(12).reshape(2, 2, 3),
        "n": ak.unflatten(triples, [1, 3]),
        "r": ak.zip({"pt": [[1.0], []], "eta": [[2.0], []]}),
    }
    found = written(tmp_path / "a.root", columns)
    assert found.arrays().m.to_list() == columns["m"].tolist()
    assert found.arrays().n.to_list() == columns["n"].to_list()
    assert found.arrays().r_pt.to_list() == [[1.0], []]
    assert found.branches["r_pt"].counter == found.branches["r_eta"].counter == "nr"


PAIRS = np.array([(1, (2.5,)), (3, (4.5,))], [("a", ">i4"), ("n", [("x", "f8")])])
KINDS = {
    "big-endian": ({"x": np.array([5, 4], ">i4")}, {"x": [5, 4]}),
    "lists": ({"x": [[1.5], []]}, {"nx": [1, 0], "x": [[1.5], []]}),
    "objects": (
        {"x": np.array([np.ones(1, "f4"), np.ones(0, "f4")], object)},
        {"nx": [1, 0], "x": [[1], []]},
    ),
    "texts": ({"x": np.array(["a", "b"], object)}, {"x": ["a", "b"]}),
    "structured": (PAIRS, {"a": [1, 3], "n_x": [2.5, 4.5]}),
    "records": (ak.Array([{"keys": 1, "column_names": 2}]), {"keys": [1], "column_names": [2]}),
    "frame": (pd.DataFrame({"x": [1, 2], "s": ["a", "b"]}), {"x": [1, 2], "s": ["a", "b"]}),
    "table": (
        pa.table({"x": [1, 2], "v": [[1.0], []]}),
        {"x": [1, 2], "nv": [1, 0], "v": [[1], []]},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_any_kind(kind, tmp_path):
    columns, expected = KINDS[kind]
    found = written(tmp_path / "a.root", columns).arrays()
    assert {name: found[name].to_list() for name in found.fields} == expected


WRONG = [
    ({"x": np.arange(3), "y": np.arange(4)}, "one length, .*x 3, y 4"),
    ({"x": np.ma.array([1, 2], mask=[0, 1])}, "x has missing values"),
    ({"x": 3}, "x is no array.*not int"),
    ({"x": np.array(3)}, "x is no array"),
    ({"x": np.zeros(2, "c8")}, "x holds complex64"),
    ({1: [1]}, "a column's name is a text, not 1"),
    ({"": [1]}, "a column's name is a text, not ''"),
    ({"p": ak.Array([{"x": 1}]), "p_x": [2]}, "two columns would be called p_x"),
    (np.arange(3), "a mapping of names to arrays.*not ndarray"),
]


@pytest.mark.parametrize(("columns", "said"), WRONG, ids=[said for _, said in WRONG])
def test_columns_that_do_not_fit(columns, said, tmp_path):
    output = FileOutput(tmp_path / "a.root")
    with pytest.raises(tm.TreemillError, match=said):
        output.write(columns)
    output.drop()


@pytest.mark.parametrize("tree", ["a/b", "a;1", "", None])
def test_names_by_which_no_tree_is_found(tree, events, tmp_path):
    with raises(QueryError, about="tree"):
        FileOutput(tmp_path / "a.root").write({"x": [1]}, tree=tree)
    if tree is None:
        return  # a snapshot's tree is called as its source's
    with raises(QueryError, about="tree"):
        events.snapshot(tmp_path / "a.root", ["MET_pt"], tree=tree)


def test_what_a_tree_cannot_hold_is_said_at_once(tmp_path):
    output = FileOutput(tmp_path / "a.root")
    with raises(UnsupportedError, said="ll, a list of lists of float64s"):
        output.write({"ll": ak.Array([[[1.0]]])})
    with raises(QueryError, said="x has missing values"):
        output.write({"x": ak.Array([1.0, None])})
    with raises(QueryError, said="a branch cannot be called x 3 another name"):
        output.write({"x[3]": [1.0]})
    output.discard()
    assert list(tmp_path.iterdir()) == []


CLIENT = """
import sys, time
import treemill as tm
events = tm.dataset({paths!r}, "Events")
if __name__ == "__main__":
    from treemill.data import rows
    def hold(self):
        print("holds", flush=True)
        time.sleep(600)
    rows.CollectedRows.tables = hold
    with tm.connect(workers=2, mode={mode!r}) as session:
        session.run(events.snapshot({out!r}, ["MET_pt", "Jet_pt"]), progress=False)
"""


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_what_a_killed_client_leaves_is_removed(paths, events, tmp_path, mode):
    code = CLIENT.format(paths=paths, mode=mode, out=str(tmp_path / "killed.root"))
    client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert client.stdout.readline().strip() == "holds"
        (folder,) = tmp_path.iterdir()
        assert len(list(folder.glob("*.part"))) >= 1
        # A client that lives keeps its parts.
        _ = events.snapshot(str(tmp_path / "a.root"), ["MET_pt"]).value
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted([folder.name, "a.root"])
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait(60)
    _ = events.snapshot(str(tmp_path / "b.root"), ["MET_pt"]).value
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.root", "b.root"]


@pytest.mark.parametrize(
    ("change", "goes"),
    [
        ({"pid": 2**22 + 1, "started": "1"}, True),
        ({"started": "1"}, True),  # another process has the number
        ({}, False),
        ({"machine": "elsewhere", "pid": 2**22 + 1}, False),
    ],
)
def test_only_what_certainly_is_nobodys_is_removed(tmp_path, change, goes):
    client = parts.client_here()
    client = replace(client, **change)
    folder = Path(parts.hidden_folder(str(tmp_path / "x.root"), client))
    parts.claim(str(folder))
    (folder / "some.part").touch()
    nobodys = tmp_path / ".y.root.parts"
    nobodys.mkdir()
    parts.remove_abandoned(str(tmp_path))
    assert folder.exists() is not goes
    assert nobodys.exists(), "of what says nothing, nothing is known"


def test_late_workers_leave_no_folder(tmp_path):
    """Where the folder of parts is gone, a worker's rows have nowhere to go, and make none."""
    from treemill.data.rows import Store

    client = parts.client_here()
    folder = parts.hidden_folder(str(tmp_path / "x.root"), client)
    parts.claim(folder)
    store = Store(folder, "x.root")
    parts.remove(folder)
    with pytest.raises(tm.SourceError):
        Store(folder, "x.root")
    store.discard()
    assert os.listdir(tmp_path) == []


def test_an_empty_folder_that_another_worker_removes_is_made_again(tmp_path, monkeypatch):
    output, removed = FileOutput(tmp_path / "x.root"), []
    made = parts.claim

    def claim(folder):
        made(folder)
        if not removed:
            parts.remove_if_empty(folder)
            removed.append(folder)

    monkeypatch.setattr("treemill.results.file_output.claim", claim)
    output.write({"x": [1.0, 2.0]})
    assert removed
    parts.remove_if_empty(removed[0])
    assert os.path.isdir(removed[0]), "it has a part"
    output.close()
    output.finish()
    assert tm.dataset(f"{tmp_path}/x.root").arrays(["x"]).x.tolist() == [1.0, 2.0]
    assert os.listdir(tmp_path) == ["x.root"]
