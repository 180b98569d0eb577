"""How often what is remembered looks at files and at what is known of them: once for each of many
that are kept together, however many files a default, a friend or a commit has to do with."""

import threading

import pytest
import treemill as tm
from treemill.backends.merged_partial import MergedPartial
from treemill.backends.remembered_partial import RememberedPartial
from treemill.backends.sites.pool import FederatedPass
from treemill.checkpoint.results import Results
from treemill.data.source import FileState
from treemill.scheduling import Committed, small_files
from treemill.scheduling.coordinator import Coordinator
from treemill.session import known_files, results_folder
from treemill.session.remembered import FileKeys
from treemill.workers.query_task import QueryWorkload
from treemill.workers.task import States

from tests.python.session.test_remember_joined import write
from tests.python.written import settled

MANY = 30


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    """Later tests remember nothing."""
    monkeypatch.setattr(results_folder, "_given", [])


@pytest.fixture
def looks(monkeypatch):
    """The files that were looked at, look by look."""
    found, unchanged = [], known_files.FilesOfChain.unchanged

    def noted(self, numbers):
        found.append(sorted(numbers))
        return unchanged(self, found[-1])

    monkeypatch.setattr(known_files.FilesOfChain, "unchanged", noted)
    return found


def files_with(folder, having, count=MANY):
    """Files of which only these have a column more."""
    types = [{"x": "f8", **({"w": "f8"} if n in having else {})} for n in range(count)]
    return [write(folder / f"{n}.root", 5, n, **each) for n, each in enumerate(types)]


def keys_of(events, folder, words):
    """The keys of files as a pass makes them, after those of bookings of these words are made."""
    keys = FileKeys(events.count().node.origin.chain.pinned(), Results(folder), None)
    leaves = keys.leaves(keys.salt(frozenset(words)))
    assert None not in leaves.values()
    return keys


def test_files_that_say_the_default_of_many_are_looked_at_once(tmp_path, looks):
    files = files_with(tmp_path, {MANY - 1})
    events = tm.dataset(files, "Events", missing={"w": 1.0})
    keys = keys_of(events, tmp_path / "results", {"w"})
    assert keys.may_keep(range(MANY), None) == {*range(MANY)}
    assert looks == [[*range(MANY)]]
    looks.clear()
    assert keys.may_keep([MANY - 1], None) == {MANY - 1}
    assert looks == [[MANY - 1]], "it has the column itself"
    looks.clear()
    assert keys.may_keep([3], None) == {3}
    assert looks == [[*range(MANY)]]


def test_a_file_that_says_the_default_of_others_and_changes_keeps_them_away(tmp_path):
    files = files_with(tmp_path, {2, 4}, 6)
    events = tm.dataset(files, "Events", missing={"w": 1.0})
    for changed, kept in ((5, {0, 1, 2, 3, 4}), (4, {0, 1, 2, 3, 5}), (1, {2, 4}), (2, {4})):
        keys = keys_of(events, tmp_path / f"results{changed}", {"w"})
        write(files[changed], 5, 77 + changed, x="f8", w="f8")
        assert keys.may_keep(range(6), None) == kept
        files_with(tmp_path, {2, 4}, 6)


def test_what_workers_of_other_hosts_have_seen_of_them_counts(tmp_path):
    files = files_with(tmp_path, {2}, 4)
    events = tm.dataset(files, "Events", missing={"w": 1.0})
    keys = keys_of(events, tmp_path / "results", {"w"})
    other = FileState(1, None, ("host", 1, 2), (3, 4))
    here = dict.fromkeys(files, "here")
    assert keys.may_keep(range(4), here) == {0, 1, 2, 3}
    assert keys.may_keep(range(4), {**here, files[1]: other}) == {2}
    assert keys.may_keep([3], {files[3]: "here"}) == {3}, "they may not have met the others"
    assert keys.may_keep([3], {files[3]: "here", files[0]: other}) == set()
    assert keys.may_keep([3], {}) == set(), "but the file itself"


def test_all_files_of_a_friend_by_an_index_are_looked_at_once(tmp_path, looks):
    files = [write(tmp_path / f"{n}.root", 5, n, x="i4") for n in range(MANY)]
    others = [write(tmp_path / f"by{n}.root", 5, 50 + n, x="i4", y="f8") for n in range(MANY)]
    friend = tm.dataset(others, "Events")
    events = tm.dataset(files, "Events").add_friend(friend, "other", index="x")
    keys = keys_of(events, tmp_path / "results", {"y"})
    assert keys.may_keep(range(MANY), None) == {*range(MANY)}
    assert looks == [[*range(MANY)]] * 2, "the files, and those of the friend"
    (of_friend,) = keys._friends
    assert of_friend._joined(0) is of_friend._joined(1), "there is one list of them"
    write(others[7], 5, 99, x="i4", y="f8")
    assert keys.may_keep(range(MANY), None) == set()


