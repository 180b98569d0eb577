"""Files take their names when they are complete, whoever else writes; a full disk is an error."""

import errno
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill._system.files import whole_file
from treemill.data.rows import Store
from treemill.errors import writing
from treemill.monitoring.file import write as write_trace
from treemill.monitoring.recorded import About, Recorded, Row
from treemill.results.histograms import saved
from treemill.writing.file import RootFile

from tests.raising import raises

SUFFIXES = [".root", ".h5", ".json", ".json.gz"]
PLACES = [6, pytest.param(50, marks=pytest.mark.slow)]


def histogram(value, bins=2000):
    made = hist.Hist(hist.axis.Regular(bins, 0, 1), storage=hist.storage.Weight())
    made.view()["value"] = np.random.default_rng(1).random(bins) + value
    made.view()["variance"] = np.random.default_rng(2).random(bins)
    return made


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_threads_that_save_to_one_name_leave_one_of_their_files(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"

    def save(number):
        tm.save({"h": histogram(number), "n": number}, path)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(save, range(24)))
    found = tm.load(path)
    assert found["h"] == histogram(found["n"])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_processes_that_save_to_one_name_leave_one_of_their_files(tmp_path):
    program = "import sys, treemill as tm\nfor n in range(20): tm.save({'n': n}, sys.argv[1])"
    command = [sys.executable, "-c", program, str(tmp_path / "x.root")]
    running = [subprocess.Popen(command) for _ in range(2)]
    assert [each.wait() for each in running] == [0, 0]
    assert tm.load(tmp_path / "x.root") == {"n": 19}
    assert [each.name for each in tmp_path.iterdir()] == ["x.root"]


def test_no_link_is_followed(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.write_text("mine")
    guessed = tmp_path / f".x.{b'guessed!'.hex()}.part.txt"
    guessed.symlink_to(other)
    names = iter([b"guessed!", b"another!"])
    monkeypatch.setattr(os, "urandom", lambda n: next(names))
    with whole_file(tmp_path / "x.txt") as part:
        assert part != str(guessed)
        with open(part, "w") as file:
            file.write("new")
    assert other.read_text() == "mine"
    assert (tmp_path / "x.txt").read_text() == "new"


def test_files_are_for_whom_the_users_others_are(tmp_path):
    before = os.umask(0o027)
    try:
        with whole_file(tmp_path / "x"):
            pass
        with whole_file(tmp_path / "y", private=True, lasting=True):
            pass
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in "xy"]
    assert modes == [0o640, 0o600]


def test_long_names_and_names_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "é" * 120 + ".json"
    tm.save({"n": 1}, name)
    assert tm.load(name) == {"n": 1}
    assert os.listdir() == [name]


def test_what_is_no_file_is_written_to_directly():
    with whole_file("/dev/null") as part:
        assert part == "/dev/null"


