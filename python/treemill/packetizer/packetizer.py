"""The packetizer: a state machine from events to actions.

A worker keeps to its file while that has entries left; nodes.py says which is its next. Failed
packets go to another worker, a bounded number of times (incoming.py). A worker that finds nothing
to do runs a packet of another one again (outgoing.py, tail.py). If there are mergers, partials go
to them in turn (mergers.py); a lost merger's entries are handed out again. The query is over when
every entry is in the result or given up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from .distribution import Distribution
from .events import (
    Action,
    Collect,
    Collected,
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    Finish,
    Halt,
    MergerJoined,
    MergerLost,
    Packet,
    PacketDone,
    PacketFailed,
    Refuse,
    Refused,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from .incoming import Incoming
from .ledger import Coverage
from .mergers import Mergers
from .nodes import Nodes, host_of
from .outgoing import Outgoing
from .sizing import Sizing
from .state import File, FileSize, Totals, Worker, WorkerGone


class Packetizer:
    """State of one query's distribution. `handle` is the only way in; not thread-safe."""

    def __init__(
        self,
        files: Sequence[FileSize | None],
        *,
        nodes: Sequence[str | None] | None = None,
        max_foreign: int | None = None,
        sizing: Sizing | None = None,
        max_attempts: int = 3,
        skip_errors: bool = False,
        commit_seconds: float = 1.0,
        collect_seconds: float = 5.0,
        speculate: bool = False,
        expected_workers: int = 0,
    ) -> None:
        """`files`: sizes where known. `nodes`: where each is (`node_of` its URL), if that matters;
        at most `max_foreign` workers of other hosts read from a node at once. After `max_attempts`
        a packet or a file is given up: the query ends with its error, or goes on without it if
        `skip_errors`. Workers are asked to commit about every `commit_seconds`, mergers to
        hand over about every `collect_seconds`. `speculate`: idle
        workers run what others are late with; that wants a Tick about every second.
        `expected_workers` are coming: the first must not take what all are to share."""
        made = [
            File(i) if size is None else File(i, size.entries, size.cuts)
            for i, size in enumerate(files)
        ]
        self._known = Distribution(
            sizing or Sizing(),
            made,
            Nodes(made, nodes or [None] * len(made), max_foreign),
            Totals.of(made),
            expected_workers,
            speculate,
        )
        self._outgoing = Outgoing(self._known, commit_seconds)
        self._incoming = Incoming(self._known, max_attempts, skip_errors)
        self._mergers = Mergers(collect_seconds)
        self._idle: dict[int, Worker] = {}  # those with nothing to do

    # What others may look at.

    @property
    def over(self) -> bool:
        """Whether Finish was given."""
        return self._known.ending.over

    @property
    def workers(self) -> Set[int]:
        """The workers that have joined and are not lost."""
        return self._known.workers.keys()

    @property
    def mergers(self) -> Set[int]:
        """The mergers that have joined and are not lost."""
        return self._mergers.numbers

    @property
    def committed_entries(self) -> int:
        """Entries in the merged result so far."""
        return self._known.ledger.committed_entries

    @property
    def expected_entries(self) -> int:
        """Entries of all files; those not opened yet count as many as the others on average."""
        return self._known.totals.expected

    def coverage(self) -> Coverage:
        """Which entries are in the result, which are not, and why. Final once `over`."""
        return self._known.ledger.coverage()

    # The one way in.

    def handle(self, event: Event, now: float) -> list[Action]:
        """What is to be done now that `event` has happened at time `now` (seconds, any origin)."""
        actions: list[Action] = []
        if not self._known.ending.over and self._counts(event):
            self._on(event, now, actions)
            if self._known.ending.reason is not None and not self._known.ending.announced:
                self._known.ending.announced = True
                actions.append(Halt())
            self._finish_if_over(actions)
        return actions

    def _counts(self, event: Event) -> bool:
        """Workers and mergers that were given up may still answer; that counts for nothing."""
        if isinstance(event, (WorkerJoined, MergerJoined, Stop, Tick)):
            return True
        if isinstance(event, (MergerLost, Collected, Refused)):
            return event.merger in self._mergers
        if isinstance(event, Committed) and event.merger is not None:  # the worker may be lost
            return self._known.ledger.receiver(event.worker) == event.merger
        return event.worker in self._known.workers

    def _on(self, event: Event, now: float, actions: list[Action]) -> None:
        react = _REACTIONS.get(type(event))
        if react is None:
            raise TypeError(f"not an event: {event!r}")
        react(self, event, now, actions)

    def _joined(self, event: WorkerJoined, now: float, actions: list[Action]) -> None:
        worker = Worker(event.worker, host_of(event.node), last_commit=now)
        self._known.workers[event.worker] = worker
        self._feed(worker, now, actions)

    def _lost(self, event: WorkerLost, now: float, actions: list[Action]) -> None:
        worker = self._known.workers.pop(event.worker)
        self._idle.pop(worker.number, None)
        self._known.rates.forget(worker.number)
        self._known.tainted.discard(worker.number)
        file = worker.file
        self._known.nodes.move(worker, None)
        if worker.opening and file is not None:
            self._known.opening -= 1
            self._incoming.retry_file(file, worker, WorkerGone(event.reason), True)
        self._incoming.take_back(worker, WorkerGone(event.reason), True)
        merger = self._known.ledger.receiver(worker.number)
        if merger is not None:  # its partial may have arrived or not
            actions.append(Refuse(merger, worker.number))
        self._end_if_alone(event.reason)
        self._feed_idle(now, actions)

    def _end_if_alone(self, reason: str) -> None:
        if not self._known.workers and not self._known.everything_handed_out:
            self._incoming.end(reason, WorkerGone(f"no worker is left: {reason}"))

    def _opened(self, event: FileOpened, now: float, actions: list[Action]) -> None:
        worker, file = self._known.workers[event.worker], self._known.files[event.file]
        worker.opening = False
        self._known.opening -= 1
        file.entries, file.cuts = event.entries, event.cuts
        self._known.totals.opened(event.entries)
        self._known.nodes.opened(file)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    def _not_opened(self, event: FileFailed, now: float, actions: list[Action]) -> None:
        worker, file = self._known.workers[event.worker], self._known.files[event.file]
        worker.opening = False
        self._known.opening -= 1
        self._known.nodes.move(worker, None)
        self._incoming.retry_file(file, worker, event.error, event.retry)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    def _done(self, event: PacketDone, now: float, actions: list[Action]) -> None:
        known = self._known
        worker = known.workers[event.worker]
        if worker.tainted:
            actions.append(Discard(worker.number))
            return
        packet = known.ledger.working(event.worker)
        losers = known.ledger.other_holders(worker.number, event.packet)
        if losers and event.stop < packet.stop and known.ending.reason is not None:
            if event.stop == packet.start:  # it leaves all of it to them
                known.ledger.release(worker.number)
                worker.packet = None
                self._feed(worker, now, actions)
                return
            if self._loses_less(worker, losers):
                self._incoming.taint(worker)
                actions.append(Discard(worker.number))
                return
        for number in losers:
            self._incoming.taint(known.workers[number])
        rest = known.ledger.done(event.worker, event.packet, event.stop)
        worker.packet = None
        if event.stop > packet.start:
            entries = event.stop - packet.start
            known.rates.measured(event.worker, entries, event.seconds)
            known.nodes.measured(worker, known.files[packet.file], entries, event.seconds)
        if rest is not None:
            self._incoming.put_back(packet.file, rest, packet.attempt, None)
        self._feed(worker, now, actions)
        if losers or rest is not None:
            self._feed_idle(now, actions)

    def _loses_less(self, worker: Worker, others: list[int]) -> bool:
        """Whether the worker, but not all of the others, would lose no more than a packet."""
        has_done = self._known.ledger.has_done
        return not has_done(worker.number) and any(has_done(number) for number in others)

    def _failed(self, event: PacketFailed, now: float, actions: list[Action]) -> None:
        worker = self._known.workers[event.worker]
        if worker.tainted:
            self._incoming.clean(worker)
        else:
            self._incoming.take_back(worker, event.error, event.retry)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    def _committed(self, event: Committed, now: float, actions: list[Action]) -> None:
        self._known.ledger.commit(event.worker, event.merger)
        if event.merger is not None and self._mergers.due(event.merger, now):
            actions.append(Collect(event.merger))
        worker = self._known.workers.get(event.worker)
        if worker is not None:
            worker.last_commit = now
            self._feed(worker, now, actions)

    def _discarded(self, event: Discarded, now: float, actions: list[Action]) -> None:
        worker = self._known.workers[event.worker]
        self._incoming.clean(worker)
        self._feed(worker, now, actions)

    def _merger_joined(self, event: MergerJoined, now: float, actions: list[Action]) -> None:
        self._mergers.join(event.merger, now)

    def _merger_lost(self, event: MergerLost, now: float, actions: list[Action]) -> None:
        known = self._known
        self._mergers.leave(event.merger)
        senders = known.ledger.senders(event.merger)
        self._do_again(known.ledger.lose(event.merger), f"merger {event.merger} was lost")
        for number in senders:
            if number in known.workers:  # no other answer to its Commit will come
                self._feed(known.workers[number], now, actions)
        self._feed_idle(now, actions)

    def _collected(self, event: Collected, now: float, actions: list[Action]) -> None:
        self._mergers.collected(event.merger, now)
        self._known.ledger.collect(event.merger)

    def _refused(self, event: Refused, now: float, actions: list[Action]) -> None:
        if self._known.ledger.receiver(event.worker) == event.merger:
            lost = self._known.ledger.recall(event.worker)
            self._do_again(lost, f"worker {event.worker} was lost")
            self._feed_idle(now, actions)

    def _do_again(self, lost: Sequence[Packet], reason: str) -> None:
        """Packets that were done, and of which nothing is left; none of them has failed."""
        for packet in lost:
            self._incoming.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        if lost:
            self._end_if_alone(reason)

    def _tick(self, event: Tick, now: float, actions: list[Action]) -> None:
        self._feed_idle(now, actions)

    def _stop(self, event: Stop, now: float, actions: list[Action]) -> None:
        self._incoming.end(event.reason, None)

    # Work for a worker.

    def _feed_idle(self, now: float, actions: list[Action]) -> None:
        # What one of them cannot have, none can; but a range may be kept from one that failed it.
        refused = 0
        for worker in list(self._idle.values()):
            self._feed(worker, now, actions)
            refused += worker.number in self._idle
            if refused == 2:
                break

    def _feed(self, worker: Worker, now: float, actions: list[Action]) -> None:
        """Gives an action to a worker that has just become idle, or was; a worker without work
        commits what it has, so that one that stays idle has nothing to lose."""
        action: Action | None = None
        has_done = self._known.ledger.has_done(worker.number)
        if not (has_done and self._outgoing.commit_is_due(worker, now)):
            action = self._outgoing.next_work(worker, now)
        if action is None and has_done:
            action = self._commit(worker)
        if action is None:
            action = self._outgoing.copy(worker, now)
        if action is None:
            self._known.nodes.move(worker, None)
            self._idle[worker.number] = worker
        else:
            self._idle.pop(worker.number, None)
            actions.append(action)

    def _commit(self, worker: Worker) -> Commit:
        merger = self._mergers.next()
        if merger is not None:
            self._known.ledger.send(worker.number, merger)
        return Commit(worker.number, merger)

    # The end.

    def _finish_if_over(self, actions: list[Action]) -> None:
        if len(self._idle) + len(self._known.tainted) < len(self._known.workers):
            return  # idle workers have committed; the others are awaited
        if self._known.ending.reason is None and not self._known.everything_handed_out:
            return
        if self._known.ledger.moving:
            return  # of lost workers; the mergers will say whether it has arrived
        holding = self._known.ledger.holding
        actions += [Collect(merger) for merger in self._mergers.rest(holding)]
        if holding:
            return
        if self._known.tainted and not self._known.ending.announced:
            actions.append(Halt())
        self._known.ending.over = True
        self._incoming.give_up_rest()
        actions.append(Finish(self._known.ending.error))


_REACTIONS: dict[type, Callable[[Packetizer, Any, float, list[Action]], None]] = {
    WorkerJoined: Packetizer._joined,
    WorkerLost: Packetizer._lost,
    FileOpened: Packetizer._opened,
    FileFailed: Packetizer._not_opened,
    PacketDone: Packetizer._done,
    PacketFailed: Packetizer._failed,
    Committed: Packetizer._committed,
    Discarded: Packetizer._discarded,
    MergerJoined: Packetizer._merger_joined,
    MergerLost: Packetizer._merger_lost,
    Collected: Packetizer._collected,
    Refused: Packetizer._refused,
    Tick: Packetizer._tick,
    Stop: Packetizer._stop,
}
