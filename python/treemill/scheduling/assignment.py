"""Chooses the work for a worker that asks for some, and notes it in the state: a new packet, or one
with which another worker is late. Work that fails is handled by recovery.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .entities import File, WorkerState
from .events import OpenFile, Packet, Process, ProcessFiles
from .sizing import PROMISES, Rates, packet_entries
from .small_files import SmallFiles
from .state import State

__all__ = ["FRESH_SECONDS", "Assignment", "seconds_left", "seconds_of"]

# Speculation: chooses a packet in work that an idle worker should run a second time. The ledger
# decides whose result counts.

FRESH_SECONDS = 0.1
"""The greatest age of the list of candidates. With thousands of workers, sorting takes some ms."""
PATIENCE = 3.0
"""Seconds after which a packet counts as late if no speed is known."""


class Speculation:
    """The packets in work, sorted by the expected time of their end."""

    def __init__(self, rates: Rates, wait: Callable[[WorkerState, int], float]) -> None:
        """`wait`: the seconds for which a helper would wait for the first bytes of a far file."""
        self._rates = rates
        self._wait = wait
        self._listed_at: float | None = None
        self._late: list[tuple[float, int, int]] = []  # seconds left, worker, packet

    def candidate(
        self, workers: dict[int, WorkerState], helper: WorkerState, now: float
    ) -> WorkerState | None:
        """The worker whose packet is expected to end last, if `helper` would probably end it
        sooner."""
        if self._listed_at is None or now - self._listed_at >= FRESH_SECONDS:
            self._make(workers.values(), now)
        while self._late:
            seconds, number, packet = self._late[-1]
            worker = workers.get(number)
            if (
                worker is None
                or worker.packet is None
                or worker.packet.number != packet
                or worker.copied
                or worker.tainted
            ):
                self._late.pop()
                continue
            entries = worker.packet.stop - worker.packet.start
            wait = self._wait(helper, worker.packet.file) if worker.ahead else 0.0
            if wait + seconds_of(self._rates, helper, entries) < seconds:
                self._late.pop()
                return worker
            return None
        return None

    def _make(self, workers: Iterable[WorkerState], now: float) -> None:
        self._listed_at = now
        self._late = sorted(
            (seconds_left(self._rates, w, now), w.number, w.packet.number)
            for w in workers
            if w.packet is not None and not w.copied and not w.tainted
        )


def seconds_left(rates: Rates, worker: WorkerState, now: float) -> float:
    """The seconds that the worker's packet is expected to need still; 0 without a packet. A packet
    that is late needs as long again as it is late, and a quarter of its expected time."""
    if worker.packet is None:
        return 0.0
    expected = rates.seconds(worker.number, worker.packet.stop - worker.packet.start)
    if expected is None:
        return now - worker.began
    late = now - worker.began - expected
    return -late if late < 0 else late + expected / 4


def seconds_of(rates: Rates, worker: WorkerState, entries: int) -> float:
    """The seconds that this many entries are expected to take the worker."""
    seconds = rates.seconds(worker.number, entries)
    return PATIENCE if seconds is None else seconds


class Assignment:
    """Hands out work."""

    def __init__(self, state: State, small_files: SmallFiles) -> None:
        self._state = state
        self._small_files = small_files
        self._speculation = Speculation(state.rates, state.wait)

    def commit_is_due(self, worker: WorkerState, now: float) -> bool:
        """True if the worker should hand over its partial before it does anything else."""
        state, since = self._state, now - worker.last_commit
        if since >= state.commit_seconds(now):
            return True
        # Near the end commits are as frequent as their cost allows: a worker that is overtaken with
        # a packet loses all that it has not committed. Not if all commits wait for the end, or if
        # no other worker is there that could overtake it.
        if not state.policy.speculate:
            return False
        if state.policy.commit_seconds == float("inf"):
            return False
        cost = (state.sizing.ask + state.sizing.merge) * len(state.workers)
        if since < 2 * max(cost, state.handing_over) or self._is_alone:
            return False
        rate = state.rates.total(len(state.workers))
        return state.left < max(2 * state.sizing.shortest, state.sizing.tail) * rate

    def next_work(
        self, worker: WorkerState, now: float
    ) -> OpenFile | Process | ProcessFiles | None:
        """Work that no other worker has and that is not promised to another one."""
        state = self._state
        if state.ending.reason is not None:
            return None
        if worker.number in state.ledger.reserved:
            return worker.process(state.ledger.begin_reserved(worker.number), now)
        if worker.number in state.ledger.promises:
            return worker.process(state.ledger.keep_promise(worker.number), now)
        again = None
        if state.again.waiting:
            again = state.again.pick(worker.number, self._is_alone)
        if again is not None:
            again_file = state.files[again.file]
            state.nodes.move(worker, again_file)
            if again.stop is None:
                return self._open(worker, again_file, now)
            span = (again.start, again.stop)
            return self._hand_out(worker, again_file, span, again.attempt, now)
        file = state.nodes.next_in(worker)
        if file is None and worker.ready:
            file = self._ready(worker)
        if file is None:
            if worker.coming:
                return None  # one of them is open sooner than any other file
            file = state.nodes.pick(worker, state.totals.mean)
        state.nodes.move(worker, file)
        if file is None:
            return None
        if self._small_files.are_worth_it(worker, file):
            return self._small_files.hand_out(worker, file, now)
        if file.entries is None:
            return self._open(worker, file, now)
        return self._hand_out(worker, file, self._cut(worker, file), 1, now)

    def promise(self, worker: WorkerState) -> Packet | None:
        """Promises a packet to a worker: one that needs no further file to be opened, and that is
        not promised to another worker."""
        state = self._state
        again = state.again.pick(worker.number, self._is_alone, open_files=False)
        if again is not None and again.stop is not None:
            state.nodes.move(worker, state.files[again.file])
            span = (again.start, again.stop)
            return state.ledger.promise(worker.number, again.file, span, again.attempt)
        file = state.nodes.next_in(worker) or self._ready(worker)
        if file is None:
            return None
        state.nodes.move(worker, file)
        return state.ledger.promise(worker.number, file.number, self._cut(worker, file), 1)

    def file_ahead(self, worker: WorkerState) -> File | None:
        """The file of the next packet to be reserved for a worker: the one that it reads, else one
        that it has opened ahead, else another one, which the worker has to open if its size is not
        known. None while it opens one, or if all that are left are wanted by workers to come."""
        state = self._state
        file = state.nodes.next_in(worker) or self._ready(worker)
        if file is not None or worker.coming:
            return file
        if 0 < state.nodes.left.unknown <= state.sharing - len(state.workers):
            return None
        return state.nodes.pick(worker, state.totals.mean)

    def reserve(self, worker: WorkerState, file: File) -> Packet:
        """Reserves one more packet for a worker, of this file."""
        state = self._state
        state.nodes.move(worker, file)
        return state.ledger.reserve(worker.number, file.number, self._cut(worker, file), 1)

    def _ready(self, worker: WorkerState) -> File | None:
        """The next of the files that the worker has opened ahead."""
        while worker.ready:
            file = worker.ready.popleft()
            if file.left and self._state.nodes.admits(worker, file):
                return file
        return None

    @property
    def _is_alone(self) -> bool:
        state = self._state
        others = len(state.workers) - 1
        if others > len(state.tainted) + len(state.leaving):  # asked after each packet
            return False
        return others <= len(state.tainted | state.leaving)

    def copy(self, worker: WorkerState, now: float) -> Process | None:
        """Another worker's packet, if all other work is handed out."""
        state = self._state
        if not state.policy.speculate:
            return None
        if state.ending.reason is not None or state.nodes.opening:
            return None
        if not state.everything_handed_out:
            return None
        late = self._speculation.candidate(state.workers, worker, now)
        if late is None:
            return None
        late.copied = True
        packet = state.ledger.copy(worker.number, late.number)
        state.nodes.move(worker, state.files[packet.file])
        return worker.process(packet, now, copied=True)

    def _open(self, worker: WorkerState, file: File, now: float) -> OpenFile:
        worker.opening, worker.began = True, now
        # Only files of unknown size are opened by an order.
        self._state.nodes.begin_opening(file.number)
        return OpenFile(worker.number, file.number)

    def _hand_out(
        self, worker: WorkerState, file: File, span: tuple[int, int], attempt: int, now: float
    ) -> Process:
        packet = self._state.ledger.hand_out(worker.number, file.number, span, attempt)
        return worker.process(packet, now)

    def _cut(self, worker: WorkerState, file: File) -> tuple[int, int]:
        return self._state.nodes.take(file, file.cut(self._size(worker, file)))

    def _size(self, worker: WorkerState, file: File) -> int:
        state = self._state
        workers = state.sharing
        rate = state.rates.of(worker.number)
        if rate is not None:
            rate = state.nodes.rate(worker, file, rate)
        total = state.rates.total(workers)
        # Of a distant file, the bytes of a short last packet are on their way during the others.
        join = not worker.ahead
        left, commit = state.left, state.policy.commit_seconds
        # On a distant file a packet that was promised does not wait as the first ones do.
        cost = None if worker.ahead else state.rates.cost(worker.number)
        entries = packet_entries(
            state.sizing, rate, total, left, workers, join, commit, cost, file.left
        )
        if worker.ahead:  # a few promises must be enough to keep the link busy
            most = state.left * state.sizing.share / workers
            if rate is not None:
                most = min(most, rate * state.sizing.longest)
            entries = max(entries, min(worker.ahead // PROMISES, int(most)))
        return entries