# A full disk.


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("a small file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "x.root"
    random = np.random.default_rng(3)
    columns = {"x": random.random(5000), "y": random.random(5000), "n": np.arange(5000)}
    with uproot.recreate(path) as file:
        made = ak.zip(columns)
        file.mkrntuple("Events", made.layout.form).extend(made)
    return tm.dataset(path, tree="Events")


def save(path, events):
    tm.save({"h": histogram(1.0, 12_000), "more": [histogram(2.0, 12_000)]}, path)


def templates(path, events):
    tm.templates({"region": {"one": histogram(1.0, 12_000)}}, path)


def sections(path, events):
    tm.LumiSections({str(run): [[1, 2], [4, 5]] for run in range(4_000)}).save(path)


def snapshot(path, events, kind=None):
    tm.run(events.snapshot(path, ["x", "y", "n"], format=kind), progress=False)


def ntuple(path, events):
    snapshot(path, events, "rntuple")


class Skim(tm.Selector):
    def __init__(self, path, as_dataset=False):
        self.path = str(path)
        self.as_dataset = as_dataset

    def begin_worker(self, inputs):
        self.output["skim"] = tm.FileOutput(self.path, as_dataset=self.as_dataset)

    def process(self, events):
        self.output["skim"].write({"x": events.x, "y": events.y})


def skim(path, events):
    tm.run(Skim(path), events, progress=False)


class Processor:
    """As for coffea, with a file for each chunk and histograms. The files have one name."""

    def __init__(self, path):
        self.path = str(path)

    def process(self, events):
        file = tm.FileOutput(self.path)
        file.write({"x": events.x, "y": events.y})
        return {"skim": file, "h": histogram(0.0), "entries": len(events)}

    def postprocess(self, accumulator):
        return accumulator


def processor(path, events):
    tm.run(Processor(path), events, progress=False)


def accumulators(path, events):
    """What a processor of coffea leaves in memory."""
    of_each = {"h": histogram(1.0, 12_000), "cuts": defaultdict(int, {"all": 5, "good": 2})}
    tm.save({"ttbar": of_each, "wjets": dict(of_each)}, path)


@cache
def figure():
    drawn = tm.plot(histogram(1.0, 20))
    drawn.set_layout_engine("none")  # slow
    return drawn


def picture(path, events):
    saved(figure(), path)


ROWS = [
    Row(time=time, event="packet", worker=number, seconds=time / 7)
    for number, time in enumerate(np.random.default_rng(4).random(3000).tolist())
]


def traced(path, events):
    write_trace(str(path), Recorded(ROWS, About()))


def folder(path, events):
    """A FileOutput of several files."""
    tm.run(Skim(path, as_dataset=True), events, progress=False)


WRITERS = {
    **{suffix: (save, suffix) for suffix in SUFFIXES},
    "templates": (templates, ".root"),
    "sections": (sections, ".json"),
    "ttree": (snapshot, ".root"),
    "rntuple": (ntuple, ".root"),
    "parquet": (snapshot, ".parquet"),
    "feather": (snapshot, ".feather"),
    "selector": (skim, ".root"),
    "processor": (processor, ".root"),
    "accumulators": (accumulators, ".h5"),
    "png": (picture, ".png"),
    "pdf": (picture, ".pdf"),
    "trace": (traced, ".root"),
    "trace in Parquet": (traced, ".parquet"),
    "trace for browsers": (traced, ".json"),
}


def fill(disk, free):
    """Leaves about so many bytes of the disk, or less."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    left = os.statvfs(disk)
    filler.write_bytes(bytes(max(left.f_bavail * left.f_frsize - free, 0)))


def names(folder):
    return {each.name for each in folder.iterdir()}


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_an_error_and_leaves_the_old_file(small_disk, events, name, places):
    write, suffix = WRITERS[name]
    path = small_disk / f"x{suffix}"
    write(path, events)
    needed = path.stat().st_size
    assert needed > 8_000
    path.write_bytes(b"old")
    for place in range(places):
        fill(small_disk, needed * place // places)
        with pytest.raises(tm.SourceError):
            write(path, events)
        assert path.read_bytes() == b"old"
        assert names(small_disk) == {"filler", path.name}
    (small_disk / "filler").unlink()
    write(path, events)
    assert path.stat().st_size > 8_000


@pytest.mark.parametrize("places", PLACES)
def test_a_full_disk_is_an_error_and_leaves_the_old_folder(small_disk, events, places):
    path = small_disk / "x"
    folder(path, events)
    before = {each.name: each.read_bytes() for each in path.iterdir()}
    needed = sum(map(len, before.values()))
    for place in range(places):
        fill(small_disk, needed * place // places)
        with pytest.raises(tm.SourceError):
            folder(path, events)
        assert {each.name: each.read_bytes() for each in path.iterdir()} == before
        assert names(small_disk) == {"filler", "x"}


@pytest.mark.parametrize("suffix", [".root", ".parquet", ".json"])
def test_a_run_whose_trace_finds_no_room_keeps_its_result(small_disk, events, suffix):
    path = small_disk / f"x{suffix}"
    path.write_bytes(b"old")
    fill(small_disk, 0)
    with pytest.warns(RuntimeWarning, match="SourceError"):
        assert tm.run(events.count(), progress=False, trace=path) == 5000
    assert path.read_bytes() == b"old"
    assert names(small_disk) == {"filler", path.name}


# Parts that cannot be completed.


def no_space(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


FAULTS = {
    "a part cannot be begun": (Store, "__init__"),
    "a part cannot be ended": (Store, "close"),
    "a file of a folder cannot be written": (RootFile, "add"),
}


@pytest.mark.parametrize("write", [skim, processor, folder])
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_left_of_parts_that_fail(tmp_path, events, monkeypatch, write, fault):
    of, method = FAULTS[fault]
    monkeypatch.setattr(of, method, said_of(no_space))
    with raises(tm.SourceError, said="No space left"):
        write(tmp_path / "x", events)
    assert names(tmp_path) == set()


def said_of(fails):
    """As methods of stores say what the system says."""

    def method(*_, **__):
        with writing("x"):
            fails()

    return method


class TwoFiles(Skim):
    def begin_worker(self, inputs):
        super().begin_worker(inputs)
        self.output["second"] = tm.FileOutput(f"{self.path}2")

    def process(self, events):
        super().process(events)
        self.output["second"].write({"x": events.x})


def test_parts_that_were_ended_go_if_another_file_fails(tmp_path, events, monkeypatch):
    close = Store.close

    def second_fails(store):
        (said_of(no_space) if store._target.endswith("2") else close)(store)

    monkeypatch.setattr(Store, "close", second_fails)
    with pytest.raises(tm.SourceError):
        tm.run(TwoFiles(tmp_path / "x"), events, progress=False)
    assert names(tmp_path) == set()
