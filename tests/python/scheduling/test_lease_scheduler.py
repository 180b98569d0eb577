"""The scheduler of leases: whatever dies, every entry is in the result exactly once, or named as
missing with the reason; and the rules one by one."""

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.frozen import replaced
from treemill.scheduling import (
    Committed,
    FileSize,
    Finish,
    Halt,
    Stop,
    Tick,
    WorkerGone,
    WorkerLost,
)
from treemill.scheduling.lease_scheduler import LeaseScheduler, Leasing
from treemill.scheduling.leases import (
    Asked,
    Ended,
    Failed,
    Grant,
    Opened,
    Part,
    Reach,
    Returned,
    SiteJoined,
    Standing,
    TakeBack,
)

from tests.random_search import examples

CUTS = {0: (), 1: (100, 200, 300), 2: (500,)}
NAMES = ["a", "b", "c"]


class Site:
    """Does parts one by one, and hands up what it has done; messages arrive later."""

    def __init__(self, world, number, name):
        self.world, self.number, self.name = world, number, name
        self.up, self.down, self.parts = deque(), deque(), []
        self.workers = world.chance.choice([1, 3])
        self.rate = 0.0
        self.asked = self.halted = False
        self.say(SiteJoined(number, name))

    def say(self, *messages, merged=()):
        self.up.append((messages, merged))

    def standing(self):
        left = sum(1 if part.stop is None else part.entries for part in self.parts)
        return Standing(self.number, self.workers, self.rate, float(left))

    def ask(self):
        if not (self.asked or self.halted or self.parts):
            self.asked = True
            self.say(self.standing(), Asked(self.number))

    def obey(self, order):
        if isinstance(order, Grant):
            self.asked = False
            self.parts += order.parts
        elif isinstance(order, TakeBack):
            back, entries = [], 0
            for part in list(reversed(self.parts)):
                if (order.among is None or part.file in order.among) and entries < order.entries:
                    self.parts.remove(part)
                    back.append(part)
                    entries += part.entries or 1
            self.world.taken_back += bool(back)
            self.say(Returned(self.number, tuple(back)))
        elif isinstance(order, Halt):
            self.halted = True
            self.say(Ended(self.number))

    def work(self):
        if self.halted or not self.parts:
            self.ask()
            return
        part = self.parts.pop(0)
        if part.stop is None:
            self.open(part)
            return
        stop = self.world.chance.randrange(part.start + 1, part.stop + 1)
        done, rest = replaced(part, stop=stop), replaced(part, start=stop)
        if rest.entries:
            self.parts.insert(0, rest)
        if self.world.fails and self.world.chance.random() < 0.05:
            self.say(Failed(self.number, done, OSError("chance")))
            return
        self.rate = self.world.chance.choice([10.0, 100.0])
        merged = [(part.file, entry) for entry in range(part.start, stop)]
        up = Committed(self.number, ranges=((part.file, part.start, stop),))
        self.say(up, self.standing(), merged=merged)

    def open(self, part):
        if part.file in self.world.bad:
            self.say(Failed(self.number, part, OSError("not here")))
            return
        size = self.world.sizes[part.file]
        self.say(Opened(self.number, part.file, FileSize(size, CUTS[part.file % 3])))
        if size:
            self.parts.insert(0, Part(part.file, 0, size, CUTS[part.file % 3]))


