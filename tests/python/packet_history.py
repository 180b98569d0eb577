"""Random histories of a small world: workers and mergers come, go, get stuck, fail, are late and
are overtaken, for tests that what comes of it is right whatever happens."""

import itertools
from random import Random

from packet_world import World
from treemill.packetizer import Collect, Commit, PacketDone, Refuse, Stop, Tick, WorkerLost

HOSTS = ["root://a/", "root://a/data", "root://b/", None]


class History:
    """A random life of a world. `stuck` are orders that are not carried out for now, `ghosts` what
    mergers that were given up seem to say afterwards."""

    def __init__(self, seed, stops=False, fails=False, mergers=False, far=False, done=False):
        self.chance = Random(seed)
        self.stops = stops
        self.fails = fails
        self.merging = mergers
        sizes = [self.chance.randrange(0, 700) for _ in range(self.chance.randrange(0, 6))]
        count = self.chance.randrange(1, 6)
        aheads = [self.chance.choice([0, 1, 60, 300, 3000]) if far else 0 for _ in sizes]
        self.far = far
        self.world = World(
            sizes,
            self.chance.choice,
            count,
            known={i for i in range(6) if self.chance.random() < 0.5},
            hosts=[self.chance.choice(HOSTS) for _ in range(count)],
            nodes=[self.chance.choice(HOSTS) for _ in sizes],
            max_foreign=self.chance.choice([None, 1, 2]),
            commit_seconds=self.chance.choice([0.0, 0.05, 1.0, 100.0]),
            speculate=self.chance.random() < 0.9,
            max_attempts=1000 if not fails else 3,
            skip_errors=fails,
            validates=seed % 4 == 0 or far,
            ahead=aheads.__getitem__,
            tells=far and self.chance.random() < 0.5,
            expected_workers=self.chance.choice([0, count, 8]) if far else 0,
            done=self.done_before(sizes) if done else None,
            **self.options_of_mergers(),
        )
        self.new = itertools.count(count)
        self.new_mergers = itertools.count(9)
        self.stuck = {}
        self.ghosts = []
        self.doubts = self.given_back = 0

    def done_before(self, sizes):
        """Some ranges of some files; neighbours may touch."""
        found = {}
        for file, size in enumerate(sizes):
            edges = sorted(
                self.chance.randrange(size + 1) for _ in range(self.chance.choice([0, 2, 6]))
            )
            edges = [0, size] if self.chance.random() < 0.1 else edges
            ranges = [
                each for each in zip(edges[::2], edges[1::2], strict=True) if each[0] < each[1]
            ]
            if ranges:
                found[file] = ranges
        return found

    def options_of_mergers(self):
        if not self.merging:
            return {}
        return {
            "mergers": self.chance.randrange(0, 4),
            "collect_seconds": self.chance.choice([0.0, 0.1, 100.0]),
        }

    def live(self):
        deeds = ["step"] * 12 + ["tick", "stick", "unstick", "join", "lose", "stale"]
        deeds += ["fail"] if self.fails else []
        deeds += ["open_ahead"] * 3 if self.far else []
        if self.merging:
            deeds += ["merge"] * 8 + ["join_merger", "lose_merger", "lose_both", "stale_merger"]
        for _ in range(30_000):
            if self.world.packetizer.over:
                return
            getattr(self, self.chance.choice(deeds))()
            if self.stops and self.chance.random() < 0.01:
                self.world.tell(Stop("enough"))
        raise AssertionError("it never ends")

    def step(self):
        if self.world.orders:
            self.world.step()
        elif self.world.opening:
            self.open_ahead()
        elif self.stuck:
            self.unstick()
        elif self.world.mergers_busy:
            self.world.step_merger()
        else:
            self.tick()

    def fail(self):
        if self.world.orders:
            self.world.step(
                fails=lambda order: None if isinstance(order, Commit) else OSError("chance")
            )

    def open_ahead(self):
        if self.world.opening:
            fails = self.fails and self.chance.random() < 0.3
            self.world.step_ahead(lambda hint: OSError("chance") if fails else None)

    def tick(self):
        self.world.now += self.chance.choice([0.0, 0.5, 5.0])
        self.world.tell(Tick())

    def stick(self):
        if self.world.orders:
            worker = self.chance.choice(sorted(self.world.orders))
            self.stuck[worker] = self.world.orders.pop(worker)

    def unstick(self):
        if self.stuck:
            worker = self.chance.choice(sorted(self.stuck))
            self.world.orders[worker] = self.stuck.pop(worker)

    def join(self):
        if len(self.world.partials) < 6:
            self.world.join(next(self.new), self.chance.choice(HOSTS))

    def lose(self):
        if len(self.world.partials) > 1:
            worker = self.chance.choice(sorted(self.world.partials))
            self.stuck.pop(worker, None)
            self.world.lose(worker)

    def merge(self):
        if self.world.mergers_busy:
            self.world.step_merger()

    def join_merger(self):
        if len(self.world.mergers) < 4:
            self.world.join_merger(next(self.new_mergers))

    def lose_merger(self):
        if not self.world.mergers:
            return
        number = self.chance.choice(sorted(self.world.mergers))
        for worker, order in list(self.stuck.items()):
            if isinstance(order, Commit) and order.merger == number:
                self.world.orders[worker] = self.stuck.pop(worker)
        last_words = self.chance.random() < 0.5
        if not last_words:
            self.ghosts += [event for event, _ in self.world.mergers[number].said]
        self.given_back += bool(self.world.mergers[number].entries)
        self.world.lose_merger(number, last_words)

    def lose_both(self):
        """A worker and a merger, at once: the merger may have the worker's partial, or get it."""
        self.doubts += any(
            not isinstance(item, Collect | Refuse) and item[1]
            for merger in self.world.mergers.values()
            for item in merger.inbox
        )
        first, second = self.chance.sample([self.lose, self.lose_merger], 2)
        first()
        second()

    def stale_merger(self):
        if self.ghosts:
            self.world.tell(self.ghosts.pop())

    def stale(self):
        """A worker that was given up answers after all."""
        self.world.tell(self.chance.choice([WorkerLost(99), PacketDone(99, 0, 1, 1.0)]))
