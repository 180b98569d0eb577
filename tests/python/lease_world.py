"""A small world of sub-masters and workers in a tree, for tests: chance decides which of them does
what when and which dies, messages arrive later, and every entry's merges are counted."""

import itertools
from collections import deque
from random import Random

from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    FileFailed,
    FileOpened,
    FileSize,
    Finish,
    Forget,
    Halt,
    OpenAhead,
    OpenFile,
    PacketDone,
    PacketFailed,
    Policy,
    Prefetch,
    Process,
    Sizing,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from treemill.scheduling.leased_lessor import LeasedLessor
from treemill.scheduling.leased_packetizer import LeasedPacketizer
from treemill.scheduling.leasing import Leasing
from treemill.scheduling.lessor import Lessor
from treemill.scheduling.messages import HandedUp, Returned, SubLost
from treemill.scheduling.submaster import SubMaster
from treemill.scheduling.unleased_parts import Reach

CUTS = {0: (), 1: (100, 200, 300), 2: (500,)}
SITES = ["a", "b", "c"]


class Top:
    """The master: what it has merged is the result."""

    def __init__(self, world, lessor):
        self.world = world
        self.lessor = lessor
        self.children = {}
        self.merged = []
        self.finish = None

    def hear(self, child, messages, partial):
        self.merged += partial
        for message in messages:
            self.carry_out(self.lessor.handle(message, self.world.now))

    def carry_out(self, orders):
        if self.world.validates:
            self.validate()
        for order in orders:
            if isinstance(order, Finish):
                assert self.finish is None
                self.finish = order
            for_all = isinstance(order, Halt | Finish)
            for child in list(self.children.values()) if for_all else [self.children[order.sub]]:
                child.down.append(order)

    def validate(self):
        """Each entry is not leased, leased, in the result or given up, and only one of these."""
        coverage = self.lessor.coverage()
        places = {file: list(ranges) for file, ranges in coverage.processed.items()}
        for each in [*self.lessor.whereabouts(), *coverage.missing]:
            stop = self.world.sizes[each.file] if each.stop is None else each.stop
            places.setdefault(each.file, []).append((each.start, stop))
        for file, size in enumerate(self.world.sizes):
            ends = [0]
            for start, stop in sorted(places.get(file, [])):
                assert start == ends[-1], f"file {file} at {start}"
                ends.append(stop)
            assert ends[-1] == size or (size == 0 and ends == [0])

    def lose(self, child):
        """Some of what it had said is heard, the rest is not."""
        for _ in range(self.world.chance.randrange(len(child.up) + 1)):
            self.hear(child, *child.up.popleft())
        del self.children[child.sub.number]
        self.hear(child, [SubLost(child.sub.number)], [])