class World:
    """A lessor and its sites with a random life."""

    def __init__(self, seed, fails=False, stops=False, restricted=False, deaths=True, begun=False):
        """`begun`: entries are in the result at the beginning."""
        self.chance = chance = Random(seed)
        self.fails, self.stops, self.deaths = fails, stops, deaths
        self.now, self.lost, self.taken_back = 0.0, 0, 0
        self.validates = seed % 8 == 0
        self.sizes = [chance.randrange(0, 700) for _ in range(chance.randrange(0, 12))]
        files = range(len(self.sizes))
        self.bad = {file for file in files if fails and chance.random() < 0.2}
        near = [frozenset(chance.sample(NAMES, chance.randrange(3))) for _ in files]
        reaches = [Reach(n, bool(n) and restricted and chance.random() < 0.7) for n in near]
        leasing = Leasing(
            shortest=0.05,
            longest=chance.choice([0.1, 1.0, 10.0]),
            first=chance.choice([10, 100]),
            worth=chance.choice([0.0, 0.05, 0.3]),
            skip_errors=fails,
        )
        known = [
            FileSize(n, CUTS[i % 3]) if chance.random() < 0.5 else None
            for i, n in enumerate(self.sizes)
        ]
        done = self.done_of(known) if begun else {}
        self.lease_scheduler = LeaseScheduler(
            known, leasing, reach=reaches.__getitem__, expected=NAMES, done=done
        )
        self.merged = [
            (file, e) for file, ranges in done.items() for each in ranges for e in range(*each)
        ]
        self.finish = None
        self.sites = {number: Site(self, number, name) for number, name in enumerate(NAMES)}

    def done_of(self, known):
        done = {}
        for file, size in enumerate(known):
            if size is not None and size.entries and self.chance.random() < 0.7:
                ends = {self.chance.randrange(size.entries + 1) for _ in range(4)}
                done[file] = list(zip(*[iter(sorted(ends))] * 2, strict=False))
        return done

    def live(self):
        deeds = ["step"] * 30 + ["tick"] + ["lose"] * self.deaths
        for _ in range(40_000):
            if self.lease_scheduler.over:
                return
            self.now += 0.01
            getattr(self, self.chance.choice(deeds))()
            if self.stops and self.chance.random() < 0.005:
                self.handle(Stop("enough"))
        raise AssertionError("it never ends")

    def step(self):
        site = self.chance.choice(list(self.sites.values()))
        if site.up and self.chance.random() < 0.5:
            self.hear(*site.up.popleft())
        elif site.down:
            site.obey(site.down.popleft())
        else:
            site.work()

    def tick(self):
        self.now += self.chance.choice([0.0, 0.5, 5.0])
        self.handle(Tick())

    def lose(self):
        """Some of what it had said is heard, at least that it has joined; the rest is not."""
        if len(self.sites) < 2:
            return  # without any site the query ends
        site = self.chance.choice(list(self.sites.values()))
        joins = bool(site.up) and isinstance(site.up[0][0][0], SiteJoined)
        for _ in range(self.chance.randrange(joins, len(site.up) + 1)):
            self.hear(*site.up.popleft())
        del self.sites[site.number]
        self.lost += 1
        self.handle(WorkerLost(site.number))

    def hear(self, messages, merged):
        self.merged += merged
        for message in messages:
            self.handle(message)

    def handle(self, message):
        for order in self.lease_scheduler.handle(message, self.now):
            if isinstance(order, Finish):
                assert self.finish is None
                self.finish = order
            for_all = isinstance(order, Halt | Finish)
            for site in self.sites.values() if for_all else [self.sites[order.site]]:
                site.down.append(order)
        if self.validates:
            self.validate()

    def validate(self):
        """Each entry is not leased, leased, in the result or given up, and only one of these."""
        coverage = self.lease_scheduler.coverage()
        places = {file: list(ranges) for file, ranges in coverage.processed.items()}
        for each in [*self.lease_scheduler.whereabouts(), *coverage.missing]:
            stop = self.sizes[each.file] if each.stop is None else each.stop
            places.setdefault(each.file, []).append((each.start, stop))
        for file, size in enumerate(self.sizes):
            ends = [0]
            for start, stop in sorted(places.get(file, [])):
                assert start == ends[-1], f"file {file} at {start}"
                ends.append(stop)
            assert ends[-1] == size or (size == 0 and ends == [0])

    def missing(self):
        """What is missing, after the account was compared with what was merged."""
        assert len(self.merged) == len(set(self.merged)), "merged once"
        coverage = self.lease_scheduler.coverage()
        said = {
            (file, entry)
            for file, ranges in coverage.processed.items()
            for start, stop in ranges
            for entry in range(start, stop)
        }
        assert said == set(self.merged)
        assert coverage.entries == len(said) == self.lease_scheduler.committed_entries
        assert all(gap.reason for gap in coverage.missing)
        return coverage.missing


