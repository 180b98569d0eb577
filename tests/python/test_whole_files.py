"""Files take their names when they are complete, whoever else writes; a full disk is an error."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.whole_file import whole_file

SUFFIXES = [".root", ".h5", ".json", ".json.gz"]
PLACES = 50


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
    def __init__(self, path):
        self.path = str(path)

    def begin_worker(self, inputs):
        self.output["skim"] = tm.FileOutput(self.path)

    def process(self, events):
        self.output["skim"].write({"x": events.x, "y": events.y})


def skim(path, events):
    tm.run(Skim(path), events, progress=False)


WRITERS = {
    **{suffix: (save, suffix) for suffix in SUFFIXES},
    "templates": (templates, ".root"),
    "sections": (sections, ".json"),
    "ttree": (snapshot, ".root"),
    "rntuple": (ntuple, ".root"),
    "parquet": (snapshot, ".parquet"),
    "feather": (snapshot, ".feather"),
    "selector": (skim, ".root"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_an_error_and_leaves_the_old_file(small_disk, events, name):
    write, suffix = WRITERS[name]
    path, filler = small_disk / f"x{suffix}", small_disk / "filler"
    write(path, events)
    needed = path.stat().st_size
    assert needed > 50_000
    path.write_bytes(b"old")
    for place in range(PLACES):
        free = needed * place // PLACES
        filler.unlink(missing_ok=True)
        left = os.statvfs(small_disk)
        filler.write_bytes(bytes(max(left.f_bavail * left.f_frsize - free, 0)))
        with pytest.raises(tm.SourceError):
            write(path, events)
        assert path.read_bytes() == b"old"
        # Parts of a selector's workers are in a folder that the next pass may find and remove.
        names = {each.name for each in small_disk.iterdir() if each.suffix != ".parts"}
        assert names == {"filler", path.name}
    filler.unlink()
    write(path, events)
    assert path.stat().st_size > 50_000
