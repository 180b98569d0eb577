"""The packetizer: a state machine from events to actions.

A worker keeps to its file while that has entries left; nodes.py says which is its next. Failed
packets go to another worker, a bounded number of times. A worker that finds nothing to do runs a
packet of another one again (tail.py). The query is over when every entry is committed or given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatchmethod

from .events import (
    Action,
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    Finish,
    Halt,
    OpenFile,
    PacketDone,
    PacketFailed,
    Process,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from .ledger import Coverage, Ledger
from .nodes import Nodes, host_of
from .sizing import Rates, Sizing, packet_entries
from .state import Again, Ending, File, FileSize, Retries, Totals, Worker, WorkerGone
from .tail import Tail


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
        speculate: bool = False,
        expected_workers: int = 0,
    ) -> None:
        """`files`: sizes where known. `nodes`: where each is (`node_of` its URL), if that matters;
        at most `max_foreign` workers of other hosts read from a node at once. After `max_attempts`
        a packet or a file is given up: the query ends with its error, or goes on without it if
        `skip_errors`. Workers are asked to commit about every `commit_seconds`. `speculate`: idle
        workers run what others are late with; that wants a Tick about every second.
        `expected_workers` are coming: the first must not take what all are to share."""
        self._sizing = sizing or Sizing()
        self._max_attempts = max_attempts
        self._skip_errors = skip_errors
        self._commit_seconds = commit_seconds
        self._expected_workers = expected_workers
        self._ledger = Ledger()
        self._rates = Rates()
        self._workers: dict[int, Worker] = {}
        self._idle: dict[int, Worker] = {}  # those of them with nothing to do
        self._files = [
            File(i) if size is None else File(i, size.entries, size.cuts)
            for i, size in enumerate(files)
        ]
        self._nodes = Nodes(self._files, nodes or [None] * len(self._files), max_foreign)
        self._speculate = speculate
        self._tail = Tail(self._rates)
        self._tainted: set[int] = set()  # workers that nobody waits for
        self._opening = 0
        self._again = Retries()
        self._ending = Ending()
        self._totals = Totals.of(self._files)

    # What others may look at.

    @property
    def over(self) -> bool:
        """Whether Finish was given."""
        return self._ending.over

    @property
    def committed_entries(self) -> int:
        """Entries in the merged result so far."""
        return self._ledger.committed_entries

    @property
    def expected_entries(self) -> int:
        """Entries of all files; those not opened yet count as many as the others on average."""
        return self._totals.expected

    def coverage(self) -> Coverage:
        """Which entries are in the result, which are not, and why. Final once `over`."""
        return self._ledger.coverage()

    # The one way in.

    def handle(self, event: Event, now: float) -> list[Action]:
        """What is to be done now that `event` has happened at time `now` (seconds, any origin)."""
        actions: list[Action] = []
        if not self._ending.over and self._from_known(event):
            self._on(event, now, actions)
            if self._ending.reason is not None and not self._ending.announced:
                self._ending.announced = True
                actions.append(Halt())
            self._finish_if_over(actions)
        return actions

    def _from_known(self, event: Event) -> bool:
        """A worker that was given up may still answer; its answers count for nothing."""
        if isinstance(event, WorkerJoined | Stop | Tick):
            return True
        return event.worker in self._workers

    @singledispatchmethod
    def _on(self, event: Event, now: float, actions: list[Action]) -> None:
        raise TypeError(f"not an event: {event!r}")

    @_on.register
    def _joined(self, event: WorkerJoined, now: float, actions: list[Action]) -> None:
        worker = Worker(event.worker, host_of(event.node), last_commit=now)
        self._workers[event.worker] = worker
        self._feed(worker, now, actions)

    @_on.register
    def _lost(self, event: WorkerLost, now: float, actions: list[Action]) -> None:
        worker = self._workers.pop(event.worker)
        self._idle.pop(worker.number, None)
        self._rates.forget(worker.number)
        self._tainted.discard(worker.number)
        file = worker.file
        self._nodes.move(worker, None)
        if worker.opening and file is not None:
            self._opening -= 1
            self._retry_file(file, worker, WorkerGone(event.reason), True)
        self._take_back(worker, WorkerGone(event.reason), True)
        if not self._workers and not self._everything_handed_out():
            self._end(event.reason, WorkerGone(f"no worker is left: {event.reason}"))
        self._feed_idle(now, actions)

    @_on.register
    def _opened(self, event: FileOpened, now: float, actions: list[Action]) -> None:
        worker, file = self._workers[event.worker], self._files[event.file]
        worker.opening = False
        self._opening -= 1
        file.entries, file.cuts = event.entries, event.cuts
        self._totals.opened(event.entries)
        self._nodes.opened(file)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    @_on.register
    def _not_opened(self, event: FileFailed, now: float, actions: list[Action]) -> None:
        worker, file = self._workers[event.worker], self._files[event.file]
        worker.opening = False
        self._opening -= 1
        self._nodes.move(worker, None)
        self._retry_file(file, worker, event.error, event.retry)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    @_on.register
    def _done(self, event: PacketDone, now: float, actions: list[Action]) -> None:
        worker = self._workers[event.worker]
        if worker.tainted:
            actions.append(Discard(worker.number))
            return
        packet = self._ledger.working(event.worker)
        losers = self._ledger.other_holders(worker.number, event.packet)
        for number in losers:
            self._taint(self._workers[number])
        rest = self._ledger.done(event.worker, event.packet, event.stop)
        worker.packet = None
        if event.stop > packet.start:
            entries = event.stop - packet.start
            self._rates.measured(event.worker, entries, event.seconds)
            self._nodes.measured(worker, self._files[packet.file], entries, event.seconds)
        if rest is not None:
            self._put_back(packet.file, rest, packet.attempt, None)
        self._feed(worker, now, actions)
        if losers or rest is not None:
            self._feed_idle(now, actions)

    @_on.register
    def _failed(self, event: PacketFailed, now: float, actions: list[Action]) -> None:
        worker = self._workers[event.worker]
        if worker.tainted:
            self._clean(worker)
        else:
            self._take_back(worker, event.error, event.retry)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    @_on.register
    def _committed(self, event: Committed, now: float, actions: list[Action]) -> None:
        worker = self._workers[event.worker]
        worker.last_commit = now
        self._ledger.commit(event.worker)
        self._feed(worker, now, actions)

    @_on.register
    def _discarded(self, event: Discarded, now: float, actions: list[Action]) -> None:
        worker = self._workers[event.worker]
        self._clean(worker)
        self._feed(worker, now, actions)

    @_on.register
    def _tick(self, event: Tick, now: float, actions: list[Action]) -> None:
        self._feed_idle(now, actions)

    @_on.register
    def _stop(self, event: Stop, now: float, actions: list[Action]) -> None:
        self._end(event.reason, None)

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
        has_done = self._ledger.has_done(worker.number)
        if not (has_done and self._commit_is_due(worker, now)):
            action = self._next_work(worker, now)
        if action is None and has_done:
            action = Commit(worker.number)
        if action is None:
            action = self._copy(worker, now)
        if action is None:
            self._nodes.move(worker, None)
            self._idle[worker.number] = worker
        else:
            self._idle.pop(worker.number, None)
            actions.append(action)

    def _commit_is_due(self, worker: Worker, now: float) -> bool:
        since = now - worker.last_commit
        if since >= self._commit_seconds:
            return True
        # Near the end commits are as frequent as can be borne, so that one who is overtaken with a
        # packet has little else to lose.
        cost = self._sizing.ask + self._sizing.merge
        if not self._speculate or since < 2 * cost * len(self._workers):
            return False
        rate = self._rates.total(len(self._workers))
        return self._totals.left < 2 * self._sizing.shortest * rate

    def _next_work(self, worker: Worker, now: float) -> Action | None:
        if self._ending.reason is not None:
            return None
        again = self._again.pick(worker.number, len(self._workers) - len(self._tainted) <= 1)
        if again is not None:
            again_file = self._files[again.file]
            self._nodes.move(worker, again_file)
            if again.stop is None:
                return self._open(worker, again_file)
            span = (again.start, again.stop)
            return self._hand_out(worker, again_file, span, again.attempt, now)
        file = self._nodes.next_in(worker)
        if file is None:
            self._nodes.move(worker, None)  # it does not stand in its own way
            file = self._nodes.pick(worker.host, self._totals.mean)
        if file is None:
            return None
        self._nodes.move(worker, file)
        if file.entries is None:
            return self._open(worker, file)
        span = self._nodes.take(file, file.cut(self._size(worker, file)))
        return self._hand_out(worker, file, span, 1, now)

    def _open(self, worker: Worker, file: File) -> OpenFile:
        worker.opening = True
        self._opening += 1
        return OpenFile(worker.number, file.number)

    def _hand_out(
        self, worker: Worker, file: File, span: tuple[int, int], attempt: int, now: float
    ) -> Process:
        self._totals.unassigned -= span[1] - span[0]
        packet = self._ledger.hand_out(worker.number, file.number, span, attempt)
        return worker.process(packet, now)

    def _copy(self, worker: Worker, now: float) -> Process | None:
        """Another worker's packet, if everything else is handed out."""
        if not self._speculate or self._ending.reason is not None or self._opening:
            return None
        if not self._everything_handed_out():
            return None
        late = self._tail.candidate(self._workers, worker, now)
        if late is None:
            return None
        late.copied = True
        packet = self._ledger.copy(worker.number, late.number)
        self._nodes.move(worker, self._files[packet.file])
        return worker.process(packet, now, copied=True)

    def _size(self, worker: Worker, file: File) -> int:
        workers = max(len(self._workers), self._expected_workers)
        rate = self._rates.of(worker.number)
        if rate is not None:
            rate = self._nodes.rate(worker, file, rate)
        total = self._rates.total(workers)
        return packet_entries(self._sizing, rate, total, self._totals.left, workers)

    # What comes back.

    def _taint(self, worker: Worker) -> None:
        """Another one has done this worker's packet: all that it has is to be thrown away."""
        _, void = self._ledger.take_back(worker.number)
        for packet in void:
            self._put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        worker.packet = None
        worker.tainted = True
        self._tainted.add(worker.number)

    def _clean(self, worker: Worker) -> None:
        worker.tainted = False
        self._tainted.discard(worker.number)

    def _take_back(self, worker: Worker, error: BaseException, retry: bool) -> None:
        if worker.packet is not None:  # one who is alone with it now may be helped again
            for number in self._ledger.other_holders(worker.number, worker.packet.number):
                self._workers[number].copied = False
        failed, void = self._ledger.take_back(worker.number)
        worker.packet = None
        for packet in void:
            self._put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        if failed is None:
            return
        if retry and failed.attempt < self._max_attempts:
            span = (failed.start, failed.stop)
            self._put_back(failed.file, span, failed.attempt + 1, worker.number)
        else:
            self._give_up(failed.file, (failed.start, failed.stop), error)

    def _put_back(self, file: int, span: tuple[int, int], attempt: int, avoid: int | None) -> None:
        self._totals.unassigned += span[1] - span[0]
        self._again.waiting.append(Again(file, span[0], span[1], attempt, avoid))

    def _retry_file(self, file: File, worker: Worker, error: BaseException, retry: bool) -> None:
        file.attempts += 1
        if retry and file.attempts < self._max_attempts:
            again = Again(file.number, 0, None, file.attempts + 1, worker.number)
            self._again.waiting.append(again)
        else:
            self._totals.unknown -= 1
            self._give_up(file.number, (0, None), error)

    def _give_up(self, file: int, span: tuple[int, int | None], error: BaseException) -> None:
        self._ledger.give_up(file, span, str(error) or type(error).__name__, error)
        if not self._skip_errors:
            self._end("an error elsewhere ended the query", error)

    # The end.

    def _end(self, reason: str, error: BaseException | None) -> None:
        if self._ending.reason is None:
            self._ending.reason, self._ending.error = reason, error

    def _everything_handed_out(self) -> bool:
        return not (self._again.waiting or self._nodes.has_work)

    def _finish_if_over(self, actions: list[Action]) -> None:
        if len(self._idle) + len(self._tainted) < len(self._workers):
            return  # idle workers have committed; the others are awaited
        if self._ending.reason is None and not self._everything_handed_out():
            return
        if self._tainted and not self._ending.announced:
            actions.append(Halt())
        self._ending.over = True
        self._give_up_rest(self._ending.reason or "")
        actions.append(Finish(self._ending.error))

    def _give_up_rest(self, reason: str) -> None:
        for again in self._again.waiting:
            self._ledger.give_up(again.file, (again.start, again.stop), reason, None)
        for file in self._nodes.fresh_unknown():
            self._ledger.give_up(file.number, (0, None), reason, None)
        for file in self._files:
            if file.entries is not None and file.left:
                self._ledger.give_up(file.number, (file.next, file.entries), reason, None)
