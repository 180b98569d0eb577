"""What mergers tell, and what they are to do: they get partials, hand them over to the result, and
hand them on to each other, because they leave or because few should be left at the end. Which of
them is next is for merger_choice.py to choose."""

from __future__ import annotations

from .events import (
    Action,
    Collected,
    Dismiss,
    HandedOn,
    HandOn,
    MergerJoined,
    MergerLeaving,
    MergerLost,
    Refused,
    RefusedFrom,
    RefuseFrom,
)
from .feeding import Feeding
from .merger_choice import MergerChoice
from .recovery import Recovery
from .state import State

__all__ = ["MergeEvents"]


class MergeEvents:
    """Reacts to the events of mergers."""

    def __init__(
        self, state: State, mergers: MergerChoice, recovery: Recovery, feeding: Feeding
    ) -> None:
        self._state = state
        self._mergers = mergers
        self._recovery = recovery
        self._feeding = feeding

    def joined(self, event: MergerJoined, now: float, actions: list[Action]) -> None:
        """A merger has joined."""
        self._mergers.join(event.merger, event.node, now)

    def lost(self, event: MergerLost, now: float, actions: list[Action]) -> None:
        """A merger is lost."""
        state, ledger = self._state, self._state.ledger
        self._mergers.leave(event.merger)
        senders, givers = ledger.senders(event.merger), ledger.givers(event.merger)
        lost = ledger.lose(event.merger)
        self._recovery.put_back_done(lost, f"merger {event.merger} was lost")
        for number in givers:
            if number in self._mergers:
                self._mergers.keeps(number)
        to = ledger.receiver_from(event.merger)
        if to is not None:  # only that one knows whether the partial has arrived
            actions.append(RefuseFrom(to, event.merger))
        for number in senders:
            if number in state.workers:  # no other answer to its Commit will come
                self._feeding.feed(state.workers[number], now, actions)
        self._feeding.feed_idle(now, actions)

    def collected(self, event: Collected, now: float, actions: list[Action]) -> None:
        """What a merger had is in the result."""
        self._mergers.collected(event.merger, now)
        self._state.ledger.collect(event.merger)

    def refused(self, event: Refused, now: float, actions: list[Action]) -> None:
        """A merger takes nothing from a lost worker any more."""
        if self._state.ledger.receiver(event.worker) == event.merger:
            lost = self._state.ledger.recall(event.worker)
            self._recovery.put_back_done(lost, f"worker {event.worker} was lost")
            self._feeding.feed_idle(now, actions)

    # Handing on.

    def leaving(self, event: MergerLeaving, now: float, actions: list[Action]) -> None:
        """A merger will go."""
        self._mergers.will_leave(event.merger)

    def handed_on(self, event: HandedOn, now: float, actions: list[Action]) -> None:
        """What a merger had is another one's."""
        if self._state.ledger.receiver_from(event.merger) != event.to:
            return  # it was said before
        self._state.ledger.handed_on(event.merger)
        if event.merger in self._mergers:
            self._dismiss(event.merger, actions)

    def refused_from(self, event: RefusedFrom, now: float, actions: list[Action]) -> None:
        """A merger takes nothing from a lost one any more."""
        if self._state.ledger.receiver_from(event.giver) == event.merger:
            lost = self._state.ledger.recall_from(event.giver)
            self._recovery.put_back_done(lost, f"merger {event.giver} was lost")
            self._feeding.feed_idle(now, actions)

    def hand_on(self, is_end: bool, actions: list[Action]) -> None:
        """Has mergers hand on what they have, if they leave or (`is_end`: workers will do no more)
        if too many hold something."""
        for number in list(self._mergers.leaving):
            self._send_off(number, actions)
        if is_end and self._state.policy.roots is not None:
            self._join(self._state.policy.roots, actions)

    def _send_off(self, number: int, actions: list[Action]) -> None:
        ledger = self._state.ledger
        if not self._mergers.is_free(number) or ledger.awaits(number):
            return
        next_merger = self._mergers.next_merger(number)
        if next_merger is None:
            return  # partials have nowhere else to go
        if number in ledger.holding:
            self._give(number, next_merger, actions)
        else:
            self._dismiss(number, actions)

    def _join(self, roots: int, actions: list[Action]) -> None:
        """Begins a round: those that are free hand on to each other in pairs. So n mergers need
        log2(n) rounds."""
        ledger, mergers = self._state.ledger, self._mergers
        holding = [each for each in ledger.holding if each not in mergers.leaving]
        free = [each for each in holding if mergers.is_free(each) and not ledger.awaits(each)]
        given = sum(ledger.receiver_from(each) is not None for each in holding)
        pairs = min(len(holding) - given - roots, len(free) // 2)
        if pairs > 0:
            free = mergers.by_host(free)
            for to, number in zip(free[0 : 2 * pairs : 2], free[1 : 2 * pairs : 2], strict=True):
                self._give(number, to, actions)

    def _give(self, number: int, to: int, actions: list[Action]) -> None:
        self._state.ledger.hand_on(number, to)
        self._mergers.gives(number)
        actions.append(HandOn(number, to))

    def _dismiss(self, number: int, actions: list[Action]) -> None:
        self._mergers.leave(number)
        actions.append(Dismiss(number))
