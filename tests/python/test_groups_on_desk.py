"""The scheduler's part of a pass with sub-masters, and theirs, in random histories: processes that
lead groups and others join, die, are cut off and are sent away. Every entry of the dataset is in
what the client has read, once.
"""

import contextlib
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_desk import FILES, Entries, ranges_in, request
from treemill.backends.dask.desk import Desk
from treemill.backends.dask.group_messages import Apart
from treemill.backends.dask.groups import ABOUT_GROUPS, Groups
from treemill.backends.dask.mailbox import Mailbox
from treemill.backends.dask.merger import Merger, RefusedByMerger
from treemill.backends.dask.messages import (
    Act,
    Begin,
    Drop,
    End,
    Fetch,
    Hold,
    Loaded,
    Recall,
    RecallFrom,
    Tell,
    Unreached,
)
from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    FileOpened,
    FileSize,
    HandedOn,
    OpenFile,
    PacketDone,
    Process,
    RefusedFrom,
    WorkerJoined,
)
from treemill.scheduling import Refused as RefusedEvent


class Job:
    """What a process has of a pass under one sub-master: two workers, and perhaps the merger."""

    def __init__(self, host, begin, say):
        self.host, self.work, self.say = host, begin.work, say
        self.mergers, self.partials, self.handed = {}, {}, {}
        self.orders = {number: [] for number in begin.workers}
        self.fetches = []
        say(Loaded(begin.work, begin.workers))
        for number in begin.workers:
            say(Tell(begin.work, WorkerJoined(number)))

    def hear(self, message):
        if isinstance(message, Hold):
            self.mergers[message.merger] = Merger()
        elif isinstance(message, Recall):
            merger = self.mergers[message.merger]
            if merger.refuse(message.worker) > message.taken:
                self.say(Tell(self.work, Committed(message.worker, message.merger)))
            self.say(Tell(self.work, RefusedEvent(message.merger, message.worker)))
        elif isinstance(message, Fetch):
            self.fetches.append(message)
        elif isinstance(message, RecallFrom):
            merger = self.mergers[message.merger]
            if merger.refuse_from(message.giver):
                self.say(Tell(self.work, HandedOn(message.giver, message.merger)))
            self.say(Tell(self.work, RefusedFrom(message.merger, message.giver)))
        elif isinstance(message, Drop):
            raise AssertionError("a sub-master's partial is never dropped while it leads")
        elif isinstance(message, Act) and getattr(message.action, "worker", None) in self.orders:
            self.orders[message.action.worker].append(message)

    def step(self, worker):
        """A worker carries out its order."""
        act, world = self.orders[worker].pop(0), self.host.world
        order = act.action
        if isinstance(order, OpenFile):
            self.say(Tell(self.work, FileOpened(worker, order.file, FILES[order.file])))
        elif isinstance(order, Process):
            packet = order.packet
            self.partials.setdefault(worker, Entries()).append(
                (packet.file, packet.start, packet.stop)
            )
            stop = packet.stop - world.shift(self, packet)
            self.say(Tell(self.work, PacketDone(worker, packet.number, stop, 0.1)))
            world.packets += 1
        elif isinstance(order, Discard):
            self.partials.pop(worker, None)
            self.say(Tell(self.work, Discarded(worker)))
        elif isinstance(order, Commit):
            self.commit(worker, act)

    def fetch(self):
        """Merges what another sub-master has."""
        order, world = self.fetches.pop(0), self.host.world
        there = world.hosts.get(order.address)
        job = None if there is None else there.jobs.get(order.of)
        if job is None or order.giver not in job.mergers:
            self.say(Unreached(self.work, order.giver, "gone"))
            return
        commits, covers, data = job.mergers[order.giver].read()
        if commits != order.commits:
            self.say(Unreached(self.work, order.giver, "another number"))
            return
        with contextlib.suppress(RefusedByMerger):
            self.mergers[order.merger].absorb(
                order.giver, commits, covers, lambda: data and Entries(pickle.loads(data))
            )
            if world.kills and world.chance.random() < 0.1:
                world.kills -= 1
                world.kill(world.chance.choice([self.host.address, order.address]))
            self.say(Tell(self.work, HandedOn(order.giver, order.merger)))
            world.inherited += 1

    def commit(self, worker, act):
        merger, world = act.action.merger, self.host.world
        partial, there = self.partials.pop(worker), world.hosts.get(act.address)
        number = self.handed.get((worker, merger), 0)
        try:
            job = None if there is None else there.jobs.get(self.work)
            if job is None or merger not in job.mergers:
                raise RefusedByMerger
            assert act.covers == ranges_in(partial), "the ledger knows what the partial has"
            job.mergers[merger].take(worker, number, act.covers, lambda: partial)
        except RefusedByMerger:
            self.say(Unreached(self.work, merger, "refused"))
            return
        if not world.kills or world.chance.random() < 0.9:  # else it dies before it can say so
            self.handed[worker, merger] = number + 1
            self.say(Tell(self.work, Committed(worker, merger)))
        else:
            world.kills -= 1
            world.kill(self.host.address)


