"""Local files that are written to while a pass reads them are an error, whoever reads what."""

import os
import shutil

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data.chain import Chain
from treemill.errors import ChangedError

from tests.raising import raises

CLUSTERS, CLUSTER = 10, 1000
N = CLUSTERS * CLUSTER


def write(path, value):
    """A file of clusters, whose entries are all `value`."""
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("t", {"x": "float64", "n": "int64"})
        for _ in range(CLUSTERS):
            tree.extend({"x": np.full(CLUSTER, value), "n": np.arange(CLUSTER)})
    return str(path)


def in_place(new, old):
    shutil.copyfile(new, old)


def in_place_with_old_times(new, old):
    before = os.stat(old)
    shutil.copyfile(new, old)
    os.utime(old, ns=(before.st_atime_ns, before.st_mtime_ns))


def by_rename(new, old):
    shutil.copyfile(new, f"{old}.new")
    os.replace(f"{old}.new", old)


@pytest.fixture
def files(core, tmp_path):
    return [write(tmp_path / "a.root", 1.0), write(tmp_path / "b.root", 2.0)]


@pytest.fixture(params=[in_place, in_place_with_old_times, by_rename])
def change(request, files, tmp_path):
    """Writes to the first file, once, in whatever process, when the entries of a file have come."""
    new = write(tmp_path / "c.root", 3.0)
    flag, how, old = str(tmp_path / "done"), request.param, files[0]

    def changed():
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        how(new, old)

    return changed


@pytest.fixture(params=["threads", "processes"])
def session(request, shared_session):
    # One worker reads the files in their order: the first one is known when it changes.
    return shared_session(1, request.param)


class Sums:
    """The sum of x. Changes the file at the first chunk of the file number `at`."""

    def __init__(self, change, at):
        self.change, self.at = change, at

    def __call__(self, events):
        if events.metadata["filename"] == self.at:
            self.change()
        return {"sum": float(np.sum(events.x)), "n": len(events)}


@pytest.mark.parametrize("at", [0, 1], ids=["while it is read", "while the next is read"])
def test_a_selector_sees_one_state_of_a_file(files, change, session, at):
    with raises(ChangedError, said="run again") as raised:
        session.run(Sums(change, files[at]), tm.dataset(files))
    assert raised.value.file == files[0]
    assert session.run(Sums(lambda: None, ""), tm.dataset(files))["sum"] == 5 * N


@pytest.mark.parametrize("at", [0, 1], ids=["while it is read", "while the next is read"])
def test_a_query_sees_one_state_of_a_file(files, change, session, at):
    def passed(x):
        if x[0] == at + 1:
            change()
        return x

    events = tm.dataset(files, tree="t")
    wanted = events.define("y", "passed(x)", {"passed": tm.batched(passed, returns="float64")}).sum(
        "y"
    )
    with raises(ChangedError, said="run again") as raised:
        session.run(wanted)
    assert raised.value.file == files[0]


def test_a_file_that_changes_is_no_file_to_leave_out(files, change):
    """Once entries of it are in the result, what is left of it does not go with them."""
    with tm.connect(workers=1) as session, pytest.raises(ChangedError):
        session.run(Sums(change, files[1]), tm.dataset(files), on_error="skip")


def test_a_file_that_changed_before_anything_of_it_counts_is_left_out(files, change):
    with tm.connect(workers=1) as session:
        out = session.run(Sums(change, files[0]), tm.dataset(files), on_error="skip")
        assert out == {"sum": 2 * N, "n": N}
        assert {each.file for each in session.report.missing} == {files[0]}


@pytest.mark.parametrize("names", [["x", "passed(x)"], ["x", "n"]])
def test_arrays_are_of_one_state(files, change, names, monkeypatch, nothing_in_vain):
    def passed(x):
        change()
        return x

    events = tm.dataset(files)
    if names[1] != "n":
        events = events.define("y", names[1], {"passed": tm.batched(passed, returns="float64")})
        names = ["x", "y"]
    if names[1] == "n":  # the first file changes while the second one is read
        table = Chain.table
        monkeypatch.setattr(Chain, "table", lambda c, file: (file and change(), table(c, file))[1])
    with pytest.raises(ChangedError):
        events.arrays(names)


@pytest.mark.slow
@pytest.mark.parametrize("index", [None, "n"])
def test_a_friend_is_of_one_state(files, change, session, index):
    def passed(x):
        change()
        return x

    main = tm.dataset(files[1])
    events = main.add_friend(tm.dataset(files[0]), alias="f", index=index)
    wanted = events.define(
        "y", "passed(x) * f.x", {"passed": tm.batched(passed, returns="float64")}
    ).sum("y")
    with pytest.raises(ChangedError) as raised:
        session.run(wanted)
    assert raised.value.file == files[0]


def test_a_friend_is_read_as_it_was_when_it_was_matched(files, change, tmp_path):
    """A friend that has as many entries no longer is not joined by the old numbers."""
    events = tm.dataset(files[1]).add_friend(tm.dataset(files[0]), alias="f").chain.pinned()
    change()
    with pytest.raises(ChangedError):
        events.table(0).read(["f.x"], 0, N)


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 1], ids=["while it is read", "while the next is read"])
def test_replicas_that_are_near_are_of_one_state(files, change, session, at, tmp_path):
    """Each of them may be the one that is read."""
    copy = shutil.copyfile(files[0], tmp_path / "copy.root")
    found = {"/store/a.root": [str(copy), files[0]], "/store/b.root": [files[1]]}
    events = tm.fileset({"d": {"files": found, "treename": "t"}})["d"]

    def passed(x):
        if x[0] == at + 1:
            change()
        return x

    total = events.define("y", "passed(x)", {"passed": tm.batched(passed, returns="float64")}).sum(
        "y"
    )
    with pytest.raises(ChangedError):
        session.run(total)


def test_replicas_are_opened_anew_when_they_have_changed(files, change):
    events = tm.fileset({"d": {"files": {"/store/a.root": files[:1]}, "treename": "t"}})["d"]
    assert events.sum("x").value == N
    change()
    assert events.sum("x").value == 3 * N
