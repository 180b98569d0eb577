"""Remembered results of data whose files are not all: defaults of what files lack, friends, columns
from memory; and of parts of files: ranges and lists of entries."""

import os
import shutil
from random import Random

import numpy as np
import pytest
import treemill as tm
import uproot
from hypothesis import given
from hypothesis import strategies as st
from treemill.checkpoint.results import Results
from treemill.data.chain import Chain
from treemill.session import known_files, results_folder
from treemill.workers.query_task import QueryWorkload

from tests.python.session.test_remember import same, settled
from tests.random_search import examples


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    """Later tests remember nothing."""
    monkeypatch.setattr(results_folder, "_given", [])


def write(path, entries=20, seed=0, **types):
    """Writes a file with columns of these types."""
    chance = np.random.default_rng(seed)
    with uproot.recreate(path) as file:
        columns = {name: chance.integers(0, 50, entries) for name in types}
        file.mktree("Events", types).extend(
            {name: columns[name].astype(types[name]) for name in types}
        )
    settled(path)
    return str(path)


def lists(path, entries, factor):
    """Writes a file with a list for each entry."""
    import awkward as ak

    with uproot.recreate(path) as file:
        file.mktree("Events", {"Jet_w": "var * float32"})
        counts = np.arange(entries) % 3
        values = np.arange(counts.sum(), dtype=np.float32) * factor
        file["Events"].extend({"Jet_w": ak.unflatten(values, counts)})
    settled(path)
    return str(path)


@pytest.fixture(params=["threads", "processes"])
def session(request, shared_session):
    return shared_session(2, request.param)


class Runs:
    """Runs bookings with and without memory."""

    def __init__(self, session, folder):
        self.session = session
        tm.remember(folder)

    def __call__(self, book):
        """The parts that a run computes, whose values are those of a fresh run."""
        values = self.session.run(book(), progress=False)
        about = self.session.report.remembered
        fresh = self.session.run(book(), progress=False, remember=False)
        for one, other in zip(values, fresh, strict=True):
            same(one, other)
        return about.parts


@pytest.fixture
def parts(session, tmp_path):
    return Runs(session, tmp_path / "results")


def test_a_default_counts_for_the_files_that_lack_the_column(tmp_path, parts):
    files = [
        write(tmp_path / f"{n}.root", 10 + n, n, x="f8", **({"w": "f8"} if n % 2 else {}))
        for n in range(6)
    ]

    def booked(default, of=files):
        def book():
            events = tm.dataset(of, "Events", missing={"w": default})
            return events.sum("x * w"), events.count()

        return book

    assert parts(booked(1.0)) == 12
    assert parts(booked(1.0)) == 0
    assert parts(booked(2.0)) == 3, "those that lack it, of the booking that means it"
    assert parts(booked(1.0)) == 0
    write(files[1], 11, 7, x="f8", w="f8")
    assert parts(booked(1.0)) == 2, "the others take the type of it, which is as it was"
    write(files[1], 11, 7, x="f8", w="f4")
    assert parts(booked(1.0)) == 2 + 3, "and now it is another one"
    assert parts(booked(1.0, files[2:])) == 0, "now it is that of another file, as at first"
    write(files[1], 11, 7, x="f8", w="f8")
    assert parts(booked(1.0, files[:1])) == 1, "no file has it"
    assert parts(booked(1.0)) == 2


def test_a_type_that_another_file_has_changes_the_default(tmp_path, parts):
    """0.1 is another number as float32."""
    files = [write(tmp_path / f"{n}.root", 10, n, x="f8") for n in range(2)]
    files.append(write(tmp_path / "2.root", 10, 2, x="f8", w="f8"))
    events = tm.dataset(files, "Events", missing={"w": 0.1})

    def book():
        return [events.filter("x >= 0").sum("w")]

    assert parts(book) == 3
    write(files[2], 10, 2, x="f8", w="f4")
    assert parts(book) == 3
    assert parts(book) == 0


def test_a_glob_has_defaults_for_what_the_first_other_file_has(tmp_path, parts):
    files = [
        write(tmp_path / "0.root", 10, 0, x="f8", Jet_pt="f8"),
        write(tmp_path / "1.root", 10, 1, x="f8"),
        write(tmp_path / "2.root", 10, 2, x="f8", Jet_pt="f8", Jet_eta="f8"),
    ]

    def booked(default):
        def book():
            events = tm.dataset(files, "Events", missing={"Jet_*": default})
            return [events.sum("Jet_pt + x"), events.sum("x")]

        return book

    assert parts(booked(1.0)) == 6
    assert parts(booked(2.0)) == 1
    assert parts(booked(2.0)) == 0
    write(files[0], 10, 0, x="f8", Jet_pt="f4")
    assert parts(booked(2.0)) == 3


