"""Random histories of a small world: workers and mergers come, go, get stuck, fail, are late and
are overtaken, for tests that what comes of it is right whatever happens."""

import itertools
from random import Random

from treemill.scheduling import (
    Commit,
    FilesLocated,
    HandedOn,
    HandOn,
    PacketDone,
    Sizing,
    Stop,
    Tick,
    WorkerLost,
)

from tests.python.packet_world import World

SHORT = Sizing(first=20, shortest=0.01, longest=0.03, ask=0.0, ahead=0.001)
"""Many packets, one ahead."""
TINY = Sizing(first=20, shortest=0.01, longest=0.012, ask=0.0, ahead=0.06)
"""Several ahead."""
HOSTS = ["root://a/", "root://a/data", "root://b/", None]


class History:
    """A random life of a world. `stuck` are orders that are not carried out for now, `ghosts` what
    mergers that were given up seem to say afterwards."""

    def __init__(
        self,
        seed,
        stops=False,
        fails=False,
        mergers=False,
        far=False,
        done=False,
        leaves=False,
        rests=False,
        reserve=False,
        files=6,
        small=False,
    ):
        self.chance = Random(seed)
        self.stops = stops
        self.fails = fails
        self.merging = mergers
        self.leaves = leaves or rests
        self.rests = rests
        several = reserve and seed % 2  # packets ahead, which are as many more
        most = 15 if small else 300 if several else 700
        sizes = [self.chance.randrange(0, most) for _ in range(self.chance.randrange(0, files))]
        count = self.chance.randrange(1, 6)
        aheads = [self.chance.choice([0, 1, 60, 300, 3000]) if far else 0 for _ in sizes]
        self.far = far
        self.reserve = reserve
        self.world = World(
            sizes,
            self.chance.choice,
            count,
            known={i for i in range(files) if self.chance.random() < 0.5},
            hosts=[self.chance.choice(HOSTS) for _ in range(count)],
            nodes=[self.chance.choice(HOSTS[-1:] if small else HOSTS) for _ in sizes],
            max_foreign=self.chance.choice([None, 1, 2]),
            commit_seconds=self.chance.choice([0.0, 0.05, 1.0, 100.0]),
            speculate=self.chance.random() < 0.9,
            max_attempts=1000 if not fails else 3,
            skip_errors=fails,
            validates=seed % 5 == 0,
            reserve=reserve,
            small_files=small,
            sizing=(TINY if several else SHORT) if reserve else None,
            ahead=aheads.__getitem__,
            tells=far and self.chance.random() < 0.5,
            expected_workers=self.chance.choice([0, count, 8]) if far else 0,
            done=self.done_before(sizes) if done else None,
            **self.options_of_mergers(),
            **({"roots": self.chance.choice([None, 1, 2])} if leaves else {}),
        )
        self.new = itertools.count(count)
        self.new_mergers = itertools.count(9)
        self.stuck = {}
        self.ghosts = []
        self.doubts = self.given_back = self.parties = 0

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
        mergers = self.chance.randrange(0, 4)
        self.collect_seconds = self.chance.choice([0.0, 0.1, 100.0] + [None] * self.leaves)
        return {"mergers": mergers, "collect_seconds": self.collect_seconds}

    def live(self):
        deeds = ["step"] * 12 + ["tick", "stick", "unstick", "join", "lose", "stale"]
        deeds += ["locate"]
        deeds += ["fail"] if self.fails else []
        deeds += ["open_ahead"] * 3 if self.far or self.reserve else []
        deeds += ["hear", "hear", "hear", "mute"] if self.reserve else []
        if self.merging:
            deeds += ["merge"] * 8 + ["join_merger", "lose_merger", "lose_both", "stale_merger"]
        if self.leaves:
            deeds += ["leave"] + ["leave_merger", "join_merger", "fetch"] * 2 * self.merging
            deeds += ["lose_party"]
        for _ in range(30_000):
            if self.world.packetizer.over:
                return
            getattr(self, self.chance.choice(deeds))()
            if self.stops and self.chance.random() < 0.01:
                self.world.tell(Stop("enough"))
        raise AssertionError("it never ends")

    def step(self):
        if self.world.ready:
            self.world.step()
        elif self.world.speaking:
            self.hear()
        elif self.world.opening:
            self.open_ahead()
        elif self.stuck:
            self.unstick()
        elif self.world.mergers_busy:
            self.world.step_merger()
        else:
            self.tick()

    def hear(self):
        if self.world.speaking != [self.world.mute] or not self.world.ready:
            self.hear_any()

    def mute(self):
        """One worker is heard last from now on."""
        self.world.mute = self.chance.choice([None, *sorted(self.world.partials)])

    def hear_any(self):
        if self.world.speaking:
            self.world.hear_worker(self.chance.choice(self.world.speaking))

    def fail(self):
        if self.world.ready:
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

    def locate(self):
        files = range(len(self.world.sizes))
        found = {n: self.chance.choice(HOSTS[:3]) for n in files if self.chance.random() < 0.5}
        self.world.tell(FilesLocated(found))

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

    def leave(self):
        """A worker is told to go, and is gone once it is idle."""
        staying = sorted(self.world.partials.keys() - self.world.leaving)
        if len(staying) > 1:
            self.world.leave(self.chance.choice(staying))
        for worker in sorted(self.world.leaving & self.world.packetizer.idle):
            if worker not in self.world.orders | self.stuck:  # else its merger was lost
                assert not self.world.partials[worker], "one that is idle has nothing to lose"
            if len(self.world.partials) > 1 and self.chance.random() < 0.3:
                self.stuck.pop(worker, None)
                self.world.leaving.remove(worker)
                self.world.lose(worker)
        resting = sorted(self.world.leaving & self.world.partials.keys())
        if self.rests and resting:
            self.world.stay(self.chance.choice(resting))

    def leave_merger(self):
        """A merger is told to go, preferably one that has something."""
        full = [number for number, merger in self.world.mergers.items() if merger.entries]
        if self.world.mergers:
            self.world.leave_merger(self.chance.choice(sorted(full or self.world.mergers)))

    def lose_party(self):
        """One of two mergers dies while one hands on to the other."""
        pairs = [
            (each.merger, number)
            for number, merger in sorted(self.world.mergers.items())
            for each in (*merger.inbox, *(event for event, _ in merger.said))
            if isinstance(each, HandOn | HandedOn)
        ]
        if pairs:
            self.parties += 1
            self.lose_merger(self.chance.choice(self.chance.choice(pairs)))

    def fetch(self):
        """The owner of the result gets all that mergers have, if nobody will change it."""
        if self.collect_seconds is None and self.world.packetizer.only_mergers_hold:
            self.world.fetch()

    def merge(self):
        if self.world.mergers_busy:
            self.world.step_merger()

    def join_merger(self):
        if len(self.world.mergers) < 4:
            self.world.join_merger(next(self.new_mergers))

    def lose_merger(self, number=None):
        if not self.world.mergers:
            return
        if number is None:
            number = self.chance.choice(sorted(self.world.mergers))
        elif number not in self.world.mergers:
            return  # it was lost before
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
            isinstance(item, tuple) and item[1]
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
        self.world.tell(self.chance.choice([WorkerLost(10**6), PacketDone(10**6, 0, 1, 1.0)]))
