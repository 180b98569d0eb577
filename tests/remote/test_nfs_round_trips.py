"""How many round trips NFS takes until the first bytes are here, and what goes on at the same time:
the test peer answers nothing before all has come that should come together.
"""

import threading

import pytest
import treemill as tm

from tests.remote.nfs_peer import BIND, COMPLETE, CREATE, EXCHANGE, PUT, READ, SEQUENCE
from tests.remote.pnfs_peer import FILES, FLEX, DataServer, MetadataServer
from tests.waiting import until

ROOT, LOOKUP, HANDLE, ATTRIBUTES, OPEN, LAYOUT, DEVICE = 24, 15, 10, 9, 18, 50, 47
LEASE = [SEQUENCE, ROOT, ATTRIBUTES]
"""A question that nothing waits for."""
OPENING = [SEQUENCE, COMPLETE, ROOT, LOOKUP, HANDLE, ATTRIBUTES, OPEN, READ]


@pytest.fixture
def data():
    servers = [DataServer() for _ in range(3)]
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def served(data, paths, core, nothing_remembered):
    """A metadata server of a kind of layout, and the address of its file."""
    made = []

    def serve(kind):
        made.append(MetadataServer(data, kind))
        with open(paths[2], "rb") as file:
            return made[0], made[0].put("events.root", file.read())

    yield serve
    made[0].stop()


def said(server):
    """What was asked, but the lease."""
    return [call for call in server.calls if call != LEASE]


def at_the_same_time(servers, operation):
    """The operation is answered when it has come to all servers."""
    barrier = threading.Barrier(len(servers))
    for server in servers:
        server.together[operation] = barrier


# The kind of layouts is known from the first file on; until then flex_files are asked for.
@pytest.mark.parametrize(
    ("kind", "asked_again", "devices"),
    [(FLEX, [], 3), (FILES, [[SEQUENCE, PUT, LAYOUT]], 1)],
    ids=["flex", "files"],
)
def test_nine_round_trips_to_the_data_servers(data, served, kind, asked_again, devices):
    """To connect counts as one at each server; it was 14 to 17, and four more for each server that
    was met later."""
    meta, url = served(kind)
    meta.followed[DEVICE] = devices - 1
    for operation in (EXCHANGE, CREATE):
        at_the_same_time(data, operation)
    events = tm.dataset(url, "Events")
    assert len(events.arrays("MET_pt")) == 7321
    there = [[EXCHANGE], [CREATE], [*OPENING, LAYOUT], *asked_again]
    assert said(meta)[: len(there) + devices] == [*there, *[[SEQUENCE, DEVICE]] * devices]
    reading = [SEQUENCE, COMPLETE, PUT, READ]
    for server in data:
        until(lambda server=server: reading in server.calls, "each server is asked for bytes")
        assert server.calls[:2] == [[EXCHANGE], [CREATE]]
    # The next file costs one: the session, the kind of layouts and the servers are known.
    meta.calls.clear()
    more = tm.dataset(meta.put("more.root", meta.files[b"events.root"]), "Events")
    assert len(more.arrays("MET_pt")) == 7321
    opening = [operation for operation in OPENING if operation != COMPLETE]
    asked = [call for call in said(meta) if OPEN in call or LAYOUT in call or DEVICE in call]
    assert asked == [[*opening, LAYOUT]]


def test_a_server_without_layouts_is_not_asked_for_one(served):
    meta, url = served(FLEX)
    meta.is_parallel = False
    assert len(tm.dataset(url, "Events").arrays("MET_pt")) == 7321
    assert said(meta)[:3] == [[EXCHANGE], [CREATE], OPENING]
    assert meta.layouts == 0


def test_a_near_server_has_one_connection(served, data):
    meta, url = served(FLEX)
    assert len(tm.dataset(url, "Events").arrays("MET_pt")) == 7321
    assert [server.accepted for server in (meta, *data)] == [1, 1, 1, 1]
    assert not any([BIND] in server.calls for server in (meta, *data))
