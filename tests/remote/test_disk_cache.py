"""Bytes of files on servers that are kept on disk: the second pass asks the server for nothing but
the file's state, whichever process makes it."""

import subprocess
import sys
from pathlib import Path

import pytest
import treemill as tm
from treemill.errors import SourceError

from tests.raising import raises

from .conftest import settle

_QUERY = """
import sys, treemill as tm
tm.cache.limit = 0
tm.cache.directory = sys.argv[2]
events = tm.dataset(sys.argv[1])
with tm.connect(workers=2, mode="threads") as session:
    total = session.run(events.sum(sys.argv[3]), progress=False)
    io = session.report.io
print(float(total), io.bytes_wanted, io.bytes_from_disk, io.requests)
"""


def _run(url, folder, column):
    command = [sys.executable, "-c", _QUERY, url, str(folder), column]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    total, *counted = done.stdout.split()
    return float(total), *map(int, counted)


@pytest.mark.parametrize("protocol", ["xrootd", "nginx"])
def test_the_second_process_reads_from_disk(request, protocol, files, tmp_path):
    path = "store/trees/events_2.root"
    url, column = request.getfixturevalue(protocol).url(path), "MET_pt"
    expected = float(tm.dataset(str(files[path])).sum(column).value)
    settle(url)
    folder = tmp_path / "kept"
    total, wanted, from_disk, requests = _run(url, folder, column)
    assert (total, from_disk) == (pytest.approx(expected), 0)
    # The file is opened, which a near server is asked for. One that a busy machine lets answer late
    # is asked as a far one is, in more requests than before, but for no more bytes.
    runs = [_run(url, folder, column) for _ in range(3)]
    for total, again, from_disk, _ in runs:
        assert total == pytest.approx(expected)
        assert again < wanted
        assert from_disk > 0
    assert min(fewer for *_, fewer in runs) < requests
    # Damage is as if nothing was kept.
    for segment in filter(Path.is_file, folder.rglob("*")):
        whole = bytearray(segment.read_bytes())
        whole[len(whole) // 2] ^= 1
        segment.write_bytes(whole)
    assert _run(url, folder, column)[0] == pytest.approx(expected)


def test_a_folder_that_cannot_be_written_to_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setenv("TREEMILL_CACHE_DIRECTORY", "")
    with raises(SourceError, said="/proc/none"):
        tm.cache.directory = "/proc/none"
    assert tm.cache.directory is None


def test_the_limit_is_a_size(monkeypatch, tmp_path):
    monkeypatch.setenv("TREEMILL_CACHE_DIRECTORY", "")
    monkeypatch.setenv("TREEMILL_CACHE_DISK_LIMIT", "")
    tm.cache.directory = Path(tmp_path) / "kept"
    tm.cache.disk_limit = "5 GB"
    assert tm.cache.disk_limit == 5_000_000_000
    assert tm.cache.directory == str(tmp_path / "kept")
    tm.cache.directory = None
    assert tm.cache.directory is None
