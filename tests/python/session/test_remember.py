"""Remembered results: they are those of a fresh run, whatever was changed, and only what was
changed is computed."""

import importlib
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

import hist
import numpy as np
import pytest
import treemill as tm
import uproot
from hypothesis import given
from hypothesis import strategies as st
from treemill.checkpoint.digest import _distributions, _version
from treemill.facility.generate import write
from treemill.session import known_files, results_folder

from tests.raising import raises
from tests.random_search import examples
from tests.waiting import until


class Contents(list):
    """Files' bytes, which failures do not show."""

    def __repr__(self):
        return f"<{len(self)} files>"


@pytest.fixture(scope="module")
def contents(core, tmp_path_factory):
    """Files' bytes: two of each size, which differ in one value."""
    folder, made = tmp_path_factory.mktemp("contents"), Contents()
    empty = folder / "empty.root"
    with uproot.recreate(empty) as file:
        jets = {"Jet_pt": "var * float32", "Jet_eta": "var * float32"}
        file.mktree("Events", {"MET_pt": "f4", "nMuon": "i4", **jets})
    made.append(empty.read_bytes())
    for index, events in enumerate((300, 1, 450, 200, 900)):
        path = folder / f"{index}.root"
        write(path, events=events, index=index, cluster=100, codec="none")
        data = path.read_bytes()
        made.append(data)
        with uproot.open(path) as file:
            first = file["Events/MET_pt"].array(library="np")[0]
        stored = np.array([first], ">f4").tobytes()
        assert data.count(stored) >= 1
        made.append(data.replace(stored, np.array([first + 40], ">f4").tobytes(), 1))
    return made


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    """Later tests remember nothing."""
    monkeypatch.setattr(results_folder, "_given", [])


def settled(*paths):
    """Waits until a file that is changed again has another time."""
    while any(time.time_ns() - os.stat(path).st_ctime_ns < 60_000_000 for path in paths):
        time.sleep(0.005)


@pytest.fixture
def files(contents, tmp_path):
    paths = []
    for number, data in enumerate(contents[1:7]):
        paths.append(tmp_path / f"{number}.root")
        paths[-1].write_bytes(data)
    settled(*paths)
    return [str(path) for path in paths]


def correction_text(factor):
    return (
        '{"schema_version": 2, "corrections": [{"name": "sf", "version": 1, '
        '"output": {"name": "w", "type": "real"}, "inputs": [{"name": "x", "type": "real"}], '
        f'"data": {{"nodetype": "binning", "input": "x", "edges": [0.0, 30.0, 1000.0], '
        f'"content": [1.0, {factor}], "flow": "clamp"}}}}]}}'
    )


def correction(factor):
    return tm.corrections(correction_text(factor).encode())


def same(one, other):
    """Counts are equal to the bit, sums of weights up to rounding."""
    if hasattr(one, "axes"):
        assert one.axes == other.axes
        exact = one.storage_type.__name__ in ("Double", "Int64")
        for field_name in one.view(flow=True).dtype.names or [None]:
            a, b = (h.view(flow=True) for h in (one, other))
            a, b = (a, b) if field_name is None else (a[field_name], b[field_name])
            assert np.array_equal(a, b) if exact else np.allclose(a, b, rtol=1e-9, atol=1e-9)
    elif hasattr(one, "items"):
        assert one.keys() == other.keys()
        for name in one:
            same(one[name], other[name])
    elif isinstance(one, float | np.ndarray):
        assert one == pytest.approx(other, rel=1e-9)
    else:
        assert np.array_equal(one, other)


@dataclass(frozen=True)
class Booked:
    """One booking of the model: what it depends on is in its fields."""

    kind: str = "hist"
    column: str = "MET_pt"
    cut: float | None = None
    bins: int = 10
    weighted: bool = False

    def key(self, state):
        """What tells its result from others, besides the file."""
        bins = self.bins if self.kind == "hist" else None
        column = None if self.kind == "count" else self.column
        used = [state.low] if self.kind != "count" and self.column == "ht" else []
        used += [state.scale] if self.kind != "count" and self.column == "scaled" else []
        used += [state.times, state.version] if self.kind != "count" and column == "moved" else []
        used += [state.factor] if self.kind == "hist" and self.weighted else []
        weighted = self.weighted and self.kind == "hist"
        return self.kind, column, self.cut, bins, weighted, tuple(used)

    def book(self, node):
        if self.cut is not None:
            node = node.filter(f"nMuon >= 1 and MET_pt > {self.cut}")
        if self.kind == "count":
            return node.count()
        if self.kind == "hist":
            weight = "sf['sf'](MET_pt)" if self.weighted else None
            return node.hist(self.column, bins=(self.bins, 0, 200), weight=weight)
        return getattr(node, self.kind)(self.column)


@dataclass
class State:
    """An analysis as it is edited."""

    files: list = field(default_factory=list)
    booked: list = field(default_factory=list)
    low: float = 30
    scale: float = 2
    factor: float = 1.5
    times: int = 2
    """In a module of the user's own."""
    version: str = "1.0"
    """Of a library."""

    def bookings(self):
        helper = sys.modules[HELPER]
        helper.TIMES = self.times

        def moved(met):
            return helper.moved(met)

        events = tm.dataset(self.files, "Events")
        node = events.with_params({"low": self.low, "scale": self.scale})
        node = node.with_params({"sf": correction(self.factor)})
        node = node.define("ht", "sum(Jet_pt[Jet_pt > low])").define("scaled", "MET_pt * scale")
        node = node.define("moved", moved, columns="MET_pt")
        return [each.book(node) for each in self.booked]


