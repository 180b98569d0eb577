"""The exact account of entry ranges: each entry is unassigned, promised to one worker, reserved for
one, being worked on, in one worker's uncommitted partial, in a partial on its way to a merger, in a
merger's partial, in a merger's partial on its way to another one, committed (in the result), or
given up; never two of these, never none.

Two workers may work on the same packet. It belongs to the one that has done it first; the other
one's partial must be thrown away.

A merger that hands its partial on keeps it until that has arrived, so that nothing is lost with the
other one.

A promise is a packet that a worker will get next. No worker has begun it, so that it may be taken
back at any time. A reserved packet is one that the worker may have begun, or even done.

The ledger only notes what happens; assignment.py decides which worker gets which range.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..frozen import frozen, replaced
from .entities import Counts, Range, WorkerGone
from .events import Packet


@dataclass(slots=True)
class _Held:
    packet: Packet
    stop: int | None = None  # set once done

    def finished(self) -> Sequence[Packet]:
        """The packet up to the entry at which the worker has ended."""
        assert self.stop is not None
        # Most packets are done to their ends; a copy costs more than all else that the ledger does.
        whole = self.stop == self.packet.stop
        return (self.packet if whole else replaced(self.packet, stop=self.stop),)

    def spans(self, file: int) -> list[Range]:
        """What is done of this file."""
        packet, stop = self.packet, self.stop
        return [(packet.start, stop)] if packet.file == file and stop is not None else []


@dataclass(slots=True)
class _HeldFiles:
    """What one order has done of small files. There may be many of them: only what is taken back
    becomes packets."""

    first: int
    """The number of the packet that the first file would be."""
    files: Sequence[int]
    stops: Sequence[int]

    def finished(self) -> Sequence[Packet]:
        """A packet of each file, up to the entry at which the worker has ended."""
        each = enumerate(zip(self.files, self.stops, strict=True), self.first)
        return [Packet(number, file, 0, stop, 1) for number, (file, stop) in each if stop]

    def spans(self, file: int) -> list[Range]:
        """What is done of this file."""
        stop = self.stops[self.files.index(file)] if file in self.files else 0
        return [(0, stop)] if stop else []


_Pile = list[_Held | _HeldFiles]


def _finished(pile: Iterable[_Held | _HeldFiles]) -> list[Packet]:
    return [packet for held in pile for packet in held.finished()]


@dataclass
class _Moving:
    merger: int
    held: _Pile
    kept: bool = False  # the merger that hands it on is there, and has it until it has arrived


@dataclass
class Ledger:
    """The ranges that workers and mergers hold. A range enters by `hand_out`, `promise` or
    `reserve`. It leaves by `commit` or `collect` into the result, or by `take_back`, `recall`,
    `recall_from`, `lose`, `break_promise`, `break_promises` or `release_reserved` to be handed out
    again."""

    _next: int = 0
    _working: dict[int, _Held] = field(default_factory=dict)  # by worker
    promises: dict[int, deque[Packet]] = field(default_factory=dict)
    """The packets that are promised, by worker, in the order in which it will get them. Never
    empty for a worker. Not to be changed by others."""
    promised_entries: int = 0
    reserved: dict[int, deque[Packet]] = field(default_factory=dict)
    """The packets that are reserved, by worker, in the order in which it begins them. Never empty
    for a worker. Not to be changed by others."""
    reserved_entries: int = 0
    _done: dict[int, _Pile] = field(default_factory=dict)  # by worker
    _moving: dict[int, _Moving] = field(default_factory=dict)  # by worker
    _merged: dict[int, _Pile] = field(default_factory=dict)  # by merger
    _handing_on: dict[int, _Moving] = field(default_factory=dict)  # by merger, which may be lost
    _committed: dict[int, list[Range]] = field(default_factory=dict)  # by file
    _whole: Counts = field(default_factory=Counts)
    """The ends of small files that are committed from their beginnings, by file: a list of ranges
    for each would be most of what the ledger keeps."""
    _given_up: list[Missing] = field(default_factory=list)
    _holders: dict[int, set[int]] = field(default_factory=dict)  # by packet, if there are several
    _failures: dict[int, int] = field(default_factory=dict)  # of copies of packets, by packet
    committed_entries: int = 0

    def hand_out(self, worker: int, file: int, span: Range, attempt: int) -> Packet:
        """Makes a packet for an idle worker."""
        if worker in self._working:
            raise RuntimeError(f"worker {worker} has a packet already")
        packet = self._packet(file, span, attempt)
        self._working[worker] = _Held(packet)
        return packet

    def files_done(self, worker: int, files: Sequence[int], stops: Sequence[int]) -> None:
        """Notes that files of which no packet was made, each up to an entry, are in the worker's
        partial."""
        if any(stops):
            self._done.setdefault(worker, []).append(_HeldFiles(self._next, files, stops))
            self._next += len(files)

    def begin_with(self, file: int, done: Sequence[Range]) -> None:
        """Notes that ascending ranges of a file are in the result already."""
        self._committed[file] = list(done)
        self.committed_entries += sum(stop - start for start, stop in done)

    def _packet(self, file: int, span: Range, attempt: int) -> Packet:
        packet = Packet(self._next, file, span[0], span[1], attempt)
        self._next += 1
        return packet

    def promise(self, worker: int, file: int, span: Range, attempt: int) -> Packet:
        """Makes a packet that the worker will get after those that are promised already."""
        packet = self._packet(file, span, attempt)
        self.promises.setdefault(worker, deque()).append(packet)
        self.promised_entries += packet.stop - packet.start
        return packet

    def keep_promise(self, worker: int) -> Packet:
        """Gives an idle worker the first packet that is promised to it. There must be one."""
        if worker in self._working:
            raise RuntimeError(f"worker {worker} has a packet already")
        packet = self.promises[worker][0]
        self.break_promise(worker, packet)
        self._working[worker] = _Held(packet)
        return packet

    def break_promise(self, worker: int, packet: Packet) -> None:
        """Takes out a packet that was promised."""
        promised = self.promises[worker]
        promised.remove(packet)
        if not promised:
            del self.promises[worker]
        self.promised_entries -= packet.stop - packet.start

    def break_promises(self, worker: int) -> list[Packet]:
        """Takes out all packets that are promised to the worker."""
        promised = list(self.promises.pop(worker, ()))
        self.promised_entries -= sum(packet.stop - packet.start for packet in promised)
        return promised

    def reserve(self, worker: int, file: int, span: Range, attempt: int) -> Packet:
        """Makes a packet that the worker may begin when it has done those that it has."""
        packet = self._packet(file, span, attempt)
        self.reserved.setdefault(worker, deque()).append(packet)
        self.reserved_entries += packet.stop - packet.start
        return packet

    def begin_reserved(self, worker: int) -> Packet:
        """Gives an idle worker the first packet that is reserved for it. There must be one."""
        if worker in self._working:
            raise RuntimeError(f"worker {worker} has a packet already")
        reserved = self.reserved[worker]
        packet = reserved.popleft()
        self.reserved_entries -= packet.stop - packet.start
        if not reserved:
            del self.reserved[worker]
        self._working[worker] = _Held(packet)
        return packet

    def release_reserved(self, worker: int) -> list[Packet]:
        """Takes out the packets that are reserved for the worker."""
        reserved = list(self.reserved.pop(worker, ()))
        self.reserved_entries -= sum(packet.stop - packet.start for packet in reserved)
        return reserved

    def copy(self, worker: int, owner: int) -> Packet:
        """Gives an idle worker the packet that `owner` is working on, too."""
        if worker in self._working:
            raise RuntimeError(f"worker {worker} has a packet already")
        packet = self._working[owner].packet
        self._working[worker] = _Held(packet)
        self._holders.setdefault(packet.number, {owner}).add(worker)
        return packet

    def other_holders(self, worker: int, number: int) -> list[int]:
        """The other workers that are working on the packet."""
        holders = self._holders.get(number)
        return [] if holders is None else sorted(holders - {worker})

    def working(self, worker: int) -> Packet:
        """The packet that the worker is working on. There must be one."""
        return self._working[worker].packet

    def packet_of(self, worker: int) -> Packet | None:
        """The packet that the worker is working on, if any."""
        held = self._working.get(worker)
        return None if held is None else held.packet

    def spans(self, file: int) -> list[Range]:
        """Returns all ranges of the file that are in the ledger. A packet that several workers
        process counts once."""
        working = {held.packet.number: held.packet for held in self._working.values()}
        piles = [*self._done.values(), *self._merged.values()]
        piles += [moving.held for moving in self._moving.values()]
        piles += [moving.held for moving in self._handing_on.values()]
        packets = [*working.values()]
        packets += [packet for promised in self.promises.values() for packet in promised]
        packets += [packet for reserved in self.reserved.values() for packet in reserved]
        spans = [(packet.start, packet.stop) for packet in packets if packet.file == file]
        spans += [span for pile in piles for held in pile for span in held.spans(file)]
        spans += self._committed.get(file, [])
        spans += [(0, stop)] if (stop := self._whole.get(file)) else []
        return spans + [(m.start, m.stop) for m in self._given_up if m.file == file and m.stop]

    def has_done(self, worker: int) -> bool:
        """True if the worker has done entries that are not committed."""
        return worker in self._done

    def done(self, worker: int, number: int, stop: int) -> Range | None:
        """Notes that the worker's packet is in its partial up to `stop`. Returns the rest, if
        any."""
        held = self._working.get(worker)
        if held is None or held.packet.number != number:
            raise RuntimeError(f"worker {worker} does not have packet {number}")
        packet = held.packet
        if not packet.start <= stop <= packet.stop:
            raise RuntimeError(f"packet {packet} cannot end at {stop}")
        del self._working[worker]
        if number in self._holders:
            if self._holders.pop(number) != {worker}:
                raise RuntimeError(f"packet {number} has to be taken back from its others first")
            self._failures.pop(number, None)
        held.stop = stop
        if stop > packet.start:
            self._done.setdefault(worker, []).append(held)
        return (stop, packet.stop) if stop < packet.stop else None

    def held(self, worker: int) -> list[Packet]:
        """Returns what the worker has done and not handed over, each packet up to where the worker
        has ended."""
        return _finished(self._done.get(worker, ()))

    def sent(self, worker: int) -> list[Packet]:
        """Returns what is in the worker's partial that is on its way to a merger."""
        moving = self._moving.get(worker)
        return [] if moving is None else _finished(moving.held)

    def held_by_merger(self, merger: int) -> list[Packet]:
        """Returns what the merger has merged and not handed over."""
        return _finished(self._merged.get(merger, ()))

    def send(self, worker: int, merger: int) -> None:
        """Notes that the worker's partial is on its way. From now on only the merger can tell
        whether it has arrived, even if the worker is lost."""
        if worker in self._moving:
            raise RuntimeError(f"worker {worker} has a partial on its way already")
        self._moving[worker] = _Moving(merger, self._done.pop(worker, []))

    def commit(self, worker: int, merger: int | None = None) -> int:
        """Notes that the worker's partial is in the result, or that the partial that it had sent is
        in the merger's. Returns the number of entries that are new in the result."""
        if merger is None:
            return self._settle(self._done.pop(worker, []))
        moving = self._moving.pop(worker, None)
        if moving is None or moving.merger != merger:
            raise RuntimeError(f"worker {worker} has sent nothing to merger {merger}")
        self._merged.setdefault(merger, []).extend(moving.held)
        return 0

    def collect(self, merger: int) -> int:
        """Notes that the merger's partial is in the result. Returns the number of its entries."""
        return self._settle(self._merged.pop(merger, []))

    def hand_on(self, merger: int, to: int) -> None:
        """Notes that all that the merger has is on its way to another one. Nothing may be on its
        way to itself."""
        if self.awaits(merger) or merger in self._handing_on:
            raise RuntimeError(f"merger {merger} cannot hand on what it does not have alone")
        self._handing_on[merger] = _Moving(to, self._merged.pop(merger), kept=True)

    def handed_on(self, merger: int) -> None:
        """Notes that what a merger, which may be lost, has handed on is the other one's."""
        moving = self._handing_on.pop(merger)
        self._merged.setdefault(moving.merger, []).extend(moving.held)

    def lose(self, merger: int) -> list[Packet]:
        """Takes out the packets that a lost merger had, or that were on their way to it, except
        those that other mergers have still. What it was handing on may have arrived: only the
        other one knows that."""
        lost = self._merged.pop(merger, [])
        for worker in self.senders(merger):
            lost += self._moving.pop(worker).held
        for giver in self.givers(merger):
            moving = self._handing_on.pop(giver)
            if moving.kept:
                self._merged[giver] = moving.held
            else:
                lost += moving.held
        if merger in self._handing_on:
            self._handing_on[merger].kept = False
        return _finished(lost)

    def recall_from(self, merger: int) -> list[Packet]:
        """Takes out the packets that a lost merger was handing on, because they will not arrive."""
        return _finished(self._handing_on.pop(merger).held)

    def recall(self, worker: int) -> list[Packet]:
        """Takes out the packets that the worker has sent, because its partial will not arrive."""
        moving = self._moving.pop(worker, None)
        return [] if moving is None else _finished(moving.held)

    def senders(self, merger: int) -> list[int]:
        """The workers, lost ones included, whose partials are on their way to the merger."""
        return sorted(w for w, moving in self._moving.items() if moving.merger == merger)

    def receiver(self, worker: int) -> int | None:
        """The merger that the worker's partial is on its way to."""
        moving = self._moving.get(worker)
        return None if moving is None else moving.merger

    def givers(self, merger: int) -> list[int]:
        """The mergers, lost ones included, that are handing on to this one."""
        return sorted(m for m, moving in self._handing_on.items() if moving.merger == merger)

    def receiver_from(self, merger: int) -> int | None:
        """The merger to which this one is handing on."""
        moving = self._handing_on.get(merger)
        return None if moving is None else moving.merger

    def awaits(self, merger: int) -> bool:
        """True if anything is on its way to the merger."""
        ways = (*self._moving.values(), *self._handing_on.values())
        return any(moving.merger == merger for moving in ways)

    @property
    def moving(self) -> bool:
        """True if any worker's partial is on its way to a merger."""
        return bool(self._moving)

    @property
    def handing_on(self) -> bool:
        """True if any merger's partial is on its way to another one."""
        return bool(self._handing_on)

    @property
    def holding(self) -> list[int]:
        """The mergers that hold something. One that is handing it on holds it still."""
        return sorted([*self._merged, *(m for m, each in self._handing_on.items() if each.kept)])

    def _settle(self, done: _Pile) -> int:
        entries = 0
        for held in done:
            if isinstance(held, _HeldFiles):
                entries += self._settle_files(held)
                continue
            for packet in held.finished():
                self._committed.setdefault(packet.file, []).append((packet.start, packet.stop))
                entries += packet.stop - packet.start
        self.committed_entries += entries
        return entries

    def _settle_files(self, held: _HeldFiles) -> int:
        if twice := {file for file, stop in self._whole.among(held.files).items() if stop}:
            raise RuntimeError(f"files {sorted(twice)} were committed twice")
        self._whole.put(held.files, held.stops)
        return sum(held.stops)

    def release(self, worker: int) -> None:
        """Leaves the worker's packet, of which it has done nothing, to another worker that has it
        too. The worker keeps what it had done before."""
        self._alone(worker, self._working.pop(worker).packet)

    def take_back(self, worker: int) -> tuple[Packet | None, list[Packet]]:
        """Takes out the packet that the worker was working on (None if another worker still works
        on it) and the packets that it had done and not committed. The failures of a packet's copies
        count as attempts."""
        held = self._working.pop(worker, None)
        working = None if held is None else self._alone(worker, held.packet)
        return working, _finished(self._done.pop(worker, ()))

    def _alone(self, worker: int, packet: Packet) -> Packet | None:
        holders = self._holders.get(packet.number)
        if holders is None:
            return packet
        holders.discard(worker)
        failures = self._failures.get(packet.number, 0)
        if holders:
            self._failures[packet.number] = failures + 1
            return None
        del self._holders[packet.number]
        self._failures.pop(packet.number, None)
        return replaced(packet, attempt=packet.attempt + failures)

    def give_up(
        self, file: int, span: tuple[int, int | None], reason: str, error: BaseException | None
    ) -> None:
        """Notes that these entries will not be in the result."""
        self._given_up.append(Missing(file, span[0], span[1], reason, error))

    def files(self) -> Collection[int]:
        """The files of which entries are in the result."""
        return {file for file, stop in self._whole.items() if stop}.union(self._committed)

    def coverage(self, held: bool = False) -> Coverage:
        """The coverage now, with neighbouring ranges joined. `held`: what mergers have counts."""
        whole = ((file, stop) for file, stop in self._whole.items() if stop)
        ranges: dict[int, list[Range]] = {file: [(0, stop)] for file, stop in whole}
        for file, spans in self._committed.items():
            ranges.setdefault(file, []).extend(spans)
        if held:
            piles = [*self._merged.values()]
            piles += [moving.held for moving in self._handing_on.values() if moving.kept]
            for packet in (each for pile in piles for each in _finished(pile)):
                ranges.setdefault(packet.file, []).append((packet.start, packet.stop))
        # Most files have one range only.
        processed = {
            file: spans if len(spans := ranges[file]) == 1 else joined(spans)
            for file in sorted(ranges)
        }
        return Coverage(processed, joined_missing(self._given_up))