seeds = st.integers(0, 2**32)


@given(seeds)
@examples(300)
def test_every_entry_is_in_the_result_exactly_once(seed):
    world = World(seed)
    world.live()
    assert world.missing() == []
    assert world.finish == Finish(None)


@given(seeds)
@examples(200)
def test_with_failures_the_rest_is_named(seed):
    world = World(seed, fails=True)
    world.live()
    assert all(gap.error is not None for gap in world.missing())


@given(seeds)
@examples(200)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    world = World(seed, stops=True)
    world.live()
    assert all(gap.reason == "enough" for gap in world.missing())


@given(seeds)
@examples(150)
def test_files_that_only_some_sites_can_read(seed):
    world = World(seed, restricted=True, deaths=False)
    world.live()
    assert world.missing() == []


@given(seeds)
@examples(200)
def test_what_is_in_the_result_already_is_not_done_again(seed):
    world = World(seed, begun=True)
    assert world.lease_scheduler.committed_entries == len(world.merged)
    world.live()
    assert world.missing() == []
    assert world.lease_scheduler.committed_entries == sum(world.sizes)


def test_such_histories_have_losses_and_work_taken_back_in_them():
    lost = taken_back = 0
    for seed in range(60):
        world = World(seed)
        world.live()
        lost += world.lost
        taken_back += world.taken_back
    assert lost > 40
    assert taken_back > 10


# The rules one by one.


def lease_scheduler(*sizes, sites=1, leasing=None, names="abc", workers=10, **options):
    leads = LeaseScheduler([FileSize(n) for n in sizes], leasing or Leasing(first=100), **options)
    for number in range(sites):
        assert leads.handle(SiteJoined(number, names[number]), 0.0) == []
        assert leads.handle(Standing(number, workers, 0.0, 0.0), 0.0) == []
    return leads


def granted(orders):
    (grant,) = (order for order in orders if not isinstance(order, TakeBack))
    assert isinstance(grant, Grant)
    return grant.parts


def test_the_first_lease_follows_the_number_of_workers():
    leads = lease_scheduler(100_000, 100_000)
    assert granted(leads.handle(Asked(0), 0.0)) == (Part(0, 0, 1000),)


def test_no_lease_is_larger_than_a_groups_share():
    leads = lease_scheduler(900, sites=3)
    assert [granted(leads.handle(Asked(site), 0.0)) for site in range(3)] == [
        (Part(0, 0, 300),),
        (Part(0, 300, 500),),  # a third of what is left
        (Part(0, 500, 633),),
    ]


def test_files_of_unknown_size_are_leased_whole():
    leads = LeaseScheduler([None] * 40, Leasing(first=100))
    for site in range(2):
        leads.handle(SiteJoined(site, "a"), 0.0)
        leads.handle(Standing(site, 10, 0.0, 0.0), 0.0)
    assert granted(leads.handle(Asked(0), 0.0)) == tuple(Part(file, 0, None) for file in range(5))
    leads.handle(Opened(0, 3, FileSize(0)), 1.0)
    leads.handle(Opened(0, 0, FileSize(70, (50,))), 1.0)
    leads.handle(Committed(0, ranges=((0, 0, 30),)), 1.0)
    leads.handle(WorkerLost(0), 1.0)
    assert Part(0, 30, 70, (50,)) in leads.whereabouts(), "what it had not handed up"
    assert leads.coverage().processed == {0: [(0, 30)]}


def test_a_lease_follows_the_rate_of_the_group():
    leads = lease_scheduler(10_000_000, sites=2)
    leads.handle(Standing(0, 10, 3e4, 0.0), 1.0)
    leads.handle(Standing(1, 10, 1e4, 0.0), 1.0)
    (fast,) = granted(leads.handle(Asked(0), 1.0))
    (slow,) = granted(leads.handle(Asked(1), 1.0))
    assert fast.stop - fast.start == 600_000, "20 s"
    assert slow.stop - slow.start == 200_000


