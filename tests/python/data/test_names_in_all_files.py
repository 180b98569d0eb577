"""What a name means where only some files have a column of that name, and friends, arrays in memory
or the numbers of entries have it too: it is decided once for the dataset, by its first file."""

from contextlib import ExitStack
from functools import partial

import awkward as ak
import numpy as np
import pytest
import treemill as tm

from tests.python.written import settled, write
from tests.raising import raises

NUMBERS = np.array([100.0, 200.0])
SESSIONS = (("threads", 2), ("threads", 1), ("processes", 2))


class Sums(tm.Selector):
    """Sums of the branches of its inputs."""

    def process(self, events):
        for name in self.inputs["names"]:
            self.output[name] = self.output.get(name, 0.0) + float(ak.sum(events[name]))


@pytest.fixture
def files(tmp_path):
    """A file with `g`, which is 1, and one without it; `i` counts the entries of both."""
    has = write(tmp_path / "has.root", g=np.array([1.0]), i=np.array([0]))
    lacks = write(tmp_path / "lacks.root", h=np.array([5.0]), i=np.array([1]))
    return has, lacks


def by_number(events, folder):
    return events.add_friend(write(folder / "friend.root", g=NUMBERS), alias="fr")


def by_index(events, folder):
    order = np.array([1, 0])
    path = write(folder / "friend.root", g=NUMBERS[order], i=order)
    return events.add_friend(path, alias="fr", index="i")


def of_arrays(events, folder):
    return events.add_friend({"g": NUMBERS}, alias="fr")


joined = pytest.mark.parametrize("join", [by_number, by_index, of_arrays])


@pytest.fixture(scope="module")
def sessions():
    with ExitStack() as stack:
        yield [stack.enter_context(tm.connect(workers=n, mode=mode)) for mode, n in SESSIONS]


@pytest.fixture
def ways(sessions):
    """Functions that add up a column, each in another way."""

    def of(events, name):
        bookings = [partial(booked, each, events, name) for each in sessions]
        selectors = [partial(selected, each, events, name) for each in sessions]
        return [*bookings, lambda: ak.sum(events.arrays([name])[name]), *selectors]

    return of


def booked(session, events, name):
    total, twice = session.run(events.sum(name), events.sum(f"2 * {name}"), progress=False)
    assert twice == 2 * total
    return total


def selected(session, events, name):
    return session.run(Sums(), events, inputs={"names": [name]}, progress=False)[name]


@joined
def test_a_name_of_the_first_file_is_never_the_friends(files, tmp_path, ways, join):
    events = join(tm.dataset(files), tmp_path)
    for way in ways(events, "g"):
        # Selectors look for a column of their events by themselves.
        kind = tm.WorkerError if getattr(way, "func", None) is selected else tm.QueryError
        with raises(kind, about=[files[1], "'g'"]):
            way()
    for way in ways(events, "fr.g"):
        assert way() == 300
    assert "g" in events.branches
    assert events.select_entries([0]).sum("g").value == 1


@joined
def test_a_name_that_the_first_file_lacks_is_the_friends(files, tmp_path, ways, join):
    events = join(tm.dataset(files[::-1]), tmp_path)
    for name in ("g", "fr.g"):
        for way in ways(events, name):
            assert way() == 300
    assert {"g", "fr.g"} <= {*events.branches}
    assert events.select_entries([1]).sum("g").value == (100 if join is by_index else 200)


@joined
@pytest.mark.parametrize("order", [1, -1])
def test_a_name_with_a_default_is_the_datasets_own(files, tmp_path, ways, join, order):
    events = join(tm.dataset(files[::order], missing={"g": -10.0}), tmp_path)
    for way in ways(events, "g"):
        assert way() == -9
    for way in ways(events, "fr.g"):
        assert way() == 300


@joined
def test_a_glob_gives_defaults_to_names_of_files_before_friends(files, tmp_path, ways, join):
    for order in (1, -1):
        events = join(tm.dataset(files[::order], missing={"[gx]*": -10.0}), tmp_path)
        for way in ways(events, "g"):
            assert way() == -9


def test_files_that_the_core_runs_several_at_once(files, tmp_path, ways):
    has, lacks = files
    friend = write(tmp_path / "friend.root", g=np.arange(10.0))
    settled(friend, *files)

    def joined(*files):
        return tm.dataset(files).add_friend(friend, alias="fr")

    for way in ways(joined(*[has] * 10), "g"):
        assert way() == 10
    for way in ways(joined(*[lacks, has] * 5), "g"):
        assert way() == 45
    for way in ways(joined(*[has] * 6, lacks, *[has] * 3), "g"):
        with raises(tm.TreemillError, about=lacks):
            way()


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_what_is_remembered_of_a_file_goes_by_the_first_one(files, tmp_path, mode, monkeypatch):
    from treemill.session import results_folder

    monkeypatch.setattr(results_folder, "_given", [])
    tm.remember(tmp_path / "results")
    both = write(tmp_path / "both.root", g=np.array([7.0]), i=np.array([2]))
    friend = write(tmp_path / "friend.root", g=NUMBERS)
    settled(friend, both, *files)
    for alias in ("fr", None):
        with tm.connect(workers=2, mode=mode) as session:

            def total(*files, alias=alias, session=session):
                friend_of = {"g": NUMBERS} if alias is None else friend
                events = tm.dataset(files).add_friend(friend_of, alias=alias or "memory")
                return session.run(events.sum("g"), progress=False)

            for _ in range(2):
                assert total(files[1], both) == 300
                assert total(files[0], both) == 8
                assert total(both, files[0]) == 8


NUMBERINGS = pytest.mark.parametrize(
    ("name", "total"), [("entry_number", 6), ("local_entry_number", 2)]
)


@pytest.fixture
def numbered(tmp_path):
    """A function that gives a file with a column of this name, 70 and 71, and one without it."""

    def of(name):
        has = write(tmp_path / "has.root", **{name: np.array([70, 71])}, x=np.ones(2))
        return has, write(tmp_path / "lacks.root", x=np.ones(2))

    return of


@NUMBERINGS
def test_names_of_entry_numbers(numbered, sessions, name, total):
    has, lacks = numbered(name)
    events = tm.dataset([has, lacks])
    for session in sessions:
        with raises(tm.QueryError, about=[lacks, name]):
            booked(session, events, name)
        assert booked(session, tm.dataset([lacks, has]), name) == total
        for order in ([has, lacks], [lacks, has]):
            assert booked(session, tm.dataset(order, missing={name: -1}), name) == 139
    with raises(tm.QueryError, about=[lacks, name]):
        events.arrays([name])
    assert ak.sum(tm.dataset([lacks, has]).arrays([name])[name]) == total


@NUMBERINGS
def test_names_of_entry_numbers_that_are_remembered(numbered, tmp_path, name, total, monkeypatch):
    from treemill.session import results_folder

    monkeypatch.setattr(results_folder, "_given", [])
    tm.remember(tmp_path / "results")
    has, lacks = numbered(name)
    settled(has, lacks)
    for _ in range(2):
        assert tm.dataset(has).sum(name).value == 141
        assert tm.dataset([lacks, has]).sum(name).value == total