def test_friends_count_by_what_is_joined_to_a_file(tmp_path, parts):
    files = [write(tmp_path / f"{n}.root", 10, n, x="f8") for n in range(4)]
    scores = [write(tmp_path / f"score{n}.root", 20, 10 + n, score="f8") for n in range(2)]

    def book():
        events = tm.dataset(files, "Events").add_friend(tm.dataset(scores, "Events"), "bdt")
        named = events.sum("bdt.score"), events.filter("score > 20").count()
        return *named, events.sum("x"), events.count()

    assert parts(book) == 16
    assert parts(book) == 0
    write(scores[1], 20, 33, score="f8")
    assert parts(book) == 4, "of two files, for the bookings that mean the friend"
    write(files[0], 10, 44, x="f8")
    assert parts(book) == 4
    assert parts(book) == 0
    for number, path in enumerate(scores):
        write(path, 20, 33 + number, score="f4")
    assert parts(book) == 8


def test_friends_by_an_index_count_with_all_of_their_files(tmp_path, parts):
    files = [write(tmp_path / f"{n}.root", 10, n, x="i4") for n in range(3)]
    others = [write(tmp_path / f"by{n}.root", 30, 10 + n, x="i4", y="f8") for n in range(2)]

    def booked(index="x"):
        def book():
            friend = tm.dataset(others, "Events")
            events = tm.dataset(files, "Events").add_friend(friend, "other", index=index)
            return events.sum("y"), events.count()

        return book

    assert parts(booked()) == 6
    assert parts(booked()) == 0
    write(others[1], 30, 33, x="i4", y="f8")
    assert parts(booked()) == 3
    others.reverse()
    assert parts(booked()) == 3, "the first entry of each value counts"
    assert parts(booked()) == 0


def test_a_default_counts_for_the_entries_that_an_index_finds_by_it(tmp_path, parts):
    file = write(tmp_path / "0.root", 10, 0, x="f8")
    with uproot.recreate(tmp_path / "by.root") as made:
        made["Events"] = {"n": np.arange(3), "y": np.array([1.0, 10.0, 100.0])}
    settled(tmp_path / "by.root")

    def booked(number):
        def book():
            friend = tm.dataset(tmp_path / "by.root", "Events")
            events = tm.dataset(file, "Events", missing={"n": number})
            events = events.add_friend(friend, "other", index="n")
            return events.sum("y"), events.sum("x")

        return book

    assert parts(booked(1)) == 2
    assert parts(booked(2)) == 1
    assert parts(booked(1)) == 0


@pytest.mark.parametrize("joined", ["friend", "arrays", "column"])
def test_columns_count_that_references_lead_to(tmp_path, parts, joined):
    import awkward as ak

    lists = {"Muon_jetIdx": ak.Array([[1], [0, 1]]), "Muon_pt": ak.Array([[9.0], [8.0, 7.0]])}
    with uproot.recreate(tmp_path / "0.root") as made:
        made.mktree("Events", {"Muon_jetIdx": "var * int32", "Muon_pt": "var * float64"})
        made["Events"].extend(lists)
    settled(tmp_path / "0.root")

    def booked(factor):
        jets = ak.Array([[1.0, 2.0], [3.0, 4.0]]) * factor
        if joined == "friend":
            with uproot.recreate(tmp_path / "jets.root") as made:
                made.mktree("Events", {"Jet_pt": "var * float64"})
                made["Events"].extend({"Jet_pt": jets})
            settled(tmp_path / "jets.root")

        def book():
            events = tm.dataset(tmp_path / "0.root", "Events")
            if joined == "friend":
                events = events.add_friend(tm.dataset(tmp_path / "jets.root", "Events"), "more")
            elif joined == "arrays":
                events = events.add_friend({"Jet_pt": jets}, alias="more")
            else:
                events = events.define("Jet_pt", jets)
            return events.sum("sum(Muon.jet.pt)"), events.sum("sum(Muon.pt)")

        return book

    assert parts(booked(1)) == 2
    assert parts(booked(2)) == 1, "nothing names the jets"


