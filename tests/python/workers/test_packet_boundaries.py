"""Where packets may end: so that all workers have something to do, and none does what another one
has done."""

from itertools import pairwise

import pytest
import treemill as tm
from treemill import _core
from treemill.backends import threads
from treemill.query.planning import plan
from treemill.scheduling import FileSize, PacketDone, Packetizer, Policy, Process, WorkerJoined
from treemill.workers import worker as worker_module
from treemill.workers.file_query import PerFile
from treemill.workers.packets_and_chunks import PacketBoundaries
from treemill.workers.query_task import QueryWorkload

from tests.python.system.test_cache import cache as cache
from tests.python.written import settled

CLUSTERS = tuple(range(0, 500_000, 100_000))


def never():
    raise AssertionError("this was not to be asked")


def test_many_clusters_are_enough():
    many = range(0, 1000, 10)
    assert PacketBoundaries(4).of(1000, many, never, never) == tuple(range(10, 1000, 10))
    # Few in this file, but there are as many files.
    found = PacketBoundaries(2, files=7).of(500_000, CLUSTERS, lambda: 5, never)
    assert found == CLUSTERS[1:]


def test_one_worker_shares_with_nobody():
    assert PacketBoundaries(1).of(500_000, CLUSTERS, never, never) == CLUSTERS[1:]


def test_baskets_that_would_be_decompressed_twice_stay_whole():
    found = PacketBoundaries(2).of(500_000, CLUSTERS, lambda: 5, lambda: False)
    assert found == CLUSTERS[1:]


@pytest.mark.parametrize("workers", [2, 3, 8, 64])
@pytest.mark.parametrize("clusters", [(0,), CLUSTERS, (0, 1, 30_000, 499_999), (0, 400_000)])
def test_what_is_remembered_is_cut_evenly_and_at_clusters_too(workers, clusters):
    cuts = PacketBoundaries(workers).of(500_000, clusters, never, lambda: True)
    assert set(clusters[1:]) <= set(cuts)
    assert list(cuts) == sorted(set(cuts))
    assert 0 < cuts[0] <= cuts[-1] < 500_000
    boundaries = (0, *cuts, 500_000)
    sizes = [stop - start for start, stop in pairwise(boundaries)]
    assert max(sizes) <= min(
        max(500_000 // (16 * workers), _core.LEAST_ENTRIES), _core.BATCH_ENTRIES
    )
    inner = [n for start, n in zip(boundaries, sizes, strict=False) if start not in (1, 499_999)]
    assert min(inner[1:-1]) >= 2000, "pieces are worth their while"


def test_a_short_query_is_shared_out_evenly_between_threads():
    """12 ms in all; one worker gets slow after its first packet, as one does whose core others want
    too: the other does not wait long for it."""
    cuts = PacketBoundaries(2).of(500_000, CLUSTERS, never, lambda: True)
    packetizer = Packetizer(
        [FileSize(500_000, cuts)], Policy(expected_workers=2), sizing=threads.SIZING
    )
    fast, slow = 24e-9, 240e-9  # seconds for an entry
    queue = []
    packets = {0: 0, 1: 0}
    ended = {0: 0.0, 1: 0.0}

    def does(actions, now):
        for action in actions:
            if isinstance(action, Process):
                late = action.worker == 1 and packets[1] > 0
                packets[action.worker] += 1
                seconds = (action.packet.stop - action.packet.start) * (slow if late else fast)
                queue.append((now + seconds, seconds, action))

    for number in packets:
        does(packetizer.handle(WorkerJoined(number), 0.0), 0.0)
    while queue:
        queue.sort(key=lambda each: each[0])
        now, seconds, order = queue.pop(0)
        ended[order.worker] = now
        done = PacketDone(order.worker, order.packet.number, order.packet.stop, seconds)
        does(packetizer.handle(done, now), now)
    assert max(ended.values()) <= 12e-3
    assert abs(ended[0] - ended[1]) <= 1.5e-3
    assert 8 <= sum(packets.values()) <= 20


@pytest.fixture(scope="module")
def coarse(core, tmp_path_factory):
    """A file of two clusters."""
    from treemill.facility.generate import write

    path = tmp_path_factory.mktemp("data") / "coarse.root"
    write(path, events=40_000, index=0, cluster=20_000, codec="zstd")
    settled(path)
    return str(path)


@pytest.fixture
def packets(monkeypatch):
    """What workers get, in all passes."""
    found = []
    process = worker_module.Worker._process

    def noted(self, packet):
        found.append((packet.start, packet.stop))
        return process(self, packet)

    monkeypatch.setattr(worker_module.Worker, "_process", noted)
    return found


@pytest.fixture
def cuts(monkeypatch):
    """Where packets may end, as often as a pass asks for it. Where they do end is a matter of
    time: a worker that is early gets a large packet."""
    found = []
    size = QueryWorkload.size

    def noted(self, file):
        made = size(self, file)
        found.append(made[1])
        return made

    monkeypatch.setattr(QueryWorkload, "size", noted)
    return found


def test_clusters_are_cut_only_when_they_are_remembered(coarse, packets, cuts):
    seen, possible, answers = [], [], []
    with tm.connect(workers=2) as session:
        for _ in range(4):
            events = tm.dataset(coarse, "Events")
            booked = (
                events.filter("nMuon >= 1").hist("sum(Jet_pt)", bins=(20, 0, 500)),
                events.sum("nJet"),
            )
            packets.clear()
            cuts.clear()
            filled, jets = session.run(*booked, progress=False)
            answers.append((filled.values(flow=True).tolist(), jets, session.report.entries))
            assert session.report.complete
            seen.append({stop for _, stop in packets})
            possible.append(set(cuts))
    assert answers == [answers[0]] * 4
    assert answers[0][2] == 40_000
    assert all(stops <= {20_000, 40_000} for stops in seen[:2])
    assert possible[:2] == [{(20_000,)}] * 2
    assert all(len(each) == 1 and min(map(len, each)) > 1 for each in possible[2:])
    # Workers that are other processes have nothing of it.
    specification = plan(booked, {}).specification
    for remember, cut in ((True, True), (False, False)):
        query = PerFile(specification)
        chain = tm.dataset(coarse, "Events").chain
        _, cuts = QueryWorkload(query, chain, 2, remember=remember).size(0)
        assert (len(cuts) > 1) == cut


def test_nothing_is_cut_where_most_is_not_remembered(coarse, packets):
    with tm.connect(workers=2) as session:
        for _ in range(2):
            session.run(tm.dataset(coarse, "Events").sum("MET_pt"), progress=False)
        packets.clear()
        events = tm.dataset(coarse, "Events")
        session.run(events.sum("MET_pt"), events.sum("sum(Jet_pt + Jet_eta)"), progress=False)
    assert {stop for _, stop in packets} <= {20_000, 40_000}