def some_booking(chance):
    kind = chance.choice(("hist", "hist", "hist", "count", "mean", "max"))
    return Booked(
        kind,
        chance.choice(("MET_pt", "ht", "scaled", "moved", "Jet_pt")),
        chance.choice((None, 10, 20, 30)),
        chance.choice((10, 20)),
        kind == "hist" and chance.random() < 0.3,
    )


LIBRARY, HELPER = "library_of_edits", "helper_of_edits"


def install(folder, version):
    """Installs a version of a library, as packages are, and a module of the user's that uses it."""
    packages = folder / "site-packages"
    shutil.rmtree(packages, ignore_errors=True)
    about = packages / f"{LIBRARY}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {LIBRARY}\nVersion: {version}\n")
    (about / "RECORD").write_text(f"{LIBRARY}.py,sha256={version},1\n")
    (about / "top_level.txt").write_text(LIBRARY)
    (packages / f"{LIBRARY}.py").write_text(f"def plus(x):\n    return x + {version}\n")
    (folder / f"{HELPER}.py").write_text(
        f"import {LIBRARY}\nTIMES = 2\ndef moved(x):\n    return {LIBRARY}.plus(x) * TIMES\n"
    )
    for each in (packages, folder):
        if str(each) not in sys.path:
            sys.path.append(str(each))
    for name in (LIBRARY, HELPER):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    _version.cache_clear()  # a new version is there for processes that start later
    if LIBRARY not in _distributions():  # a look through all packages that are installed
        _distributions.cache_clear()
    importlib.import_module(HELPER)


class Chain:
    """Random edits, one after another, and what must be computed after each."""

    def __init__(self, chance, folder, contents):
        self.chance, self.folder, self.contents = chance, folder, contents
        self.state = State(booked=[some_booking(chance) for _ in range(3)])
        install(folder, self.state.version)
        self.seen = set()
        self.versions = {}  # of files, by path: each change makes another file
        self.held = {}
        for _ in range(3):
            self.add_file()

    def put(self, path, number, keep_time=False):
        """Writes a file. `keep_time`: its time of change is set back to what it was."""
        before = os.stat(path) if keep_time else None
        with open(path, "wb") as file:
            file.write(self.contents[number])
        if before is not None:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        settled(path)
        self.versions[path] = len(self.versions), self.versions.get(path), number
        self.held[path] = number

    def add_file(self):
        path = str(self.folder / f"{len(self.held)}.root")
        self.put(path, self.chance.randrange(len(self.contents)))
        files = self.state.files
        files.insert(self.chance.randint(0, len(files)), path)

    def remove_file(self):
        files = self.state.files
        if len(files) > 1:
            files.remove(self.chance.choice(files))

    def add_again(self):
        gone = sorted(set(self.held) - set(self.state.files))
        if gone:
            self.state.files.append(self.chance.choice(gone))

    def change_file(self):
        path = self.chance.choice(self.state.files)
        self.put(path, self.chance.randrange(len(self.contents)))

    def change_a_byte(self):
        path = self.chance.choice(self.state.files)
        number = self.held[path]
        sizes = [len(each) for each in self.contents]
        twins = [n for n, size in enumerate(sizes) if size == sizes[number] and n != number]
        if twins:
            self.put(path, self.chance.choice(twins), keep_time=True)

    def replace_file(self):
        path = self.chance.choice(self.state.files)
        os.remove(path)
        self.put(path, self.held[path])

    def add_booking(self):
        booked = self.state.booked
        booked.insert(self.chance.randint(0, len(booked)), some_booking(self.chance))

    def remove_booking(self):
        if len(self.state.booked) > 1:
            self.state.booked.pop(self.chance.randrange(len(self.state.booked)))

    def change_booking(self):
        booked = self.state.booked
        place = self.chance.randrange(len(booked))
        other = some_booking(self.chance)
        name = self.chance.choice(("cut", "bins", "column"))
        booked[place] = replace(booked[place], **{name: getattr(other, name)})

    def change_param(self):
        setattr(self.state, self.chance.choice(("low", "scale")), self.chance.choice((2, 25, 30)))

    def change_correction(self):
        self.state.factor = self.chance.choice((0.5, 1.5, 2.5))

    def change_helper(self):
        self.state.times = self.chance.choice((2, 3))

    def change_library(self):
        self.state.version = self.chance.choice(("1.0", "1.1", "2.0"))
        install(self.folder, self.state.version)

    def edit(self):
        edits = (
            *(self.add_file, self.remove_file, self.add_again, self.change_file),
            *(self.change_a_byte, self.replace_file, self.add_booking, self.add_booking),
            *(self.remove_booking, self.change_booking, self.change_booking),
            *(self.change_param, self.change_correction, self.change_helper, self.change_library),
        )
        self.chance.choice(edits)()

    def check(self, session):
        """Runs, and compares with a fresh run."""
        values = session.run(self.state.bookings())
        about = session.report.remembered
        entries = session.report.entries
        fresh = session.run(self.state.bookings(), remember=False)
        for one, other in zip(values, fresh, strict=True):
            same(one, other)
        assert entries == session.report.entries
        wanted = {
            (self.versions[path], path, each.key(self.state))
            for path in self.state.files
            for each in self.state.booked
        }
        assert about.parts == len(wanted - self.seen), "no more than what has changed"
        assert about.read == len({path for _, path, _ in wanted - self.seen})
        self.seen |= wanted


