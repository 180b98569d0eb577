"""What servers of NFS answer when they are busy, have been started anew or have forgotten a client:
reading goes on, at the metadata server and at the data servers, and brings what it should.
"""

import contextlib
import gc
import subprocess
import sys
import threading

import awkward as ak
import pytest
import treemill as tm

from tests.remote.nfs_peer import (
    BAD_SESSION,
    CREATE,
    EXCHANGE,
    MISORDERED,
    PUT,
    READ,
    SEQUENCE,
    STALE_CLIENT,
)
from tests.remote.pnfs_peer import FILES, FLEX, DataServer, MetadataServer

DELAY, GRACE, EXPIRED, STALE_STATE, OLD_STATE = 10008, 10013, 10011, 10023, 10024
DEAD_SESSION, BAD_SLOT, NOT_BOUND, BAD_STATE = 10078, 10053, 10055, 10025
ADMIN_REVOKED = 10047
CLOSE = 4
NAMES = ["MET_pt", "Jet_pt", "Muon_pt"]

# What is answered, and where.
BUSY = [(READ, DELAY), (READ, GRACE), (SEQUENCE, DELAY)]
LOST = [(SEQUENCE, s) for s in (BAD_SESSION, DEAD_SESSION, BAD_SLOT, MISORDERED, NOT_BOUND)]
FORGOTTEN = [(READ, s) for s in (EXPIRED, STALE_STATE, OLD_STATE, BAD_STATE, STALE_CLIENT)]


class Site:
    """A metadata server and two data servers, and one file that is the same as one here."""

    def __init__(self, path, kind):
        self.path = path
        self.data = [DataServer() for _ in range(2)]
        self.meta = MetadataServer(self.data, kind)
        with open(path, "rb") as file:
            self.url = self.meta.put("events.root", file.read())
        self.events = tm.dataset(self.url, "Events")

    def stop(self):
        for server in (self.meta, *self.data):
            server.stop()

    def is_whole(self):
        """Everything is read, and is what it should be."""
        found = self.events.arrays(NAMES)
        return ak.array_equal(found, tm.dataset(self.path, "Events").arrays(NAMES))


@pytest.fixture(params=["metadata", "files", "flex"])
def where(request):
    return request.param


@pytest.fixture
def site(where, paths, core, nothing_remembered):
    made = Site(paths[2], FLEX if where == "flex" else FILES)
    made.meta.gives_layouts = where != "metadata"
    yield made
    made.stop()


def readers(site, where):
    """The servers that bytes come from."""
    return [site.meta] if where == "metadata" else site.data


def test_servers_that_are_busy_are_asked_later(site, where):
    assert site.events.num_entries == 7321
    for server in readers(site, where):
        for operation, status in BUSY:
            server.faults[operation] += [0, status]
    assert site.is_whole()
    if where != "metadata":
        assert site.meta.reads == 1
        assert site.meta.layouts == 1


def test_a_busy_session_is_kept(site, where):
    """Its slot goes on with the same number when the same is sent again."""
    assert site.events.num_entries == 7321
    for server in readers(site, where):
        server.faults[SEQUENCE] += [0, DELAY, DELAY, 0, DELAY]
    assert site.is_whole()
    for server in readers(site, where):
        assert server.calls.count([CREATE]) == 1
        assert server.faults[SEQUENCE] == []


def test_slots_that_the_server_wants_back(site, where):
    """Few are used from then on, and the server hears of it at once."""
    assert site.events.num_entries == 7321
    site.meta.renewals = threading.Semaphore(0)
    site.meta.recall_slots(1)
    assert site.meta.heard.wait(20)
    assert site.meta.said == [0]
    assert site.meta.renewals.acquire(timeout=20)
    for server in site.data:
        server.target = 1
        server.slots.clear()
    site.meta.slots.clear()
    assert site.is_whole()
    assert site.is_whole()
    late = [slot for server in readers(site, where) for slot in server.slots[-3:]]
    assert late
    assert max(late) <= 1
    assert max(site.meta.slots) <= 1