def test_lists_of_friends_and_files_of_other_lengths(tmp_path, parts):
    files = [write(tmp_path / f"{n}.root", 7 + n, n, x="f8") for n in range(3)]
    jets = [lists(tmp_path / "a.root", 10, 1.0), lists(tmp_path / "b.root", 14, 2.0)]

    def book():
        events = tm.dataset(files, "Events").add_friend(tm.dataset(jets, "Events"), "j")
        return events.sum("sum(Jet_w)"), events.sum("sum(j.Jet_w) * x"), events.sum("x")

    assert parts(book) == 9
    lists(jets[1], 14, 3.0)
    assert parts(book) == 4, "the first file is joined with the other one alone"
    assert parts(book) == 0


def test_defaults_of_friends_count_for_what_lacks_the_column(tmp_path, parts):
    files = [write(tmp_path / f"{n}.root", 10, n, x="f8") for n in range(2)]
    friends = [str(tmp_path / f"friend-{n}.root") for n in range(2)]
    write(friends[0], 10, 2, score="f8", w="f8")
    write(friends[1], 10, 3, score="f8")

    def booked(default):
        def book():
            friend = tm.dataset(friends, "Events", missing={"w": default})
            events = tm.dataset(files, "Events").add_friend(friend, "bdt")
            return events.sum("bdt.w"), events.sum("bdt.score"), events.sum("x")

        return book

    assert parts(booked(1.5)) == 6
    assert parts(booked(1.5)) == 0
    assert parts(booked(2.5)) == 2, "what may mean the friend, in the file beside the one without"
    assert parts(booked(1.5)) == 0
    write(friends[0], 10, 4, score="f8", w="f4")
    assert parts(booked(1.5)) == 4, "the default is of another type, too"
    assert parts(booked(1.5)) == 0


def test_friends_of_friends_are_not_remembered_and_the_report_says_so(tmp_path, parts):
    files = [write(tmp_path / "0.root", 10, 0, x="f8")]
    score, more = (
        write(tmp_path / f"{n}.root", 10, at, **{n: "f8"}) for at, n in enumerate(("score", "more"))
    )

    def book():
        friend = tm.dataset(score, "Events").add_friend(tm.dataset(more, "Events"), "inner")
        events = tm.dataset(files, "Events").add_friend(friend, "bdt")
        return events.sum("score"), events.sum("x")

    assert parts(book) == 2
    assert parts(book) == 1
    parts.session.run(book())
    assert "bdt that are with friends" in str(parts.session.report)


def test_defaults_of_friends_count_for_a_selector(tmp_path):
    tm.remember(tmp_path / "results")
    file = write(tmp_path / "0.root", 20, 0, x="f8")
    others = [
        write(tmp_path / "1.root", 10, 1, x="f8", w="f8"),
        write(tmp_path / "2.root", 10, 1, x="f8"),
    ]

    def last(events):
        return {"w": {float(events["f.w"][-1])}}

    def run(default):
        friend = tm.dataset(others, "Events", missing={"w": default})
        events = tm.dataset(file, "Events").add_friend(friend, "f")
        return tm.run(last, events, remember="code")["w"], tm.report().remembered.found

    assert run(1.0) == ({1.0}, 0)
    assert run(1.0) == ({1.0}, 1)
    assert run(2.0) == ({2.0}, 0)


def test_a_selector_is_not_remembered_beside_friends_that_may_change_unseen(tmp_path, monkeypatch):
    tm.remember(tmp_path / "results")
    file, other = (
        write(tmp_path / "0.root", 20, 0, x="f8"),
        write(tmp_path / "1.root", 20, 1, w="f8", v="f8"),
    )
    inner = write(tmp_path / "2.root", 20, 2, k="f8", l="f8", m="f8")
    young = []
    settled = known_files._is_settled
    monkeypatch.setattr(
        known_files,
        "_is_settled",
        lambda state, now: state.size not in young and settled(state, now),
    )

    def run():
        friend = tm.dataset(other, "Events").add_friend(tm.dataset(inner, "Events"), "inner")
        events = tm.dataset(file, "Events").add_friend(friend, "f")
        tm.run(lambda chunk: {"w": float(chunk["f.w"][0])}, events, remember="code")
        return str(tm.report())

    for each in (other, inner):
        young[:] = [os.stat(each).st_size]
        assert "a file was written a moment ago" in run(), each
    young.clear()
    assert "cannot be remembered" not in run()