@examples(150)
@given(st.integers(0, 1 << 30))
def test_after_any_edits_results_are_those_of_a_fresh_run(contents, tmp_path_factory, seed):
    folder, chance = tmp_path_factory.mktemp("edits"), Random(seed)
    path, dont_write = [*sys.path], sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # a source may be as long as before and of the same second
    chain = Chain(chance, folder, contents)
    tm.remember(folder / "results")
    with tm.connect(workers=2) as session:
        for _ in range(10):
            chain.check(session)
            chain.edit()
            if chance.random() < 0.2:
                tm.remember(folder / "results")  # as another process sees it
    tm.remember(None)
    shutil.rmtree(folder)
    sys.path[:], sys.dont_write_bytecode = path, dont_write


def booked(files):
    """Bookings of many kinds."""
    events = tm.dataset(files, "Events")
    good = events.filter("nMuon >= 1", "muons").define("ht", "sum(Jet_pt[Jet_pt > 30])")
    varied = good.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"}, name="jes")
    return [
        good.hist("MET_pt", bins=30),  # whose range is found by a pass of its own
        good.hist("ht", bins=(20, 0, 500), weight="MET_pt"),
        good.profile("Jet_pt", sample="Jet_eta", bins=(20, 0, 200)),
        varied.hist("MET_pt", bins=(10, 0, 100)),
        events.count(),
        good.sum("MET_pt"),
        good.std("ht"),
        good.max("nJet"),
        good.approx_quantiles("MET_pt", [0.5, 0.9]),
        good.unique("nMuon"),
        good.report(),
        events.filter("random(seed=1) < 0.5").count(),
        events.filter("local_entry_number < 10").count(),
    ]


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_second_run_computes_nothing(files, tmp_path, mode):
    tm.remember(tmp_path / "results")
    with tm.connect(workers=2, mode=mode) as session:
        first = session.run(booked(files))
        assert session.report.remembered.read == len(files)
        second = session.run(booked(files))
        report = session.report
        assert report.remembered.found == report.remembered.results
        assert (report.remembered.parts, report.remembered.read) == (0, 0)
        assert report.complete
        assert report.entries == report.entries_before > 0
        assert report.bytes_read == 0
        third = session.run(booked(files), remember=False)
        assert session.report.remembered is None
    for one, two, three in zip(first, second, third, strict=True):
        assert str(one) == str(two)
        same(two, three)


def test_large_histograms_are_remembered_whole(files, tmp_path):
    """Workers hand on lists of what they filled into them, in more commits than one."""
    where = tmp_path / "results"

    def booked(paths):
        axes = [(2100, 0, 200), (2100, 0, 200)]
        events = tm.dataset(paths, "Events")
        return [events.hist("MET_pt", "MET_pt", bins=axes), events.hist("MET_pt", bins=axes[0])]

    with tm.connect(workers=2, mode="threads") as session:
        fresh = session.run(booked(files), progress=False)
        tm.remember(where)
        session.run(booked(files[:3]), progress=False)
        for _ in range(2):
            found = session.run(booked(files), progress=False)
            for one, other in zip(found, fresh, strict=True):
                assert np.array_equal(one.view(flow=True), other.view(flow=True))
                assert one.sum(flow=True) > 0
        assert session.report.remembered.found == 2


def test_another_process_has_what_is_remembered(files, tmp_path):
    program = (
        "import sys, treemill as tm\n"
        "events = tm.dataset(sys.argv[1:], 'Events')\n"
        "print(events.filter('MET_pt > 20').count().value, tm.report().remembered.parts)\n"
    )
    environment = os.environ | {"TREEMILL_REMEMBER": str(tmp_path / "results")}
    command = [sys.executable, "-c", program, *files]
    lines = [
        subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert [parts for _, parts in lines] == [str(len(files)), "0"]
    assert lines[0][0] == lines[1][0]


def test_a_variation_more_computes_that_variation(files, tmp_path):
    tm.remember(tmp_path / "results")

    def run(**tags):
        node = tm.dataset(files, "Events").vary("MET_pt", tags, name="jes")
        return node.hist("MET_pt", bins=(10, 0, 100)).value

    run(up="MET_pt * 1.1")
    values = run(up="MET_pt * 1.1", down="MET_pt * 0.9")
    about = tm.report().remembered
    assert (about.results, about.found, about.parts) == (3, 2, len(files))
    tm.remember(None)
    same(values, run(up="MET_pt * 1.1", down="MET_pt * 0.9"))


def test_random_numbers_depend_on_the_files_before(files, tmp_path):
    tm.remember(tmp_path / "results")

    def run(of):
        node = tm.dataset(of, "Events").filter("random(seed=1) < 0.5")
        return node.count().value, tm.report().remembered.parts

    first, _ = run(files)
    assert run(files) == (first, 0)
    other = files[:2] + files[3:]
    count, parts = run(other)
    assert parts == len(files) - 3
    tm.remember(None)
    assert count == tm.dataset(other, "Events").filter("random(seed=1) < 0.5").count().value


PROGRAM = """
import sys
import treemill as tm
tm.remember(sys.argv[1])
events = tm.dataset(sys.argv[3:], "Events")
with tm.connect(workers=2, mode=sys.argv[2]) as session:
    good = [events.filter(f"MET_pt > {cut}") for cut in range(0, 40, 2)]
    print("ready", flush=True)
    values = session.run([each.count() for each in good] + [each.sum("MET_pt") for each in good])
    print(*values[:20], *(f"{value:.6g}" for value in values[20:]))
"""


def many_files(contents, folder, number=60):
    paths = [folder / f"many{n}.root" for n in range(number)]
    for n, path in enumerate(paths):
        path.write_bytes(contents[1 + n % 10])
    settled(*paths)
    return [str(path) for path in paths]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_runs_that_are_killed_leave_what_is_right(contents, tmp_path, mode):
    """At any moment, twenty times: while they start, work, keep or add totals up."""
    paths, chance = many_files(contents, tmp_path), Random(3)
    wanted = [sys.executable, "-c", PROGRAM, str(tmp_path / "fresh"), mode, *paths]
    fresh = subprocess.run(wanted, capture_output=True, text=True, check=True).stdout
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "results"), mode, *paths]
    for _ in range(20):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            running.stdout.readline()
            with suppress(subprocess.TimeoutExpired):
                running.wait(chance.uniform(0.0, 0.2))
            running.kill()
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == fresh


