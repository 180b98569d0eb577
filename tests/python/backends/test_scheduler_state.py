"""The scheduler's part of a session on a cluster, in random histories: processes join, die, and are
given up; mergers with partials die; the client reads parts and settles. Every entry of the dataset
is in what the client has read, once.
"""

import contextlib
import pickle
import random

import pytest
from treemill.backends.base import Heartbeat
from treemill.backends.dask.merger import Merger, RefusedByMerger
from treemill.backends.dask.messages import (
    Act,
    Begin,
    Caller,
    Drop,
    End,
    Fetch,
    Hold,
    KeepsMemory,
    Limits,
    Loaded,
    Mailbox,
    OverMemory,
    Owner,
    Parcel,
    PassRequest,
    PassUpdate,
    Recall,
    RecallFrom,
    Tell,
    Unreached,
)
from treemill.backends.dask.ownership import Ownership
from treemill.backends.dask.scheduler_state import SchedulerState, demand
from treemill.backends.merged_partial import MergedPartial
from treemill.errors import WorkerError
from treemill.frozen import replaced
from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    FileOpened,
    FileSize,
    Finish,
    HandedOn,
    OpenFile,
    PacketDone,
    Policy,
    Process,
    RefusedFrom,
    Rules,
    Sizing,
    WorkerJoined,
    joined,
)
from treemill.scheduling import Refused as RefusedEvent

from tests.raising import names
from tests.random_search import share

FILES = (130, 1, 77)
HISTORIES = share(160)


class Entries(list):
    """A partial: the ranges that are in it."""

    merge = list.extend

    def dumps(self):
        return pickle.dumps(list(self))


