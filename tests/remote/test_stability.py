"""What storages of the grid are put through: very many files, long lists, very large files, and
servers that start anew while they are read. The long ones are slow; `make stress` runs them."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import treemill as tm
from treemill.data import source

from tests.waiting import until
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.peers import DcapDoorProcess
from tools.servers.xrootd import XRootD

from .conftest import skip_without

SERVERS = {"root": XRootD, "http": Nginx, "nfs": Ganesha}
READ = {**SERVERS, "dcap": DcapDoorProcess}
"""A door of dCap lists no folders."""
KINDS = ["root", "http", pytest.param("nfs", marks=pytest.mark.slow)]
ESTABLISHED = "01"
BEHIND = 100 * 10**9
ENTRIES = 1000


@pytest.fixture(params=KINDS)
def server(request, core):
    yield from started(SERVERS[request.param])


@pytest.fixture(params=[*KINDS, "dcap"])
def reader(request, core):
    """A server that is read, and not listed."""
    yield from started(READ[request.param])


def started(kind):
    skip_without(kind.missing())
    with kind() as made:
        yield made


def many(server, number, original=None):
    """Files of a folder `many`: links to one file, or empty ones."""
    folder = server.data / "many"
    folder.mkdir()
    folder.chmod(0o755)
    if original is not None:
        first = server.data / "first.root"
        shutil.copyfile(original, first)
    for i in range(number):
        path = folder / f"a-name-as-long-as-those-of-experiments-{i:05d}.root"
        if original is None:
            path.touch()
        else:
            os.link(first, path)


@pytest.mark.parametrize("number", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_thousands_of_small_files(server, files, number):
    path = files["store/trees/events_1.root"]  # one event
    many(server, number, path)
    events = tm.dataset(server.url("many/"), "Events")
    assert len(events.files) == number
    with tm.connect(workers=2, mode="threads") as session:
        assert session.run(events.count(), progress=False) == number
        assert not session.report.missing


@pytest.mark.parametrize("number", [3000, pytest.param(60_000, marks=pytest.mark.slow)])
def test_a_long_list(server, number):
    many(server, number)
    found = source.matching(server.url("many/*.root"))
    assert len(set(found)) == number
    assert found == sorted(found)
    few = source.matching(server.url("many/*-0000?.root"))
    assert len(few) == 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", SERVERS)
def test_a_long_list_over_a_slow_link(core, kind):
    skip_without(link_missing() or SERVERS[kind].missing())
    with Link(["client", "s"], here="client") as link, SERVERS[kind](link.hosts["s"]) as server:
        many(server, 60_000)
        link.set("s", Wire(delay_ms=20, mbit=50))
        assert len(source.matching(server.url("many/*.root"))) == 60_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file of 100 GB, of which some kB are on disk."""
    skip_without(None if importlib.util.find_spec("ROOT") else "ROOT is not installed")
    path = tmp_path_factory.mktemp("large") / "large.root"
    program = Path(__file__).with_name("far_baskets.py")
    numbers = (str(BEHIND), str(ENTRIES))
    command = [sys.executable, "-W", "ignore", str(program), str(path), *numbers]
    subprocess.run(command, check=True)
    assert path.stat().st_size > BEHIND
    if path.stat().st_blocks * 512 > 10**9:
        path.unlink()
        pytest.skip("this file system has no sparse files")
    yield path
    path.unlink()


def assert_is_whole(url):
    found = tm.dataset(url, "Events").to_numpy(["x", "n"])
    assert np.array_equal(found["n"], 3 * np.arange(ENTRIES))
    assert np.array_equal(found["x"], np.arange(ENTRIES) / 2)


def put_sparse(large, server):
    target = server.data / "large.root"
    subprocess.run(["cp", "--sparse=always", str(large), str(target)], check=True)


def test_a_file_of_100_gb_here(core, large):
    assert_is_whole(str(large))
    baskets = core.File(str(large)).tree("Events")
    assert baskets.bytes_of(["x", "n"], 0, ENTRIES) < 10**6


def test_a_file_of_100_gb_on_a_server(reader, large):
    put_sparse(large, reader)
    assert source.identity(reader.url("large.root")).size == large.stat().st_size
    assert_is_whole(reader.url("large.root"))


def test_blocks_from_behind_4_gb(reader, core, large):
    put_sparse(large, reader)
    stored = core.Stored(reader.url("large.root"))
    start = stored.size - 3_000_000
    read, took = stored.drain(start, stored.size, 1 << 20, 4 << 20)
    assert (read, len(took)) == (3_000_000, 3)


def test_a_far_large_file_has_several_sessions_at_a_pool_of_dcap(core, large):
    skip_without(link_missing())
    with Link(["client", "s"], here="client") as link, DcapDoorProcess(link.hosts["s"]) as door:
        link.set("s", Wire(delay_ms=10))
        put_sparse(large, door)
        stored = core.Stored(door.url("large.root"))
        start = stored.size - 3_000_000
        read, _ = stored.drain(start, stored.size, 1 << 20, 4 << 20)
        assert read == 3_000_000
        # What is read may be here before all of its sessions are. To a busy machine the pool may
        # seem farther away, and has more of them.
        address, door_port = link.hosts["s"].address, door.ports[0]
        until(lambda: connections(address, but=door_port) >= 4, "four sessions")
        assert_is_whole(door.url("large.root"))


def connections(address, but):
    """Connections to a host that are open, without those to one port."""
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    there = [line[2].split(":") for line in lines if line[3] == ESTABLISHED]
    host = socket.inet_aton(address)[::-1].hex().upper()
    return sum(each == host and int(port, 16) != but for each, port in there)


def test_a_server_that_starts_anew_with_requests_in_flight(reader, files, core):
    """Half of an open file is read; the rest is asked for when the server answers no more."""
    path = files["store/trees/events_2.root"]
    tree = core.File(reader.put(path, "a.root")).tree("Events")
    here = core.File(str(path)).tree("Events")
    names, half = ["MET_pt", "Jet_pt", "nMuon"], 3000

    def read(found, start, stop):
        return [pa.array(column).to_pylist() for column in found.read(names, start, stop)]

    assert read(tree, 0, half) == read(here, 0, half)
    reader.freeze()
    asked = tree.ask(names, half, tree.num_entries)
    assert asked is not None
    reader.kill()
    reader.restart()
    assert read(tree, half, tree.num_entries) == read(here, half, here.num_entries)


def test_a_server_that_starts_anew_while_it_is_read(reader, files):
    """Each entry is seen once, whatever had been read ahead."""
    paths = [f"store/trees/events_{i}.root" for i in range(3)]
    urls = [reader.put(files[path], path) for path in paths]

    class Restarts(tm.Selector):
        def begin_worker(self, inputs):
            self.output["entries"] = 0

        def process(self, events):
            if not restarted:
                restarted.append(True)
                reader.kill()
                reader.restart()
            self.output["entries"] += len(events.Jet_pt)

    restarted = []
    with tm.connect(workers=1, mode="threads") as session:
        done = session.run(Restarts(), tm.dataset(urls, "Events"), progress=False)
        assert not session.report.missing
    assert done["entries"] == 5000 + 1 + 7321