def test_processes_share_a_folder(contents, tmp_path):
    """Several runs of the same at once, each of which keeps what it computes."""
    paths = many_files(contents, tmp_path, 20)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "results"), "threads", *paths]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {each.communicate(timeout=120)[0] for each in running}
    assert {each.returncode for each in running} == {0}
    last = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == {last}


def test_samples_of_a_fileset_are_apart(files, tmp_path):
    tm.remember(tmp_path / "results")

    def run(xsec=2.0, of=files):
        samples = {
            "a": {"files": dict.fromkeys(of[:2], "Events"), "metadata": {"xsec": xsec}},
            "b": {"files": dict.fromkeys(of[2:], "Events"), "metadata": {"xsec": 3.0}},
        }
        events = tm.fileset(samples)
        return tm.run(events.count(), events.hist("MET_pt", bins=(10, 0, 100), weight="xsec"))

    count, _ = run()
    assert tm.report().remembered.parts == 2 * len(files)
    run()
    assert tm.report().remembered.parts == 0
    _, weighted = run(xsec=4.0)
    assert tm.report().remembered.parts == 2, "the files of one sample, for one booking"
    run(of=files[:-1])
    assert tm.report().remembered.parts == 0, "as it was before, and a file less"
    tm.remember(None)
    fresh_count, fresh = run(xsec=4.0)
    same(dict(weighted), dict(fresh))
    same(dict(count), dict(fresh_count))


def test_samples_share_the_axes_that_a_first_pass_finds(files, tmp_path):
    def run(of=files):
        events = tm.fileset({"a": of[:1], "b": of[1:3], "c": of[3:]}, "Events")
        varied = events.vary("nMuon", {"more": "nMuon + 7"})
        grows = hist.axis.IntCategory([], growth=True)
        most, grown = events.hist("MET_pt", bins=10), varied.hist("nMuon", bins=grows)
        both = events.hist("MET_pt", "nMuon", bins=[5, hist.axis.Integer(0, 1, growth=True)])
        return tm.run(most, grown, both)

    parts = (files, files[:4], files[::-1], files)
    fresh = [run(of) for of in parts]
    tm.remember(tmp_path / "results")
    for of, values in zip(parts, fresh, strict=True):
        for found, wanted in zip(run(of), values, strict=True):
            assert dict(found) == dict(wanted)
            assert len({str(getattr(each, "nominal", each).axes) for each in found.values()}) == 1
    assert tm.report().remembered.parts == 0


def test_what_was_left_out_is_not_remembered(files, tmp_path):
    tm.remember(tmp_path / "results")
    broken = str(tmp_path / "broken.root")
    with open(broken, "wb") as file:
        file.write(b"root" + bytes(1000))
    settled(broken)
    for parts in (len(files) + 1, 1):
        with pytest.warns(tm.IncompleteWarning):
            n = tm.run(tm.dataset([*files, broken], "Events").count(), on_error="skip")
        assert n == tm.dataset(files, "Events").num_entries
        assert tm.report().remembered.parts == parts


def test_a_file_that_was_written_a_moment_ago_is_not_remembered(files, tmp_path, monkeypatch):
    monkeypatch.setattr(known_files, "_FINE", 10**18)
    tm.remember(tmp_path / "results")
    for _ in range(2):
        assert tm.dataset(files, "Events").count().value > 0
        assert tm.report().remembered.parts == len(files)
        assert "a moment ago" in str(tm.report())


def test_the_report_gives_reasons_of_files_that_are_read_only(files, tmp_path):
    tm.remember(tmp_path / "results")
    events = tm.dataset([{"first.root": [files[0], files[0]]}, files[1]], "Events")
    entries = tm.dataset(files[0], "Events").num_entries
    for said in (False, True):  # one entry of the second file, which is remembered
        tm.run(events.count(), entries=(entries - said, entries + 1))
        assert ("several addresses" in str(tm.report())) == said


