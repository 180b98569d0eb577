"""The packetizer: a state machine from events to actions.

A worker keeps to its file while that has entries left, then takes a file that nobody has, then
helps with the file that has most left. Failed packets go to another worker, a bounded number of
times. The query is over when every entry is committed or given up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from functools import singledispatchmethod

from .events import (
    Action,
    Commit,
    Committed,
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
    WorkerJoined,
    WorkerLost,
)
from .ledger import Coverage, Ledger
from .sizing import Rates, Sizing, packet_entries
from .state import Again, Ending, File, FileSize, Totals, Worker, WorkerGone


class Packetizer:
    """State of one query's distribution. `handle` is the only way in; not thread-safe."""

    def __init__(
        self,
        files: Sequence[FileSize | None],
        *,
        sizing: Sizing | None = None,
        max_attempts: int = 3,
        skip_errors: bool = False,
        commit_seconds: float = 1.0,
        expected_workers: int = 0,
    ) -> None:
        """`files`: sizes where known. After `max_attempts` a packet or a file is given up: the
        query ends with its error, or goes on without it if `skip_errors`. Workers are asked to
        commit about every `commit_seconds`. `expected_workers` are coming: the first must not take
        what all are to share."""
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
        self._fresh = deque(f for f in self._files if f.entries != 0)
        self._started: dict[int, File] = {}  # files with entries left that some worker has
        self._again: deque[Again] = deque()
        self._ending = Ending()
        known = [f.entries for f in self._files if f.entries is not None]
        self._totals = Totals(
            sum(known), len(known), sum(known), sum(f.entries is None for f in self._files)
        )

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
        return self._totals.known + int(self._totals.unknown * self._mean_entries())

    def coverage(self) -> Coverage:
        """Which entries are in the result, which are not, and why. Final once `over`."""
        return self._ledger.coverage()

    # The one way in.

    def handle(self, event: Event, now: float) -> list[Action]:
        """What is to be done now that `event` has happened at time `now` (seconds, any origin)."""
        actions: list[Action] = []
        if not self._ending.over:
            self._on(event, now, actions)
            if self._ending.reason is not None and not self._ending.announced:
                self._ending.announced = True
                actions.append(Halt())
            self._finish_if_over(actions)
        return actions

    @singledispatchmethod
    def _on(self, event: Event, now: float, actions: list[Action]) -> None:
        raise TypeError(f"not an event: {event!r}")

    @_on.register
    def _joined(self, event: WorkerJoined, now: float, actions: list[Action]) -> None:
        worker = Worker(event.worker, last_commit=now)
        self._workers[event.worker] = worker
        self._feed(worker, now, actions)

    @_on.register
    def _lost(self, event: WorkerLost, now: float, actions: list[Action]) -> None:
        worker = self._workers.pop(event.worker, None)
        if worker is None:
            return
        self._idle.pop(worker.number, None)
        self._rates.forget(worker.number)
        if worker.opening and worker.file is not None:
            self._retry_file(worker.file, worker, WorkerGone(event.reason), True)
        self._take_back(worker, WorkerGone(event.reason), True)
        if not self._workers and not self._everything_handed_out():
            self._end(event.reason, WorkerGone(f"no worker is left: {event.reason}"))
        self._feed_idle(now, actions)

    @_on.register
    def _opened(self, event: FileOpened, now: float, actions: list[Action]) -> None:
        worker, file = self._workers[event.worker], self._files[event.file]
        worker.opening = False
        file.entries, file.cuts = event.entries, event.cuts
        self._totals.unknown -= 1
        self._totals.files += 1
        self._totals.known += event.entries
        self._totals.unassigned += event.entries
        if event.entries:
            self._started[file.number] = file
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    @_on.register
    def _not_opened(self, event: FileFailed, now: float, actions: list[Action]) -> None:
        worker, file = self._workers[event.worker], self._files[event.file]
        worker.opening = False
        worker.file = None
        self._retry_file(file, worker, event.error, event.retry)
        self._feed(worker, now, actions)
        self._feed_idle(now, actions)

    @_on.register
    def _done(self, event: PacketDone, now: float, actions: list[Action]) -> None:
        worker = self._workers[event.worker]
        packet = self._ledger.working(event.worker)
        rest = self._ledger.done(event.worker, event.packet, event.stop)
        if event.stop > packet.start:
            self._rates.measured(event.worker, event.stop - packet.start, event.seconds)
        if rest is not None:
            self._put_back(packet.file, rest, packet.attempt, None)
        self._feed(worker, now, actions)

    @_on.register
    def _failed(self, event: PacketFailed, now: float, actions: list[Action]) -> None:
        worker = self._workers[event.worker]
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
    def _stop(self, event: Stop, now: float, actions: list[Action]) -> None:
        self._end(event.reason, None)

    # Work for a worker.

    def _feed_idle(self, now: float, actions: list[Action]) -> None:
        if not self._everything_handed_out():
            for worker in list(self._idle.values()):
                self._feed(worker, now, actions)

    def _feed(self, worker: Worker, now: float, actions: list[Action]) -> None:
        """Gives an action to a worker that has just become idle, or was; a worker without work
        commits what it has, so that one that stays idle has nothing to lose."""
        has_done = self._ledger.has_done(worker.number)
        due = has_done and now - worker.last_commit >= self._commit_seconds
        action = None if due else self._next_work(worker)
        if action is None and has_done:
            action = Commit(worker.number)
        if action is None:
            self._idle[worker.number] = worker
        else:
            self._idle.pop(worker.number, None)
            actions.append(action)

    def _next_work(self, worker: Worker) -> Action | None:
        if self._ending.reason is not None:
            return None
        again = self._pick_again(worker)
        if again is not None:
            file = self._files[again.file]
            worker.file = file
            if again.stop is None:
                worker.opening = True
                return OpenFile(worker.number, file.number)
            return self._hand_out(worker, file, (again.start, again.stop), again.attempt)
        picked = self._pick_file(worker)
        if picked is None:
            return None
        worker.file = file = picked
        if file.entries is None:
            worker.opening = True
            return OpenFile(worker.number, file.number)
        span = (file.next, self._cut(file, self._size(worker)))
        file.next = span[1]
        if file.left == 0:
            self._started.pop(file.number, None)
        return self._hand_out(worker, file, span, 1)

    def _pick_again(self, worker: Worker) -> Again | None:
        for i, again in enumerate(self._again):
            if again.avoid != worker.number or len(self._workers) == 1:
                del self._again[i]
                return again
        return None

    def _pick_file(self, worker: Worker) -> File | None:
        if worker.file is not None and worker.file.left:
            return worker.file
        if self._fresh:
            file = self._fresh.popleft()
            if file.entries is not None:
                self._started[file.number] = file
            return file
        if self._started:
            return max(self._started.values(), key=lambda f: f.left)
        return None

    def _hand_out(self, worker: Worker, file: File, span: tuple[int, int], attempt: int) -> Process:
        self._totals.unassigned -= span[1] - span[0]
        return Process(
            worker.number, self._ledger.hand_out(worker.number, file.number, span, attempt)
        )

    def _size(self, worker: Worker) -> int:
        workers = max(len(self._workers), self._expected_workers)
        left = self._totals.unassigned + self._totals.unknown * self._mean_entries()
        rate, total = self._rates.of(worker.number), self._rates.total(workers)
        return packet_entries(self._sizing, rate, total, left, workers)

    def _cut(self, file: File, wanted: int) -> int:
        """Where a packet of about `wanted` entries ends: at the last cut within, else the first
        after, so that no cluster is read by two workers."""
        assert file.entries is not None
        target = file.next + wanted
        if target >= file.entries:
            return file.entries
        i = bisect_right(file.cuts, target)
        if i > 0 and file.cuts[i - 1] > file.next:
            return min(file.cuts[i - 1], file.entries)
        if i < len(file.cuts):
            return min(file.cuts[i], file.entries)
        return file.entries if file.cuts else target

    def _mean_entries(self) -> float:
        return self._totals.known / self._totals.files if self._totals.files else 0.0

    # What comes back.

    def _take_back(self, worker: Worker, error: BaseException, retry: bool) -> None:
        failed, void = self._ledger.take_back(worker.number)
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
        self._again.append(Again(file, span[0], span[1], attempt, avoid))

    def _retry_file(self, file: File, worker: Worker, error: BaseException, retry: bool) -> None:
        file.attempts += 1
        if retry and file.attempts < self._max_attempts:
            again = Again(file.number, 0, None, file.attempts + 1, worker.number)
            self._again.append(again)
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
        return not (self._fresh or self._started or self._again)

    def _finish_if_over(self, actions: list[Action]) -> None:
        if len(self._idle) < len(self._workers):
            return  # idle workers have committed; the others are awaited
        if self._ending.reason is None and not self._everything_handed_out():
            return
        self._ending.over = True
        self._give_up_rest(self._ending.reason or "")
        actions.append(Finish(self._ending.error))

    def _give_up_rest(self, reason: str) -> None:
        for again in self._again:
            self._ledger.give_up(again.file, (again.start, again.stop), reason, None)
        for file in self._fresh:
            if file.entries is None:
                self._ledger.give_up(file.number, (0, None), reason, None)
        for file in self._files:
            if file.entries is not None and file.left:
                self._ledger.give_up(file.number, (file.next, file.entries), reason, None)
