"""What becomes of work that a worker did not bring to its end: it is to be done again, or is given
up, and with it perhaps the query."""

from __future__ import annotations

from .distribution import Distribution
from .state import Again, File, Worker

__all__ = ["Incoming"]


class Incoming:
    """Takes back."""

    def __init__(self, known: Distribution, max_attempts: int, skip_errors: bool) -> None:
        self._known = known
        self._max_attempts = max_attempts
        self._skip_errors = skip_errors

    def taint(self, worker: Worker) -> None:
        """Another one has done this worker's packet: all that it has is to be thrown away."""
        _, void = self._known.ledger.take_back(worker.number)
        for packet in void:
            self.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        worker.packet = None
        worker.tainted = True
        self._known.tainted.add(worker.number)

    def clean(self, worker: Worker) -> None:
        """It has thrown all away."""
        worker.tainted = False
        self._known.tainted.discard(worker.number)

    def take_back(self, worker: Worker, error: BaseException, retry: bool) -> None:
        """All that the worker has failed, or is lost."""
        known = self._known
        if worker.packet is not None:  # one who is alone with it now may be helped again
            for number in known.ledger.other_holders(worker.number, worker.packet.number):
                known.workers[number].copied = False
        failed, void = known.ledger.take_back(worker.number)
        worker.packet = None
        for packet in void:
            self.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        if failed is None:
            return
        if retry and failed.attempt < self._max_attempts:
            span = (failed.start, failed.stop)
            self.put_back(failed.file, span, failed.attempt + 1, worker.number)
        else:
            self._give_up(failed.file, (failed.start, failed.stop), error)

    def put_back(self, file: int, span: tuple[int, int], attempt: int, avoid: int | None) -> None:
        """The entries are nobody's again."""
        self._known.totals.unassigned += span[1] - span[0]
        self._known.again.waiting.append(Again(file, span[0], span[1], attempt, avoid))

    def retry_file(self, file: File, worker: Worker, error: BaseException, retry: bool) -> None:
        """The file was not opened."""
        file.attempts += 1
        if retry and file.attempts < self._max_attempts:
            again = Again(file.number, 0, None, file.attempts + 1, worker.number)
            self._known.again.waiting.append(again)
        else:
            self._known.totals.unknown -= 1
            self._give_up(file.number, (0, None), error)

    def end(self, reason: str, error: BaseException | None) -> None:
        """The query ends before its time."""
        ending = self._known.ending
        if ending.reason is None:
            ending.reason, ending.error = reason, error

    def give_up_rest(self) -> None:
        """The query is over: what nobody has done will not be."""
        known, reason = self._known, self._known.ending.reason or ""
        for again in known.again.waiting:
            known.ledger.give_up(again.file, (again.start, again.stop), reason, None)
        for file in known.nodes.fresh_unknown():
            known.ledger.give_up(file.number, (0, None), reason, None)
        for file in known.files:
            if file.entries is not None and file.left:
                known.ledger.give_up(file.number, (file.next, file.entries), reason, None)

    def _give_up(self, file: int, span: tuple[int, int | None], error: BaseException) -> None:
        self._known.ledger.give_up(file, span, str(error) or type(error).__name__, error)
        if not self._skip_errors:
            self.end("an error elsewhere ended the query", error)
