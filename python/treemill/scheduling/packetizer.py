"""The packetizer: a state machine from events to actions.

A worker stays with its file while the file has entries left; storage_nodes.py chooses the next
file. On far files, a worker is promised its next packets while it does one (promises.py). On near
ones, it may have packets ahead, which it begins without asking, and open its next file meanwhile
(feeding.py).
A failed packet goes to another worker, a limited number of times (recovery.py). A worker without
work runs a packet that another one is late with (assignment.py). Mergers get
partials in turn (merger_choice.py); the entries of a lost merger are handed out again, those of one
that leaves are handed on to another one (MergeEvents). The query is over when every entry is in
the result or given up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any

from .assignment import Assignment
from .entities import Files, Range, Totals, WorkerGone, WorkerState
from .events import (
    FULL,
    Action,
    Collect,
    Collected,
    Committed,
    Discard,
    Discarded,
    Dismiss,
    Event,
    FileFailed,
    FileOpened,
    FilesDone,
    FileSize,
    FilesLocated,
    Finish,
    Forget,
    Halt,
    HandedOn,
    HandOn,
    MergerJoined,
    MergerLeaving,
    MergerLost,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Refuse,
    Refused,
    RefusedFrom,
    RefuseFrom,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLeaving,
    WorkerLost,
    WorkerStays,
)
from .feeding import Feeding, Reserves
from .ledger import Coverage, joined, joined_missing
from .merger_choice import MergerChoice
from .promises import Promises
from .recovery import Recovery
from .sizing import Sizing
from .small_files import SmallFiles
from .state import Policy, State
from .storage_nodes import StorageNodes, host_of
from .view import View

__all__ = ["Packetizer"]

# What mergers tell, and what they are to do: they get partials, hand them over to the result, and
# hand them on to each other, because they leave or because few should be left at the end. Which
# of them is next is for merger_choice.py to choose.


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
            worker = state.workers.get(number)
            if worker is not None and worker.is_free:  # no other answer to its Commit will come
                self._feeding.feed(worker, now, actions)
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


class Packetizer(View):
    """The distribution of one query's entries. Only `handle` changes it. Not thread-safe."""

    def __init__(
        self,
        files: Sequence[FileSize | None],
        policy: Policy | None = None,
        *,
        nodes: Sequence[str | None] | None = None,
        max_foreign: int | None = None,
        sizing: Sizing | None = None,
        done: Mapping[int, Sequence[Range]] | None = None,
    ) -> None:
        """`files`: their sizes, if known. `nodes`: the node of each file (`node_of` of its URL), if
        files lie on several. At most `max_foreign` workers of other hosts read from a node at
        once. `done`: ranges of files that are in the result already, as the `processed` of an
        earlier query's coverage. Raises ValueError if a file does not have them."""
        policy = policy or Policy()
        dataset = Files(files)
        ready = {file: joined(ranges) for file, ranges in (done or {}).items()}
        for number, ranges in ready.items():
            dataset[number].begin_with(ranges)
        self._state = State(
            policy,
            sizing or Sizing(),
            dataset,
            StorageNodes(dataset, nodes or (), max_foreign),
            Totals.of(files),
        )
        super().__init__(self._state.totals, self._state.ledger)
        for number, ranges in ready.items():
            self._state.ledger.begin_with(number, ranges)
        self._recovery = Recovery(self._state)
        self._small_files = SmallFiles(self._state, self._recovery)
        assignment = Assignment(self._state, self._small_files)
        self._mergers = MergerChoice(policy.collect_seconds)
        self._promises = Promises(self._state, assignment, self._recovery)
        self._reserves = Reserves(
            self._state, assignment, self._recovery, self._small_files, self._mergers
        )
        self._feeding = Feeding(
            self._state, assignment, self._promises, self._reserves, self._mergers
        )
        self._believed = max([size.ahead for size in files if size is not None], default=0)
        self._far = self._believed > 0  # whether any file has been far so far

    @cached_property
    def _merging(self) -> MergeEvents:  # a pass without mergers does not need it
        return MergeEvents(self._state, self._mergers, self._recovery, self._feeding)

    # The one way in.

    def handle(self, event: Event, now: float) -> list[Action]:
        """Handles an event that happened at time `now` (seconds, any origin). Returns the actions
        to carry out."""
        actions: list[Action] = []
        if not self._state.ending.over and self._counts(event):
            react = _REACTIONS.get(type(event))
            if react is None:
                raise TypeError(f"not an event: {event!r}")
            react(self, event, now, actions)
            if self._state.ending.reason is not None and not self._state.ending.announced:
                self._state.ending.announced = True
                self._promises.drop_all()
                actions.append(Halt())
            if self._far:
                self._promise(event, now, actions)
            if self._state.policy.reserve:
                self._reserve(event, now, actions)
            if self._mergers.numbers:
                self._merging.hand_on(self.no_more_work, actions)
            self._finish_if_over(actions)
        return actions

    def _counts(self, event: Event) -> bool:
        """True if the event has an effect: workers and mergers that were given up may still
        answer."""
        if isinstance(event, (PacketDone, FileOpened)):  # most events are
            return event.worker in self._state.workers
        if isinstance(event, _ALWAYS):
            return True
        if isinstance(event, _OF_MERGERS):
            return event.merger in self._mergers
        if isinstance(event, HandedOn):  # the merger may be lost
            return event.to in self._mergers
        if isinstance(event, Committed) and event.merger is not None:  # the worker may be lost
            return self._state.ledger.receiver(event.worker) == event.merger
        return event.worker in self._state.workers

    def _promise(self, event: Event, now: float, actions: list[Action]) -> None:
        """Promises packets to the workers that the event was about, after all that are idle have
        got what they can do."""
        touched = [action.worker for action in actions if isinstance(action, Process)]
        if isinstance(event, FileOpened):
            touched.append(event.worker)
        for number in touched:
            self._promises.fill(self._state.workers[number], now, actions)

    def _reserve(self, event: Event, now: float, actions: list[Action]) -> None:
        """Reserves packets for the workers that begin one now, or have opened a file in the
        background.
        """
        touched = [action.worker for action in actions if isinstance(action, Process)]
        if isinstance(event, PacketDone) and event.begun is not None:
            touched.append(event.worker)
        if isinstance(event, FileOpened) and event.beside and event.worker not in touched:
            touched.append(event.worker)
        for number in touched:
            self._reserves.fill(self._state.workers[number], now, actions)

    def _joined(self, event: WorkerJoined, now: float, actions: list[Action]) -> None:
        worker = WorkerState(
            event.worker, host_of(event.node), now, last_commit=now, ahead=self._believed
        )
        self._state.lifetimes.joined(now)
        self._state.workers[event.worker] = worker
        self._feeding.feed(worker, now, actions)

    def _lost(self, event: WorkerLost, now: float, actions: list[Action]) -> None:
        worker = self._state.workers.pop(event.worker)
        has_lost = worker.has_work or self._state.ledger.has_done(worker.number)
        self._state.lifetimes.gone(now, has_lost)
        self._state.idle.pop(worker.number, None)
        self._state.rates.forget(worker.number)
        self._state.tainted.discard(worker.number)
        self._state.leaving.discard(worker.number)
        file = worker.file
        self._state.nodes.move(worker, None)
        if worker.opening and file is not None:
            self._state.nodes.end_opening(file.number)
            self._recovery.retry_file(file, worker, WorkerGone(event.reason), True, event.fault)
        self._small_files.lost(worker)
        self._promises.drop(worker)
        self._reserves.drop(worker, [])  # there is no one to be told
        self._recovery.take_back(worker, WorkerGone(event.reason), True, event.fault)
        merger = self._state.ledger.receiver(worker.number)
        if merger is not None:  # only the merger knows whether the partial has arrived
            actions.append(Refuse(merger, worker.number))
        self._recovery.end_if_alone(event.reason)
        self._feeding.feed_idle(now, actions)

    def _leaving(self, event: WorkerLeaving, now: float, actions: list[Action]) -> None:
        worker = self._state.workers[event.worker]
        worker.leaving = True
        self._state.leaving.add(worker.number)
        for packet in self._promises.drop(worker):
            actions.append(Forget(worker.number, packet))
        self._reserves.recall(worker, actions)
        self._feeding.feed_idle(now, actions)

    def _stays(self, event: WorkerStays, now: float, actions: list[Action]) -> None:
        worker = self._state.workers[event.worker]
        worker.leaving = False
        self._state.leaving.discard(worker.number)
        if worker.number in self._state.idle:
            worker.last_commit = now
            self._feeding.feed(worker, now, actions)

    def _opened(self, event: FileOpened, now: float, actions: list[Action]) -> None:
        worker, file = self._state.workers[event.worker], self._state.files[event.file]
        if event.beside:
            if file not in worker.coming:
                return  # it was put back meanwhile
            asked = worker.coming.pop(file)
            if file in worker.declined:
                worker.declined.remove(file)
            else:
                worker.ready.append(file)
        else:
            asked, worker.opening = worker.began, False
            worker.opened_in = now - asked
        if event.ahead:
            self._state.opened_in(now - asked)
        self._note_ahead(worker, file.number, event.ahead)
        if file.entries is None:
            self._state.nodes.end_opening(file.number)
            file.entries, file.cuts = event.entries, event.cuts
            file.check_done()
            self._state.totals.opened(event.entries)
            self._state.nodes.opened(file)
        if not event.beside or worker.number in self._state.idle:
            self._feeding.feed(worker, now, actions)
        self._feeding.feed_idle(now, actions)

    def _note_ahead(self, worker: WorkerState, file: int, ahead: int) -> None:
        worker.ahead = ahead
        if ahead:
            self._far = True
            worker.opened.add(file)

    def _not_opened(self, event: FileFailed, now: float, actions: list[Action]) -> None:
        worker, file = self._state.workers[event.worker], self._state.files[event.file]
        if event.beside:
            if file not in worker.coming:
                return  # it was put back meanwhile
            self._promises.not_opened(worker, file)
        else:
            worker.opening = False
            self._state.nodes.end_opening(file.number)
            self._state.nodes.move(worker, None)
            self._recovery.retry_file(file, worker, event.error, event.retry)
            self._feeding.feed(worker, now, actions)
        self._feeding.feed_idle(now, actions)

    def _done(self, event: PacketDone, now: float, actions: list[Action]) -> None:
        state = self._state
        worker = state.workers[event.worker]
        if worker.tainted:
            if event.begun is None:  # else it discards that one, too, when it has done it
                actions.append(Discard(worker.number))
            return
        packet = state.ledger.working(event.worker)
        if worker.waits and event.spent is not None:
            state.answered_in(event.spent.latency)
        self._note_ahead(worker, packet.file, event.ahead)
        losers = state.ledger.other_holders(worker.number, event.packet)
        if losers and event.stop < packet.stop and state.ending.reason is not None:
            if event.stop == packet.start:  # the others will do all of the packet
                state.ledger.release(worker.number)
                worker.packet = None
                for number in losers:
                    state.workers[number].copied = False
                self._feeding.feed(worker, now, actions)
                return
            if self._loses_less(worker, losers):
                self._taint(worker, actions)
                actions.append(Discard(worker.number))
                return
        for number in losers:
            self._taint(state.workers[number], actions)
        rest = state.ledger.done(event.worker, event.packet, event.stop)
        worker.packet = None
        if event.stop > packet.start:
            entries = event.stop - packet.start
            is_whole = event.stop == packet.stop and not event.ahead
            own = self._own(event)
            state.rates.measured(event.worker, entries, event.seconds, own=own, is_whole=is_whole)
            file = state.files[packet.file]
            state.nodes.measured(worker, file, entries, event.seconds)
            if entries == file.entries:
                opening = worker.opened_in + (0.0 if event.spent is None else event.spent.opening)
                self._small_files.took(event.seconds + worker.opened_in, opening)
            worker.opened_in = 0.0
        has_more_room = self._note_share(event, now)
        if event.is_full:
            worker.last_commit = -inf
        if rest is not None:
            self._put_rest(worker, packet, rest, goes_on=event.is_full)
        came_back = worker.recalled and event.begun is None
        if event.begun is None:
            self._feeding.feed(worker, now, actions)
        elif event.begun == worker.aside and not self._feeding.commit_aside(worker, now, actions):
            self._taint(worker, actions)  # what it has put aside has nowhere to go
            came_back = True
        else:
            worker.process(state.ledger.begin_reserved(worker.number), now)
        if losers or rest is not None or has_more_room or came_back:
            self._feeding.feed_idle(now, actions)

    def _put_rest(self, worker: WorkerState, packet: Packet, rest: Range, *, goes_on: bool) -> None:
        """Puts back what a worker has left of a packet. `goes_on`: it had to commit first, and has
        the bytes of what follows, so that it keeps that; unless others have nothing else to do."""
        state, number = self._state, worker.number
        is_free = not (worker.leaving or state.idle or state.ending.reason is not None)
        if goes_on and is_free and number not in state.ledger.promises:
            state.ledger.promise(number, packet.file, rest, packet.attempt)
        else:
            self._recovery.put_back(packet.file, rest, packet.attempt, None)

    def _files_done(self, event: FilesDone, now: float, actions: list[Action]) -> None:
        worker = self._state.workers[event.worker]
        came_back = self._small_files.done(worker, event)
        if event.ended == FULL:
            worker.last_commit = -inf
        has_more_room = self._note_share(event, now)
        self._feeding.feed(worker, now, actions)
        if came_back or has_more_room:
            self._feeding.feed_idle(now, actions)

    def _own(self, event: PacketDone) -> float:
        """The seconds of a packet that are its worker's. For the rest it waited for the lock that
        others had: how long says nothing of the packet's entries, and would hide what does. That is
        no more than an even share of the others: what sleeps has no CPU, and waits for no lock."""
        state, spent = self._state, event.spent
        if not state.policy.shares_lock or spent is None:
            return event.seconds
        own = min(spent.cpu + spent.waited, event.seconds)
        return max(own, event.seconds / len(state.workers))

    def _note_share(self, event: PacketDone | FilesDone, now: float) -> bool:
        """Notes how much of its time a worker had a CPU. True if more workers may work now."""
        state, spent = self._state, event.spent
        if not state.policy.shares_lock or self._far or spent is None:
            return False
        crowd, others = state.crowd, state.others_at_work(state.workers[event.worker])
        before, took = crowd.limit, (event.seconds, spent.cpu, spent.waited)
        crowd.measured(event.worker, *took, now, state.sharing, others)
        return before is not None and crowd.limit is None

    def _taint(self, worker: WorkerState, actions: list[Action]) -> None:
        """Takes everything from a worker whose packet another one has done."""
        for packet in self._promises.drop(worker):
            actions.append(Forget(worker.number, packet))
        self._reserves.drop(worker, actions)
        self._recovery.taint(worker)

    def _loses_less(self, worker: WorkerState, others: list[int]) -> bool:
        """True if the worker would lose only this packet, and one of the others would lose more."""
        has_done = self._state.ledger.has_done
        return not has_done(worker.number) and any(has_done(number) for number in others)

    def _failed(self, event: PacketFailed, now: float, actions: list[Action]) -> None:
        worker = self._state.workers[event.worker]
        if worker.tainted:  # it has thrown its partial away, and not what it may have put aside
            actions.append(Discard(worker.number))
            return
        self._recovery.take_back(worker, event.error, event.retry)
        self._feeding.feed(worker, now, actions)
        self._feeding.feed_idle(now, actions)

    def _committed(self, event: Committed, now: float, actions: list[Action]) -> None:
        self._state.ledger.commit(event.worker, event.merger)
        if event.merger is not None and self._mergers.due(event.merger, now):
            actions.append(Collect(event.merger))
        worker = self._state.workers.get(event.worker)
        if worker is not None:
            self._state.handed_over_in(now - worker.sent)
            if worker.is_free:  # else it goes on, and what it had put aside has arrived
                worker.last_commit = now
                self._feeding.feed(worker, now, actions)

    def _discarded(self, event: Discarded, now: float, actions: list[Action]) -> None:
        worker = self._state.workers[event.worker]
        self._recovery.clean(worker)
        self._feeding.feed(worker, now, actions)

    def _located(self, event: FilesLocated, now: float, actions: list[Action]) -> None:
        self._promises.locate(event.nodes)
        self._feeding.feed_idle(now, actions)

    def _tick(self, event: Tick, now: float, actions: list[Action]) -> None:
        self._feeding.feed_idle(now, actions)

    def _stop(self, event: Stop, now: float, actions: list[Action]) -> None:
        self._recovery.end(event.reason, None)

    # The end.

    def coverage_of_held(self) -> Coverage:
        """The coverage that the query will have if what mergers hold now is its result. To be
        asked if `only_mergers_hold`."""
        coverage = self.coverage(held=True)
        if not self.is_ending:
            return coverage
        return Coverage(
            coverage.processed, joined_missing([*coverage.missing, *self._recovery.rest()])
        )

    def _finish_if_over(self, actions: list[Action]) -> None:
        if not self.is_done:
            return
        holding = self._state.ledger.holding
        if holding:
            actions += [Collect(merger) for merger in self._mergers.rest(holding)]
            return
        if self._state.tainted and not self._state.ending.announced:
            actions.append(Halt())
        self._state.ending.over = True
        if self._state.ending.reason is not None:  # else all is done or given up
            self._recovery.give_up_rest()
        actions.append(Finish(self._state.ending.error))


