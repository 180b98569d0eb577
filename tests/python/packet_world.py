"""A small world of workers, mergers and files that a packetizer leads, for tests: chance decides
which of them does what when, and every entry's merges are counted."""

from treemill.scheduling import (
    FAILED,
    REFUSED,
    Collect,
    Collected,
    Commit,
    Committed,
    Discard,
    Discarded,
    Dismiss,
    FileFailed,
    FileOpened,
    FilesDone,
    FileSize,
    Finish,
    Forget,
    Halt,
    HandedOn,
    HandOn,
    MergerJoined,
    MergerLeaving,
    MergerLost,
    OpenAhead,
    OpenFile,
    PacketDone,
    PacketFailed,
    Packetizer,
    Policy,
    Prefetch,
    Process,
    ProcessFiles,
    Refuse,
    Refused,
    RefusedFrom,
    RefuseFrom,
    Reserve,
    Sizing,
    Trace,
    WorkerJoined,
    WorkerLeaving,
    WorkerLost,
    WorkerStays,
)

CUTS = {0: (), 1: (100, 200, 300), 2: (500,)}


class Merger:
    """Takes partials in any order. What it says is heard in its order, but later."""

    def __init__(self, number, others):
        self.number = number
        self.others = others  # by number, if they are there
        self.inbox = []  # orders of the packetizer, and partials as (worker, entries)
        self.said = []  # events, each with the entries that come with it
        self.entries = []
        self.refused = set()

    def take(self, item):
        self.inbox.remove(item)
        if isinstance(item, Collect):
            self.said.append((Collected(self.number), self.entries))
            self.entries = []
        elif isinstance(item, Refuse):
            self.refused.add(item.worker)
            self.said.append((Refused(self.number, item.worker), []))
        elif isinstance(item, RefuseFrom):
            self.refused.add(("merger", item.giver))
            self.said.append((RefusedFrom(self.number, item.giver), []))
        elif isinstance(item, HandOn):
            if item.merger in self.others and ("merger", item.merger) not in self.refused:
                self.entries = self.entries + self.others[item.merger].entries
                self.said.append((HandedOn(item.merger, self.number), []))
        elif item[0] not in self.refused:
            self.entries = self.entries + item[1]
            self.said.append((Committed(item[0], self.number), []))

    @property
    def busy(self):
        return bool(self.inbox or self.said)


