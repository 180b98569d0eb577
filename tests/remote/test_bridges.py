"""What the core reads through Python: fsspec's protocols, and XRootD by its official package."""

import os
import subprocess
import sys
import threading

import awkward as ak
import pytest
import treemill as tm
from treemill.data import official_xrootd, over_fsspec, source

from tests.raising import raises
from tests.remote.conftest import skip_without
from tests.remote.test_faults import outcome
from tools.servers.ftp import FTP
from tools.servers.xrootd import XRootD

TREES = [f"store/trees/events_{i}.root" for i in range(3)]
NAMES = ["MET_pt", "nMuon", "Muon_pt", "Jet_pt"]


@pytest.fixture
def memory(files, nothing_remembered):
    """fsspec's files in memory; the name that their addresses begin with."""
    fs = pytest.importorskip("fsspec").filesystem("memory")
    for path, local in files.items():
        fs.pipe(f"/{path}", local.read_bytes())
    yield "memory://"
    fs.rm("/store", recursive=True)


@pytest.fixture
def official(xrootd, nothing_remembered):
    pytest.importorskip("XRootD", reason="the official client of XRootD is not installed")
    return f"xrootd+{xrootd.url('')}"


def test_files_in_memory(memory, paths):
    there = tm.dataset(f"{memory}store/trees/*.root", tree="Events")
    here = tm.dataset(paths, "Events")
    assert there.num_entries == here.num_entries
    assert ak.array_equal(there.arrays(NAMES), here.arrays(NAMES))
    assert there.sum("MET_pt").value == here.sum("MET_pt").value


def test_replicas_may_be_of_any_protocol(memory, xrootd, paths):
    files = {f"/{path}": [f"{memory}{path}", xrootd.url(path)] for path in TREES}
    there, here = tm.dataset(files, "Events"), tm.dataset(paths, "Events")
    assert ak.array_equal(there.arrays(NAMES), here.arrays(NAMES))


def test_a_file_that_has_changed_is_another_one(memory, files):
    import fsspec

    url = f"{memory}{TREES[0]}"
    before = tm.dataset(url, "Events").count().value
    fsspec.filesystem("memory").pipe(f"/{TREES[0]}", files[TREES[2]].read_bytes())
    assert tm.dataset(url, "Events").count().value != before


def test_states_are_told_by_tags_and_by_times_that_are_past():
    def never():
        raise NotImplementedError

    told = over_fsspec._mark
    assert told({"ETag": '"a"'}, never) != told({"ETag": '"b"'}, never)
    assert told({"modify": "20200102030405"}, never) != told({"modify": "20200102030406"}, never)
    assert told({"mtime": 4e9}, never) is None  # it may change again at the same time
    assert told({"modified": "some day"}, never) is None
    assert told({"name": "a"}, never) is None
    assert told({"name": "a"}, lambda: 1e9) is not None


def test_a_password_is_in_no_message(ftp, nothing_remembered):
    with pytest.raises(tm.SourceError) as caught:
        tm.dataset(ftp.url("store/none.root"), "Events").arrays(["MET_pt"])
    wrong = ftp.url(TREES[0]).replace(ftp.PASSWORD, "a-wrong-password")
    with pytest.raises(tm.SourceError) as refused:
        tm.dataset(wrong, "Events").arrays(["MET_pt"])
    for error in (caught.value, refused.value):
        assert f"ftp://127.0.0.1:{ftp.ports[0]}" in str(error)
        assert ftp.PASSWORD not in str(error)
        assert "a-wrong-password" not in str(error)


def test_a_server_that_dies_and_comes_back(files, paths, nothing_remembered):
    skip_without(FTP.missing())
    with FTP() as server:
        for path in TREES:
            server.put(files[path], path)
        events = tm.dataset([server.url(path) for path in TREES], "Events")
        assert events.count().value == tm.dataset(paths, "Events").count().value
        server.kill()
        error = outcome(lambda: tm.dataset(server.url(TREES[0]), "Events").arrays(["MET_pt"]))
        assert isinstance(error, tm.SourceError)
        server.restart()
        expected = tm.dataset(paths, "Events").sum("MET_pt").value
        assert outcome(lambda: events.sum("MET_pt").value) == expected


def test_schemes_that_nobody_knows_are_refused_with_those_that_are_known():
    with raises(tm.UnsupportedError, about="gopher"):
        tm.dataset("gopher://host/file.root", "Events")


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(source, "_BRIDGED", set())
    monkeypatch.setitem(sys.modules, "paramiko", None)
    sys.modules.pop("fsspec.implementations.sftp", None)
    with raises(tm.errors.MissingPackageError, about="sftp"):
        tm.dataset("sftp://host/file.root", "Events")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with raises(tm.errors.MissingPackageError, said="pip install fsspec"):
        tm.dataset("ftp://host/file.root", "Events")