class Host:
    """A worker process with two workers, which does what it is told when chance says so."""

    def __init__(self, world, address):
        self.world, self.address = world, address
        self.start, self.mail = f"start of {address}", Mailbox()
        self.mergers, self.orders, self.partials = {}, {}, {}
        self.fetches = []
        self.work = None

    def say(self, message):
        self.mail.put(message)

    def exchange(self, is_lost):
        """A request, whose answer may be lost."""
        scheduler_state = self.world.scheduler_state
        scheduler_state.add(self.address, f"host{int(self.address) % self.world.nodes}", 2)
        assert scheduler_state.receive(self.address, self.start, self.mail.parcel())
        if not is_lost:
            for message in self.mail.take(scheduler_state.mail(self.address)):
                self.understand(message)

    def understand(self, message):
        if isinstance(message, Begin):
            self.work = message.work
            self.orders = {number: [] for number in message.workers}
            self.say(Loaded(message.work, message.workers))
            for number in message.workers:
                self.say(Tell(message.work, WorkerJoined(number)))
        elif isinstance(message, Hold):
            self.mergers[message.merger] = Merger()
        elif isinstance(message, Recall):
            self.mergers[message.merger].refuse(message.worker)
            self.say(Tell(self.work, RefusedEvent(message.merger, message.worker)))
        elif isinstance(message, Fetch):
            self.fetches.append(message)
        elif isinstance(message, RecallFrom):
            if self.mergers[message.merger].refuse_from(message.giver):
                self.say(Tell(self.work, HandedOn(message.giver, message.merger)))
            self.say(Tell(self.work, RefusedFrom(message.merger, message.giver)))
        elif isinstance(message, Drop):
            self.mergers[message.merger].drop()
        elif isinstance(message, End):
            self.orders, self.partials, self.mergers, self.fetches = {}, {}, {}, []
        elif isinstance(message, Act) and getattr(message.action, "worker", None) in self.orders:
            self.orders[message.action.worker].append(message)

    def cannot_reach(self, address):
        return address in self.world.unreachable and address != self.address

    def step(self, worker):
        """A worker carries out its order."""
        act = self.orders[worker].pop(0)
        order = act.action
        if isinstance(order, OpenFile):
            self.say(Tell(self.work, FileOpened(worker, order.file, FILES[order.file])))
        elif isinstance(order, Process):
            packet = order.packet
            self.world.packets[packet.number] = packet.stop - packet.start
            self.partials.setdefault(worker, Entries()).append(
                (packet.file, packet.start, packet.stop)
            )
            self.say(Tell(self.work, PacketDone(worker, packet.number, packet.stop, 0.1)))
        elif isinstance(order, Discard):
            self.partials.pop(worker, None)
            self.world.discards += 1
            self.say(Tell(self.work, Discarded(worker)))
        elif isinstance(order, Commit):
            self.commit(worker, act)

    def commit(self, worker, act):
        merger, address = act.action.merger, act.address
        partial, there = self.partials.pop(worker), self.world.hosts.get(address)
        committed = Tell(self.work, Committed(worker, merger))
        if self.world.kills and self.world.chance.random() < 0.1:  # the merger dies before it
            self.world.kills -= 1
            self.world.kill(address)
            return
        try:
            if there is None or merger not in there.mergers or self.cannot_reach(address):
                raise RefusedByMerger
            assert act.covers == ranges_in(partial), "the ledger knows what the partial has"
            holder = there.mergers[merger]
            about = worker, act.taken, act.covers, lambda: partial
            holder.take(*about, lambda seconds: there.say(committed))
            holder.take(*about, lambda seconds: there.say(committed))  # its answer was lost
        except RefusedByMerger:
            self.world.refusals += 1  # it came before the word that there is a merger
            self.say(Unreached(self.work, merger, "refused"))
            return
        if self.world.kills and self.world.chance.random() < 0.1:
            self.world.kills -= 1
            self.world.kill(self.world.chance.choice([self.address, address]))

    def fetch(self):
        """A merger gets what another one has; or its process dies before it can say so."""
        message = self.fetches.pop(0)
        there, mine = self.world.hosts.get(message.address), self.mergers[message.merger]
        try:
            lacks = there is None or message.giver not in there.mergers
            if lacks or self.cannot_reach(message.address):
                raise RefusedByMerger
            commits, covers, data = there.mergers[message.giver].read()
            assert commits == message.commits
        except RefusedByMerger:
            self.say(Unreached(self.work, message.giver, "refused"))
            return
        with contextlib.suppress(RefusedByMerger):
            mine.absorb(message.giver, commits, covers, lambda: Entries(pickle.loads(data)))
            self.world.handed_on += 1
            if self.world.kills and self.world.chance.random() < 0.3:
                self.world.kills -= 1
                self.world.kill(self.world.chance.choice([self.address, message.address]))
            else:
                self.say(Tell(self.work, HandedOn(message.giver, message.merger)))


def ranges_in(partial):
    """The entries in a partial, as ranges by file."""
    files = {file for file, _, _ in partial}
    spans = {each: [(a, b) for file, a, b in partial if file == each] for each in files}
    return {file: joined(each) for file, each in spans.items()}


