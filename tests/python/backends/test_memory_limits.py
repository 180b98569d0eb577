"""What the queries of one process take, in simulated processes whose threads several queries share:
the greedy one is found, and no other; and a query that only has greedy neighbours is not asked to
run alone for ever.
"""

import random

import pytest
from treemill.backends.dask.memory_limits import (
    AtWork,
    LowWater,
    Measured,
    MemoryLimits,
    Over,
)

from tests.random_search import share

HISTORIES = share(200)
LIMIT = 300


class Query:
    def __init__(self, name, takes, keeps=0, holds=0, most=LIMIT):
        """`takes`: the bytes of a packet, in its second half. `keeps`: what each one leaves.
        `holds`: what the first one leaves on top."""
        self.name, self.takes, self.keeps, self.most = name, takes, keeps, most
        self.holds = holds
        self.held = self.in_hand = self.done = 0
        self.worked = False


class Process:
    """One process: threads whose packets take some looks, and what its queries hold."""

    def __init__(self, seed, threads, *queries):
        self.chance = random.Random(seed)
        self.threads, self.queries = threads, list(queries)
        self.packets = []  # of a query, from a look until a look
        self.limits, self.looks, self.garbage = MemoryLimits(), 0, 1000
        self.alone = None
        self.asked, self.over = [], []

    def look(self):
        self.looks += 1
        for packet in [each for each in self.packets if each[2] <= self.looks]:
            self.packets.remove(packet)
            query = packet[0]
            query.held += query.keeps + (query.holds if not query.done else 0)
            query.done += 1
            query.worked = True
        may = [each for each in self.queries if self.alone in (None, each)]
        others = any(query is not self.alone for query, *_ in self.packets)
        idle = self.chance.random() < 0.2
        while may and len(self.packets) < self.threads and not (self.alone and others) and not idle:
            query = self.chance.choice(may)
            self.packets.append((query, self.looks, self.looks + self.chance.randint(4, 20)))
        taken = sum(
            query.takes for query, first, last in self.packets if 2 * self.looks > first + last
        )
        for query in self.queries:
            query.in_hand = sum(each is query for each, *_ in self.packets)
        self.garbage = min(self.garbage + self.chance.randint(0, 2), 1100)
        private = self.garbage + taken + sum(query.held for query in self.queries)
        there = [q for q in self.queries if q.in_hand or q.worked]
        at_work = {q.name: AtWork(q.most, q.in_hand, q.done) for q in there}
        for query in self.queries:
            query.worked = False
        found = self.limits.look(private, at_work, self.looks * 0.05)
        if isinstance(found, Measured):
            assert self.alone is not None
            assert found.work == self.alone.name
            self.alone = None
        elif found is not None and not found.is_alone:
            self.asked.append(found.work)
            self.alone = next(q for q in self.queries if q.name == found.work)
        elif found is not None:
            self.over.append(found)
            ended = next(q for q in self.queries if q.name == found.work)
            self.queries.remove(ended)
            self.packets = [each for each in self.packets if each[0] is not ended]
            self.limits.end(ended.name)
            self.alone = None if self.alone is ended else self.alone

    def run(self, looks):
        for _ in range(looks):
            self.look()


