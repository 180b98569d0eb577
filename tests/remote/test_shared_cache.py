"""Users of one node, by their numbers: an account of the site keeps bytes of files on servers, and
others read them there, once a server has opened the file for them. Nobody can put anything there
that others would take for a file's bytes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import treemill as tm
from treemill.errors import SourceError

from tests.raising import raises
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.xrootd import XRootD

from .conftest import TOKEN, serve, settle, skip_without

_SITE, _USER = 54321, 54322
# Where only root can read the interpreter, all is imported while the process is still root's.
_QUERY = """
import json, os, sys, treemill as tm
user, near, url, *changes = sys.argv[1:]
tm.cache.limit = 0

def run(path):
    with tm.connect(workers=1, mode="threads") as session:
        total = session.run(tm.dataset(path).sum("MET_pt"), progress=False)
        return total, session.report.io

run(near)
try:
    tm.dataset("/proc/none.root").num_entries
except tm.errors.SourceError as error:
    str(error)
os.setgroups([])
os.setgid(int(user))
os.setuid(int(user))
os.umask(0o077)
os.environ |= dict(change.split("=", 1) for change in changes)
tm.cache.directory = tm.cache.directory
try:
    total, io = run(url)
except tm.errors.SourceError as error:
    print(json.dumps({"error": str(error)}))
else:
    asked = sum(source.bytes_read for source in io.sources), io.requests
    print(json.dumps({"total": float(total), "asked": asked, "from_disk": io.bytes_from_disk}))
"""


@pytest.fixture
def node():
    """A folder as root makes it for an account of the site, in one that all may look into."""
    skip_without(None if os.geteuid() == 0 else "only root runs programs as several users")
    # Not in /tmp, where anybody may make folders.
    above = Path(tempfile.mkdtemp(prefix="treemill-node-", dir="/var/lib"))
    above.chmod(0o755)
    folder = above / "kept"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    os.chown(folder, _SITE, _SITE)
    yield folder
    shutil.rmtree(above)


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
def run(paths):
    """What a query finds that a user makes in a process of its own."""

    def run(user, url, **environment):
        unset = ("XDG_CACHE_HOME", "BEARER_TOKEN", "TREEMILL_CACHE")
        changes = [f"{name}={value}" for name, value in environment.items()]
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", _QUERY, str(user), paths[0], url, *changes],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={name: value for name, value in os.environ.items() if not name.startswith(unset)}
            | {"HOME": "/nonexistent"},
        )
        assert done.stderr == ""
        return json.loads(done.stdout)

    return run


def _there(folder):
    """All that lies in a folder."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_the_second_user_asks_the_server_for_no_bytes(distant, node, files, run):
    path = "store/trees/events_2.root"
    url = distant.url(path)
    settle(url)
    expected = pytest.approx(float(tm.dataset(str(files[path])).sum("MET_pt").value))
    keeps = {"TREEMILL_CACHE_DIRECTORY": str(node), "TREEMILL_CACHE_READERS": "all"}
    first = run(_SITE, url, **keeps)
    assert (first["total"], first["from_disk"]) == (expected, 0)
    assert first["asked"][0] > 0
    before = _there(node)
    second = run(_USER, url, TREEMILL_CACHE_SHARED=str(node))
    assert (second["total"], second["asked"]) == (expected, [0, 0])
    assert second["from_disk"] > 0
    assert _there(node) == before
    # A file that has changed for the server is another one.
    distant.put(files["store/trees/events_1.root"], path)
    settle(url)
    changed = run(_USER, url, TREEMILL_CACHE_SHARED=str(node))
    expected = float(tm.dataset(str(files["store/trees/events_1.root"])).sum("MET_pt").value)
    assert changed["total"] == pytest.approx(expected)
    assert changed["asked"][0] > 0


def test_nothing_is_kept_for_others_unless_the_account_says_so(distant, node, run):
    url = distant.url("store/trees/events_0.root")
    settle(url)
    run(_SITE, url, TREEMILL_CACHE_DIRECTORY=str(node))
    other = run(_USER, url, TREEMILL_CACHE_SHARED=str(node))
    assert other["from_disk"] == 0
    assert other["asked"][0] > 0


def test_whom_the_server_refuses_gets_nothing_of_what_is_there(nginx_tls, authority, node, run):
    url = nginx_tls.url("store/trees/events_0.root")
    trusted = shutil.copy(authority, node.parent / "ca.pem")
    trusted.chmod(0o644)
    granted = {"BEARER_TOKEN": TOKEN, "SSL_CERT_FILE": str(trusted)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEARER_TOKEN", TOKEN)
        settle(url)
    keeps = {"TREEMILL_CACHE_DIRECTORY": str(node), "TREEMILL_CACHE_READERS": "all"}
    total = run(_SITE, url, **keeps, **granted)["total"]
    shared = {"TREEMILL_CACHE_SHARED": str(node)}
    allowed = run(_USER, url, **shared, **granted)
    assert allowed["total"] == total
    assert allowed["from_disk"] > 0
    refused = run(_USER, url, **shared, SSL_CERT_FILE=str(trusted))
    assert "401" in refused["error"]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_folder_where_others_may_write_is_not_trusted(core, node, monkeypatch, mode):
    monkeypatch.setenv("TREEMILL_CACHE_SHARED", "")
    node.chmod(mode)
    with raises(SourceError, about=str(node), said="others than root and the folder's owner"):
        tm.cache.shared = node
    assert tm.cache.shared is None
    node.chmod(0o755)
    tm.cache.shared = node
    assert tm.cache.shared == str(node)
    tm.cache.shared = None
    # Nor is one that another user could put in its place, or could have made.
    node.parent.chmod(0o1777)
    with raises(
        SourceError, about=str(node.parent), said="others than root and the folder's owner"
    ):
        tm.cache.shared = node
    missing = node.parent / "missing"
    with raises(
        SourceError, about=str(node.parent), said="others than root and the folder's owner"
    ):
        tm.cache.shared = missing
    node.parent.chmod(0o755)
    os.chown(node.parent, _USER, _USER)
    with raises(
        SourceError, about=str(node.parent), said="others than root and the folder's owner"
    ):
        tm.cache.shared = node