def test_columns_from_memory_count_by_their_values(tmp_path, parts):
    files = [write(tmp_path / f"{n}.root", 10, n, x="f8") for n in range(3)]
    values = np.arange(30.0)

    def book():
        events = tm.dataset(files, "Events").define("w", values).define("v", values * 2)
        return events.sum("w"), events.sum("v * x"), events.sum("x")

    assert parts(book) == 9
    assert parts(book) == 0
    values = values.copy()
    values[25] = 7
    assert parts(book) == 2
    assert parts(book) == 0


def test_numbers_of_a_sample_do_not_count_the_samples_before_it(tmp_path, parts):
    files = [write(tmp_path / f"{n}.root", 10 + n, n, x="f8") for n in range(4)]

    def booked(**samples):
        def book():
            return [tm.fileset(samples, "Events").sum("x * entry_number")]

        return book

    assert parts(booked(a=files[:2])) == 2
    assert parts(booked(b=files[2:], a=files[:2])) == 2
    assert parts(booked(a=files[:3])) == 1
    assert parts(booked(a=files[1:3])) == 2


def test_parts_of_files_count_by_their_entries(tmp_path, session):
    tm.remember(tmp_path / "results")
    files = [write(tmp_path / f"{n}.root", 10, n, x="f8") for n in range(4)]

    def parts(**options):
        def values(**more):
            events = tm.dataset(files, "Events")
            booked = events.sum("x"), events.filter("entry_number % 2 == 0").count()
            return session.run(*booked, progress=False, **options, **more)

        found, about = values(), session.report.remembered
        assert found == values(remember=False)
        return about.parts

    assert parts() == 8
    assert parts(max_files=2) == 0, "these are whole files"
    assert parts(entries=25) == 2, "half of the third file"
    assert parts(entries=25) == 0
    assert parts(entries=(5, 25)) == 2
    assert parts(entries=(10, 30)) == 0
    write(files[1], 10, 44, x="f8")
    assert parts(entries=(5, 25)) == 1 + 2, "and entries' numbers count in what comes after"


def test_lists_of_entries_count_by_the_entries_of_each_part(tmp_path, session):
    tm.remember(tmp_path / "results")
    files = [write(tmp_path / f"{n}.root", 10, n, x="f8") for n in range(4)]

    def parts(numbers, **options):
        def values(**more):
            events = tm.dataset(files, "Events").select_entries(numbers)
            booked = events.sum("x"), events.hist("x", bins=5)
            return session.run(*booked, progress=False, **options, **more)

        found, about = values(), session.report.remembered
        for one, other in zip(found, values(remember=False), strict=True):
            same(one, other)
        return about.parts

    chosen = [1, 5, 13, 22, 27, 31]
    assert parts(chosen) == 8
    assert parts(chosen) == 0
    assert parts([*chosen, 35]) in (2, 5), (
        "of one file; if the range of the axis is another, of all"
    )
    assert parts([1, 5, 13, 22, 28, 31]) in (2, 5)
    assert parts(chosen) == 0
    write(files[1], 10, 44, x="f8")
    assert parts(chosen) in (2, 5)
    assert parts([]) == 2
    mask = np.isin(np.arange(40), chosen)
    assert parts(mask) == 0, "the same entries"
    explained = tm.dataset(files, "Events").select_entries(chosen).sum("x").explain()
    assert "sum(x): from memory" in explained


def test_a_friend_that_changes_while_it_is_read_is_not_kept(tmp_path, monkeypatch):
    file = write(tmp_path / "file.root", 20, 0, x="f8")
    score = write(tmp_path / "score.root", 20, 1, score="f8")
    other = write(tmp_path / "other.root", 20, 2, score="f8")
    kept = []
    monkeypatch.setattr(QueryWorkload, "changed", lambda self, file: None)
    monkeypatch.setattr(Chain, "changed", lambda self, *which: None)  # of workers' own looks

    def add(self, records):
        kept.extend(n for _, entries, _ in records for n in entries)

    monkeypatch.setattr(Results, "add", add)
    tm.remember(tmp_path / "results")

    events = tm.dataset(file, "Events").add_friend(tm.dataset(score, "Events"), "bdt")

    def replaced(values):
        if os.path.exists(other):
            os.replace(other, score)
        return values

    tm.run(events.sum("score"))
    assert kept == [20], "it has not changed"
    kept.clear()
    replacing = events.define("y", replaced, columns="score")
    tm.run(replacing.max("y"), events.max("score"))
    assert kept == [], "it is looked at once more before it is kept"