class World:
    def __init__(self, seed, hosts=3, nodes=2, kills=True, retires=False):
        self.chance = random.Random(seed)
        self.nodes, self.retires = nodes, retires
        self.leaving, self.unreachable = set(), set()
        self.packets, self.discards, self.refusals, self.handed_on, self.retired = {}, 0, 0, 0, 0
        self.now = 0.0
        self.scheduler_state = SchedulerState(lambda: self.now)
        self.hosts, self.next = {}, 0
        self.ended = {}  # how passes have ended for those who have fetched their results
        self.kills = self.chance.randrange(3)  # three deaths with one packet end a query
        self.kills *= kills
        for _ in range(hosts):
            self.add()

    def add(self):
        address = str(self.next)
        self.next += 1
        self.hosts[address] = Host(self, address)

    def kill(self, address):
        if self.hosts.pop(address, None) is not None:
            self.scheduler_state.remove(address, f"{address} was killed")
            self.add()

    def retire(self):
        """Processes are told to go, and go or stay once they have no part any more."""
        if self.retired < 6 and not self.leaving and self.chance.random() < 0.03:
            self.leaving = set(self.chance.sample(sorted(self.hosts), self.chance.choice([1, 2])))
            for address in self.leaving:
                self.scheduler_state.leave(address)
        for address in sorted(self.leaving):
            if not self.scheduler_state.has_part(address):
                self.leaving.remove(address)
                self.retired += 1
                if self.chance.random() < 0.2:
                    self.scheduler_state.stay(address)
                else:
                    self.scheduler_state.remove(address, f"{address} was retired", fault=False)
                    if self.hosts.pop(address, None) is not None:
                        self.add()

    def step(self):
        self.now += 0.05
        if self.retires:
            self.retire()
        what = self.chance.random()
        host = self.hosts[self.chance.choice(sorted(self.hosts))]
        if what < 0.02 and self.kills:
            self.kills -= 1
            self.kill(host.address)
        elif what < 0.05:
            self.scheduler_state.tick()
        elif what < 0.55:
            host.exchange(self.chance.random() < 0.1)
        elif host.fetches:
            host.fetch()
        else:
            ready = [worker for worker, orders in host.orders.items() if orders]
            if ready:
                host.step(self.chance.choice(ready))

    def fetch(self, name):
        """The result, as a client gets it; None if it is not there, or has changed."""
        parts = self.scheduler_state.status(name).parts
        if parts is None:
            return None
        found, commits = [], {}
        for part in parts:
            merger = self.hosts[part.address].mergers.get(part.merger)
            if merger is None:
                return None
            commits[part.merger], covers, data = merger.read()
            assert covers == ranges_in(pickle.loads(data))
            found += pickle.loads(data)
            if self.chance.random() < 0.05:
                self.step()  # something happens meanwhile
        ended = self.scheduler_state.settle(name, commits)
        if ended is None:
            return None
        assert self.scheduler_state.settle(name, commits) == ended, (
            "a client may ask again: it has not heard the answer"
        )
        self.ended[name] = ended
        return found

    def over(self, name):
        """How a pass has ended for its client; None as long as it has not."""
        return self.ended.get(name) or self.scheduler_state.status(name).ended

    def look(self, name, merged):
        """What a client keeps: what mergers have now, on top of what it began with. None if that
        changes meanwhile."""
        for part in self.scheduler_state.parts(name):
            host = self.hosts.get(part.address)
            merger = None if host is None else host.mergers.get(part.merger)
            if merger is None:
                return None
            _, covers, data = merger.read()
            if data is not None:
                merged.merge(Entries(pickle.loads(data)), covers)
            if self.chance.random() < 0.3:
                self.step()  # something happens meanwhile
        return merged.kept() if merged.is_disjoint() else None


def request(**changes):
    made = {
        "name": "query",
        "title": "query",
        "task": "digest",
        "inputs": None,
        "packages": (),
        "files": [None] * len(FILES),
        "nodes": [None] * len(FILES),
        "policy": Policy(
            commit_seconds=0.2,
            collect_seconds=None,
            roots=2,
            expected_workers=6,
            speculate=True,
            reserve=True,
        ),
        "sizing": Sizing(shortest=0.01, longest=0.1),
        "silence": 60.0,
        "patience": 10.0,
        "wait": 300.0,
        "keep": 1000.0,
        "trace": 0,
    }
    return PassRequest(**(made | changes))


def live(world, seed):
    """A query from its begin to its end, in which every entry is counted once."""
    world.scheduler_state.begin("work", request())
    found = None
    for _ in range(40_000):
        world.step()
        if found is None:
            found = world.fetch("work")
        if world.over("work") is not None:
            break
    ended = world.over("work")
    assert ended is not None, f"seed {seed} does not end"
    assert ended.error is None, (seed, ended.error)
    for file, entries in enumerate(FILES):
        mine = sorted((start, stop) for at, start, stop in found if at == file)
        assert [start for start, _ in mine] == [0, *(stop for _, stop in mine)][:-1], seed
        assert mine[-1][1] == entries, seed
        assert ended.coverage.processed[file] == [(0, entries)]


