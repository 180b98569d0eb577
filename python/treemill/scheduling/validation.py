"""Checks that what the fields of `State` say of themselves is true. For tests, after each event: a
check looks at the whole state."""

from __future__ import annotations

from collections.abc import Iterator

from .entities import Range
from .state import State

__all__ = ["validate"]


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
        busy = busy or ledger.has_done(number) or ledger.receiver(number) is not None
        if busy == (number in state.idle):
            yield f"worker {number} is idle and has work, or has no work and is not idle"
    if set(state.idle) - set(workers):
        yield "an idle worker has not joined or is lost"
    if state.tainted != {n for n, worker in workers.items() if worker.tainted}:
        yield f"tainted workers are {state.tainted}"
    opening = {worker.file for worker in workers.values() if worker.opening}
    opening |= {file for w in workers.values() for file in w.coming if file.entries is None}
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
    file = state.files[number]
    spans: list[Range] = [(start, stop or 0) for start, stop in file.gaps()]
    spans += [(a.start, a.stop) for a in state.again.waiting if a.file == number and a.stop]
    spans += state.ledger.spans(number)
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            yield f"file {number}: entries {min(start, end)}..{max(start, end)} are lost or doubled"
        end = stop
    if end != entries:
        yield f"file {number} ends at {end}, not at {entries}"