class Host:
    """A worker process with two workers, which may lead a group."""

    def __init__(self, world, address):
        self.world, self.address = world, address
        self.start, self.mail = f"start of {address}", Mailbox()
        self.jobs = {}
        self.cut = False  # whether its sub-master does not hear it
        self.groups = Groups(
            address,
            self.say,
            lambda talk: None,
            lambda name: self.jobs.pop(name, None),
            lambda: world.now,
        )

    def say(self, message):
        talk = self.groups.talks.get(message.work)
        (self.mail if talk is None else talk.mail).put(message)

    def exchange(self, is_lost):
        """A request to the scheduler, whose answer may be lost."""
        desk = self.world.desk
        number = int(self.address)
        desk.add(self.address, f"host{number % self.world.nodes}", 2)
        assert desk.hear(self.address, self.start, self.mail.parcel())
        if not is_lost:
            for message in self.mail.take(desk.mail(self.address)):
                self.understand(message)

    def report(self, talk, is_lost):
        """The same to its sub-master."""
        there = self.world.hosts.get(talk.address)
        led = None if there is None else there.groups.led.get(talk.name)
        if there is None:
            return
        parcel = talk.mail.parcel()
        if led is None or not led.exchange(self.address, talk.start, parcel):
            self.jobs.pop(talk.name, None)
            talk.restart()
            self.world.restarts += 1
        elif not is_lost:
            mail = led.desk.mail(self.address)
            for message in () if mail is None else talk.mail.take(mail):
                self.understand(message)

    def understand(self, message):
        if isinstance(message, Begin):
            self.jobs[message.work] = Job(self, message, self.say)
        elif isinstance(message, ABOUT_GROUPS):
            self.groups.hear(message)
        elif isinstance(message, End):
            self.jobs.pop(message.work, None)
            self.groups.leave(message.work)
        else:
            job = self.jobs.get(message.work)
            if job is not None:
                job.hear(message)


class World:
    def __init__(
        self, seed, hosts=6, nodes=2, size=6, kills=4, leaders=False, leaves=0, patient=False
    ):
        self.chance = random.Random(seed)
        self.nodes, self.size, self.leaders = nodes, size, leaders
        self.restarts = self.killed_leaders = self.apart = self.packets = 0
        self.now = 0.0
        self.inherited = 0
        self.leaving = {}  # by process: until when it is waited for
        self.leaves, self.patient = leaves, patient
        self.desk = Desk(lambda: self.now)
        self.hosts, self.next = {}, 0
        self.kills = self.chance.randrange(kills + 1)
        for _ in range(hosts):
            self.add()

    def add(self):
        address = str(self.next)
        self.next += 1
        self.hosts[address] = Host(self, address)

    def kill(self, address):
        host = self.hosts.pop(address, None)
        if host is not None:
            self.killed_leaders += bool(host.groups.led)
            # Which packet was to blame is not what these histories are about.
            self.desk.remove(address, f"{address} was killed", fault=False)
            self.add()

    def leave(self, address):
        """A process is sent away: it goes when it has no part any more, or when patience ends."""
        patience = 1e9 if self.patient else self.chance.choice([0.5, 5.0, 1e9])
        self.leaving[address] = self.now + patience
        self.desk.leave(address)
        self.add()

    def see_off(self):
        for address, deadline in list(self.leaving.items()):
            if not self.desk.has_part(address) or self.now > deadline:
                del self.leaving[address]
                if self.hosts.pop(address, None) is not None:
                    self.desk.remove(address, f"{address} was retired", fault=False)

    def shift(self, job, packet):
        return 0

    def step(self):
        self.now += 0.02
        what = self.chance.random()
        host = self.hosts[self.chance.choice(sorted(self.hosts))]
        if what < 0.01 and self.kills:
            self.kills -= 1
            leading = [each for each in self.hosts.values() if each.groups.led]
            chosen = self.chance.choice(leading) if self.leaders and leading else host
            self.kill(chosen.address)
        elif what < 0.02 and self.kills and host.groups.talks:
            (talk,) = host.groups.talks.values()
            if talk.address != host.address:
                self.kills -= 1
                self.apart += 1
                host.say(Apart(talk.work, talk.sub, "no route to host"))
        elif what < 0.03 and self.leaves:
            staying = sorted(self.hosts.keys() - self.leaving.keys())
            merged = [part.address for part in self.desk.parts("work")]
            holding = [each for each in staying if each in merged]
            if holding or (staying and not self.patient):
                self.leaves -= 1
                self.leave(self.chance.choice(holding or staying))
        elif what < 0.05:
            self.desk.tick()
            self.see_off()
        elif what < 0.08:
            for led in list(host.groups.led.values()):
                led.tick()
        elif what < 0.3:
            host.exchange(self.chance.random() < 0.1)
        elif what < 0.6:
            for talk in list(host.groups.talks.values()):
                host.report(talk, self.chance.random() < 0.1)
        else:
            fetching = [
                job for host in self.hosts.values() for job in host.jobs.values() if job.fetches
            ]
            if fetching and self.chance.random() < 0.3:
                self.chance.choice(fetching).fetch()
                return
            ready = [
                (job, worker)
                for job in host.jobs.values()
                for worker, orders in job.orders.items()
                if orders
            ]
            if ready:
                job, worker = self.chance.choice(ready)
                job.step(worker)

    def fetch(self, name):
        """The result, as a client gets it; None if it is not there, or has changed."""
        parts = self.desk.status(name).parts
        if parts is None:
            return None
        found, commits = [], {}
        for part in parts:
            there = self.hosts.get(part.address)
            job = None if there is None else there.jobs.get(part.work)
            if job is None or part.merger not in job.mergers:
                return None
            commits[part.merger], covers, data = job.mergers[part.merger].read()
            assert covers == ranges_in(pickle.loads(data))
            found += pickle.loads(data)
            if self.chance.random() < 0.05:
                self.step()  # something happens meanwhile
        if not self.desk.settle(name, commits):
            return None
        assert self.desk.settle(name, commits), "a client may ask again"
        return found


