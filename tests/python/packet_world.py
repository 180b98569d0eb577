"""A small world of workers and files that a packetizer leads, for tests: chance decides who does
what when, and every entry's merges are counted."""

from treemill.packetizer import (
    Commit,
    Committed,
    Discard,
    Discarded,
    FileFailed,
    FileOpened,
    FileSize,
    Finish,
    Halt,
    OpenFile,
    PacketDone,
    PacketFailed,
    Packetizer,
    Process,
    Sizing,
    WorkerJoined,
    WorkerLost,
)

CUTS = {0: (), 1: (100, 200, 300), 2: (500,)}


class World:
    """Workers that do what they are told, in an order that `choose` decides. `result` counts how
    often each entry was merged, as the real partials would."""

    def __init__(self, sizes, choose, workers, known=(), homes=None, **options):
        self.sizes = sizes
        self.choose = choose
        self.now = 0.0
        sizes_known = [
            FileSize(n, self.cuts(i)) if i in known else None for i, n in enumerate(sizes)
        ]
        self.packetizer = Packetizer(sizes_known, sizing=Sizing(first=50), **options)
        self.orders = {}
        self.partials = {}
        self.result = {}
        self.finishes = []
        self.halted = False
        self.packets = []
        self.discarded = 0
        for number in range(workers):
            self.join(number, homes[number] if homes else None)

    def cuts(self, file):
        return CUTS[file % 3]

    def join(self, number, node=None):
        self.partials[number] = []
        self.tell(WorkerJoined(number, node))

    def tell(self, event):
        self.now += 0.01
        for action in self.packetizer.handle(event, self.now):
            if isinstance(action, Finish):
                self.finishes.append(action)
            elif isinstance(action, Halt):
                self.halted = True
            else:
                assert action.worker not in self.orders, "a worker has one order at a time"
                assert action.worker in self.partials, "orders go to workers that are there"
                self.orders[action.worker] = action

    def lose(self, worker):
        self.orders.pop(worker, None)
        del self.partials[worker]
        self.tell(WorkerLost(worker))

    def step(self, fails=lambda order: None):
        """Lets one worker carry out its order."""
        worker = self.choose(sorted(self.orders))
        order = self.orders.pop(worker)
        error = fails(order)
        if isinstance(order, OpenFile):
            if error is not None:
                self.tell(FileFailed(worker, order.file, error))
            else:
                self.tell(
                    FileOpened(worker, order.file, self.sizes[order.file], self.cuts(order.file))
                )
        elif isinstance(order, Process):
            packet = order.packet
            self.packets.append((worker, packet))
            assert 0 <= packet.start < packet.stop <= self.sizes[packet.file]
            if error is not None:
                self.partials[worker] = []
                self.tell(PacketFailed(worker, packet.number, error))
                return
            stop = packet.stop
            if self.halted:
                stop = self.choose(range(packet.start, packet.stop + 1))
            self.partials[worker] += [(packet.file, e) for e in range(packet.start, stop)]
            self.tell(PacketDone(worker, packet.number, stop, 0.001 * (stop - packet.start) + 1e-4))
        elif isinstance(order, Commit):
            for entry in self.partials[worker]:
                self.result[entry] = self.result.get(entry, 0) + 1
            self.partials[worker] = []
            self.tell(Committed(worker))
        elif isinstance(order, Discard):
            self.discarded += 1
            self.partials[worker] = []
            self.tell(Discarded(worker))

    def run(self, **options):
        for _ in range(20_000):
            if not self.orders or self.packetizer.over:
                break
            self.step(**options)
        assert self.packetizer.over or not self.orders

    def check_account(self):
        """Nothing twice; what is said to be in the result is what is; the rest is said to miss."""
        assert all(count == 1 for count in self.result.values())
        coverage = self.packetizer.coverage()
        said = {
            (file, entry)
            for file, ranges in coverage.processed.items()
            for start, stop in ranges
            for entry in range(start, stop)
        }
        assert said == set(self.result)
        assert coverage.entries == len(self.result) == self.packetizer.committed_entries
        missing = set()
        for gap in coverage.missing:
            stop = self.sizes[gap.file] if gap.stop is None else gap.stop
            span = {(gap.file, entry) for entry in range(gap.start, stop)}
            assert not span & missing, "missing entries are named once"
            assert gap.reason
            missing |= span
        everything = {(f, e) for f, n in enumerate(self.sizes) for e in range(n)}
        assert said | missing == everything
        assert not said & missing
        return coverage
