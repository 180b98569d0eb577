"""Gives an order to each worker that has none: new work, a commit, or another worker's packet."""

from __future__ import annotations

from .assignment import Assignment
from .entities import WorkerState
from .events import Action, Commit
from .mergers import Mergers
from .promises import Promises
from .reserves import Reserves
from .state import State

__all__ = ["Feeding"]


class Feeding:
    """Feeds workers."""

    def __init__(
        self,
        state: State,
        assignment: Assignment,
        promises: Promises,
        reserves: Reserves,
        mergers: Mergers,
    ) -> None:
        self._state = state
        self._assignment = assignment
        self._promises = promises
        self._reserves = reserves
        self._mergers = mergers

    def feed(self, worker: WorkerState, now: float, actions: list[Action]) -> None:
        """Gives an action to a worker that has no order. A worker for which there is no work, or
        that is leaving, commits, so that a worker that stays idle has nothing to lose."""
        if worker.leaving or self._state.ending.reason is not None:
            self._reserves.drop(worker, actions)
        action: Action | None = None
        has_done = self._state.ledger.has_done(worker.number)
        may_work = not worker.leaving
        if may_work and not (has_done and self._assignment.commit_is_due(worker, now)):
            action = self._assignment.next_work(worker, now)
            if action is None:
                action = self._promises.take(worker, now, actions)
        if action is None and has_done:
            action = self._commit(worker)
        if action is None and may_work:
            action = self._assignment.copy(worker, now)
        if action is None:
            self._state.nodes.move(worker, None)
            self._state.idle[worker.number] = worker
        else:
            self._state.idle.pop(worker.number, None)
            actions.append(action)

    def feed_idle(self, now: float, actions: list[Action]) -> None:
        """Gives orders to the workers that have none, as far as there is work."""
        # If one of them finds no work, the others find none either; but a worker may find none only
        # because it has failed the range that waits, or because it waits for a file of its own.
        refused = 0
        for worker in list(self._state.idle.values()):
            if worker.leaving:
                continue
            self.feed(worker, now, actions)
            refused += worker.number in self._state.idle and not worker.coming
            if refused == 2:
                break

    def _commit(self, worker: WorkerState) -> Commit:
        merger = self._mergers.next(worker.host) if self._mergers.numbers else None
        if merger is not None:
            self._state.ledger.send(worker.number, merger)
        return Commit(worker.number, merger)