def test_a_file_that_changes_while_it_is_read_is_not_remembered(files, contents, tmp_path):
    tm.remember(tmp_path / "results")

    def replaced(met):
        os.replace(shutil.copy(files[1], tmp_path / "other"), files[0])
        return met

    events = tm.dataset(files[:1], "Events")
    with pytest.raises(tm.ChangedError):
        events.define("same", replaced, columns="MET_pt").hist("same", bins=(10, 0, 100)).value  # noqa: B018
    settled(files[0])
    assert (
        tm.dataset(files[:1], "Events").count().value == tm.dataset(files[1], "Events").num_entries
    )


def test_the_report_says_what_made_a_booking_compute(files, tmp_path):
    tm.remember(tmp_path / "results")

    def reason(cut=20, factor=1.5, scale=2, bins=10):
        node = tm.dataset(files, "Events").with_params({"sf": correction(factor), "c": scale})
        node = node.define("x", "MET_pt * c").filter(f"MET_pt > {cut}")
        node.hist("x", bins=(bins, 0, 200), weight="sf['sf'](MET_pt)").value  # noqa: B018
        about = tm.report().remembered
        return dict(about.computed).get("x")

    assert reason() == "it is new"
    assert reason() is None
    assert reason(cut=30) == "filter MET_pt > 20 is now filter MET_pt > 30"
    assert reason(cut=30, factor=2.5) == "sf has changed"
    assert reason(cut=30, factor=2.5, scale=3) == "c has changed"
    assert reason(cut=30, factor=2.5, scale=3, bins=20) == "what is booked has changed"
    files.append(files[0])
    assert reason(cut=30, factor=2.5, scale=3, bins=20) is None, "it is there already"
    shutil.copy(files[1], tmp_path / "more.root")
    settled(tmp_path / "more.root")
    files.append(str(tmp_path / "more.root"))
    words = "1 of 8 files are new or have changed"
    assert reason(cut=30, factor=2.5, scale=3, bins=20) == words


def test_explain_says_what_is_remembered(files, tmp_path):
    folder = tmp_path / "results"
    for year, factor in ((2026, 1.5), (2027, 2.5)):
        (tmp_path / f"sf_{year}.json").write_text(correction_text(factor))

    def booked(year=2026):
        sf = tm.corrections(tmp_path / f"sf_{year}.json")
        node = tm.dataset(files, "Events").with_params({"sf": sf})
        node = node.vary("MET_pt", {"up": "MET_pt * 1.1"})
        weighted = node.hist("MET_pt", bins=(10, 0, 200), weight="sf['sf'](MET_pt)")
        return weighted, node.filter("nMuon >= 1").count()

    def said(booking):
        _, _, words = booking.explain().partition("remembered:\n  ")
        return words.split("\n  ") if words else []

    assert said(booked()[0]) == [], "nothing is remembered"
    tm.remember(folder)
    first = booked()
    new = "computed, because it is new"
    wanted = [f"MET_pt: {new}", f"MET_pt (MET_pt:up): {new}", f"count: {new}"]
    assert said(first[0]) == wanted
    assert not [*folder.iterdir()], "to look keeps nothing"
    tm.run(first)
    assert said(first[0]) == wanted[:2], "as it was"
    again = booked()
    assert said(again[0]) == [
        *("MET_pt: from memory", "MET_pt (MET_pt:up): from memory"),
        "count: from memory",
    ]
    moved = f"sf has changed: {tmp_path}/sf_2026.json is now {tmp_path}/sf_2027.json"
    changed = booked(2027)
    words = [f"{name}: computed, because {moved}" for name in ("MET_pt", "MET_pt (MET_pt:up)")]
    assert said(changed[0]) == [*words, "count: from memory"]
    tm.run(changed)
    assert changed[0].report.remembered.of("MET_pt") == words
    assert said(changed[1]) == ["count: from memory"]
    automatic = tm.dataset(files, "Events").hist("MET_pt", bins=10)
    assert said(automatic) == ["MET_pt: its range is found first"]
    taken = tm.dataset(files, "Events").take("MET_pt")
    assert said(taken) == ["take(MET_pt): computed, because rows are not remembered"]


def test_histograms_beside_rows_are_remembered(files, tmp_path):
    def run(**options):
        events = tm.dataset(files, "Events")
        booked = {
            "skim": events.filter("nMuon >= 2").snapshot(tmp_path / "skim.root", ["MET_pt"]),
            "met": events.hist("MET_pt", bins=(10, 0, 200)),
            "n": events.count(),
            "rows": events.take("nMuon"),
        }
        found = tm.run(booked, **options)
        with uproot.open(tmp_path / "skim.root") as skim:
            kept = skim["Events"]["MET_pt"].array(library="np")
        told = booked["met"].report.remembered, booked["rows"].report.remembered
        return (found["met"].values(), found["n"], found["rows"], kept), told

    def equal(one, other):
        return all(map(np.array_equal, one, other))

    expected, _ = run()
    tm.remember(tmp_path / "results")
    first, (told, _) = run()
    assert equal(first, expected)
    assert told.parts == 2 * len(files)
    again, (told, of_rows) = run()
    assert equal(again, expected)
    assert (told.parts, told.found) == (0, 2)
    assert (of_rows.found, of_rows.results) == (0, 2)
    events = tm.dataset(files, "Events")
    kept, rows = events.hist("MET_pt", bins=(10, 0, 200)), events.take("MET_pt")
    assert "MET_pt: from memory" in kept.explain()
    assert "take(MET_pt): computed, because rows are not remembered" in rows.explain()
    assert equal(run(trace=str(tmp_path / "trace.json"))[0], expected)