@pytest.mark.parametrize("part", range(4))
def test_every_entry_once_whatever_dies(part):
    for seed in range(part * HISTORIES // 4, (part + 1) * HISTORIES // 4):
        live(World(seed), seed)


def check(found, ended):
    """Every entry is in the result, once."""
    everything = {file: [(0, entries)] for file, entries in enumerate(FILES)}
    assert ranges_in(found) == ended.coverage.processed == everything
    assert ended.error is None
    assert ended.entries == sum(FILES)


def test_all_who_wait_for_a_result_get_it_whatever_dies_meanwhile():
    for seed in range(share(100)):
        world = World(seed)
        world.scheduler_state.begin("work", request(trace=1000))
        traces = []
        for _ in range(3):  # one after another
            found = None
            while found is None:
                world.step()
                found = world.fetch("work")
            check(found, world.ended["work"])
            traces.append(world.ended["work"].trace)
        assert all(isinstance(each.records[-1].actions[-1], Finish) for each in traces)
        assert world.scheduler_state.status("work").ended is None
        world.scheduler_state.forget("work")
        assert not world.scheduler_state.listed()
        for host in world.hosts.values():
            for _ in range(3):
                host.exchange(is_lost=False)
            assert not host.mergers, "the process has dropped it"


def test_a_stopped_result_says_what_is_missing_to_all():
    for seed in range(share(60)):
        world = World(seed, kills=False)
        world.scheduler_state.begin("work", request())
        for _ in range(40 + 2 * seed):
            world.step()
        world.scheduler_state.stop("work", "enough")
        seen = []
        while len(seen) < 2 and world.scheduler_state.status("work").ended is None:
            world.step()
            found = world.fetch("work")
            if found is not None:
                seen.append(world.ended["work"])
                assert ranges_in(found) == seen[-1].coverage.processed
        for ended in seen:
            lacks = sum(
                (FILES[each.file] if each.stop is None else each.stop) - each.start
                for each in ended.coverage.missing
            )
            assert ended.entries + lacks == sum(FILES), seed


@pytest.mark.parametrize("nodes", [1, 4])
def test_a_process_that_others_cannot_reach_does_not_merge_for_ever(nodes):
    for seed in range(10):
        world = World(seed, hosts=4, nodes=nodes, kills=False)
        world.unreachable = {min(world.hosts)}
        live(world, seed)


@pytest.mark.parametrize("nodes", [3, 9])
def test_every_entry_once_whatever_is_retired_or_dies(nodes):
    handed_on = retired = 0
    for seed in range(40 if nodes == 3 else 15):
        world = World(seed, hosts=nodes, nodes=nodes, retires=True)
        live(world, seed)
        handed_on, retired = handed_on + world.handed_on, retired + world.retired
    assert handed_on > 30
    assert retired > 30


def test_nothing_is_done_again_because_processes_are_retired():
    checked = 0
    for seed in range(1000):  # how many are retired in each world depends on the sizes of packets
        world = World(seed, hosts=4, kills=False, retires=True)
        live(world, seed)
        if not (world.discards or world.refusals):  # nobody was overtaken
            assert sum(world.packets.values()) == sum(FILES), seed
            checked += world.retired
        if checked > 30:
            break
    assert checked > 30


@pytest.mark.parametrize(
    ("limits", "most"), [(Limits(1), 1), (Limits(3), 3), (Limits(on_host=1), 2), (Limits(3, 2), 3)]
)
def test_no_more_workers_than_may_take_part_whatever_dies(limits, most):
    """Six workers in three processes on two hosts; others take the places of the lost."""
    seen = set()
    for seed in range(10):
        world = World(seed)
        world.scheduler_state.begin("work", request(limits=limits))
        found = None
        for _ in range(40_000):
            world.step()
            running = [host for host in world.hosts.values() if host.work is not None]
            for host in world.hosts:
                mine = [each for each in running if int(each.address) % 2 == int(host) % 2]
                numbers = sum(len(each.orders) for each in mine)
                assert limits.on_host is None or numbers <= limits.on_host
            assert sum(len(each.orders) for each in running) <= most
            seen.add(sum(len(each.orders) for each in running))
            found = found or world.fetch("work")
            if world.over("work") is not None:
                break
        assert world.over("work").error is None
        assert ranges_in(found) == {0: [(0, 130)], 1: [(0, 1)], 2: [(0, 77)]}
    assert max(seen) == most


def test_every_entry_once_if_the_scheduler_dies_and_the_client_has_kept():
    """The client keeps now and then; all processes die; other ones go on with what is kept."""
    cut = 0
    for seed in range(share(200)):
        data, done = pickle.dumps([]), {}
        lives = random.Random(seed).sample(range(50, 300), 2)
        for life, steps in enumerate([*lives, 40_000]):
            world = World(1000 * life + seed)
            world.scheduler_state.begin("work", request(done=done))
            before, found = (data, done), None
            for step in range(steps):
                world.step()
                if step % 7 == 0:
                    merged = MergedPartial(Entries(pickle.loads(before[0])), before[1])
                    kept = world.look("work", merged)
                    if kept is not None:
                        data, done = kept
                if found is None:
                    found = world.fetch("work")
                if world.over("work") is not None:
                    break
            ended = world.over("work")
            entries = sum(stop - start for ranges in done.values() for start, stop in ranges)
            cut += ended is None and 0 < entries < sum(FILES)
            if ended is not None:
                assert ended.error is None, (seed, ended.error)
                result = pickle.loads(before[0]) + (found or [])
                assert ranges_in(result) == {0: [(0, 130)], 1: [(0, 1)], 2: [(0, 77)]}
                assert ended.coverage.processed == ranges_in(result)
                break
        assert ended is not None, f"seed {seed} does not end"
    assert cut > 20, "runs were cut in the middle"


def test_while_a_result_waits_all_processes_but_one_can_be_sent_away():
    world = World(5, hosts=2, nodes=2, kills=False)
    world.scheduler_state.begin("work", request())
    while world.scheduler_state.status("work").parts is None:
        world.step()
    assert len(world.scheduler_state.status("work").parts) == 2
    while sum(map(world.scheduler_state.needed, world.hosts)) > 1:
        world.step()  # one that was overtaken ends its packet
    stays, *gone = sorted(world.hosts, key=world.scheduler_state.needed, reverse=True)
    assert world.scheduler_state.needed(stays)
    for address in gone:
        world.scheduler_state.leave(address)
    while any(map(world.scheduler_state.has_part, gone)):
        world.step()
    (part,) = world.scheduler_state.status("work").parts
    assert part.address == stays
    found = world.fetch("work")
    assert sum(stop - start for _, start, stop in found) == sum(FILES)


def test_a_result_waits_for_so_long_and_no_longer():
    world = World(1)
    world.kills = 0
    world.scheduler_state.begin("work", request(keep=5.0))
    while world.scheduler_state.status("work").parts is None:
        world.step()
    world.scheduler_state.tick()
    assert [each.done for each in world.scheduler_state.listed()] == [True]
    world.now += 6
    world.scheduler_state.tick()
    assert world.scheduler_state.listed() == []


def test_bytes_are_kept_as_long_as_a_pass_needs_them():
    world = World(1)
    world.scheduler_state.put("digest", b"task")
    world.scheduler_state.put("other", b"nobody's")
    world.scheduler_state.begin("work", request())
    world.now += 700
    world.scheduler_state.tick()
    assert world.scheduler_state.get("digest") == b"task"
    assert world.scheduler_state.missing(["digest", "other"]) == ["other"]


def test_few_bytes_go_with_the_word_that_a_pass_begins():
    scheduler_state = SchedulerState(lambda: 0.0)
    process = OneThread(scheduler_state)
    scheduler_state.put("digest", b"task")
    scheduler_state.put("many", bytes(1_000_000))
    scheduler_state.begin("work", replaced(of_user("ana"), inputs="many"))
    (begin,) = process.say()
    assert begin.blobs == {"digest": b"task"}


def test_passes_want_as_many_workers_as_end_them_in_time():
    def status(**changes):
        known = {
            "heartbeat": Heartbeat(entries=500),
            "expected": 1000,
            "workers": 2,
            "seconds": 60.0,
            "before": 0,
        }
        return PassUpdate(change=0, begun=True, **(known | changes))

    assert demand([], 5.0, 1.0) == 0
    assert demand([status()], 5.0, 1.0) == 24  # 120 s of one worker are left
    assert demand([status()], 5.0, 4.0) == 6
    assert demand([status(), status(expected=750)], 5.0, 1.0) == 36
    assert demand([status(expected=500)], 5.0, 1.0) == 1, "its end is not known"
    assert demand([status(heartbeat=Heartbeat(), workers=3)], 5.0, 1.0) == 3
    assert demand([status(heartbeat=Heartbeat(), workers=0)], 5.0, 1.0) == 1
    assert demand([status(before=250)], 5.0, 1.0) == 12, "a checkpoint had half of what is left"
    assert demand([status(parts=())], 5.0, 1.0) == 0


class OneThread:
    """A process of one thread, which tells all that it is sent."""

    def __init__(self, scheduler_state):
        self.scheduler_state, self.mail = scheduler_state, Mailbox()
        self.first = self.say()

    def say(self, *messages):
        """Tells these. Gives what it is sent."""
        for each in messages:
            self.mail.put(each)
        self.scheduler_state.add("a", "host", 1)
        assert self.scheduler_state.receive("a", "start", self.mail.parcel())
        return self.mail.take(self.scheduler_state.mail("a"))

    def start(self, begin):
        """Loads a task, and starts its worker."""
        (worker,) = begin.workers
        events = [Loaded(begin.work, begin.workers), Tell(begin.work, WorkerJoined(worker))]
        return self.say(*events)


def of_user(user):
    return request(
        owner=Owner(user), files=[FileSize(100_000)], nodes=[None], sizing=Sizing(first=1000)
    )


def test_a_process_hears_of_a_query_when_it_gets_a_thread_and_that_is_while_another_commits():
    now = [0.0]
    scheduler_state = SchedulerState(lambda: now[0])
    process = OneThread(scheduler_state)
    scheduler_state.begin("long", of_user("ana"))
    (begin,) = process.say()
    hold, act = process.start(begin)
    assert isinstance(hold, Hold)
    scheduler_state.begin("short", of_user("bob"))
    assert process.say() == [], "the thread is another's"
    now[0] += 1.0
    scheduler_state.tick()
    done = PacketDone(0, act.action.packet.number, act.action.packet.stop, 1.0)
    commit, begin = process.say(Tell("long", done))
    assert isinstance(commit.action, Commit)
    assert isinstance(begin, Begin)
    assert begin.work == "short"
    _, act = process.start(begin)
    assert act.work == "short"
    assert process.say(Tell("long", Committed(0, hold.merger))) == []


def test_a_turn_that_ends_before_its_worker_was_started_is_another_query_s():
    now = [0.0]
    scheduler_state = SchedulerState(lambda: now[0])
    process = OneThread(scheduler_state)
    scheduler_state.begin("slow to load", of_user("ana"))
    (slow,) = process.say()
    scheduler_state.begin("other", of_user("bob"))
    now[0] += 30.0
    scheduler_state.tick()
    (other,) = process.say()
    assert other.work == "other"
    sent = process.start(slow)
    assert not [each for each in sent if isinstance(each, Act)], "it has no turn any more"
    _, act = process.start(other)
    assert act.work == "other"


def test_a_query_that_no_process_can_load_is_given_up_and_one_that_waits_for_a_turn_is_not():
    now = [0.0]
    scheduler_state = SchedulerState(lambda: now[0], Rules(queries=1))
    process = OneThread(scheduler_state)
    hangs = replaced(of_user("ana"), silence=1000.0, wait=5.0, title="mass of two muons")
    scheduler_state.begin("hangs", hangs)
    scheduler_state.begin("waits", replaced(of_user("bob"), silence=1000.0, wait=5.0))
    process.say()
    for _ in range(9):
        now[0] += 1.0
        scheduler_state.tick()
    error = scheduler_state.status("hangs").ended.error
    assert isinstance(error, WorkerError)
    assert names(error, "query 'mass of two muons'")
    assert scheduler_state.status("waits").ended is None


class Nonsense:
    """A message that no lead understands."""

    def __init__(self, work):
        self.work = work


def test_a_message_that_fails_ends_its_pass_and_not_the_worker_that_said_it():
    world = World(3)
    world.scheduler_state.begin("work", request())
    host = world.hosts["0"]
    host.exchange(is_lost=False)
    host.say(Nonsense("work"))
    host.exchange(is_lost=False)
    assert not host.mail.waiting, "it is not said again"
    assert isinstance(world.over("work").error, TypeError)


def shared_process():
    """Two queries that share a process of two threads; there is another process."""
    now = [0.0]
    scheduler_state = SchedulerState(lambda: now[0])
    mails = {address: Mailbox() for address in "ab"}
    starts = dict.fromkeys("ab", "start")

    def say(address, *messages):
        for each in messages:
            mails[address].put(each)
        scheduler_state.add(address, "host", 2)
        assert scheduler_state.receive(address, starts[address], mails[address].parcel())
        sent = mails[address].take(scheduler_state.mail(address))
        for begin in [each for each in sent if isinstance(each, Begin)]:
            joined = [Tell(begin.work, WorkerJoined(number)) for number in begin.workers]
            sent += say(address, Loaded(begin.work, begin.workers), *joined)
        return sent

    def anew(address):
        mails[address], starts[address] = Mailbox(), starts[address] + " again"
        sent[address] = say(address)

    say.anew = anew
    for address in mails:
        say(address)

    sent = {address: [] for address in mails}

    def go_on():
        """Twenty seconds, of which a packet takes one."""
        for _ in range(20):
            now[0] += 1.0
            scheduler_state.tick()
            for address in mails:
                told, sent[address] = [*sent[address], *say(address)], []
                for act in told:
                    teller = address
                    if isinstance(act, Act) and isinstance(act.action, Commit):
                        teller, done = act.address, Committed(act.action.worker, act.action.merger)
                    elif isinstance(act, Act) and isinstance(act.action, Process):
                        packet = act.action.packet
                        done = PacketDone(act.action.worker, packet.number, packet.stop, 1.0)
                    elif isinstance(act, Act) and isinstance(act.action, Discard):
                        done = Discarded(act.action.worker)
                    else:
                        continue
                    sent[teller] += say(teller, Tell(act.work, done))

    for name in ("ana's", "bob's"):
        scheduler_state.begin(name, replaced(of_user(name), files=[FileSize(10_000_000)]))
    go_on()
    return scheduler_state, say, go_on


def homes(scheduler_state, query):
    return {process for process, name, _ in scheduler_state._turns.turns() if name == query}


@pytest.mark.parametrize("end", ["measured", "lost", "anew"])
def test_a_query_is_alone_in_the_process_that_measures_its_memory_until_that_is_done(end):
    scheduler_state, say, _ = shared_process()
    alone = lambda: scheduler_state._turns.is_alone("ana's")  # noqa: E731
    assert not alone()
    say("b", OverMemory("ana's", is_wanted=True))
    assert alone()
    owner = scheduler_state._turns._processes["b"].owner
    assert owner.name == "ana's"
    say("a", OverMemory("ana's", is_wanted=False))
    assert alone(), "another process has not measured it"
    say("b", OverMemory("bob's", is_wanted=True))
    assert not scheduler_state._turns.is_alone("bob's"), "the process is another one's"
    if end == "measured":
        say("b", OverMemory("ana's", is_wanted=False))
    elif end == "lost":
        scheduler_state.remove("b", "it is gone", fault=False)
    else:
        assert scheduler_state.receive("b", "another start", Parcel(0, (), 0))
    assert not alone()


def test_a_query_that_ends_while_its_memory_is_measured_leaves_nothing():
    scheduler_state, say, _ = shared_process()
    say("b", OverMemory("ana's", is_wanted=True))
    scheduler_state.forget("ana's")
    assert not scheduler_state._turns.has_owner("b")
    assert not scheduler_state._measured
    say("b", OverMemory("bob's", is_wanted=True))
    assert scheduler_state._turns.is_alone("bob's")


def test_a_query_that_fills_processes_beside_others_is_given_up_by_name():
    """Whoever has packets in hand: those do not count, and the other query goes on."""
    scheduler_state, say, go_on = shared_process()

    def fill_and_lose(address, *queries):
        """Whether each query has to be alone then."""
        say(address, KeepsMemory(100, 1000, ()))
        say(address, KeepsMemory(800, 1000, queries))
        scheduler_state.remove(address, f"worker {address} was lost")
        alone = [scheduler_state._turns.is_alone(name) for name in ("ana's", "bob's")]
        say.anew(address)
        go_on()
        return alone

    assert fill_and_lose("b", "bob's") == [False, True], "it may have been left there before"
    assert fill_and_lose("a", "ana's") == [True, True]
    for turn in range(3):
        (home,) = homes(scheduler_state, "ana's")
        assert fill_and_lose(home, "ana's") == [turn < 2, False]
    error = scheduler_state.status("ana's").ended.error
    assert isinstance(error, WorkerError)
    assert names(error, "query 'query'")
    assert names(error, "had kept 700 B")
    assert scheduler_state.status("bob's").ended is None
    assert homes(scheduler_state, "bob's") == {"a", "b"}


def test_a_query_that_fills_no_process_need_not_be_alone_after_a_while():
    scheduler_state, say, go_on = shared_process()
    say("b", KeepsMemory(100, 1000, ()))
    say("b", KeepsMemory(800, 1000, ("ana's",)))
    scheduler_state.remove("b", "worker b was lost")
    say.anew("b")
    go_on()
    assert scheduler_state._turns.is_alone("ana's")
    for _ in range(4):
        go_on()
    assert not scheduler_state._turns.is_alone("ana's")
    assert scheduler_state._blame.most("ana's") is None


def test_of_queries_that_are_over_nothing_is_kept_for_each_process_that_they_worked_in():
    scheduler_state, say, _ = shared_process()
    say("b", KeepsMemory(100, 1000, ()))
    for grown in range(1, 500):
        say("b", KeepsMemory(100 + grown, 1000, (f"over {grown}", f"over, too, {grown}", "ana's")))
    process = scheduler_state._blame._processes["b"]
    assert len(process.parts) == len(process.since) == 2
    assert process.parts["ana's"] == pytest.approx(499 / 3), "they have had their part"


@pytest.mark.parametrize("end", ["stop", "abort"])
def test_stopped_queries_leave_their_threads_to_others_while_their_results_wait(end):
    scheduler_state, _, go_on = shared_process()
    for last, name in (("ana's", "eve's"), ("bob's", "next"), ("eve's", "last")):
        getattr(scheduler_state, end)(last, "nobody asks for it")
        go_on()  # longer than the patience
        assert scheduler_state.status(last).ended is None
        assert end == "abort" or scheduler_state.status(last).workers == 4, "none is given up"
        (part,) = scheduler_state.status(last).parts
        there = scheduler_state._passes[last]
        assert not [each for each in "ab" if there.needs(each) and each != part.address]
        scheduler_state.begin(name, replaced(of_user(name), files=[FileSize(10_000_000)]))
        go_on()
        assert homes(scheduler_state, name) == {"a", "b"}
        assert homes(scheduler_state, last) == set()


def test_the_log_of_a_query_that_is_given_up_says_the_file_and_the_entries(caplog):
    caplog.set_level("INFO", logger="treemill")
    scheduler_state = SchedulerState(lambda: 0.0)
    ownership = Ownership(scheduler_state, lambda: 0.0)
    ownership.ask(Caller(Owner("ana")), "begin", ["kills", of_user("ana")])
    while scheduler_state.status("kills").ended is None:
        process = OneThread(scheduler_state)
        sent = [*process.first, *process.say()]
        process.start(next(each for each in sent if isinstance(each, Begin)))
        scheduler_state.remove("a", "worker a was lost")
    ownership.tick()
    (said,) = [each for each in caplog.messages if "query ended" in each]
    assert "error WorkerGone: worker a was lost, file 0, at 0..1000" in said
