"""Gives workers one packet ahead, which they begin as soon as they have done the one in hand,
without asking: then none of them waits for an answer. Only if the policy says `reserve`.

A reserved packet cannot be taken back from a worker that may have begun it. So none is reserved
near the end, or where the worker is to commit first; and work that came back is never
reserved, so that it is known which packet was to blame if a worker is lost. Far files have promises
instead (promises.py), whose bytes come ahead.
"""

from __future__ import annotations

from .assignment import Assignment
from .entities import Worker
from .events import Action, Forget, Reserve
from .recovery import Recovery
from .speculation import seconds_of
from .state import State

__all__ = ["Reserves"]


class Reserves:
    """Reserves packets and takes them back."""

    def __init__(self, state: State, assignment: Assignment, recovery: Recovery) -> None:
        self._state = state
        self._assignment = assignment
        self._recovery = recovery

    def fill(self, worker: Worker, now: float, actions: list[Action]) -> None:
        """Reserves a packet for a worker that has begun one now, if it is worth it."""
        state, packet = self._state, worker.packet
        if not state.policy.reserve or packet is None or worker.ahead:
            return
        if worker.copied or worker.leaving:
            return
        if state.ending.reason is not None or state.more or state.again.waiting:
            return
        if worker.number in state.ledger.reserved or worker.number in state.ledger.promises:
            return
        rate = state.rates.of(worker.number)
        if rate is None:
            return
        seconds = seconds_of(state.rates, worker, packet.stop - packet.start)
        if state.left < 2 * seconds * state.rates.total(state.sharing):
            return  # others may have nothing to do before this worker begins it
        # One that becomes due meanwhile waits for the reserved packet, too.
        holds = state.ledger.has_done(worker.number)
        if holds and self._assignment.commit_is_due(worker, now):
            return
        reserved = self._assignment.reserve(worker)
        if reserved is not None:
            actions.append(Reserve(worker.number, reserved))

    def drop(self, worker: Worker, actions: list[Action]) -> None:
        """Puts back what was reserved for a worker. If it has begun that, its partial cannot be
        used; the caller sees to it."""
        packet = self._state.ledger.release_reserved(worker.number)
        if packet is not None:
            span = (packet.start, packet.stop)
            self._recovery.put_back(packet.file, span, packet.attempt, None)
            actions.append(Forget(worker.number, packet))
