"""Partials of several processes go together only if they are of the same states of files."""

import pickle

import pytest
import treemill as tm
from treemill.backends.dask.merger import Merger
from treemill.data.source import FileState
from treemill.errors import ChangedError
from treemill.workers.task import OneStateTask, States

HERE, THERE = ("here", 1, 7), ("there", 1, 7)
FIRST = FileState(100, "first", HERE, (5, 5))


class Count:
    """A partial."""

    def __init__(self, n):
        self.n = n

    def merge(self, other):
        self.n += other.n

    def results(self):
        return [self.n]

    def dumps(self, before=b""):
        return before + pickle.dumps(self.n)


class Task:
    """What OneStateTask needs of a task."""

    commit_seconds = least_seconds = 0.0
    alone_entries = share_entries = 0
    second_runs = True
    small_files = holds_lock = False

    def load(self, data, first=0):
        return Count(pickle.loads(data[first:]))


def sent(n, **seen):
    """A partial with `n` entries as a worker sends it."""
    states = pickle.dumps(seen)
    return Count(n).dumps(len(states).to_bytes(8, "little") + states)


@pytest.mark.parametrize(
    ("other", "agrees"),
    [
        (FIRST, True),
        (FIRST._replace(times=(6, 6)), False),  # written in place
        (FIRST._replace(size=101), False),
        (FIRST._replace(uuid="another"), False),
        (FIRST._replace(place=THERE), True),  # a shared disk, or a copy of another host's own
        (FIRST._replace(place=THERE, times=(6, 6)), True),
        (FIRST._replace(place=THERE, uuid="another"), False),
        (FIRST._replace(place=("here", 1, 8), uuid="another"), False),  # replaced by rename
    ],
)
def test_states_that_agree(other, agrees):
    assert FIRST.agrees(other) is agrees
    assert other.agrees(FIRST) is agrees


def test_a_merger_takes_no_partial_of_another_state():
    task, merger = OneStateTask(Task()), Merger()
    merger.take(0, 0, {0: [(0, 3)]}, lambda: task.load(sent(3, a=FIRST)))
    merger.take(1, 0, {1: [(0, 4)]}, lambda: task.load(sent(4, b=FIRST)))
    with pytest.raises(ChangedError) as raised:
        merger.take(1, 1, {0: [(3, 8)]}, lambda: task.load(sent(5, a=FIRST._replace(uuid="x"))))
    assert raised.value.file == "a"


def test_what_mergers_hold_is_compared_by_the_one_that_gets_all():
    task, states = OneStateTask(Task()), States()
    mergers = [Merger(), Merger()]
    for merger, state in zip(mergers, [FIRST, FIRST._replace(times=(6, 6))], strict=True):
        merger.take(0, 0, {0: [(0, 3)]}, lambda state=state: task.load(sent(3, a=state)))
    held = [merger.read()[2] for merger in mergers]
    assert states.inner(task.load(held[0])).results() == [3]
    assert states.inner(task.load(held[0])).results() == [3]
    with pytest.raises(ChangedError):
        states.inner(task.load(held[1]))


def test_processes_say_what_they_have_read(paths):
    """Each process looks at a file by itself; the session compares."""
    seen = []

    class Watched(States):
        def add(self, others):
            seen.append(dict(others))
            super().add(others)

    with (
        pytest.MonkeyPatch.context() as patch,
        tm.connect(mode="processes", workers=2) as session,
    ):
        patch.setattr("treemill.backends.processes.pool.States", Watched)
        session.run(tm.dataset(paths, tree="Events").count())
    assert {path for states in seen for path in states} == {str(path) for path in paths}
