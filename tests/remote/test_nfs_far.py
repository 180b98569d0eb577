"""NFS over an emulated link: a far server has several connections in one session, and small reads
do not wait for data servers that are still being connected to.
"""

import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import awkward as ak
import pytest
import treemill as tm

from tests.remote.conftest import skip_without
from tests.waiting import until
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.ganesha import Ganesha
from tools.servers.peers import ParallelNfs

pytestmark = pytest.mark.slow
NAMES = ["MET_pt", "Jet_pt", "Muon_pt"]
ESTABLISHED = "01"


@pytest.fixture
def far(core, nothing_remembered):
    """A link with a host that is 20 ms away."""
    skip_without(link_missing())
    with Link(["client", "s"], here="client") as made:
        made.set("s", Wire(delay_ms=10))
        yield made


@pytest.fixture
def readable(paths):
    """A file that a peer may read, which is nobody and cannot go into pytest's folders."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "events.root"
        shutil.copyfile(paths[2], path)
        path.chmod(0o644)
        yield path


def connections(port):
    """Connections of this machine to a port that are open."""
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    there = f":{port:04X}"
    return sum(line[2].endswith(there) and line[3] == ESTABLISHED for line in lines)


def one_is_left(port):
    """Waits until one connection is: those of a session that has ended go with its last request."""
    until(lambda: connections(port) == 1, "one connection is left")


def is_whole(url, path):
    found = tm.dataset(url, "Events").arrays(NAMES)
    return ak.array_equal(found, tm.dataset(path, "Events").arrays(NAMES))


def test_a_far_server_has_six_connections(far, paths):
    """They stay as long as the session: it would end if the server did not take them."""
    skip_without(Ganesha.missing())
    with Ganesha(far.hosts["s"]) as server:
        url = server.url("events.root")
        server.put(paths[2], "events.root")
        for _ in range(2):
            assert is_whole(url, paths[2])
            assert connections(server.ports[0]) == 6


@pytest.mark.parametrize("count", [0, 2], ids=["metadata server", "data servers"])
def test_servers_that_refuse_further_connections(far, readable, count):
    """BIND_CONN_TO_SESSION is refused, and so are requests on the connection that it came on: the
    next session has one connection, and stays."""
    with ParallelNfs(readable, "flex", count, 20.0, far.hosts["s"], is_alone=True) as server:
        for _ in range(2):
            assert is_whole(server.url(), readable)
            one_is_left(urlsplit(server.url()).port)


@pytest.mark.parametrize("layout", ["files", "flex"])
def test_far_data_servers(far, readable, layout):
    with ParallelNfs(readable, layout, 4, 20.0, far.hosts["s"]) as server:
        assert is_whole(server.url(), readable)


def test_far_servers_that_lose_packets(far, readable):
    far.set("s", Wire(delay_ms=5, loss=2))
    with ParallelNfs(readable, "flex", 2, 20.0, far.hosts["s"]) as server:
        assert is_whole(server.url(), readable)