@pytest.mark.parametrize("part", range(2))
def test_the_greedy_one_is_found_whoever_is_beside_it_and_no_other_is(part):
    for seed in range(part * HISTORIES // 2, (part + 1) * HISTORIES // 2):
        chance = random.Random(seed)
        threads = chance.choice([2, 4])
        fine = [
            Query(f"fine {i}", chance.randint(0, 200 // threads), most=chance.choice([LIMIT, None]))
            for i in range(chance.randint(1, 4))
        ]
        greedy = Query("greedy", chance.randint(LIMIT + 50, 2000))
        queries = [*fine, greedy]
        chance.shuffle(queries)
        process = Process(seed, threads, *queries)
        process.run(20 * 60 * 2)
        assert [each.work for each in process.over] == ["greedy"], f"seed {seed}"
        assert process.over[0].taken > LIMIT


def test_one_that_keeps_what_it_takes_is_found_between_its_packets():
    limits, mine = MemoryLimits(), {"mine": AtWork(LIMIT)}
    assert limits.look(0, mine, 0.0) is None
    assert limits.look(200, {}, 1.0) is None
    assert limits.look(200, mine, 2.0) is None
    assert limits.look(350, mine, 3.0) == Over("mine", 350, is_alone=True)


@pytest.mark.parametrize("most", [LIMIT, None])
def test_what_neighbours_need_is_not_held_against_one_that_needs_little(most):
    """Four queries that take less than they may, and together more: each is alone once or
    twice, in ten minutes."""
    queries = [Query(f"q{i}", 60, holds=90, most=LIMIT if i == 0 else most) for i in range(4)]
    process = Process(2, 2, *queries)
    process.run(20 * 600)
    assert process.over == []
    assert 1 <= len(process.asked) <= 6


def test_one_is_measured_when_it_has_done_a_packet_that_began_when_it_was_alone():
    limits = MemoryLimits()
    mine = [AtWork(LIMIT, 1, done) for done in range(4)]
    assert limits.look(0, {"mine": mine[0], "other": AtWork(None)}, 0.0) is None
    found = limits.look(400, {"mine": mine[0], "other": AtWork(None)}, 1.0)
    assert found == Over("mine", 400, is_alone=False)
    assert limits.look(400, {"mine": mine[0]}, 2.0) is None
    assert limits.look(400, {"mine": mine[1]}, 3.0) is None, "it was in hand before"
    assert limits.look(400, {"mine": mine[2]}, 4.0) == Measured("mine")


def test_what_others_leave_behind_counts_for_nobody():
    limits = MemoryLimits()
    both = {"a": AtWork(LIMIT, 1, 0), "b": AtWork(LIMIT, 1, 0)}
    assert limits.look(1000, both, 0.0) is None
    assert limits.look(1290, both, 0.1) is None
    assert limits.look(1290, {"a": AtWork(LIMIT, 1, 0)}, 0.2) is None
    assert limits.look(1550, {"a": AtWork(LIMIT, 1, 0)}, 0.3) is None
    over = limits.look(1600, {"a": AtWork(LIMIT, 1, 0)}, 0.4)
    assert over == Over("a", 310, is_alone=True)


def test_a_merger_at_work_for_another_query_is_not_the_first_one_s():
    limits = MemoryLimits()
    mine = AtWork(LIMIT, 1, 0)
    assert limits.look(1000, {"mine": mine}, 0.0) is None
    found = limits.look(1500, {"mine": mine, "merged": AtWork(None, 0, 0)}, 0.1)
    assert not (isinstance(found, Over) and found.is_alone)
    assert limits.look(1500, {"mine": mine}, 0.2) is None, "that came of the other one's merger"


def test_one_whose_neighbour_never_ends_is_waited_for_no_longer_than_a_minute():
    limits = MemoryLimits()
    both = {"hangs": AtWork(None, 1, 0), "mine": AtWork(LIMIT, 1, 0)}
    assert limits.look(0, both, 0.0) is None
    assert limits.look(400, both, 1.0) == Over("mine", 400, is_alone=False)
    assert limits.look(400, both, 60.0) is None
    assert limits.look(400, both, 61.1) == Measured("mine")
    assert limits.look(400, both, 61.2) == Over("hangs", 400, is_alone=False)


def test_one_that_ends_is_forgotten():
    limits = MemoryLimits()
    both = {"a": AtWork(LIMIT, 1, 0), "b": AtWork(LIMIT, 1, 0)}
    assert limits.look(0, both, 0.0) is None
    assert limits.look(400, both, 1.0) == Over("b", 400, is_alone=False), "the newest first"
    limits.end("b")
    assert limits.works == {"a"}
    assert limits.look(400, {"a": AtWork(LIMIT, 1, 0)}, 2.0) is None


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_process_keeps_is_known_whatever_its_packets_take(threads):
    """The told memory is never more than a step and a packet of each other thread above what is
    held there, and those that have worked are named."""
    for seed in range(20):
        queries = [Query("keeps", 200, keeps=5, most=None), Query("fine", 300, most=None)]
        process, low = Process(seed, threads, *queries), LowWater(limit=3200)
        told, worked, find = [], set(), process.limits.look

        def look(private, at_work, now, low=low, told=told, worked=worked, find=find):
            found = low.look(private, at_work)
            if found is not None:
                told.append(found.keeps)
                worked.update(found.worked)
            return find(private, at_work, now)

        process.limits.look = look
        process.run(20 * 60 * 2)
        held = process.garbage + queries[0].held
        assert told[0] <= 1100, "what there was before"
        assert held - 400 <= told[-1] <= held + 300 * (threads - 1) + 100, f"seed {seed}"
        assert worked == {"keeps", "fine"}


def test_a_process_is_not_full_while_a_long_packet_takes_much():
    low = LowWater(limit=320)
    assert low.look(100, {}).keeps == 100
    for moment in range(100):
        done = {"long": AtWork(None, 1, 0), "short": AtWork(None, 1, moment)}
        assert low.look(100 if moment == 0 else 300, done) is None
    assert low.look(150, {"long": AtWork(None, 0, 1), "short": AtWork(None, 1, 100)}) is None
    found = low.look(150, {"short": AtWork(None, 1, 101)})
    assert found.keeps == 150
    assert set(found.worked) == {"long", "short"}


def test_a_process_that_lives_through_many_queries_keeps_no_name_of_each():
    low = LowWater(limit=3200)
    named = [low.look(100, {f"query {n}": AtWork(None, 0, 1)}) for n in range(1000)]
    told = [each for each in named[1:] if each is not None]
    assert max(len(each.worked) for each in told) < 100
    assert sum(len(each.worked) for each in told) > 900
