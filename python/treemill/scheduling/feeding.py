"""Gives an order to each worker that has none: new work, a commit, or another worker's packet."""

from __future__ import annotations

from math import inf

from .assignment import FRESH_SECONDS, Assignment
from .entities import WorkerState
from .events import Action, Commit, Forget, OpenAhead, Process, Reserve
from .merger_choice import MergerChoice
from .promises import Promises
from .recovery import Recovery
from .sizing import RESERVES
from .small_files import SmallFiles
from .state import State

__all__ = ["Feeding", "Reserves"]

# Gives workers packets ahead, which they begin as soon as they have done the one in hand, without
# asking: then none of them waits for an answer. One is enough if packets are long; of short ones
# as many are reserved as last longer together than an answer takes, and what workers say of
# several travels in one message. Only if the policy says `reserve`. A reserved packet cannot be
# taken back from a worker that may have begun it. So none is reserved near the end; and work that
# came back is never reserved, so that it is known which packet was to blame if a worker is lost.
# Where a worker is to commit, it puts its partial aside before one of these packets, and hands it
# over beside them: to wait for that would cost it several round trips a second. Far files have
# promises instead (promises.py), whose bytes come ahead. When nothing of the worker's file is left,
# a packet of the next file is reserved. If that file's size is not known, the worker opens it in
# the background, and has a packet of it once it has.


_EVEN = 1.25
"""So many times as much must be left for each worker as one of them has to do. Near the end what is
ahead falls by this each time: with 2, each of 64 workers asked twice as often in the last second,
and waited until the others were answered."""
_EVEN_LONG = 2.0
"""The same if one packet takes longer than what a worker may have ahead. Then it asks seldom; and
if it gets slow, it has begun the next long one before others have nothing to do."""
_LATE = 0.25
"""Seconds of reserved packets that a worker keeps although another one has nothing to do."""


class Reserves:
    """Reserves packets and takes them back."""

    def __init__(
        self,
        state: State,
        assignment: Assignment,
        recovery: Recovery,
        small_files: SmallFiles,
        mergers: MergerChoice,
    ) -> None:
        self._state = state
        self._assignment = assignment
        self._recovery = recovery
        self._small_files = small_files
        self._mergers = mergers
        self._looked_at = -inf  # for workers that are late

    def fill(self, worker: WorkerState, now: float, actions: list[Action]) -> None:
        """Reserves packets for a worker that has begun one now, if it is worth it."""
        state, packet = self._state, worker.packet
        if not state.policy.reserve or packet is None or worker.ahead:
            return
        if worker.copied or worker.leaving or worker.recalled:
            return
        if state.ending.reason is not None or state.again.waiting:
            return
        reserved = state.ledger.reserved.get(worker.number, ())
        if self._small_files.may_come(worker):
            return
        if 2 * len(reserved) > RESERVES:
            return  # all at once when half of them are used up
        rate = state.rates.of(worker.number)
        if rate is None or worker.number in state.ledger.promises:
            return
        may_put_aside = self._may_put_aside(worker)
        if not may_put_aside and worker.aside is None and self._must_commit(worker, now):
            return
        ahead = sum([each.stop - each.start for each in reserved])
        mine, total = packet.stop - packet.start, state.rates.total(state.sharing)
        for count in range(len(reserved), RESERVES):
            if count and ahead >= state.sizing.ahead * rate:
                return
            # Others may have nothing to do before this worker begins it, should it get slower. But
            # without it the worker has nothing to do for as long as an answer takes, for which it
            # asks when half of what it has is done.
            others = state.left + state.ledger.reserved_entries - ahead
            even = _EVEN if mine <= state.sizing.ahead * rate else _EVEN_LONG
            if others * rate < even * (mine + ahead) * total and ahead >= 2 * state.answer * rate:
                return
            file = self._assignment.file_ahead(worker)
            if file is None:
                return
            if file.entries is None:
                state.nodes.begin_opening(file.number)
                worker.coming[file] = now
                actions.append(OpenAhead(worker.number, file.number))
                return
            reserve = self._assignment.reserve(worker, file)
            begins = now + (mine + ahead) / rate
            aside = may_put_aside and self._assignment.commit_is_due(worker, begins)
            if aside:
                worker.aside, may_put_aside = reserve.number, False
            actions.append(Reserve(worker.number, reserve, aside))
            ahead += reserve.stop - reserve.start

    def _may_put_aside(self, worker: WorkerState) -> bool:
        """True if the worker can hand over a partial beside its packets: one at a time, and to a
        merger, which takes it without the owner of the result."""
        is_sending = self._state.ledger.receiver(worker.number) is not None
        return bool(self._mergers.numbers) and worker.aside is None and not is_sending

    def _must_commit(self, worker: WorkerState, now: float) -> bool:
        holds = self._state.ledger.has_done(worker.number)
        return holds and self._assignment.commit_is_due(worker, now)

    def drop(self, worker: WorkerState, actions: list[Action]) -> None:
        """Puts back what was reserved for a worker. If it has begun any of that, its partial cannot
        be used; the caller sees to it."""
        worker.aside, worker.recalled = None, False
        for packet in self._state.ledger.release_reserved(worker.number):
            span = (packet.start, packet.stop)
            self._recovery.put_back(packet.file, span, packet.attempt, None)
            if not worker.leaving:  # else it has been told
                actions.append(Forget(worker.number, packet))

    def recall(self, worker: WorkerState, actions: list[Action]) -> None:
        """Has a worker begin nothing more of what is reserved for it. That is put back once the
        worker has said what it had begun before it heard of this."""
        reserved = self._state.ledger.reserved.get(worker.number, ())
        # The last one first: what it begins meanwhile is then still the first one of those here.
        actions += [Forget(worker.number, packet) for packet in reversed(reserved)]
        worker.recalled = bool(reserved)

    def recall_late(self, now: float, actions: list[Action]) -> None:
        """Recalls what is reserved for workers that will not be done with it soon, because another
        one has nothing to do: they have become slow since. Not while there is work that this one
        only may not have, as it waits for a file of its own, or as enough others read there."""
        state = self._state
        if not state.ledger.reserved or now - self._looked_at < FRESH_SECONDS:
            return
        if not state.everything_handed_out:
            return
        self._looked_at = now
        for number, reserved in state.ledger.reserved.items():
            worker, rate = state.workers[number], state.rates.of(number)
            if rate is None or worker.recalled or worker.leaving:
                continue
            entries = sum([each.stop - each.start for each in reserved])
            if entries > max(_LATE, 4 * state.answer) * rate:
                self.recall(worker, actions)