class Node:
    """A sub-master with workers or with further sub-masters."""

    def __init__(self, world, parent, number, site, deep):
        chance = world.chance
        self.world = world
        self.parent = parent
        self.children = {}
        self.merged = []
        self.up, self.down = deque(), deque()
        self.orders, self.partials, self.opening = {}, {}, []
        self.halted = False
        if deep:
            inner = LeasedLessor(world.leasing, reach=world.reach)
        else:
            policy = Policy(
                commit_seconds=chance.choice([0.0, 0.05, 1.0]),
                speculate=chance.random() < 0.8,
                max_attempts=2 if world.fails else 1000,
            )
            inner = LeasedPacketizer(policy, Sizing(first=50), world.node)
        self.sub = SubMaster(number, site, inner, world.leasing)
        self.deep = deep
        self.up.append((self.sub.join(world.now), []))

    # As a parent of others.

    def hear(self, child, messages, partial):
        for message in messages:
            # With the message that says what is in it: each of them may have this node hand up.
            if isinstance(message, HandedUp):
                self.merged += partial
            self.handle(message)

    def lose(self, child):
        Top.lose(self, child)

    def hand_up(self):
        messages = self.sub.hand_up(self.world.now)
        if messages:
            if any(isinstance(message, HandedUp) for message in messages):
                partial, self.merged = self.merged, []
            else:
                partial = []
            self.up.append((messages, partial))

    def handle(self, event):
        step = self.sub.handle(event, self.world.now)
        returned = [message for message in step.up if isinstance(message, Returned)]
        self.world.taken_back += any(message.asked and message.parts for message in returned)
        if not self.deep and self.world.validates:
            self.sub.inner.packetizer.validate()
        if step.up:
            self.up.append((step.up, []))
        for order in step.orders:
            if self.deep:
                for_all = isinstance(order, Halt | Finish)
                children = self.children.values() if for_all else [self.children[order.sub]]
                for child in list(children):
                    child.down.append(order)
            else:
                self.send(order)
        if self.sub.due(self.world.now):
            self.hand_up()

    # As a master of workers.

    def join(self):
        number = next(self.world.numbers)
        self.partials[number] = []
        self.handle(WorkerJoined(number, self.world.chance.choice(["n0", "n1", None])))

    def kill(self, number):
        del self.partials[number]
        self.orders.pop(number, None)
        self.opening = [hint for hint in self.opening if hint.worker != number]
        self.handle(WorkerLost(number))

    def send(self, order):
        if isinstance(order, Halt):
            self.halted = True
        elif isinstance(order, OpenAhead):
            self.opening.append(order)
        elif isinstance(order, OpenFile | Process | Commit | Discard):
            assert order.worker not in self.orders
            assert order.worker in self.partials
            self.orders[order.worker] = order
        else:
            assert isinstance(order, Finish | Prefetch | Forget)

    def answer(self, hint):
        file, beside = hint.file, isinstance(hint, OpenAhead)
        error = self.world.cannot_open(self.sub, file)
        if error is not None:
            return FileFailed(hint.worker, file, error, beside=beside)
        ahead, size = self.world.aheads[file], self.world.sizes[file]
        return FileOpened(hint.worker, file, size, self.world.cuts(file), ahead, beside)

    def work(self):
        chance = self.world.chance
        if self.opening and (not self.orders or chance.random() < 0.5):
            hint = chance.choice(self.opening)
            self.opening.remove(hint)
            self.handle(self.answer(hint))
            return
        worker = chance.choice(sorted(self.orders))
        order = self.orders.pop(worker)
        if isinstance(order, OpenFile):
            self.handle(self.answer(order))
        elif isinstance(order, Process):
            packet = order.packet
            assert 0 <= packet.start < packet.stop <= self.world.sizes[packet.file]
            self.world.packets += 1
            if self.world.breaks(packet):
                self.partials[worker] = []
                self.handle(PacketFailed(worker, packet.number, OSError("chance")))
                return
            stop = packet.stop
            if self.halted:
                stop = chance.randrange(packet.start, packet.stop + 1)
            self.partials[worker] += [(packet.file, e) for e in range(packet.start, stop)]
            seconds = 0.001 * (stop - packet.start) + 1e-4
            ahead = self.world.aheads[packet.file]
            self.handle(PacketDone(worker, packet.number, stop, seconds, ahead))
        elif isinstance(order, Commit):
            self.merged += self.partials[worker]
            self.partials[worker] = []
            self.handle(Committed(worker))
        else:
            self.partials[worker] = []
            self.handle(Discarded(worker))


