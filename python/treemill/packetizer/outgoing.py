"""Which work a worker gets that asks for some. Changes the books accordingly; what happens with
work that does not come back well is incoming.py's affair."""

from __future__ import annotations

from .distribution import Distribution
from .events import OpenFile, Process
from .sizing import packet_entries
from .state import File, Worker
from .tail import Tail

__all__ = ["Outgoing"]


class Outgoing:
    """Hands out."""

    def __init__(self, known: Distribution, commit_seconds: float) -> None:
        self._known = known
        self._commit_seconds = commit_seconds
        self._tail = Tail(known.rates)

    def commit_is_due(self, worker: Worker, now: float) -> bool:
        """Whether the worker should hand over its partial before it does anything else."""
        known, since = self._known, now - worker.last_commit
        if since >= self._commit_seconds:
            return True
        # Near the end commits are as frequent as can be borne, so that one who is overtaken with a
        # packet has little else to lose. Where commits wait for the end, so does this.
        cost = known.sizing.ask + known.sizing.merge
        if not known.speculate or self._commit_seconds == float("inf"):
            return False
        if since < 2 * cost * len(known.workers):
            return False
        rate = known.rates.total(len(known.workers))
        return known.totals.left < max(2 * known.sizing.shortest, known.sizing.tail) * rate

    def next_work(self, worker: Worker, now: float) -> OpenFile | Process | None:
        """Something that nobody has."""
        known = self._known
        if known.ending.reason is not None:
            return None
        again = known.again.pick(worker.number, len(known.workers) - len(known.tainted) <= 1)
        if again is not None:
            again_file = known.files[again.file]
            known.nodes.move(worker, again_file)
            if again.stop is None:
                return self._open(worker, again_file)
            span = (again.start, again.stop)
            return self._hand_out(worker, again_file, span, again.attempt, now)
        file = known.nodes.next_in(worker)
        if file is None:
            known.nodes.move(worker, None)  # it does not stand in its own way
            file = known.nodes.pick(worker.host, known.totals.mean)
        if file is None:
            return None
        known.nodes.move(worker, file)
        if file.entries is None:
            return self._open(worker, file)
        span = known.nodes.take(file, file.cut(self._size(worker, file)))
        return self._hand_out(worker, file, span, 1, now)

    def copy(self, worker: Worker, now: float) -> Process | None:
        """Another worker's packet, if everything else is handed out."""
        known = self._known
        if not known.speculate or known.ending.reason is not None or known.opening:
            return None
        if not known.everything_handed_out:
            return None
        late = self._tail.candidate(known.workers, worker, now)
        if late is None:
            return None
        late.copied = True
        packet = known.ledger.copy(worker.number, late.number)
        known.nodes.move(worker, known.files[packet.file])
        return worker.process(packet, now, copied=True)

    def _open(self, worker: Worker, file: File) -> OpenFile:
        worker.opening = True
        self._known.opening += 1
        return OpenFile(worker.number, file.number)

    def _hand_out(
        self, worker: Worker, file: File, span: tuple[int, int], attempt: int, now: float
    ) -> Process:
        self._known.totals.unassigned -= span[1] - span[0]
        packet = self._known.ledger.hand_out(worker.number, file.number, span, attempt)
        return worker.process(packet, now)

    def _size(self, worker: Worker, file: File) -> int:
        known = self._known
        workers = max(len(known.workers), known.expected_workers)
        rate = known.rates.of(worker.number)
        if rate is not None:
            rate = known.nodes.rate(worker, file, rate)
        total = known.rates.total(workers)
        return packet_entries(known.sizing, rate, total, known.totals.left, workers)
