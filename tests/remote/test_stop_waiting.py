"""A run that is stopped while it waits for a server that says nothing: it ends long before the
server counts as lost, and says which entries are missing.
"""

import contextlib
import threading
import time

import pytest
import treemill as tm
from treemill.facility.generate import write
from treemill.workers.worker import Worker

from tests.remote.conftest import skip_without
from tests.remote.dcap_door import DcapDoor
from tests.remote.relay import Relay
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATH = "store/trees/events_2.root"
LOST = 20
"""Seconds of silence after which a server of HTTP counts as lost."""


@pytest.fixture
def server(files, nothing_remembered):
    skip_without(Nginx.missing())
    with Nginx() as made:
        made.put(files[PATH], PATH)
        yield made


class Touches(tm.Selector):
    def begin_worker(self, inputs):
        self.output["sum"] = 0.0

    def process(self, events):
        self.output["sum"] += float(sum(events.MET_pt))


@pytest.mark.parametrize("kind", ["query", "selector"])
def test_a_stopped_run_does_not_wait_for_a_silent_server(server, kind, monkeypatch):
    events = tm.dataset(server.url(PATH), tree="Events")
    work = [events.sum("MET_pt")] if kind == "query" else [Touches(), events]
    process = Worker._process

    def hangs(self, packet):
        server.freeze()
        return process(self, packet)

    monkeypatch.setattr(Worker, "_process", hangs)
    with tm.connect(workers=1, mode="threads", patience=300) as session:
        query = session.submit(*work)
        while not any(each.requests for each in query.progress.io.sources):
            assert not query.done
            time.sleep(0.01)
        began = time.monotonic()
        query.stop()
        with contextlib.suppress(tm.TreemillError):  # a selector without entries has no output
            query.result(timeout=60)
        assert time.monotonic() - began < LOST / 2
        (gap,) = query.report.missing
        assert gap.reason == "stopped by the user"


def test_a_thread_that_works_for_a_stopped_run_waits_for_no_server(server, core):
    control, errors = core.Control(), []

    def ask():
        control.enter()
        try:
            core.remote_stat(server.url(PATH))
        except tm.SourceError as error:
            errors.append(str(error))

    server.freeze()
    asking = threading.Thread(target=ask)
    asking.start()
    control.stop()
    asking.join(60)
    server.thaw()
    assert errors == ["the run was stopped while a server was waited for"]


def test_a_pool_of_dcap_that_has_much_to_bring_is_left_when_a_run_is_stopped(
    tmp_path, nothing_remembered
):
    path = tmp_path / "large.root"
    write(path, events=60_000, index=3, cluster=2000, codec="zstd")
    with DcapDoor(tmp_path / "door") as door, tm.connect(workers=1, mode="threads") as session:
        door.put(path, "large.root")
        events = tm.dataset(door.url("large.root"), tree="Events")
        assert events.num_entries == 60_000
        sums = [events.sum(name) for name in ("Jet_pt", "Jet_eta", "Jet_phi", "Muon_pt")]
        door.faults.stall_after = 1000
        query = session.submit(*sums)
        while not door.counts.stalled:
            assert not query.done
            time.sleep(0.01)
        query.stop()
        with contextlib.suppress(tm.TreemillError):
            query.result(timeout=60)
        until = time.monotonic() + 30
        while not door.counts.left and time.monotonic() < until:
            time.sleep(0.01)
        assert door.counts.left
        door.faults.stall_after = None
        assert session.run(events.count()) == 60_000


@pytest.mark.parametrize("kind", [XRootD, Ganesha, Nginx])
def test_a_connection_that_has_much_to_bring_is_left_when_a_run_is_stopped(
    kind, tmp_path, nothing_remembered
):
    skip_without(kind.missing())
    path = tmp_path / "large.root"
    write(path, events=200_000, index=3, cluster=5000, codec="none")
    with kind() as server:
        server.put(path, "store/large.root")
        scheme, _, there = server.url("store/large.root").partition("://")
        there = there.partition("/")[2]
        with Relay(server, ebbs=1 << 20) as relay, tm.connect(workers=1, mode="threads") as run:
            events = tm.dataset(f"{scheme}://127.0.0.1:{relay.port}/{there}", tree="Events")
            query = run.submit(*[events.sum(name) for name in ("Jet_pt", "Jet_eta", "Jet_phi")])
            while not relay.waiting:
                assert not query.done
                time.sleep(0.01)
            query.stop()
            with contextlib.suppress(tm.TreemillError):
                query.result(timeout=60)
            until = time.monotonic() + 30
            while relay.waiting and time.monotonic() < until:
                time.sleep(0.01)
            assert not relay.waiting, "the server need not bring the rest"