def live(world, seed, **changes):
    """A query from its begin to its end, in which every entry is counted once."""
    served = ["root://a"] * len(FILES)
    world.desk.begin("work", request(submasters=world.size, served=served, **changes))
    done = changes.get("done", {})
    before = sum(stop - start for ranges in done.values() for start, stop in ranges)
    assert world.desk.status("work").before == before
    found = None
    for _ in range(60_000):
        world.step()
        if found is None:
            found = world.fetch("work")
        if world.desk.status("work").ended is not None:
            break
    ended = world.desk.status("work").ended
    assert ended is not None, f"seed {seed} does not end"
    assert ended.error is None, (seed, ended.error)
    for file, entries in enumerate(FILES):
        mine = sorted(
            [*done.get(file, []), *((start, stop) for at, start, stop in found if at == file)]
        )
        assert [start for start, _ in mine] == [0, *(stop for _, stop in mine)][:-1], seed
        assert mine[-1][1] == entries, seed
        assert ended.coverage.processed[file] == [(0, entries)]
    assert ended.entries == sum(FILES)
    check_counts(world, ended, before)
    return ended


def check_counts(world, ended, before):
    """What workers have done is counted: all that was merged, and nothing that was not done."""
    done = [worker.sums for worker in ended.monitored.workers.values() if worker.sums]
    assert sum(sums["entries"] for sums in done) >= sum(FILES) - before
    packets = sum(sums["packets"] for sums in done)
    assert packets <= world.packets
    assert sum(sums["seconds"] for sums in done) == pytest.approx(0.1 * packets)
    assert ended.monitored.seconds <= world.now
    assert set(ended.monitored.nodes) == {"root://a"}
    for worker in ended.monitored.workers.values():
        assert sum(worker.spread.get("seconds", {}).values()) == worker.sums.get("packets", 0)


@pytest.mark.parametrize("size", [4, 6, 100])
def test_every_entry_once_whatever_dies(size):
    restarts = apart = 0
    for seed in range(14):
        world = World(seed, size=size)
        live(world, seed)
        restarts, apart = restarts + world.restarts, apart + world.apart
    assert restarts > 5
    assert apart > 0


def test_every_entry_once_if_those_die_that_lead():
    killed = 0
    for seed in range(16):
        world = World(seed, leaders=True)
        live(world, seed)
        killed += world.killed_leaders
    assert killed > 10


@pytest.mark.parametrize(
    "done",
    [{0: [(0, 40), (60, 61)], 2: [(70, 77)]}, {0: [(1, 130)], 1: [(0, 1)]}, {1: []}],
)
def test_what_is_in_the_result_already_is_not_done_again(done):
    sizes = [FileSize(entries) for entries in FILES]
    for files in (sizes, [size if n in done else None for n, size in enumerate(sizes)]):
        for seed in range(4):
            live(World(seed, leaders=True), seed, files=files, done=done)


def test_nothing_is_counted_if_that_is_not_asked_for():
    world = World(1)
    world.desk.begin("work", request(submasters=world.size))
    world.desk.tick()
    assert world.desk.monitored("work") is None


@given(st.integers(0, 2**32), st.sampled_from([4, 6, 100]))
@settings(max_examples=15)
def test_every_entry_once_if_those_leave_that_lead(seed, size):
    live(World(seed, size=size, leaves=4), seed)


def test_what_one_has_merged_that_is_sent_away_becomes_anothers():
    inherited = 0
    for seed in range(12):
        world = World(seed, leaves=3, kills=0, patient=True)
        live(world, seed)
        inherited += world.inherited
    assert inherited > 10


def test_one_that_led_is_lost_while_its_result_waits():
    world = World(5, kills=0)
    served = ["root://a"] * len(FILES)
    world.desk.begin("work", request(submasters=world.size, served=served))
    while not (parts := world.desk.status("work").parts):
        world.step()
    world.kill(parts[0].address)
    assert world.desk.status("work").parts is None, "something is to be done again"
    live(world, 5)