# Which entries are in a result, and which are not: plain values, and ranges that are joined.

Ranges = Mapping[int, Sequence[Range]]
"""Entries, as ranges by file."""


@frozen
class Missing:
    """Entries `[start, stop)` of a file that are not in the result, and why. `stop` None: the file
    was never opened, so that its number of entries is not known."""

    file: int
    start: int
    stop: int | None
    reason: str
    error: BaseException | None = None


@frozen
class Coverage:
    """The entries that are in the result, as ascending ranges by file, and those that are not."""

    processed: dict[int, list[Range]]
    missing: list[Missing]

    @property
    def entries(self) -> int:
        """Number of entries in the result."""
        return sum(stop - start for ranges in self.processed.values() for start, stop in ranges)

    def lost_with(self, error: WorkerGone) -> list[tuple[int, int, int | None]]:
        """The file, and its entries, that the lost worker had of which the query has ended."""
        if error.span is not None:
            return [error.span]
        return [(each.file, each.start, each.stop) for each in self.missing if each.error is error]


def joined(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in their order, neighbours as one. Raises RuntimeError if two overlap."""
    merged: list[Range] = []
    for start, stop in sorted(ranges):
        if merged and start < merged[-1][1]:
            raise RuntimeError(f"entries {start}..{merged[-1][1]} were committed twice")
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    return merged


def gaps(ranges: Sequence[Range], entries: int) -> list[Range]:
    """The ranges of a file with this many entries between these, which are ascending and touch
    nowhere. Raises ValueError if they go beyond its end.

    >>> gaps([(0, 10), (30, 40)], 50)
    [(10, 30), (40, 50)]
    """
    ends = [0, *(stop for _, stop in ranges)]
    if ends[-1] > entries:
        raise ValueError(f"of {entries} entries, those up to {ends[-1]} are said to be done")
    starts = [*(start for start, _ in ranges), entries]
    return [each for each in zip(ends, starts, strict=True) if each[0] < each[1]]


def joined_missing(given_up: Iterable[Missing]) -> list[Missing]:
    """Returns what is missing, in its order; neighbours that miss for the same reason as one."""
    merged: list[Missing] = []
    for each in sorted(given_up, key=lambda m: (m.file, m.start)):
        last = merged[-1] if merged else None
        if (
            last is not None
            and (last.file, last.stop, last.reason) == (each.file, each.start, each.reason)
            and last.error is each.error
        ):
            merged[-1] = Missing(last.file, last.start, each.stop, last.reason, last.error)
        else:
            merged.append(each)
    return merged


def ranges_of(packets: Iterable[Packet]) -> dict[int, list[Range]]:
    """The entries of these packets, with neighbours joined. Raises RuntimeError if two overlap."""
    ranges: dict[int, list[Range]] = {}
    for packet in packets:
        ranges.setdefault(packet.file, []).append((packet.start, packet.stop))
    return {file: joined(each) for file, each in ranges.items()}