def test_fsspec_is_loaded_when_an_address_needs_it_only(xrootd):
    program = "import sys, treemill as tm; print(tm.dataset(sys.argv[1], 'Events').num_entries);"
    program += " print('fsspec' in sys.modules, 'XRootD' in sys.modules)"
    command = [sys.executable, "-c", program, xrootd.url(TREES[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5000", "False", "False"]


def test_the_official_client_in_forked_workers(official, paths):
    """They are forks of a process that has not loaded it."""
    there, here = tm.dataset(f"{official}{TREES[0]}", "Events"), tm.dataset(paths[0], "Events")
    with tm.connect(workers=1, mode="processes", start="fork") as session:
        assert session.run(there.sum("MET_pt")) == session.run(here.sum("MET_pt"))


FORK = """
import os, sys, treemill as tm
print(tm.dataset(sys.argv[1], "Events").num_entries, flush=True)
if os.fork() == 0:
    try:
        tm.dataset(sys.argv[2], "Events").num_entries
    except tm.SourceError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""


def test_the_official_client_is_refused_in_a_fork_of_a_process_that_has_loaded_it(official):
    command = [sys.executable, "-c", FORK, *(f"{official}{path}" for path in TREES[:2])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("5000\n")
    assert 'start="spawn"' in done.stdout


FORKED_FILE = """
import fsspec, os, signal
from treemill._core import Stored
fsspec.filesystem("memory").pipe("/f", bytes(1000))
file = Stored("memory://f")
print(file.drain(0, 1000, 100)[0], flush=True)
if os.fork() == 0:
    signal.alarm(50)  # if it hangs, it ends with the test
    print(file.drain(0, 1000, 100)[0], flush=True)
    os._exit(0)
os.wait()
"""


def test_an_open_file_is_read_on_in_a_forked_process():
    """By threads of its own: those of its parent are not there."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED_FILE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["1000", "1000"]


def test_ranges_of_all_sizes_by_the_official_client(official, xrootd, tmp_path, core):
    """Larger than one range of a vector read, too."""
    path = tmp_path / "bytes.txt"
    path.write_bytes(os.urandom(5_000_000))
    xrootd.put(path, "bytes.txt")
    assert core.remote_content(f"{official}bytes.txt") == path.read_bytes()


@pytest.mark.slow
def test_a_server_of_the_official_client_that_is_dead(files, nothing_remembered):
    pytest.importorskip("XRootD", reason="the official client of XRootD is not installed")
    skip_without(XRootD.missing())
    with XRootD() as server:
        url = f"xrootd+{server.put(files[TREES[0]], TREES[0])}"
        server.kill()
        error = outcome(lambda: tm.dataset(url, "Events").arrays(["MET_pt"]))
    assert isinstance(error, tm.SourceError)
    assert f"127.0.0.1:{server.ports[0]}" in str(error)


def assert_it_hangs(events):
    """Reads a column of a file system that hangs: the error."""
    error = outcome(lambda: events.arrays(["Muon_pt"]))
    assert isinstance(error, tm.SourceError), error
    assert "has sent nothing for 25 s" in str(error)
    assert f"memory://{TREES[0]}" in str(error)


@pytest.mark.slow
def test_a_file_system_that_hangs_when_a_file_is_opened(memory, monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(over_fsspec, "open_file", lambda *_: never.wait())
    assert_it_hangs(tm.dataset(f"{memory}{TREES[0]}", "Events"))
    never.set()


@pytest.mark.slow
def test_a_file_system_that_hangs_when_an_open_file_is_read(memory, monkeypatch):
    hangs, never = threading.Event(), threading.Event()
    read = over_fsspec._FsspecFile.read

    def read_or_hang(file, ranges):
        if hangs.is_set():
            never.wait()
        return read(file, ranges)

    monkeypatch.setattr(over_fsspec._FsspecFile, "read", read_or_hang)
    events = tm.dataset(f"{memory}{TREES[0]}", "Events")
    assert events.num_entries == 5000
    hangs.set()
    assert_it_hangs(events)
    never.set()


def test_the_official_client_waits_no_longer_than_the_bridge():
    assert official_xrootd._PATIENCE < 25
    connects = official_xrootd._SETTINGS
    assert connects["ConnectionWindow"] * connects["ConnectionRetry"] < 25


@pytest.mark.slow
def test_a_server_of_the_official_client_that_sleeps(files, nothing_remembered):
    pytest.importorskip("XRootD", reason="the official client of XRootD is not installed")
    skip_without(XRootD.missing())
    with XRootD() as server:
        events = tm.dataset(f"xrootd+{server.put(files[TREES[0]], TREES[0])}", "Events")
        assert events.num_entries == 5000
        server.freeze()
        error = outcome(lambda: events.arrays(["Muon_pt"]))
        server.thaw()
    assert isinstance(error, tm.SourceError), error
    assert f"127.0.0.1:{server.ports[0]}" in str(error)
    assert "events_0.root" in str(error)