def test_what_nobody_has_begun_is_taken_back_for_those_that_have_nothing_left():
    leads = lease_scheduler(1000, sites=2)
    for site in range(2):
        leads.handle(Standing(site, 10, 10.0, 0.0), 1.0)
    while granted(leads.handle(Asked(0), 1.0))[-1].stop < 1000:
        pass
    leads.handle(Standing(0, 10, 10.0, 1000.0), 1.0)
    assert leads.handle(Asked(1), 1.0) == [TakeBack(0, 500)]
    assert leads.handle(Tick(), 1.0) == [], "once"
    back = (Part(0, 500, 1000),)
    assert leads.handle(Returned(0, back), 2.0) == [Grant(1, back)]


def test_a_site_that_cannot_open_a_file_leaves_it_to_the_others():
    leads = lease_scheduler(100, sites=2, leasing=Leasing(first=10))
    leads.handle(SiteJoined(2, "c"), 0.0)
    leads = LeaseScheduler([None], Leasing())
    for number, name in enumerate("ab"):
        leads.handle(SiteJoined(number, name), 0.0)
        leads.handle(Standing(number, 1, 0.0, 0.0), 0.0)
    (part,) = granted(leads.handle(Asked(0), 0.0))
    leads.handle(Asked(1), 0.0)
    assert leads.handle(Failed(0, part, OSError("not here")), 1.0) == [Grant(1, (part,))]
    error = OSError("nor here")
    assert leads.handle(Failed(1, part, error), 2.0) == [Halt()]
    leads.handle(Ended(0), 3.0)
    assert leads.handle(Ended(1), 3.0) == [Finish(error)]
    (gap,) = leads.coverage().missing
    assert (gap.stop, gap.error) == (None, error)


def test_a_lost_site_leaves_what_only_it_could_read():
    def reach(file):
        return Reach(frozenset("ab"[file]), only=True)

    leads = lease_scheduler(50, 70, sites=2, reach=reach)
    (part,) = granted(leads.handle(Asked(0), 0.0))
    assert part == Part(0, 0, 50)
    while leads.handle(Asked(1), 0.0):
        pass
    leads.handle(Committed(0, ranges=((0, 0, 20),)), 1.0)
    leads.handle(WorkerLost(0, "its host went away"), 1.0)
    (finish,) = leads.handle(Committed(1, ranges=((1, 0, 70),)), 2.0)
    assert isinstance(finish.error, WorkerGone), "the others have done theirs first"
    coverage = leads.coverage()
    assert coverage.processed == {0: [(0, 20)], 1: [(0, 70)]}
    assert [(gap.file, gap.start, gap.stop) for gap in coverage.missing] == [(0, 20, 50)]
    assert "its host went away" in coverage.missing[0].reason


def test_entries_that_are_done_are_those_of_a_file_whose_size_is_known():
    with pytest.raises(ValueError, match="its size is not known"):
        LeaseScheduler([None], done={0: [(0, 10)]})
    with pytest.raises(ValueError, match="of 9 entries, those up to 10 are said to be done"):
        LeaseScheduler([FileSize(9)], done={0: [(0, 10)]})


def test_a_part_that_was_not_leased_cannot_be_handed_up():
    leads = lease_scheduler(100)
    with pytest.raises(RuntimeError, match="site 0 does not have"):
        leads.handle(Committed(0, ranges=((0, 0, 10),)), 1.0)


def test_the_query_ends_early():
    leads = lease_scheduler(100)
    leads.handle(Asked(0), 0.0)
    assert leads.handle(Stop("enough"), 1.0) == [Halt()]
    leads.handle(Committed(0, ranges=((0, 0, 10),)), 1.0)
    assert leads.handle(Ended(0), 1.0) == [Finish(None)]
    assert [(gap.start, gap.stop) for gap in leads.coverage().missing] == [(10, 100)]