def test_friends_by_number_keep_away_the_files_that_they_are_joined_to(tmp_path, looks):
    files = [write(tmp_path / f"{n}.root", 6, n, x="f8") for n in range(6)]
    scores = [write(tmp_path / f"score{n}.root", 9, 50 + n, score="f8") for n in range(4)]
    events = tm.dataset(files, "Events").add_friend(tm.dataset(scores, "Events"), "bdt")
    keys = keys_of(events, tmp_path / "results", {"score"})
    assert keys.may_keep(range(6), None) == {*range(6)}
    assert looks == [[*range(6)], [*range(4)]], "a file of the friend is joined to two files"
    write(scores[1], 9, 99, score="f8")
    assert keys.may_keep(range(6), None) == {0, 3, 4, 5}


def test_each_commit_looks_once_and_asks_for_the_sizes_of_its_files(tmp_path, monkeypatch, looks):
    files = files_with(tmp_path, {MANY - 1})
    asked, commits = [], []
    sizes, commit = Coordinator.sizes, RememberedPartial.merge

    def noted_sizes(self, files=None):
        asked.append(MANY if files is None else len(files))
        return sizes(self, files)

    def noted_commit(self, partial, covers):
        commits.append(sorted(covers))
        commit(self, partial, covers)

    monkeypatch.setattr(Coordinator, "sizes", noted_sizes)
    monkeypatch.setattr(RememberedPartial, "merge", noted_commit)
    tm.remember(tmp_path / "results")
    events = tm.dataset(files, "Events", missing={"w": 1.0})
    with tm.connect(workers=2, mode="threads") as session:
        session.run(events.sum("x * w"), events.count(), progress=False)
        assert session.report.remembered.parts == 2 * MANY
    assert {file for each in commits for file in each} == {*range(MANY)}
    assert sum(asked) == sum(map(len, commits)) + MANY, "those of each commit, and all at the end"
    assert len(looks) <= len(commits)
    assert all(len(each) <= MANY for each in looks)


class Untouched(dict):
    """A mapping of which nobody has gone through all."""

    def _all(self):
        raise AssertionError("all of it is gone through")

    __iter__ = keys = items = values = _all


def test_what_sites_have_seen_is_not_copied_at_each_commit():
    federated = FederatedPass.__new__(FederatedPass)
    federated._lock, federated._merged = threading.Lock(), MergedPartial()
    federated._paths, federated._seen = [f"{n}.root" for n in range(MANY)], Untouched()
    for number in range(MANY):
        federated._note(Committed(0, ranges=((number, 0, 5),)), None)
        assert federated._merged.seen is federated._seen
    assert len(federated._seen) == MANY
    federated._note(Committed(1, ranges=((0, 0, 5),)), {"0.root": "there"})
    assert federated._merged.seen["0.root"] == ["here", "there"]


def test_what_workers_have_seen_is_added_to_what_others_have():
    states = States()
    states.seen = Untouched()
    for number in range(MANY):
        states.add({f"{number}.root": FileState(number, None, (), ())})
    assert len(states.seen) == MANY
    with pytest.raises(tm.ChangedError):
        states.add({"new.root": FileState(1, None, (), ()), "3.root": FileState(9, None, (), ())})
    assert "new.root" not in states.seen


@pytest.mark.parametrize("part", [{}, {"entries": (7, 5 * MANY - 3)}], ids=["whole", "part"])
def test_the_core_runs_many_files_in_one_call_and_keeps_them_apart(tmp_path, monkeypatch, part):
    files = files_with(tmp_path, {3, 4, 5})
    settled(*files)
    calls, run_apart = [], QueryWorkload.run_apart

    def noted(self, spans, *rest):
        found = run_apart(self, spans, *rest)
        calls.append(len(found[0]))
        return found

    monkeypatch.setattr(QueryWorkload, "run_apart", noted)
    monkeypatch.setattr(small_files, "TURN_SECONDS", 1e4)
    tm.remember(tmp_path / "results")
    events = tm.dataset(files, "Events", missing={"w": 1.0})
    good = events.filter("x > 10")
    with tm.connect(workers=1, mode="threads") as session:

        def booked():
            return good.sum("x * w"), good.count(), events.max("x")

        first = session.run(*booked()[:2], progress=False, **part)
        kept = session.report.remembered.parts
        more = session.run(booked(), progress=False, **part)
        assert session.report.remembered.parts == kept / 2, "the maximum of each file"
        assert sum(calls) > MANY
        assert len(calls) < MANY, "several files in one call"
        session.run(booked(), progress=False, **part)
        assert session.report.remembered.parts == 0
        fresh = session.run(booked(), progress=False, remember=False, **part)
        assert more == pytest.approx(fresh)
        assert first == pytest.approx(fresh[:2])
        one = {"entries": (10, 15)}
        session.run(booked(), progress=False, **one)
        assert session.report.remembered.parts == 0, "what is kept is of single files"
        assert session.run(booked(), progress=False, **one) == pytest.approx(
            session.run(booked(), progress=False, remember=False, **one)
        )
