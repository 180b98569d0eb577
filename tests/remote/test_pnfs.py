"""Files that lie in stripes on data servers, by both kinds of layouts: they are read from there,
and from the metadata server when a data server fails, when a layout is recalled or none is given.
"""

import contextlib
import socket

import awkward as ak
import pytest
import treemill as tm
from treemill.facility.generate import write

from tests.remote.pnfs_peer import FILES, FLEX, DataServer, MetadataServer

KINDS = [(FILES, False), (FILES, True), (FLEX, False)]
IDS = ["files-sparse", "files-dense", "flex"]


class Site:
    """A metadata server and three data servers, with one file."""

    def __init__(self, path, kind, dense):
        self.data = [DataServer() for _ in range(3)]
        self.meta = MetadataServer(self.data, kind, dense=dense)
        with open(path, "rb") as file:
            self.url = self.meta.put("events.root", file.read())

    def stop(self):
        for server in (self.meta, *self.data):
            server.stop()


@pytest.fixture(params=KINDS, ids=IDS)
def site(request, core, paths, nothing_remembered):
    made = Site(paths[2], *request.param)
    yield made
    made.stop()


def read(site, paths):
    """All of some columns, which must be what the same file has here."""
    is_same(tm.dataset(site.url, "Events"), tm.dataset(paths[2], "Events"))


def is_same(there, here):
    names = ["MET_pt", "Jet_pt", "Muon_pt"]
    assert ak.array_equal(there.arrays(names), here.arrays(names))


def test_bytes_come_from_all_data_servers(site, paths):
    read(site, paths)
    assert site.meta.layouts == 1
    assert all(server.reads > 0 for server in site.data)
    assert site.meta.reads == 1  # the first bytes, with the opening


def test_a_data_server_that_refuses_or_is_gone(site, paths):
    site.data[1].refuses = 5
    site.data[2].stop()
    read(site, paths)
    assert site.meta.reads > 1
    assert site.meta.returned == 1


@pytest.mark.slow
def test_data_servers_with_long_queues_are_waited_for(core, tmp_path, nothing_remembered):
    """Each of them has more to send than a silent one is waited for."""
    path = tmp_path / "events.root"
    write(path, events=60_000, index=0, cluster=1000, codec="none")
    data = path.read_bytes()
    stores = [DataServer(rate=len(data) / 10) for _ in range(2)]
    meta = MetadataServer(stores, FILES, 1 << 16, dense=True)
    with contextlib.ExitStack() as stack:
        for server in (meta, *stores):
            stack.callback(server.stop)
        is_same(tm.dataset(meta.put("events.root", data), "Events"), tm.dataset(path, "Events"))
        assert meta.reads == 1
        assert meta.returned == 0


def test_no_layout_is_given(site, paths):
    site.meta.gives_layouts = False
    read(site, paths)
    assert site.meta.reads > 1
    assert not any(server.reads for server in site.data)


def test_a_layout_of_a_part_is_completed(site, paths):
    """The server is asked for the parts behind; a range may lie in several."""
    site.meta.covers = 50_000
    read(site, paths)
    assert site.meta.layouts > 3
    assert site.meta.reads == 1
    assert site.meta.returned == 0


def test_all_addresses_of_a_data_server_are_tried(site, paths):
    """At the first ones nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    site.meta.unreached = [("127.0.0.1", port), ("127.0.0.1", port)]
    read(site, paths)
    assert all(server.reads > 0 for server in site.data)
    assert site.meta.reads == 1
    assert site.meta.errors == []
    assert site.meta.returned == 0


def test_data_servers_that_move_while_the_server_is_started_anew(site, paths):
    """What the server said of them before is forgotten."""
    events = tm.dataset(site.url, "Events")
    assert len(events.arrays("MET_pt", start=0, stop=10)) == 10
    moved = [DataServer() for _ in site.data]
    with contextlib.ExitStack() as stack:
        for old, new in zip(site.data, moved, strict=True):
            stack.callback(new.stop)
            new.stored = old.stored
            old.stop()
        site.meta.servers = moved
        site.meta.restart()
        here = tm.dataset(paths[2], "Events")
        is_same(events, here)  # finds out
        before = site.meta.reads
        is_same(events, here)
        assert all(server.reads > 0 for server in moved)
        assert site.meta.reads == before


def test_a_layout_that_is_recalled_is_given_back(site, paths):
    events = tm.dataset(site.url, "Events")
    assert len(events.arrays("MET_pt", start=0, stop=10)) == 10
    before = site.meta.reads
    site.meta.gives_layouts = False
    site.meta.recall()
    assert site.meta.heard.wait(20)
    assert site.meta.said == [0]
    assert site.meta.gave_back.wait(20)
    read(site, paths)
    assert site.meta.returned == 1
    assert site.meta.reads > before