def test_rows_and_histograms_have_the_same_values_of_uncertain_functions(files, tmp_path):
    tm.remember(tmp_path / "results")
    events = tm.dataset(files, "Events")
    events = events.define("y", lambda x: x + np.random.random(), columns="MET_pt")
    rows, total = tm.run(events.take("y"), events.sum("y"))
    assert total == pytest.approx(rows.sum())


def test_no_file_is_written_if_what_is_booked_beside_it_is_wrong(files, tmp_path):
    tm.remember(tmp_path / "results")
    events = tm.dataset(files, "Events")
    with raises(tm.QueryError):
        tm.run(events.snapshot(tmp_path / "skim.root", ["MET_pt"]), events.sum("nope"))
    assert not (tmp_path / "skim.root").exists()


def test_functions_count_by_what_they_do_now(files, tmp_path):
    tm.remember(tmp_path / "results")
    factor = [2]

    def scaled(met):
        return met * factor[0]

    def run():
        events = tm.dataset(files, "Events").define("scaled", scaled, columns="MET_pt")
        return events.max("scaled").value, tm.report().remembered.parts

    first, parts = run()
    assert parts == len(files)
    assert run() == (first, 0)
    factor[0] = 4
    assert run() == (2 * first, len(files))
    factor[0] = 2
    assert run() == (first, 0)


NEAR = {
    "a column that another is made of": lambda e, k: (
        e.define("a", f"MET_pt * {k}").define("b", "a * 2").define("a", "1").sum("b")
    ),
    "a member of a collection": lambda e, k: e.define("Jet_new", f"Jet_pt * {k}").sum(
        "sum(Jet.new)"
    ),
    "a member of a copy": lambda e, k: (
        e.define("Jet_new", f"Jet_pt * {k}").define("J", "Jet").sum("sum(J.new)")
    ),
    "a constant of each file": lambda e, k: e.define_per_file("k", lambda file: k).sum(
        "k * MET_pt"
    ),
    "a list of constants": lambda e, k: e.with_params({"k": [1, k]}).sum("k[1] * MET_pt"),
    "good luminosity sections": lambda e, k: e.filter(
        tm.lumi_mask({"200000": [[1, k - 1]]})
    ).count(),
    "a filter far above": lambda e, k: e.filter(f"nJet >= {k}").filter("MET_pt > 1").count(),
    "the last bin": lambda e, k: e.hist("MET_pt", bins=(10, 0, 100 * k)),
    "a bin more at the end": lambda e, k: e.hist("MET_pt", bins=[0, 10, 20, 20 * k]),
}


@pytest.mark.parametrize("what", NEAR)
def test_a_little_change_is_one(files, tmp_path, what):
    def run(k):
        return NEAR[what](tm.dataset(files, "Events"), k).value

    fresh = {k: run(k) for k in (2, 3)}
    tm.remember(tmp_path / "results")
    for k, parts in ((2, len(files)), (3, len(files)), (2, 0), (3, 0)):
        same(run(k), fresh[k])
        assert tm.report().remembered.parts == parts


def test_a_function_of_the_language_counts_by_its_body(files, tmp_path):
    def run(factor, of="twice_in_tests"):
        tm.function("twice_in_tests(x)", f"x * {factor}")
        tm.function("outer_in_tests(x)", "twice_in_tests(x) + 1")
        return tm.dataset(files, "Events").sum(f"{of}(MET_pt)").value

    for of in ("twice_in_tests", "outer_in_tests"):
        fresh = {factor: run(factor, of) for factor in (2, 3)}
        tm.remember(tmp_path / of)
        for factor, parts in ((2, len(files)), (3, len(files)), (2, 0)):
            same(run(factor, of), fresh[factor])
            assert tm.report().remembered.parts == parts
        tm.remember(None)


def test_modules_of_helpers_count_by_what_they_hold_now(files, tmp_path, monkeypatch):
    (tmp_path / "helper_of_mine.py").write_text("C = 2\ndef scaled(met): return met * C\n")
    monkeypatch.syspath_prepend(tmp_path)
    helper = importlib.import_module("helper_of_mine")
    monkeypatch.delitem(sys.modules, "helper_of_mine")
    sys.modules["helper_of_mine"] = helper
    tm.remember(tmp_path / "results")

    def run():
        events = tm.dataset(files, "Events").define("x", helper.scaled, columns="MET_pt")
        return events.max("x").value, tm.report().remembered.parts

    first, parts = run()
    assert parts == len(files)
    assert run() == (first, 0)
    helper.C = 4
    assert run() == (2 * first, len(files))


