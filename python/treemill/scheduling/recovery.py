"""Takes back work that a worker has not finished: the work is done again or given up, and the query
may end with it. Work is handed out by assignment.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .entities import File, RetryEntries, WorkerGone, WorkerState
from .events import Packet
from .ledger import Missing
from .state import State

__all__ = ["Recovery"]


class Recovery:
    """Takes back work."""

    def __init__(self, state: State) -> None:
        self._state = state

    def taint(self, worker: WorkerState) -> None:
        """Takes back all work of a worker whose packet another one has done: its partial cannot be
        used."""
        _, void = self._state.ledger.take_back(worker.number)
        for packet in void:
            self.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        worker.packet = None
        worker.tainted = True
        self._state.tainted.add(worker.number)

    def clean(self, worker: WorkerState) -> None:
        """Notes that a tainted worker has thrown its partial away."""
        worker.tainted = False
        self._state.tainted.discard(worker.number)

    def take_back(
        self, worker: WorkerState, error: BaseException, retry: bool, fault: bool = True
    ) -> None:
        """Takes back all work of a worker that has failed with its packet or is lost. `fault`:
        whether that counts as an attempt."""
        state = self._state
        if worker.packet is not None:  # a worker that is alone with it now may be helped again
            for number in state.ledger.other_holders(worker.number, worker.packet.number):
                state.workers[number].copied = False
        failed, void = state.ledger.take_back(worker.number)
        worker.packet = None
        for packet in void:
            self.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        if failed is None:
            return
        if not fault:
            self.put_back(failed.file, (failed.start, failed.stop), failed.attempt, None)
        elif retry and failed.attempt < self._state.policy.max_attempts:
            span = (failed.start, failed.stop)
            # If it has taken its worker down, it should be known soon whether it does that again.
            again = RetryEntries(failed.file, *span, failed.attempt + 1, worker.number)
            self._state.again.add(again, first=isinstance(error, WorkerGone))
        else:
            self._give_up(failed.file, (failed.start, failed.stop), error)

    def put_back(self, file: int, span: tuple[int, int], attempt: int, avoid: int | None) -> None:
        """Puts a range back, to be done again."""
        self._state.again.add(RetryEntries(file, span[0], span[1], attempt, avoid))

    def retry_file(
        self, file: File, worker: WorkerState, error: BaseException, retry: bool, fault: bool = True
    ) -> None:
        """Puts a file back that a worker could not open, or gives it up."""
        if not fault:
            self.reopen(file)
            return
        file.attempts += 1
        if retry and file.attempts < self._state.policy.max_attempts:
            again = RetryEntries(file.number, 0, None, file.attempts + 1, worker.number)
            self._state.again.add(again)
        else:
            self._state.totals.unknown -= 1
            for gap in file.gaps():
                self._give_up(file.number, gap, error)

    def reopen(self, file: File) -> None:
        """Puts a file back whose opening was begun and does not count. A worker opens it by an
        order: then it is known which file was to blame if that goes wrong."""
        self._state.again.add(RetryEntries(file.number, 0, None, file.attempts + 1, None))

    def put_back_done(self, lost: Sequence[Packet], reason: str) -> None:
        """Puts packets back that were done and whose results are lost. None of them has failed."""
        for packet in lost:
            self.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        if lost:
            self.end_if_alone(reason)

    def end_if_alone(self, reason: str) -> None:
        """Notes that the query ends if no worker is left for what is not done."""
        if self._state.workers:
            return
        if not self._state.everything_handed_out:
            self.end(reason, WorkerGone(f"no worker is left: {reason}"))

    def end(self, reason: str, error: BaseException | None) -> None:
        """Notes that the query ends early."""
        ending = self._state.ending
        if ending.reason is None:
            ending.reason, ending.error = reason, error

    def rest(self) -> Iterator[Missing]:
        """What a query that ends early leaves undone, once no worker is at work."""
        state, reason = self._state, self._state.ending.reason or ""
        for again in state.again.waiting:
            if again.stop is not None:
                yield Missing(again.file, again.start, again.stop, reason)
        unopened = {again.file for again in state.again.waiting if again.stop is None}
        unopened |= state.nodes.fresh_unknown()
        for file in state.files:
            if file.left or file.number in unopened:
                for start, stop in file.gaps():
                    yield Missing(file.number, start, stop, reason)

    def give_up_rest(self) -> None:
        """Gives up all entries that are not done. The query is over."""
        for each in self.rest():
            self._state.ledger.give_up(each.file, (each.start, each.stop), each.reason, None)

    def _give_up(self, file: int, span: tuple[int, int | None], error: BaseException) -> None:
        self._state.ledger.give_up(file, span, str(error) or type(error).__name__, error)
        if not self._state.policy.skip_errors:
            self.end("an error elsewhere ended the query", error)
