"""The test peers of pNFS and treemill might both be wrong in the same way. Wireshark knows both
layouts, too: it reads what they say up to the last byte, and finds in it what is meant.
"""

import awkward as ak
import pytest
import treemill as tm

from tests.remote import captures
from tests.remote.conftest import skip_without
from tests.remote.pnfs_peer import FILES, FLEX, DataServer, MetadataServer

LAYOUT, RETURN, DEVICE, ERROR, STATS = 50, 51, 47, 64, 65
RECALL, SEQUENCED = 5, 11  # on the back channel
NXIO = 6
UNIT = 4096
CASES = [(FILES, False, "4.1"), (FILES, True, "4.1"), (FLEX, False, "4.1"), (FLEX, False, "4.2")]
IDS = ["files-sparse", "files-dense", "flex-4.1", "flex-4.2"]


class Talk:
    """A file that is read from data servers, of which one with a mirror dies, until the layout is
    recalled; and what was said at the metadata server and at the best data server."""

    def __init__(self, path, kind, dense, version, folder):
        self.version = version
        self.data = [DataServer() for _ in range(4)]
        self.meta = MetadataServer(self.data, kind, UNIT, dense, mirrors=2 if kind == FLEX else 1)
        self.meta.pause, self.meta.lease = 1, 3
        for server in (self.meta, self.data[0]):
            server.said_all = []
        try:
            self._read(path, version)
        finally:
            for server in (self.meta, *self.data):
                server.stop()
        self.at_meta, self.at_data = (
            self._understood(server, folder / str(server.port))
            for server in (self.meta, self.data[0])
        )

    def _read(self, path, version):
        url = self.meta.put("events.root", path.read_bytes())
        events = tm.dataset(f"{url}:Events?vers={version}")
        here = tm.dataset(str(path), "Events").arrays("MET_pt")
        self.data[1].dies_after = 1 if self.meta.kind == FLEX else None
        assert ak.array_equal(events.arrays("MET_pt"), here)
        if version == "4.2":  # which tells what was read, when a second has passed
            assert self.meta.renewals.acquire(timeout=20)
            assert ak.array_equal(events.arrays("MET_pt"), here)
            assert self.meta.heard_stats.wait(20)
        self.meta.gave_back.clear()
        self.meta.recall("events.root")  # what is given back of one file has its counts
        assert self.meta.heard.wait(20)
        assert self.meta.gave_back.wait(20)

    @staticmethod
    def _understood(server, path):
        captures.write(path, server.port, server.said_all)
        return captures.read(path, server.port)


@pytest.fixture(scope="module", params=CASES, ids=IDS)
def talk(request, core, files, tmp_path_factory):
    skip_without(captures.missing())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEMILL_CACHE", "0")
        folder = tmp_path_factory.mktemp("captures")
        yield Talk(files["store/trees/events_0.root"], *request.param, folder)


def operations(message):
    return [int(number) for number in message.all("nfs.opcode")]


def calls_and_answers(messages, number):
    """Those that have an operation."""
    found = [message for message in messages if number in operations(message)]
    calls = [message for message in found if message.all("nfs.minorversion")]
    return calls, [message for message in found if message not in calls]


def test_every_byte_is_understood(talk):
    for message in (*talk.at_meta, *talk.at_data):
        assert message.protocol in ("nfs", "nfs.cb"), message.fields
        assert message.is_whole, repr(message.fields)


def test_the_same_operations_are_seen(talk):
    """A server does them up to the first that it refuses."""
    for server, messages in ((talk.meta, talk.at_meta), (talk.data[0], talk.at_data)):
        calls = [
            operations(m) for m in messages if m.protocol == "nfs" and m.all("nfs.minorversion")
        ]
        assert len(server.calls) > 3
        assert all(
            call[: len(done)] == done for call, done in zip(calls, server.calls, strict=False)
        )


def test_the_layout_is_what_is_meant(talk):
    _, answers = calls_and_answers(talk.at_meta, LAYOUT)
    found = answers[-1]
    assert found.all("nfs.layouttype")[-1] == str(talk.meta.kind)
    if talk.meta.kind == FILES:
        assert found.all("nfs.nfl_util.stripe_size") == [str(UNIT)]
        assert found.all("nfs.nfl_util.dense") == [str(int(talk.meta.dense))]
        assert len(found.all("nfs.fhandle")) == (4 if talk.meta.dense else 1)
    else:
        assert found.all("nfs.stripeunit") == [str(UNIT)]
        assert found.all("nfs.nfl_mirrors") == ["2"]
        assert [int(each, 16) for each in found.all("nfs.nff_mirror_eff")] == [2, 2, 1, 1]
        assert [each[:2] for each in found.all("nfs.deviceid")] == ["00", "01", "02", "03"]
    _, answers = calls_and_answers(talk.at_meta, DEVICE)
    there = {f"127.0.0.1.{server.port >> 8}.{server.port & 255}" for server in talk.data}
    assert {address for each in answers for address in each.all("nfs.r_addr")} == there


def test_the_recall_is_what_is_meant(talk):
    asked, said = (message for message in talk.at_meta if message.protocol == "nfs.cb")
    for message in (asked, said):
        assert message.all("nfs.cb.operation") == [str(SEQUENCED), str(RECALL)]
    assert asked.all("nfs.layouttype") == [str(talk.meta.kind)]
    assert set(said.all("nfs.nfsstat4")) == {"0"}


def test_what_is_told_is_what_is_meant(talk):
    """Failures and counts, as the peer has read them."""
    returns, _ = calls_and_answers(talk.at_meta, RETURN)
    errors, _ = calls_and_answers(talk.at_meta, ERROR)
    counts, _ = calls_and_answers(talk.at_meta, STATS)
    assert len(returns) == talk.meta.returned
    assert {kind for each in returns for kind in each.all("nfs.layouttype")} == {
        str(talk.meta.kind)
    }
    assert bool(errors) == bool(counts) == (talk.version == "4.2")
    if talk.meta.kind == FLEX:
        failed = [status for each in (*errors, *returns) for status in each.all("nfs.nfsstat4")]
        assert failed == [str(NXIO)] * len(talk.meta.errors)
        told = [
            int(each) for message in (*counts, *returns) for each in message.all("nfs.io_bytes")
        ]
        assert sum(told) == sum(size for _, _, size in talk.meta.counts) > 0