def test_what_workers_have_imported_in_another_state_is_not_kept(files, tmp_path, monkeypatch):
    (tmp_path / "helper_of_workers.py").write_text("C = 2\ndef scaled(met): return met * C\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    helper = importlib.import_module("helper_of_workers")
    tm.remember(tmp_path / "results")

    def run(session):
        events = tm.dataset(files, "Events").define("x", helper.scaled, columns="MET_pt")
        value = session.run(events.max("x"), progress=False)
        return value, session.report.remembered.parts

    with tm.connect(workers=2, mode="processes") as processes:
        first, parts = run(processes)
        assert (parts, run(processes)) == (len(files), (first, 0))
        helper.C = 4  # which processes that import the module do not see
        assert run(processes) == (first, len(files))
    with tm.connect(workers=2, mode="threads") as threads:
        assert run(threads) == (2 * first, len(files))
        assert run(threads) == (2 * first, 0)


def test_workers_take_what_functions_of_files_have_given_for_the_key(files, tmp_path):
    said = tmp_path / "said"
    said.write_text("1")

    def k(file):  # another number with each call
        number = int(said.read_text())
        said.write_text(str(number + 1))
        return number

    tm.remember(tmp_path / "results")
    events = tm.dataset(files, "Events").define_per_file("k", k)
    with tm.connect(workers=2, mode="processes") as session:
        found = session.run(events.max("k"), progress=False)
    assert found == len(files), "each was asked for once"


def test_what_was_compiled_with_another_value_is_not_remembered(files, tmp_path, monkeypatch):
    pytest.importorskip("numba")
    (tmp_path / "helper_of_kernels.py").write_text(
        "import treemill as tm\nC = 2\n@tm.kernel\ndef scaled(met): return met * C\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    helper = importlib.import_module("helper_of_kernels")

    def run(**options):
        events = tm.dataset(files, "Events").with_params({"scaled": helper.scaled})
        with tm.connect(workers=2) as session:
            value = session.run(events.max("scaled(MET_pt)"), **options)
            return value, session.report

    first, _ = run(remember=False)
    helper.C = 4
    tm.remember(tmp_path / "results")
    for _ in range(2):
        value, report = run()
        assert (value, report.remembered.parts) == (first, len(files)), "it is compiled already"
        assert "has changed since numba compiled it" in str(report)
    helper.C = 2
    assert run()[1].remembered.parts == len(files)
    assert run()[1].remembered.parts == 0


def test_a_file_that_no_worker_has_seen_change_is_not_kept(files, tmp_path, monkeypatch):
    from treemill.checkpoint.results import Results
    from treemill.workers.query_task import QueryWorkload

    kept = []
    monkeypatch.setattr(QueryWorkload, "changed", lambda self, file: None)

    def add(self, records):
        kept.extend(n for _, entries, _ in records for n in entries)

    monkeypatch.setattr(Results, "add", add)
    tm.remember(tmp_path / "results")

    number = itertools.count()

    def replaced(met):  # each thread that runs it has a copy of its own
        os.replace(shutil.copy(files[1], tmp_path / f"other-{next(number)}"), files[0])
        return met

    events = tm.dataset(files[:1], "Events")
    tm.run(events.count())
    assert kept == [300], "it has not changed"
    kept.clear()
    with pytest.raises(tm.ChangedError):
        tm.run(events.define("same", replaced, columns="MET_pt").max("same"), events.sum("MET_pt"))
    assert kept == []


def test_what_cannot_be_remembered_is_named(files, tmp_path):
    tm.remember(tmp_path / "results")
    events = tm.dataset(files, "Events")
    noisy = events.define("noisy", lambda x: x + np.random.uniform(), columns="MET_pt")
    for _ in range(2):
        tm.run(noisy.max("noisy"), events.count())
    about = tm.report().remembered
    assert (about.found, about.parts) == (1, len(files))
    assert [title for title, _ in about.computed] == ["max(noisy)"]
    assert "random" in str(tm.report())
    tm.run(tm.dataset(files, "Events").take("MET_pt"))
    assert "rows" in str(tm.report())


def test_a_run_that_was_stopped_goes_on_from_the_files_that_it_has_done(files, tmp_path):
    tm.remember(tmp_path / "results")
    done, submitted = [], threading.Event()

    def stops(met):
        if len(met):
            submitted.wait()
            done.append(len(met))
        if len(done) == 2:
            query.stop()
        return met

    with tm.connect(workers=1) as session:
        events = tm.dataset(files, "Events")
        slow = events.define("same", stops, columns="MET_pt")
        query = session.submit(slow.count(), events.count(), slow.max("same"))
        submitted.set()
        query.result()
        assert not query.report.complete
        again = session.run(tm.dataset(files, "Events").count())
        assert again == tm.dataset(files, "Events").num_entries
        assert session.report.remembered.parts <= len(files)


SLOW = """
import functools, sys
import treemill as tm
from treemill.checkpoint import Pace
from treemill.session import remembered
remembered.Pace = functools.partial(Pace, every=0.02, share=1.0)
tm.remember(sys.argv[1])

def slow(met):
    for _ in range(2500 * len(met)):
        pass
    return met

events = tm.dataset(sys.argv[3], "Events").define("slow", slow, columns="MET_pt")
good = events.filter("slow > 20")
with tm.connect(workers=2, mode=sys.argv[2]) as session:
    count, total = session.run(good.count(), good.sum("MET_pt"))
    print(count, f"{total:.6g}", session.report.entries_before, session.report.complete)
"""


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_file_that_was_begun_is_gone_on_with(core, tmp_path, mode):
    path, folder = tmp_path / "long.root", tmp_path / "results"
    write(path, events=50_000, cluster=500, codec="none")
    settled(path)
    command = [sys.executable, "-c", SLOW, str(folder), mode, str(path)]
    with subprocess.Popen(command) as running:
        until(
            lambda: [*folder.glob("open.*.results")] or running.poll() is not None,
            "it is kept",
            seconds=300,  # its threads run Python, and the machine may be busy
        )
        assert running.poll() is None
        running.kill()
    wanted = tm.dataset(str(path), "Events").filter("MET_pt > 20")
    count, total = tm.run(wanted.count(), wanted.sum("MET_pt"))
    for is_first in (True, False):
        done = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert done[:2] == [str(count), f"{total:.6g}"]
        assert (0 < int(done[2]) < 50_000) == is_first
        assert done[3] == "True"
        assert not [*folder.glob("open.*.results")], "all of it is done"


def test_wrong_limits_and_folders_are_errors(files, tmp_path):
    with raises(tm.QueryError, about="-1"):
        tm.remember(tmp_path, limit="-1")
    with raises(tm.UnsupportedError, about="root://server//results"):
        tm.remember("root://server//results")
    with raises(tm.QueryError, about="remember"):
        tm.run(tm.dataset(files, "Events").count(), remember="yes")


def test_a_selector_is_remembered_if_asked_for(files, tmp_path, monkeypatch):
    (tmp_path / "factor_of_mine.py").write_text("C = 3\ndef times(n):\n    return n * C\n")
    monkeypatch.syspath_prepend(tmp_path)
    factor = importlib.import_module("factor_of_mine")
    tm.remember(tmp_path / "results")

    class Summed(tm.Selector):
        def __init__(self, cut):
            self.cut = cut

        def process(self, events):
            return {"n": factor.times(int(sum(events.MET_pt > self.cut)))}

    def run(cut=20, of=files, **options):
        output = tm.run(Summed(cut), tm.dataset(of, "Events"), **options)
        about = tm.report().remembered
        return output["n"], about and (about.found, about.read)

    n, about = run()
    assert about is None, "nobody has asked for it"
    every = len(files)
    assert run(remember="code") == (n, (0, every))
    assert run(remember="code") == (n, (1, 0))
    assert tm.report().entries_before == tm.report().entries
    other, about = run(30, remember="code")
    assert (other < n, about) == (True, (0, every))
    assert run(remember="code") == (n, (1, 0)), "both are there"
    assert run(of=files[1:], remember="code")[1] == (0, every - 1)
    factor.C = 6
    assert run(remember="code") == (2 * n, (0, every))
    factor.C = 3
    assert run(remember="code") == (n, (1, 0))
    write(files[1], events=77, cluster=100, codec="none")
    settled(files[1])
    n, about = run()
    assert run(remember="code") == (n, (0, every))


def test_a_selector_is_remembered_by_what_it_is_given(files, tmp_path):
    tm.remember(tmp_path / "results")
    factor = tmp_path / "factor.txt"

    class Weighted(tm.Selector):
        def begin_worker(self, inputs):
            self.first = next(iter(inputs["factors"].values()))

        def process(self, events):
            return {"n": len(events) * self.first * events.metadata["factor"]}

    def run(factors):
        events = tm.dataset(files, "Events")
        events = events.define_per_file("factor", lambda file: int(factor.read_text()))
        output = tm.run(Weighted(), events, inputs={"factors": factors}, remember="code")
        return output["n"] / events.num_entries, tm.report().remembered.found

    factor.write_text("2")
    assert run({"a": 1, "b": 3}) == (2, 0)
    assert run({"a": 1, "b": 3}) == (2, 1)
    assert run({"b": 3, "a": 1}) == (6, 0), "it goes by their order"
    factor.write_text("5")
    assert run({"a": 1, "b": 3}) == (5, 0), "the function looks at a file"


def test_functions_among_the_inputs_must_be_certain(files, tmp_path):
    tm.remember(tmp_path / "results")
    factor = tmp_path / "factor.txt"

    class Weighted(tm.Selector):
        def begin_worker(self, inputs):
            self.factor = inputs["factor"]

        def process(self, events):
            return {"n": len(events) * self.factor()}

    events = tm.dataset(files, "Events")
    for number in (2, 3):
        factor.write_text(str(number))
        inputs = {"factor": lambda: int(factor.read_text())}
        output = tm.run(Weighted(), events, inputs=inputs, remember="code")
        assert output["n"] == number * events.num_entries
        assert tm.report().remembered.found == 0


def test_a_selector_whose_code_is_not_certain_is_not_remembered(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tm.remember(tmp_path / "results")

    def noisy(events):
        return {"n": len(events) + np.random.default_rng(3).integers(1)}

    for _ in range(2):
        tm.run(noisy, tm.dataset(files, "Events"), remember="code")
        assert tm.report().remembered.found == 0
    assert "default_rng" in str(tm.report())

    class Writes(tm.Selector):
        def begin_worker(self, inputs):
            self.output["skim"] = tm.FileOutput("out.root")

        def process(self, events):
            self.output["skim"].write({"x": events.MET_pt})

    with raises(tm.UnsupportedError, about="code"):
        tm.run(Writes(), tm.dataset(files, "Events"), remember="code")