class World:
    """A tree with a random life."""

    def __init__(self, seed, fails=False, stops=False, restricted=False, deaths=True, begun=False):
        """`begun`: entries are in the result at the beginning."""
        self.chance = chance = Random(seed)
        self.fails, self.stops, self.deaths = fails, stops, deaths
        self.now = 0.0
        self.packets = self.lost_subs = self.taken_back = 0
        self.numbers = itertools.count()
        self.validates = seed % 8 == 0
        self.sizes = [chance.randrange(0, 700) for _ in range(chance.randrange(0, 12))]
        self.aheads = [chance.choice([0, 0, 60, 3000]) for _ in self.sizes]
        self.nodes = [chance.choice(["n0", "n1", None]) for _ in self.sizes]
        self.bad = {f for f in range(len(self.sizes)) if fails and chance.random() < 0.2}
        near = [frozenset(chance.sample(SITES, chance.randrange(3))) for _ in self.sizes]
        self.reaches = [Reach(n, bool(n) and restricted and chance.random() < 0.7) for n in near]
        self.leasing = Leasing(
            hold=chance.choice([0.05, 0.5, 5.0]),
            shortest=0.05,
            longest=chance.choice([0.1, 1.0, 10.0]),
            first=chance.choice([10, 100]),
            hand_up_seconds=chance.choice([0.0, 0.1, 100.0]),
            worth=chance.choice([0.0, 0.05, 0.3]),
            skip_errors=fails,
        )
        known = [
            FileSize(n, self.cuts(i)) if chance.random() < 0.5 else None
            for i, n in enumerate(self.sizes)
        ]
        done = self.done_of(known) if begun else {}
        expected = SITES[: 2 * restricted]
        self.top = Top(
            self, Lessor(known, self.leasing, reach=self.reach, expected=expected, done=done)
        )
        self.top.merged += [
            (file, e) for file, ranges in done.items() for each in ranges for e in range(*each)
        ]
        for site in SITES:
            self.add(self.top, chance.randrange(3) == 0, site)

    def done_of(self, known):
        done = {}
        for file, size in enumerate(known):
            if size is not None and size.entries and self.chance.random() < 0.7:
                ends = {self.chance.randrange(size.entries + 1) for _ in range(4)}
                done[file] = list(zip(*[iter(sorted(ends))] * 2, strict=False))
        return done

    def cuts(self, file):
        return CUTS[file % 3]

    def reach(self, file):
        return self.reaches[file]

    def node(self, file):
        return self.nodes[file]

    def cannot_open(self, sub, file):
        return OSError("not here") if file in self.bad else None

    def breaks(self, packet):
        return self.fails and self.chance.random() < 0.05

    def add(self, parent, deep, site):
        number = next(self.numbers)
        child = parent.children[number] = Node(self, parent, number, site, deep)
        for _ in range(self.chance.randrange(1, 4)):
            if deep:
                self.add(child, self.chance.random() < 0.2, site)
            else:
                child.join()

    def all(self, parent=None):
        for child in list((parent or self.top).children.values()):
            yield child
            yield from self.all(child)

    # What may happen.

    def live(self):
        deeds = ["step"] * 30 + ["tick", "join", "hand_up"]
        deeds += ["kill", "kill_sub"] if self.deaths else []
        for _ in range(40_000):
            if self.top.lessor.over:
                return
            self.now += 0.01
            getattr(self, self.chance.choice(deeds))()
            if self.stops and self.chance.random() < 0.005:
                self.top.carry_out(self.top.lessor.handle(Stop("enough"), self.now))
        raise AssertionError("it never ends")

    def step(self):
        able = []
        for node in self.all():
            able += [("up", node)] * bool(node.up) + [("down", node)] * bool(node.down)
            able += [("work", node)] * (3 * bool(node.orders or node.opening))
        if not able:
            self.tick()
            return
        what, node = self.chance.choice(able)
        if what == "work":
            node.work()
        elif what == "up":
            node.parent.hear(node, *node.up.popleft())
        else:
            node.handle(node.down.popleft())

    def tick(self):
        self.now += self.chance.choice([0.0, 0.5, 5.0])
        self.top.carry_out(self.top.lessor.handle(Tick(), self.now))
        for node in self.all():
            node.handle(Tick())

    def some(self, suits):
        nodes = [node for node in self.all() if suits(node)]
        return self.chance.choice(nodes) if nodes else None

    def join(self):
        node = self.some(lambda node: not node.deep and len(node.partials) < 4)
        if node is not None:
            node.join()

    def hand_up(self):
        node = self.some(lambda node: not node.sub.over)
        if node is not None:
            node.hand_up()

    def kill(self):
        node = self.some(lambda node: node.partials)
        if node is not None:
            node.kill(self.chance.choice(sorted(node.partials)))

    def kill_sub(self):
        node = self.some(lambda node: True)
        if node is None or self.chance.random() < 0.5:
            return
        if node.parent is self.top and len(self.top.lessor.subs) < 2:
            return  # without any sub-master the query ends
        self.lost_subs += 1
        self.add(node.parent, node.deep, node.sub._site)
        node.parent.lose(node)

    # What must be true of it.

    def check_account(self):
        result = {}
        for entry in self.top.merged:
            result[entry] = result.get(entry, 0) + 1
        assert all(count == 1 for count in result.values()), "merged once"
        coverage = self.top.lessor.coverage()
        said = {
            (file, entry)
            for file, ranges in coverage.processed.items()
            for start, stop in ranges
            for entry in range(start, stop)
        }
        assert said == set(result)
        assert coverage.entries == len(result) == self.top.lessor.committed_entries
        missing = set()
        for gap in coverage.missing:
            stop = self.sizes[gap.file] if gap.stop is None else gap.stop
            span = {(gap.file, entry) for entry in range(gap.start, stop)}
            assert not span & missing, "missing entries are named once"
            assert gap.reason
            missing |= span
        assert said | missing == {(f, e) for f, n in enumerate(self.sizes) for e in range(n)}
        assert not said & missing
        return coverage