_OF_MERGERS = (MergerLost, MergerLeaving, Collected, Refused, RefusedFrom)
"""Events that have no effect if the merger was given up."""
_ALWAYS = (WorkerJoined, MergerJoined, FilesLocated, Stop, Tick)
"""Events that no worker or merger tells, or that are its first."""
_REACTIONS: dict[type, Callable[[Packetizer, Any, float, list[Action]], None]] = {
    WorkerJoined: Packetizer._joined,
    WorkerLost: Packetizer._lost,
    WorkerLeaving: Packetizer._leaving,
    WorkerStays: Packetizer._stays,
    FileOpened: Packetizer._opened,
    FileFailed: Packetizer._not_opened,
    FilesDone: Packetizer._files_done,
    PacketDone: Packetizer._done,
    PacketFailed: Packetizer._failed,
    Committed: Packetizer._committed,
    Discarded: Packetizer._discarded,
    MergerJoined: lambda packetizer, *about: packetizer._merging.joined(*about),
    MergerLost: lambda packetizer, *about: packetizer._merging.lost(*about),
    MergerLeaving: lambda packetizer, *about: packetizer._merging.leaving(*about),
    HandedOn: lambda packetizer, *about: packetizer._merging.handed_on(*about),
    Collected: lambda packetizer, *about: packetizer._merging.collected(*about),
    Refused: lambda packetizer, *about: packetizer._merging.refused(*about),
    RefusedFrom: lambda packetizer, *about: packetizer._merging.refused_from(*about),
    Tick: Packetizer._tick,
    FilesLocated: Packetizer._located,
    Stop: Packetizer._stop,
}
