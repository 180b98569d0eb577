"""Layouts of flex_files (RFC 8435): mirrors that stand in for one another, what the metadata server
is told of failures and counts, layouts that it does not serve itself, and that it wants back.
"""

import threading

import awkward as ak
import pytest
import treemill as tm

from tests.remote.pnfs_peer import FLEX, DataServer, MetadataServer

IO, NXIO = 5, 6
NAMES = ["MET_pt", "Jet_pt", "Muon_pt"]
NOT_THROUGH_METADATA = 2


@pytest.fixture
def data():
    servers = [DataServer() for _ in range(4)]
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture(params=["4.1", "4.2"])
def version(request):
    return request.param


@pytest.fixture
def meta(data, paths, core, nothing_remembered):
    """Two mirrors, each with two servers; the first one is the better one."""
    made = MetadataServer(data, FLEX, mirrors=2)
    with open(paths[2], "rb") as file:
        made.put("events.root", file.read())
    yield made
    made.stop()


def opened(meta, version):
    return tm.dataset(
        f"{meta.put('events.root', meta.content(b'events.root'))}:Events?vers={version}"
    )


def is_whole(events, paths):
    return ak.array_equal(events.arrays(NAMES), tm.dataset(paths[2], "Events").arrays(NAMES))


def test_the_best_mirror_is_read(meta, data, paths, version):
    assert is_whole(opened(meta, version), paths)
    assert [server.reads > 0 for server in data] == [True, True, False, False]
    assert not data[2].calls, "nothing is asked of servers that are not needed"


def test_a_data_server_that_is_killed_in_mid_read(meta, data, paths, version):
    """Its mirror gives what it had; the metadata server gives nothing, and is told of it."""
    data[1].dies_after = 1
    assert is_whole(opened(meta, version), paths)
    assert meta.reads == 1
    assert data[3].reads > 0
    assert meta.returned == 0, "the layout is as good as before"
    if version == "4.2":
        assert meta.heard_error.wait(20)
        assert meta.errors[0] == (1, NXIO)


def test_a_data_server_that_cannot_read_its_disk(meta, data, paths, version):
    data[0].refuses = IO
    assert is_whole(opened(meta, version), paths)
    assert data[2].reads > 0
    assert meta.reads == 1
    if version == "4.2":
        assert meta.heard_error.wait(20)
        assert meta.errors[0] == (0, IO)


def test_no_mirror_is_left(meta, data, paths, version):
    """Then the metadata server gives the bytes. What has failed is told with the layout."""
    data[1].stop()
    data[3].stop()
    assert is_whole(opened(meta, version), paths)
    assert meta.reads > 1
    assert meta.returned == 1
    assert meta.layouts == 2
    assert {(1, NXIO), (3, NXIO)} <= set(meta.errors)
    assert data[0].reads > 0, "what the others have comes from them"


def test_a_metadata_server_that_gives_no_bytes_itself(meta, data, paths, version):
    """It is asked for another layout until a data server is there again."""
    meta.flags = NOT_THROUGH_METADATA
    for server in data:
        server.faults[25] += [IO] * 3
    assert is_whole(opened(meta, version), paths)
    assert meta.reads == 1


def test_what_was_read_is_told(meta, data, paths, version):
    """With the layout, when the file is closed: all bytes that the data servers have sent."""
    events = opened(meta, version)
    assert is_whole(events, paths)
    meta.recall("events.root")
    assert meta.gave_back.wait(20)
    assert {device for device, _, _ in meta.counts} == {0, 1}
    assert sum(count for _, count, _ in meta.counts) == sum(server.reads for server in data)


def test_what_was_read_is_told_meanwhile(meta, data, paths):
    """As often as the layout says, with 4.2; the rest comes with the layout."""
    meta.pause, meta.lease = 1, 3
    events = opened(meta, "4.2")
    assert is_whole(events, paths)
    assert meta.renewals.acquire(timeout=20)  # more than a second later
    assert is_whole(events, paths)
    assert meta.heard_stats.wait(20)
    assert meta.returned == 0
    meta.recall("events.root")
    assert meta.gave_back.wait(20)
    assert sum(count for _, count, _ in meta.counts) == sum(server.reads for server in data)


class Gate:
    """Stands where a barrier may: what comes to it waits until it is let through."""

    def __init__(self):
        self.arrived, self.opened = threading.Event(), threading.Event()

    def wait(self, seconds):
        self.arrived.set()
        assert self.opened.wait(seconds)


def test_a_recall_waits_for_reads_and_the_next_read_asks_again(meta, data, paths, version):
    events = opened(meta, version)
    assert len(events.arrays("MET_pt", start=0, stop=10)) == 10
    gate = Gate()
    data[0].together[25] = gate
    found = []
    reading = threading.Thread(target=lambda: found.append(is_whole(events, paths)))
    reading.start()
    assert gate.arrived.wait(20)
    meta.recall("events.root")
    assert meta.heard.wait(20)
    assert not meta.gave_back.is_set(), "a read by it goes on"
    gate.opened.set()
    assert meta.gave_back.wait(20)
    reading.join(60)
    assert found == [True]
    assert is_whole(events, paths)
    assert meta.layouts == 2
    assert meta.reads == 1