class World:
    """Workers that do what they are told, in an order that `choose` decides. `result` counts how
    often each entry was merged, as the real partials would."""

    def __init__(
        self,
        sizes,
        choose,
        workers,
        known=(),
        hosts=None,
        mergers=0,
        nodes=None,
        max_foreign=None,
        validates=True,
        ahead=lambda file: 0,
        tells=False,
        done=None,
        sizing=None,
        **policy,
    ):
        self.sizes = sizes
        self.choose = choose
        self.now = 0.0
        sizes_known = [
            FileSize(n, self.cuts(i), tells * ahead(i)) if i in known else None
            for i, n in enumerate(sizes)
        ]
        self.validates = validates
        self.ahead = ahead  # entries of each file that are worth a promise
        self.opening = []  # files that workers open ahead
        self.promised = {}  # packets by worker and number
        self.kept = self.broken = self.opened_ahead = 0
        self.reserved = {}  # packets by worker, as the worker knows
        self.begun = {}  # packets by worker that it has begun without an order
        self.aside_before = {}  # by worker: the number of a packet, see Reserve
        self.aside = {}  # by worker: entries that it has put aside
        self.handing = []  # commits of what was put aside, as (worker, merger, entries)
        self.put_aside = 0
        self.words = {}  # by worker: what it has said of packets, and was not heard yet
        self.deepest = 0  # packets that were reserved for one worker at once
        self.at_once = 0  # small files of one order, at most
        self.overtaken = 0  # packets that were begun and taken back
        self.mute = None  # a worker that is heard last
        self.reserves = policy.get("reserve", False)
        self.packetizer = Packetizer(
            sizes_known,
            Policy(**policy),
            nodes=nodes,
            max_foreign=max_foreign,
            sizing=sizing or Sizing(first=50),
            done=done,
        )
        self.orders = {}
        self.mergers = {}
        self.partials = {}
        self.result = {
            (file, entry): 1
            for file, ranges in (done or {}).items()
            for start, stop in ranges
            for entry in range(start, stop)
        }
        self.finishes = []
        self.trace = Trace()
        self.halted = False
        self.leaving = set()
        self.handed_on = self.dismissed = 0
        self.packets = []
        self.discarded = 0
        for number in range(mergers):
            self.join_merger(number)
        for number in range(workers):
            self.join(number, hosts[number] if hosts else None)

    def cuts(self, file):
        return CUTS[file % 3]

    def join(self, number, node=None):
        self.partials[number] = []
        self.promised[number] = {}
        self.words[number] = []
        self.tell(WorkerJoined(number, node))

    def join_merger(self, number):
        self.mergers[number] = Merger(number, self.mergers)
        self.tell(MergerJoined(number))

    def lose_merger(self, number, last_words=True):
        """What it has said is heard before its end is, unless it is given up."""
        while last_words and number in self.mergers and self.mergers[number].said:
            self.hear(number)
        if number in self.mergers:  # else it was dismissed
            del self.mergers[number]
            self.tell(MergerLost(number))

    def fetch(self):
        """The owner of the result gets all that mergers have."""
        for number in self.packetizer.holding:
            self.merge(self.mergers[number].entries)
            self.mergers[number].entries = []
            self.tell(Collected(number))

    def hear(self, number):
        event, entries = self.mergers[number].said.pop(0)
        self.merge(entries)
        self.tell(event)

    def step_merger(self):
        """Lets one merger take something, or hears the next of what one has said."""
        if self.handing and self.choose([True, False]):
            self.hand_aside()
            return
        busy = [n for n, m in sorted(self.mergers.items()) if m.busy]
        if not busy:
            self.hand_aside()
            return
        merger = self.mergers[self.choose(busy)]
        if merger.said and (not merger.inbox or self.choose([True, False])):
            self.hear(merger.number)
        else:
            merger.take(self.choose(merger.inbox))

    def merge(self, entries):
        for entry in entries:
            self.result[entry] = self.result.get(entry, 0) + 1

    @property
    def mergers_busy(self):
        return bool(self.handing) or any(merger.busy for merger in self.mergers.values())

    def hand_aside(self):
        """Lets a worker hand over what it has put aside, beside its packets."""
        handed = self.choose(self.handing)
        self.handing.remove(handed)
        worker, merger, entries = handed
        if merger in self.mergers:
            self.mergers[merger].inbox.append((worker, entries))

    def tell(self, event):
        self.now += 0.01
        actions = self.packetizer.handle(event, self.now)
        if self.validates:
            self.packetizer.validate()
        if not self.finishes:
            self.trace.record(self.now, event, actions)
        for action in actions:
            if isinstance(action, Finish):
                self.finishes.append(action)
                self.there_at_the_end = set(self.partials)
            elif isinstance(action, Halt):
                self.halted = True
            elif isinstance(action, OpenAhead):
                assert action.worker in self.partials
                self.opening.append(action)
            elif isinstance(action, Prefetch):
                assert action.packet.number not in self.promised[action.worker]
                self.promised[action.worker][action.packet.number] = action.packet
            elif isinstance(action, Reserve):
                ahead = self.reserved.setdefault(action.worker, [])
                ahead.append(action.packet)
                if action.aside:
                    self.aside_before[action.worker] = action.packet.number
                self.deepest = max(self.deepest, len(ahead))
            elif (
                isinstance(action, Forget)
                and action.packet.number not in self.promised[action.worker]
            ):
                if action.packet in self.reserved.get(action.worker, ()):
                    self.unreserve(action.worker, action.packet)
                else:
                    self.overtaken += 1
            elif isinstance(action, Forget):
                assert self.promised[action.worker].pop(action.packet.number) == action.packet
                assert action.to is None or action.to in self.partials
                self.broken += 1
            elif isinstance(action, Collect | Refuse | RefuseFrom):
                assert action.merger in self.mergers, "orders go to mergers that are there"
                self.mergers[action.merger].inbox.append(action)
            elif isinstance(action, HandOn):
                assert action.merger in self.mergers, "mergers that are there hand on"
                self.mergers[action.to].inbox.append(action)
                self.handed_on += 1
            elif isinstance(action, Dismiss):
                gone = self.mergers.pop(action.merger)
                late = {item[0] for item in gone.inbox if isinstance(item, tuple)}
                assert late <= gone.refused, "no partial is lost"
                self.dismissed += 1
            elif isinstance(action, Commit) and action.worker in self.aside:
                assert action.merger in self.mergers, "what is put aside goes to a merger"
                late = [each[1] for each in self.handing if each[0] == action.worker]
                assert not set(late) & self.mergers.keys(), "one is on its way at a time"
                entries = self.aside.pop(action.worker)
                self.handing.append((action.worker, action.merger, entries))
            else:
                order = self.orders.pop(action.worker, None)
                if isinstance(order, Commit) and order.merger is not None:
                    assert order.merger not in self.mergers, "a lost merger does not answer"
                    self.partials[action.worker] = []
                else:
                    assert order is None, "a worker has one order at a time"
                assert action.worker in self.partials, "orders go to workers that are there"
                assert action.worker not in self.begun, "no order for a worker that has a packet"
                self.orders[action.worker] = action
                if isinstance(action, Process):
                    assert action.worker not in self.leaving, "those that leave get no packets"
                    self.keep(action)
        if self.finishes and not self.halted:
            assert not any(self.promised.values()), "all promises were kept or broken"

    def keep(self, order):
        if order.worker in self.reserved:
            assert self.reserved[order.worker][0] == order.packet, "it comes first"
            self.unreserve(order.worker, order.packet)
            return
        promised = self.promised[order.worker]
        if promised:
            assert next(iter(promised.values())) == order.packet, "promises are kept in order"
            del promised[order.packet.number]
            self.kept += 1

    def leave(self, worker):
        self.leaving.add(worker)
        self.tell(WorkerLeaving(worker))

    def stay(self, worker):
        self.leaving.remove(worker)
        self.tell(WorkerStays(worker))

    def leave_merger(self, number):
        self.tell(MergerLeaving(number))

    def lose(self, worker):
        self.orders.pop(worker, None)
        del self.partials[worker]
        del self.promised[worker], self.words[worker]
        self.reserved.pop(worker, None)
        self.begun.pop(worker, None)
        self.aside_before.pop(worker, None)
        self.aside.pop(worker, None)
        self.handing = [each for each in self.handing if each[0] != worker]
        self.opening = [hint for hint in self.opening if hint.worker != worker]
        self.tell(WorkerLost(worker))

    def step(self, fails=lambda order: None):
        """Lets one worker carry out its order."""
        self.step_of(self.choose(self.ready), fails)

    def step_of(self, worker, fails=lambda order: None):
        """Lets this worker carry out its order."""
        order = self.begun.pop(worker, None)
        order = self.orders.pop(worker) if order is None else Process(worker, order)
        error = fails(order)
        if isinstance(order, OpenFile):
            if error is not None:
                self.tell(FileFailed(worker, order.file, error))
            else:
                self.tell(self.opened(worker, order.file))
        elif isinstance(order, ProcessFiles):
            self.process_files(worker, order, error)
        elif isinstance(order, Process):
            packet = order.packet
            self.packets.append((worker, packet))
            assert 0 <= packet.start < packet.stop <= self.sizes[packet.file]
            if error is not None:
                self.partials[worker] = []
                self.say(worker, PacketFailed(worker, packet.number, error))
                return
            stop = packet.stop
            if self.halted:
                stop = self.choose(range(packet.start, packet.stop + 1))
            self.partials[worker] += [(packet.file, e) for e in range(packet.start, stop)]
            seconds = 0.001 * (stop - packet.start) + 1e-4
            begun = self.begin_next(worker) if stop == packet.stop else None
            ahead = self.ahead(packet.file)
            self.say(worker, PacketDone(worker, packet.number, stop, seconds, ahead, begun))
        elif isinstance(order, Commit) and order.merger is not None:
            if order.merger in self.mergers:
                self.mergers[order.merger].inbox.append((worker, self.partials[worker]))
            self.partials[worker] = []
        elif isinstance(order, Commit):
            self.merge(self.partials[worker])
            self.partials[worker] = []
            self.tell(Committed(worker))
        elif isinstance(order, Discard):
            self.discarded += 1
            self.partials[worker] = []
            self.aside.pop(worker, None)
            self.tell(Discarded(worker))

    def process_files(self, worker, order, error):
        """Small files, some of them: the next one may be refused, or fail."""
        small = 0
        while small < len(order.files) and self.sizes[order.files[small]] <= order.most:
            small += 1
        count = self.choose(range(small + 1))
        ended = ""
        if error is not None and count < len(order.files):
            ended = FAILED
        elif count == small < len(order.files) or (not count and not self.halted):
            ended = REFUSED
        entries = tuple(self.sizes[file] for file in order.files[:count])
        stop = entries[-1] if entries else 0
        if entries and self.halted:
            stop = self.choose(range(stop + 1))
        if ended == FAILED:
            self.partials[worker] = []
        else:
            self.at_once = max(self.at_once, count)
            for file, size in zip(order.files, entries, strict=False):
                last = stop if file == order.files[count - 1] else size
                self.partials[worker] += [(file, e) for e in range(last)]
        self.say(worker, FilesDone(worker, entries, stop, 0.002 * count, ended))

    @property
    def ready(self):
        """The workers that have something to do."""
        return sorted({*self.orders, *self.begun})

    def begin_next(self, worker):
        """The number of the packet that the worker begins without being told to, if it does."""
        if worker not in self.reserved or not self.choose([True, True, False]):
            return None
        packet = self.begun[worker] = self.reserved[worker][0]
        self.unreserve(worker, packet)
        if packet.number == self.aside_before.get(worker):
            assert worker not in self.aside, "one partial is put aside at a time"
            self.aside[worker], self.partials[worker] = self.partials[worker], []
            self.put_aside += 1
        return packet.number

    def unreserve(self, worker, packet):
        self.reserved[worker].remove(packet)
        if not self.reserved[worker]:
            del self.reserved[worker]

    def say(self, worker, event):
        """The event is heard at once or, of workers that go on without an answer, later."""
        self.words[worker].append(event)
        if not self.reserves or (worker != self.mute and self.choose([True, False])):
            self.hear_worker(worker)

    def hear_worker(self, worker):
        """Hears what a worker has said."""
        for event in self.words[worker]:
            self.tell(event)
        self.words[worker] = []

    @property
    def speaking(self):
        """The workers that have said what was not heard yet."""
        found = [worker for worker, words in sorted(self.words.items()) if words]
        return [worker for worker in found if worker != self.mute] or found

    def opened(self, worker, file, beside=False):
        ahead = self.ahead(file)
        return FileOpened(worker, file, self.sizes[file], self.cuts(file), ahead, beside)

    def step_ahead(self, fails=lambda hint: None):
        """Lets one worker answer that it has opened a file ahead."""
        hint = self.choose(self.opening)
        self.opening.remove(hint)
        self.opened_ahead += 1
        error = fails(hint)
        if error is None:
            self.tell(self.opened(hint.worker, hint.file, beside=True))
        else:
            self.tell(FileFailed(hint.worker, hint.file, error, beside=True))

    def run(self, **options):
        for _ in range(20_000):
            if self.packetizer.over or not (self.ready or self.mergers_busy or self.opening):
                if self.packetizer.over or not self.speaking:
                    break
                self.hear_worker(self.choose(self.speaking))
                continue
            if self.opening and not (self.ready and self.choose([True, False])):
                self.step_ahead()
            elif self.mergers_busy and not (self.ready and self.choose([True, False])):
                self.step_merger()
            else:
                self.step(**options)
        assert self.packetizer.over or not self.ready

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