class Analysis:
    """Files with and without a column, and a friend in files of other lengths, as they are edited;
    and what must be computed after each edit."""

    LENGTH, OTHERS = 12, 8

    def __init__(self, chance, folder):
        self.chance, self.folder = chance, folder
        self.files, self.types, self.versions = [], {}, {}
        self.default, self.cut, self.count = 1.0, 10, 0
        self.seen = set()
        for _ in range(3):
            self.add_file()

    def write(self, path, length, **types):
        self.count += 1
        self.versions[path] = self.count
        self.types[path] = types.get("w")
        return write(path, length, self.count, **types)

    def put(self, path):
        w = self.chance.choice((None, None, "f4", "f8"))
        self.write(path, self.LENGTH, x="f8", **({"w": w} if w else {}))

    def add_file(self):
        path = str(self.folder / f"{len(self.versions)}.root")
        self.put(path)
        self.files.insert(self.chance.randint(0, len(self.files)), path)

    def remove_file(self):
        if len(self.files) > 1:
            self.files.remove(self.chance.choice(self.files))

    def change_file(self):
        self.put(self.chance.choice(self.files))

    def change_friend(self):
        path, length = self.chance.choice(self.friend())
        self.write(path, length, score="f8")

    def change_default(self):
        self.default = self.chance.choice((0.1, 1.0, 2.5))

    def change_cut(self):
        self.cut = self.chance.choice((10, 20))

    def edit(self):
        self.chance.choice(
            (
                *(self.add_file, self.remove_file, self.change_file, self.change_file),
                *(self.change_friend, self.change_friend, self.change_default, self.change_cut),
            )
        )()

    def friend(self):
        """The friend's files and their lengths, as many as are needed."""
        left, found = len(self.files) * self.LENGTH, []
        while left:
            length = min(left, self.OTHERS)
            path = str(self.folder / f"friend-{len(found)}-{length}.root")
            if path not in self.versions:
                self.write(path, length, score="f8")
            found.append((path, length))
            left -= length
        return found

    def bookings(self):
        friend = tm.dataset([path for path, _ in self.friend()], "Events")
        events = tm.dataset(self.files, "Events", missing={"w": self.default})
        events = events.add_friend(friend, "bdt")
        return [
            events.sum("x"),
            events.sum("x * w"),
            events.filter(f"score > {self.cut}").count(),
            events.hist("bdt.score", bins=(10, 0, 100), weight="w"),
        ]

    def wanted(self):
        """What tells the results of single files apart."""
        versions = self.versions
        having = next((each for each in self.files if self.types[each]), None)
        sample = None if having is None else self.types[having]
        pieces, begin = {}, 0
        for path, length in self.friend():
            for entry in range(length):
                file = self.files[(begin + entry) // self.LENGTH]
                pieces.setdefault(file, {}).setdefault(path, []).append(entry)
            begin += length
        for path in self.files:
            own = path, versions[path]
            w = None if self.types[path] else (self.default, sample)
            joined = [(each, versions[each], *inside) for each, inside in pieces[path].items()]
            yield own, "x"
            yield own, "x * w", w
            yield own, "score", self.cut, tuple(joined)
            yield own, "hist", w, tuple(joined)

    def check(self, session):
        values = session.run(self.bookings(), progress=False)
        about = session.report.remembered
        fresh = session.run(self.bookings(), progress=False, remember=False)
        for one, other in zip(values, fresh, strict=True):
            same(one, other)
        wanted = set(self.wanted())
        assert about.parts == len(wanted - self.seen), "no more than what has changed"
        self.seen |= wanted


@examples(100)
@given(st.integers(0, 1 << 30))
def test_after_any_edits_results_are_those_of_a_fresh_run(tmp_path_factory, seed):
    folder, chance = tmp_path_factory.mktemp("edits"), Random(seed)
    analysis = Analysis(chance, folder)
    tm.remember(folder / "results")
    with tm.connect(workers=2) as session:
        for _ in range(10):
            analysis.check(session)
            analysis.edit()
    tm.remember(None)
    shutil.rmtree(folder)
