"""Workers that share a lock: no more of them get packets than are of use, and nothing is lost by
looking for their number."""

import random

import pytest
import treemill as tm
from treemill.scheduling import (
    Commit,
    Committed,
    FileOpened,
    FileSize,
    Finish,
    OpenFile,
    PacketDone,
    PacketFailed,
    Packetizer,
    Policy,
    Process,
    Sizing,
    Spent,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from treemill.scheduling.coordinator import packetizer_and_coordinator


class Threads:
    """Threads on a machine. An entry takes `lock` seconds of a CPU under the lock, `free` beside
    it, and `sleep` seconds of nothing; with `far`, these are spent waiting for a server."""

    def __init__(
        self, workers=2, entries=1_000_000, cores=16, lock=0.0, free=0.0, sleep=0.0, far=0
    ):
        self.validates = workers < 10  # it looks at the whole state
        self.entries, self.cores, self.far = entries, cores, far
        self.lock, self.free, self.sleep = lock, free, sleep
        cuts = tuple(range(10_000, entries, 10_000))
        known = None if far else FileSize(entries, cuts)
        self.cuts = cuts
        self.now, self.partials, self.merged = 0.0, {}, []
        self.at_work = {}  # by worker: the packet, what is left of it, and when it began
        self.spans = {}  # time with so many workers at work
        self.stuck, self.is_over, self.failing = set(), False, set()
        self.packetizer = Packetizer(
            [known],
            Policy(shares_lock=True, expected_workers=workers, max_attempts=1000),
            sizing=Sizing(first=10_000, shortest=1e-3, longest=1.0, least=0.1),
        )
        self.orders = []
        for number in range(workers):
            self.tell(WorkerJoined(number))

    def tell(self, event):
        for action in self.packetizer.handle(event, self.now):
            if isinstance(action, Finish):
                self.is_over = True
            elif not self.is_over:
                self.orders.append(action)
        if self.validates:
            self.packetizer.validate()
        while self.orders:
            order = self.orders.pop(0)
            if isinstance(order, Process):
                packet = order.packet
                left = float(packet.stop - packet.start)
                self.at_work[order.worker] = [packet, left, self.now]
            elif isinstance(order, Commit):
                self.merged += self.partials.pop(order.worker, [])
                self.tell(Committed(order.worker))
            elif isinstance(order, OpenFile):
                opened = FileOpened(order.worker, 0, self.entries, self.cuts, self.far)
                self.tell(opened)

    def speed(self, machine=None):
        """Entries per second of each worker that is at work."""
        working = len(self.at_work.keys() - self.stuck)
        cpu = self.lock + self.free
        most = [1 / (cpu + self.sleep)]
        if self.lock:
            most.append(1 / (working * self.lock))
        if cpu:
            most.append((machine or self.cores) / (working * cpu))
        return min(most)

    def step(self):
        """Until the next packet is done, or half a second."""
        working = self.at_work.keys() - self.stuck
        seconds = 0.5
        if working:
            speed = self.speed()
            first = min(working, key=lambda number: self.at_work[number][1])
            seconds = min(seconds, self.at_work[first][1] / speed)
            for number in working:
                self.at_work[number][1] -= speed * seconds
        self.now += seconds
        self.spans[len(self.at_work)] = self.spans.get(len(self.at_work), 0.0) + seconds
        done = [number for number in working if self.at_work[number][1] < 1e-6]
        for number in done:
            packet, _, began = self.at_work.pop(number)
            if number in self.failing:
                self.failing.remove(number)
                self.tell(PacketFailed(number, packet.number, RuntimeError("x"), True))
                continue
            self.partials.setdefault(number, []).append(packet)
            entries, took = packet.stop - packet.start, self.now - began
            cpu = entries * (self.lock + self.free)
            waited = entries * self.sleep if self.far else 0.0
            spent = Spent(0.0, 0.0, cpu, waited=waited)
            event = PacketDone(number, packet.number, packet.stop, took, self.far, spent=spent)
            self.tell(event)
        if not done:
            self.tell(Tick())

    def run(self, until=float("inf")):
        while not self.is_over and self.now < until:
            self.step()
        return self

    @property
    def most_usual(self):
        """The number of workers that worked for most of the time."""
        return max(self.spans, key=self.spans.get)

    def check(self):
        assert self.is_over
        done = sorted((packet.start, packet.stop) for packet in self.merged)
        at = 0
        for start, stop in done:
            assert start == at
            at = stop
        assert at == self.entries


@pytest.mark.parametrize("workers", [2, 8])
def test_one_works_where_all_hold_the_lock(workers):
    threads = Threads(workers, lock=2e-6).run()
    threads.check()
    assert threads.most_usual == 1
    assert threads.spans[1] > 0.7 * threads.now


@pytest.mark.parametrize("workers", [2, 8, 32])
@pytest.mark.parametrize(
    "costs",
    [
        {"free": 1e-5},
        {"lock": 1e-7, "free": 1e-5},
        {"sleep": 1e-5},
        {"lock": 1e-7, "sleep": 1e-5},
        {"lock": 1e-7, "sleep": 1e-5, "far": 50_000},
        {"lock": 3e-6, "sleep": 1e-5, "far": 50_000},
    ],
)
def test_all_work_where_they_work_or_wait_side_by_side(workers, costs):
    threads = Threads(workers, entries=workers * 1_000_000, cores=workers, **costs).run()
    threads.check()
    of_all = {n: seconds for n, seconds in threads.spans.items() if n > 0.7 * workers}
    assert sum(of_all.values()) > 0.9 * threads.now


def test_those_that_sleep_as_much_as_they_work_are_tried_and_let_go_again():
    threads = Threads(2, entries=4_000_000, lock=1e-5, sleep=1e-5).run()
    threads.check()
    assert threads.spans[1] < 0.1 * threads.now
    assert threads.packetizer._state.crowd.limit is None


def test_a_few_work_where_a_part_is_under_the_lock():
    threads = Threads(16, entries=8_000_000, lock=1e-5, free=2e-5).run()
    threads.check()
    assert 3 <= threads.most_usual <= 4


def test_on_a_machine_that_gets_free_all_work_again():
    threads = Threads(2, entries=20_000_000, cores=1, lock=1e-7, free=1e-5)
    threads.run(until=5.0)
    assert threads.packetizer._state.crowd.limit == 1
    threads.cores = 2
    threads.run(until=30.0)
    assert threads.packetizer._state.crowd.limit is None
    threads.run().check()
    assert threads.most_usual == 2


def alone(workers=2):
    threads = Threads(workers, entries=4_000_000, lock=2e-6)
    threads.run(until=2.0)
    assert threads.packetizer._state.crowd.limit == 1
    assert len(threads.at_work) == 1
    return threads


def test_another_one_goes_on_if_the_one_is_lost():
    threads = alone()
    (lost,) = threads.at_work
    threads.at_work.pop(lost)
    threads.partials.pop(lost, None)
    threads.tell(WorkerLost(lost, "killed"))
    assert set(threads.at_work) == {1 - lost}
    threads.run().check()


def test_another_one_does_a_packet_that_has_failed():
    threads = alone()
    (failing,) = threads.at_work
    threads.failing.add(failing)
    threads.partials.pop(failing, None)  # it throws its partial away
    threads.run().check()


def test_nobody_waits_for_ever_for_one_that_is_stuck():
    threads = alone()
    (stuck,) = threads.at_work
    threads.stuck.add(stuck)
    threads.run(until=threads.now + 60.0)
    assert len(threads.at_work) == 2 or not threads.packetizer._state.left
    threads.stuck.clear()
    threads.run().check()


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_every_entry_is_done_once(seed):
    chance = random.Random(seed)
    workers = chance.randint(2, 6)
    threads = Threads(workers, entries=2_000_000, cores=chance.randint(1, 4), lock=2e-6)
    while not threads.is_over:
        threads.step()
        threads.lock = chance.choice([threads.lock, 1e-7, 4e-6])
        threads.sleep = chance.choice([threads.sleep, 0.0, 3e-6])
        if chance.random() < 0.05 and len(threads.packetizer.workers) > 1:
            lost = chance.choice(sorted(threads.packetizer.workers))
            threads.at_work.pop(lost, None)
            threads.partials.pop(lost, None)
            threads.tell(WorkerLost(lost, "killed", fault=False))
        if chance.random() < 0.05 and threads.at_work:
            failing = chance.choice(sorted(threads.at_work))
            if not threads.failing:
                threads.partials.pop(failing, None)
                threads.failing.add(failing)
    threads.check()


class Waits(tm.Selector):
    """A selector."""

    def begin_worker(self, inputs):
        self.output["n"] = 0

    def process(self, chunk):
        self.output["n"] += len(chunk)


@pytest.mark.parametrize(
    ("mode", "kind", "shares"),
    [
        ("threads", "selector", True),
        ("threads", "function", True),
        ("threads", "query", False),
        ("processes", "selector", False),
    ],
)
def test_threads_that_run_python_share_a_lock(events, monkeypatch, mode, kind, shares):
    told = []

    def made(files, policy, *arguments, **words):
        told.append(policy.shares_lock)
        return packetizer_and_coordinator(files, policy, *arguments, **words)

    monkeypatch.setattr("treemill.backends.coordinated_pass.packetizer_and_coordinator", made)
    with tm.connect(workers=2, mode=mode) as session:
        if kind == "selector":
            assert session.run(Waits(), events)["n"] == 12322
        else:
            met = (lambda MET_pt: 2.0 * MET_pt) if kind == "function" else "MET_pt"  # noqa: N803
            defined = events.define("met", met)
            session.run(defined.sum("met"))
    assert told == [shares]