class Feeding:
    """Feeds workers."""

    def __init__(
        self,
        state: State,
        assignment: Assignment,
        promises: Promises,
        reserves: Reserves,
        mergers: MergerChoice,
    ) -> None:
        self._state = state
        self._assignment = assignment
        self._promises = promises
        self._reserves = reserves
        self._mergers = mergers

    def feed(self, worker: WorkerState, now: float, actions: list[Action]) -> None:
        """Gives an action to a worker that has no order. A worker for which there is no work, that
        is leaving, or that only would keep others waiting, commits, so that a worker that stays
        idle has nothing to lose."""
        if worker.leaving or worker.recalled or self._state.ending.reason is not None:
            self._reserves.drop(worker, actions)
        action: Action | None = None
        has_done = self._state.ledger.has_done(worker.number)
        is_sending = self._state.ledger.receiver(worker.number) is not None
        may_work = not worker.leaving
        if may_work and self._state.is_crowded(worker, now):
            may_work = False
            if worker.number not in self._state.idle:
                self._state.crowd.stopped(now)
        if may_work and not (has_done and self._assignment.commit_is_due(worker, now)):
            action = self._assignment.next_work(worker, now)
            if action is None:
                action = self._promises.take(worker, now, actions)
        if action is None and has_done:
            if is_sending:
                return  # it commits this once what it has put aside has arrived
            action = self._commit(worker, now)
        if action is None and may_work:
            action = self._assignment.copy(worker, now)
            if action is None:
                self._reserves.recall_late(now, actions)
        if action is None and is_sending:
            return
        if action is None:
            self._state.nodes.move(worker, None)
            self._state.idle[worker.number] = worker
        else:
            was_idle = self._state.idle.pop(worker.number, None) is not None
            worker.waits = isinstance(action, Process) and not was_idle
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

    def commit_aside(self, worker: WorkerState, now: float, actions: list[Action]) -> bool:
        """Has a worker hand over what it has put aside. False if there is no merger to take it."""
        if not self._mergers.numbers:
            return False
        worker.last_commit = now
        actions.append(self._commit(worker, now))
        return True

    def _commit(self, worker: WorkerState, now: float) -> Commit:
        worker.sent = now
        merger = self._mergers.next(worker.host) if self._mergers.numbers else None
        if merger is not None:
            self._state.ledger.send(worker.number, merger)
        return Commit(worker.number, merger)