def test_a_state_that_was_taken_away_is_let_go_of(site, where):
    assert site.events.num_entries == 7321
    site.meta.gives_layouts = False
    site.meta.faults[READ] += [ADMIN_REVOKED]
    site.meta.recall("events.root")
    assert site.meta.heard.wait(20)
    assert where == "metadata" or site.meta.gave_back.wait(20), "from now on it is asked for bytes"
    assert site.is_whole()
    assert len(site.meta.freed) == 1


def test_sessions_that_are_lost_are_made_again(site, where):
    assert site.events.num_entries == 7321
    for server in readers(site, where):
        for operation, status in LOST:
            server.faults[operation] += [0, status]
    assert site.is_whole()
    if where != "metadata":
        assert site.meta.reads == 1


def test_states_that_are_forgotten_are_got_again(site, where):
    assert site.events.num_entries == 7321
    for server in readers(site, where):
        for operation, status in FORGOTTEN:
            server.faults[operation] += [0, 0, status]
    assert site.is_whole()


def test_a_client_that_is_forgotten_says_who_it_is(site, where):
    """The lease has ended: the client's number, its sessions and its states are not known."""
    assert site.events.num_entries == 7321
    for server in (site.meta, *site.data):
        server.forget()
    assert site.is_whole()
    assert site.is_whole()


def test_servers_that_are_started_anew(site, where):
    """The metadata server takes back what was open, and nothing new before that is said."""
    assert site.events.num_entries == 7321
    for server in (site.meta, *site.data):
        server.restart()
    assert site.is_whole()
    for server in site.data:
        server.restart()
    assert site.is_whole()


def test_the_number_of_a_session_that_is_lost(site, where):
    """Only a client that begins anew can know it."""
    assert site.events.num_entries == 7321
    for server in readers(site, where):
        server.faults[CREATE] += [MISORDERED]
        server.sessions_end()
    assert site.is_whole()


def test_a_server_that_is_busy_when_a_session_is_made(paths, core, nothing_remembered):
    with contextlib.ExitStack() as stack:
        site = Site(paths[2], FLEX)
        stack.callback(site.stop)
        for server in (site.meta, *site.data):
            for operation in (42, CREATE, 58, 18, 50, 47):
                server.faults[operation] += [DELAY]
        assert site.is_whole()
        assert site.meta.reads == 1


def test_an_open_file_keeps_its_lease(paths, core, nothing_remembered):
    """Nothing is read for longer than the lease: the server hears of the client all the same."""
    with contextlib.ExitStack() as stack:
        site = Site(paths[2], FILES)
        stack.callback(site.stop)
        site.meta.lease = 3
        assert len(site.events.arrays("MET_pt", start=0, stop=10)) == 10
        for _ in range(3):  # each a third of the lease behind the one before
            assert site.meta.renewals.acquire(timeout=20)
        assert site.is_whole()
        assert [EXCHANGE] not in site.meta.calls[1:]


READER = """
import sys
import treemill as tm
events = tm.dataset(sys.argv[1], "Events")
assert len(events.arrays("MET_pt")) == 7321
"""


@pytest.mark.parametrize("kind", [FILES, FLEX])
def test_a_process_that_ends_leaves_nothing_behind(paths, core, kind):
    """The file is still open: its layout, its state, the session and the client are given back."""
    with contextlib.ExitStack() as stack:
        site = Site(paths[2], kind)
        stack.callback(site.stop)
        subprocess.run([sys.executable, "-c", READER, site.url], check=True, timeout=120)
        for server in (site.meta, *site.data):
            assert server.left.wait(20)
            assert not server.clients
        assert site.meta.returned == 1
        assert [SEQUENCE, PUT, CLOSE] in site.meta.calls


def test_a_client_that_has_nothing_open_is_forgotten(paths, core, nothing_remembered):
    """After a third of the lease; the next file is opened by a new one."""
    with contextlib.ExitStack() as stack:
        site = Site(paths[2], FILES)
        stack.callback(site.stop)
        site.meta.lease = 3
        assert site.is_whole()
        site.events = None
        gc.collect()
        assert site.meta.left.wait(20)
        assert not site.meta.clients
        site.events = tm.dataset(site.url, "Events")
        assert site.is_whole()
