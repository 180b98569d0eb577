"""What others may read of a packetizer: the state of the query in plain values. Changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from math import inf

from .entities import Range, Totals
from .events import Collected, Committed, Packet
from .ledger import Coverage, Ledger
from .merger_choice import MergerChoice
from .state import State

__all__ = ["Outcome", "Span", "View"]

Span = tuple[int, int, int | None]
"""A file, and its entries `[start, stop)`; stop None: its end is not known."""

# Checks that what the fields of `State` say of themselves is true. For tests, after each event: a
# check looks at the whole state.


def validate(state: State) -> None:
    """Raises RuntimeError about the first contradiction."""
    if state.ending.over:
        return  # the rest is given up, and the state is not kept any more
    for wrong in _wrong(state):
        raise RuntimeError(f"the packetizer's state is wrong: {wrong}")


def _wrong(state: State) -> Iterator[str]:
    workers, totals, ledger = state.workers, state.totals, state.ledger
    for number, worker in workers.items():
        held = ledger.packet_of(number)
        if worker.packet != held:
            yield f"worker {number} has {worker.packet}, the ledger says {held}"
        if worker.tainted and (held is not None or ledger.has_done(number)):
            yield f"worker {number} is tainted and holds something"
        if held is not None and worker.copied != bool(ledger.other_holders(number, held.number)):
            yield f"worker {number} is wrong about sharing packet {held.number}"
        busy = worker.packet is not None or worker.opening or worker.tainted
        busy = busy or bool(worker.files)
        busy = busy or ledger.has_done(number) or ledger.receiver(number) is not None
        if busy == (number in state.idle):
            yield f"worker {number} is idle and has work, or has no work and is not idle"
    if set(state.idle) - set(workers):
        yield "an idle worker has not joined or is lost"
    if state.leaving != {n for n, worker in workers.items() if worker.leaving}:
        yield f"leaving workers are {state.leaving}"
    if state.tainted != {n for n, worker in workers.items() if worker.tainted}:
        yield f"tainted workers are {state.tainted}"
    opening = {w.file.number for w in workers.values() if w.opening and w.file is not None}
    opening |= {f.number for w in workers.values() for f in w.coming if f.entries is None}
    for worker in workers.values():
        opening |= set(worker.files).difference(state.files.known(worker.files))
    if state.nodes.opening != opening:
        yield f"{len(state.nodes.opening)} files are said to be being opened, not {len(opening)}"
    yield from _wrong_promises(state)
    yield from _wrong_sums(state)
    for file in state.files:
        if file.entries is not None:
            yield from _wrong_cover(state, file.number, file.entries)
    if totals.known != sum(file.entries or 0 for file in state.files):
        yield f"{totals.known} entries are said to be known"


def _wrong_promises(state: State) -> Iterator[str]:
    ledger = state.ledger
    entries = 0
    for number, promised in ledger.promises.items():
        entries += sum(packet.stop - packet.start for packet in promised)
        worker = state.workers.get(number)
        if worker is None or worker.tainted or number in state.idle or not promised:
            yield f"worker {number} should have promises, and not {promised}"
    for number, reserved in ledger.reserved.items():
        worker = state.workers.get(number)
        if worker is None or worker.tainted or number in state.idle or not reserved:
            yield f"worker {number} should have nothing reserved, and not {reserved}"
    if ledger.promised_entries != entries:
        yield f"{ledger.promised_entries} entries are said to be promised, not {entries}"
    kept = sum(each.stop - each.start for many in ledger.reserved.values() for each in many)
    if ledger.reserved_entries != kept:
        yield f"{ledger.reserved_entries} entries are said to be reserved, not {kept}"
    if state.ending.announced and ledger.promises:
        yield "there are promises after the early end was announced"
    opened: set[int] = set()
    for number, worker in state.workers.items():
        if (worker.tainted or state.ending.announced) and (worker.coming or worker.ready):
            yield f"worker {number} opens files ahead, and should not"
        if not worker.declined <= worker.coming.keys():
            yield f"worker {number} declines files that it does not open"
        unknown = {file.number for file in worker.coming if file.entries is None}
        if unknown & opened:
            yield f"worker {number} opens files that are being opened already"
        opened |= unknown


def _wrong_sums(state: State) -> Iterator[str]:
    left = sum(file.left for file in state.files)
    again = sum(a.stop - a.start for a in state.again.waiting if a.stop is not None)
    if state.again.entries != again:
        yield f"{state.again.entries} entries are said to be done again, not {again}"
    if state.nodes.left.entries != left:
        yield f"nodes have {state.nodes.left.entries} entries left, files {left}"
    given_up = {gap.file for gap in state.ledger.coverage().missing if gap.stop is None}
    unknown = sum(f.entries is None and f.number not in given_up for f in state.files)
    if state.totals.unknown != unknown:
        yield f"{state.totals.unknown} files are said to be of unknown size, not {unknown}"


def _wrong_cover(state: State, number: int, entries: int) -> Iterator[str]:
    """Whether an entry of the file is in no place or in two."""
    file = state.files.peek(number)
    spans: list[Range] = [(start, stop or 0) for start, stop in file.gaps()]
    spans += [(a.start, a.stop) for a in state.again.waiting if a.file == number and a.stop]
    spans += state.ledger.spans(number)
    spans += [(0, entries) for worker in state.workers.values() if number in worker.files]
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            yield f"file {number}: entries {min(start, end)}..{max(start, end)} are lost or doubled"
        end = stop
    if end != entries:
        yield f"file {number} ends at {end}, not at {entries}"


# What a query has come to: the entries that are in its result, those that are not, and how many
# there are. It can be asked while the query runs and afterwards, when nothing else is kept of
# what led it. Changes nothing.


class Outcome:
    """The entries of one query."""

    def __init__(self, totals: Totals, ledger: Ledger) -> None:
        self._totals = totals
        self._ledger = ledger

    @property
    def committed_entries(self) -> int:
        """The number of entries in the result so far."""
        return self._ledger.committed_entries

    @property
    def expected_entries(self) -> int:
        """Entries of all files; a file of unknown size counts as many as the others on average."""
        return self._totals.expected

    def files(self) -> Collection[int]:
        """The files of which entries are in the result."""
        return self._ledger.files()

    def coverage(self, held: bool = False) -> Coverage:
        """Returns which entries are in the result (`held`: or in a merger's partial), which are
        not, and why. Final once the query is over."""
        return self._ledger.coverage(held)

    def outcome(self) -> Outcome:
        """This alone, for when the query is over."""
        return Outcome(self._totals, self._ledger)


class View(Outcome):
    """The part of the packetizer that only reads."""

    _state: State
    _mergers: MergerChoice

    @property
    def over(self) -> bool:
        """True if the query is over: Finish was returned."""
        return self._state.ending.over

    @property
    def workers(self) -> Set[int]:
        """The workers that have joined and are not lost."""
        return self._state.workers.keys()

    @property
    def mergers(self) -> Set[int]:
        """The mergers that have joined and are not lost."""
        return self._mergers.numbers

    @property
    def only_mergers_hold(self) -> bool:
        """True if mergers hold all that is not in the result, and no worker will do more."""
        return not self.over and self.is_done and bool(self._state.ledger.holding)

    @property
    def idle(self) -> Set[int]:
        """The workers that have nothing to do and nothing to lose."""
        return self._state.idle.keys()

    def needs_no_thread(self, worker: int) -> bool:
        """True if the worker has nothing to do, or only hands over what it has done: then another
        one may begin in its place."""
        if worker in self._state.idle:
            return True
        there = self._state.workers.get(worker)
        is_sending = self._state.ledger.receiver(worker) is not None
        return is_sending and (there is None or there.is_free)

    def busy_with(self, worker: int) -> tuple[str, int] | None:
        """The packet that the worker has, or the file that it opens, by number."""
        there, packet = self._state.workers.get(worker), self._state.ledger.packet_of(worker)
        if packet is not None:
            return "packet", packet.number
        if there is not None and there.files:
            return "file", there.files[0]
        if there is None or not there.opening or there.file is None:
            return None
        return "file", there.file.number

    def in_hand(self, worker: int) -> list[Span]:
        """What the worker may be at: its packet and those that are reserved for it, and the files
        that it opens. Of these the end (None) is not known."""
        there, ledger = self._state.workers.get(worker), self._state.ledger
        if there is None:
            return []
        packet = ledger.packet_of(worker)
        packets = [packet] if packet is not None else []
        packets += ledger.reserved.get(worker, ())
        files = list(there.files)
        if there.opening and there.file is not None:
            files.append(there.file.number)
        return [(each.file, each.start, each.stop) for each in packets] + [
            (file, 0, None) for file in files
        ]

    @property
    def error(self) -> BaseException | None:
        """Why the query ends early, if that is an error."""
        return self._state.ending.error

    @property
    def is_ending(self) -> bool:
        """True if the query ends early: it is over once workers have answered."""
        return self._state.ending.reason is not None

    @property
    def seconds_left(self) -> float:
        """How long the workers that have something to do will take for what none of them has;
        infinity if no packet is done."""
        state = self._state
        working = max(len(state.workers) - len(state.idle), 1)
        rate = state.rates.total(working)
        return state.left / rate if rate else (inf if state.left else 0.0)

    def wants(self, coming: int = 0) -> bool:
        """True if there is work now for a worker more than are `coming`."""
        state = self._state
        if state.ending.reason is not None:
            return False
        pieces = len(state.again.waiting) + state.nodes.left.unknown
        return pieces > coming or state.nodes.left.entries > 0

    @property
    def holding(self) -> list[int]:
        """The mergers that hold something."""
        return self._state.ledger.holding

    def next_merger(self, merger: int) -> int | None:
        """The merger to which this one, which may be lost, is handing on what it has."""
        return self._state.ledger.receiver_from(merger)

    def sizes(self, files: Collection[int] | None = None) -> dict[int, int]:
        """The entries of those of these files, None: of all, that were opened."""
        every = self._state.files
        return every.entries() if files is None else every.known([*files])

    def uncommitted(self, event: Committed | Collected) -> list[Packet]:
        """The packets whose entries will be in the result, or in a merger's partial, by this
        event."""
        ledger = self._state.ledger
        if isinstance(event, Collected):
            return ledger.held_by_merger(event.merger)
        return ledger.held(event.worker)

    def sent(self, worker: int) -> list[Packet]:
        """The packets of the worker's partial that is on its way to a merger."""
        return self._state.ledger.sent(worker)

    @property
    def is_done(self) -> bool:
        """True if no worker will do more, nor any partial arrive."""
        return self.no_more_work and not self._state.ledger.handing_on

    @property
    def no_more_work(self) -> bool:
        """True if no worker will do more, nor any partial of a worker arrive."""
        state = self._state
        if len(state.idle) + len(state.tainted) < len(state.workers):
            return False  # the others will answer; idle workers have committed
        if state.ending.reason is None and not state.everything_handed_out:
            return False
        return not state.ledger.moving  # mergers will say whether lost workers' partials arrived

    def validate(self) -> None:
        """Raises RuntimeError if the state contradicts itself. For tests: it checks all of it."""
        validate(self._state)
