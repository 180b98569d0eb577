"""Files on a server some milliseconds away that were opened before: nothing is asked but their
state. What is kept is for the user only, can be switched off, and is never in the way."""

import json
import os
import subprocess
import sys

import pytest

from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.xrootd import XRootD

from .conftest import serve, settle, skip_without

_OPEN = """
import json, sys, treemill as tm
from treemill import _core
control = _core.Control()
events = tm.dataset(sys.argv[1], tree="Events")
told = [events.num_entries, len(events.branches)]
print(json.dumps([*told, [list(each) for each in control.servers]]))
"""


@pytest.fixture(scope="module")
def distant(files):
    """A server to which the way takes 8 ms."""
    skip_without(link_missing())
    skip_without(XRootD.missing())
    with Link(["client", "server"], here="client") as link:
        link.set("server", Wire(delay_ms=4))
        with XRootD(link.hosts["server"]) as server:
            yield serve(server, files)


@pytest.fixture
def url(distant):
    found = distant.url("store/trees/events_0.root")
    settle(found)
    return found


def _open(url, cache, **environment):
    """Entries, branches, and messages that asked for bytes, of a process of its own."""
    said = {**os.environ, "XDG_CACHE_HOME": str(cache), "TREEMILL_CACHE_METADATA_LIMIT": ""}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _OPEN, url],
        capture_output=True,
        text=True,
        timeout=120,
        env=said | environment,
        check=True,
    )
    assert done.stderr == ""
    entries, branches, servers = json.loads(done.stdout)
    return entries, branches, sum(messages for _, _, messages, *_ in servers)


def test_a_known_file_is_opened_in_one_round_trip(url, tmp_path):
    first = _open(url, tmp_path)
    assert first[0] == 5000
    # Head, end, what lies before the end, and the tree, which may lie elsewhere: each by a message
    # on each of the four connections that a server so far away has, at most.
    assert 1 <= first[2] <= 4 * 4
    folder = tmp_path / "treemill" / "metadata"
    (kept,) = folder.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert kept.stat().st_mode & 0o777 == 0o600
    assert b"root://" not in kept.read_bytes()
    again = _open(url, tmp_path)
    assert again == (*first[:2], 0)
    # Another process, killed while it writes, leaves nothing that is in the way.
    kept.write_bytes(kept.read_bytes()[:-7])
    assert _open(url, tmp_path)[:2] == first[:2]
    assert _open(url, tmp_path) == again


def test_it_can_be_switched_off(url, tmp_path):
    first = _open(url, tmp_path, TREEMILL_CACHE_METADATA_LIMIT="0")
    assert first[2] > 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("home", ["/proc/none", "/dev/null", ""])
def test_a_home_that_cannot_be_written_to_is_no_matter(url, home):
    environment = {} if home else {"HOME": "/nonexistent"}
    assert _open(url, home, **environment)[0] == 5000


def test_with_a_folder_for_data_it_lies_there(url, tmp_path):
    folder = tmp_path / "data"
    _open(url, tmp_path / "home", TREEMILL_CACHE_DIRECTORY=str(folder))
    assert len(list((folder / "metadata").iterdir())) == 1
    assert not (tmp_path / "home").exists()


def test_a_near_file_is_not_kept(xrootd, tmp_path):
    assert _open(xrootd.url("store/trees/events_0.root"), tmp_path)[0] == 5000
    assert not list(tmp_path.iterdir())
