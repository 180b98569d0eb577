"""A worker: carries out the packetizer's orders with its workload, and answers with events.

Knows no other worker, no session and no transport.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from operator import sub
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias

from ..errors import (
    ChangedError,
    FormatError,
    QueryError,
    SourceError,
    TreemillError,
    UnsupportedError,
    WorkerError,
)
from ..scheduling import (
    FAILED,
    OPENINGS,
    PROMISES,
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    FilesDone,
    Forget,
    Hint,
    OpenAhead,
    OpenFile,
    Order,
    Packet,
    PacketDone,
    PacketFailed,
    Prefetch,
    Process,
    ProcessFiles,
    Spent,
    Step,
)
from .workload import Bound, P, Turn, Workload

if TYPE_CHECKING:
    from treemill._core import Control

    from .workload import Bound

__all__ = ["FILES_AT_ONCE", "BackgroundWork", "Worker"]

# Measures what packets take of one worker: its clocks, and the counters of its reads. Knows no
# packet.

Counted: TypeAlias = tuple[int, int, int, int, int, int, float, float, float, float]
"""What a control counts: the counters of `Spent`."""


class _Counts(Protocol):
    @property
    def counted(self) -> Counted:
        """See `Control`."""


class Meter:
    """The meter of one worker. The worker's thread calls all methods."""

    steps: Sequence[Step] = ()
    """What was done for the packet that has ended, one step after another, if that is kept."""

    def __init__(self, control: _Counts) -> None:
        """`control`: the worker's own, which no other worker counts with."""
        self._control = control
        self._counted = control.counted
        self._answered = self._began = self._opened = perf_counter()
        self._cpu = 0.0

    def begin(self) -> None:
        """A packet begins."""
        self._began = self._opened = perf_counter()
        self._cpu = thread_time()

    def opened(self) -> None:
        """The packet's file is open."""
        self._opened = perf_counter()

    def end(self) -> tuple[float, Spent]:
        """The packet has ended: the seconds that it took, and what was measured."""
        cpu, seconds = thread_time() - self._cpu, perf_counter() - self._began
        before, self._counted = self._counted, self._control.counted
        opening = self._opened - self._began
        since = map(sub, self._counted, before)
        return seconds, Spent(self._began - self._answered, opening, cpu, *since)

    def answered(self) -> None:
        """The worker has nothing more to do for its order."""
        self._answered = perf_counter()


class _Taken:
    """A control whose steps are taken out together with what it has counted."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.steps: list[Step] = []

    @property
    def counted(self) -> Counted:
        counted, steps = self._control.take_steps()
        self.steps = [Step(*step) for step in steps]
        return counted


class _StepMeter(Meter):
    """A meter that has the worker's steps, too."""

    def __init__(self, control: Control) -> None:
        self._taken = _Taken(control)
        super().__init__(self._taken)

    def end(self) -> tuple[float, Spent]:
        """See Meter."""
        seconds, spent = super().end()
        late = perf_counter() - self._began - seconds  # this thread may have had to wait since
        bound = Step("bound", 0, seconds, spent.opening, 0, [], "", "", True)
        steps = [step._replace(ago=step.ago - late) for step in self._taken.steps]
        self.steps = [bound, *steps]
        return seconds, spent


def meter(control: Control) -> Meter:
    """The meter of the worker that has this control to itself."""
    return _StepMeter(control) if control.keeps_steps else Meter(control)


# What a worker does in the background: opens files that it will need, and asks for the bytes of
# packets that are promised to it, on threads of its own. What goes wrong there is no event: the
# order that needs the bytes will meet it again. Knows no packetizer but its hints, and no
# transport.

FILES_AT_ONCE = 1 + PROMISES + OPENINGS
"""Files on servers that one worker is at, at most: the one that it reads, those that its promises
are in, and those that it has opened ahead."""
_AT_ONCE = 2
"""Threads of one worker, at most, that do what no server is waited for: the core has opened and
described the file."""
_WAITING = OPENINGS + 2
"""Threads of one worker, at most, if they wait for a file to be opened that the core does not open
in the background: one that lies at several addresses, or is not on a server."""


class BackgroundWork(Generic[P]):
    """The promises to one worker, and what is done for them. Thread-safe."""

    def __init__(self, workload: Workload[P], control: Control) -> None:
        """`control` counts what is asked for."""
        self._workload = workload
        self._control = control
        self._lock = threading.Lock()
        self._tasks: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._is_over = False
        self._promised: dict[int, tuple[Packet, Bound[P] | None]] = {}
        """The packets by number; no bound until their bytes have been asked for."""
        self._has_begun = False
        self._waiting: list[Packet] = []
        """Those that were promised before the worker has begun anything."""

    def open_for(self, file: int, task: Callable[[], None]) -> None:
        """Does this on another thread, when the file is open or cannot be opened. It must raise
        nothing."""
        if not self._workload.opens(file, partial(self.do, task)):
            self.do(task, most=_WAITING)

    def do(self, task: Callable[[], None], most: int = _AT_ONCE) -> None:
        """Does this on another thread, soon. It must raise nothing."""
        with self._lock:
            if self._is_over:
                return
            self._tasks.append(task)
            if self._threads >= most:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="treemill-beside", daemon=True).start()

    def _work(self) -> None:
        # Threads end when there is nothing to do: most workers never need one.
        while True:
            with self._lock:
                if not self._tasks:
                    self._threads -= 1
                    return
                task = self._tasks.popleft()
            task()

    def prefetch(self, packet: Packet) -> None:
        """Asks for the bytes of a packet, unless it is begun or forgotten before. What comes with a
        worker's first packet waits until that one has asked for its own bytes: servers answer in
        the order in which they are asked."""
        with self._lock:
            self._promised[packet.number] = packet, None
            if not self._has_begun:
                self._waiting.append(packet)
                return
        self.open_for(packet.file, lambda: self._prefetch(packet))

    def _prefetch(self, packet: Packet) -> None:
        with self._lock:
            if packet.number not in self._promised or self._control.stopped:
                return
        try:
            bound = self._workload.bound(packet.file)  # may have to open the file
            with self._lock:  # so that it cannot be forgotten before it is asked for
                if packet.number in self._promised:
                    bound.prefetch(packet.start, packet.stop, self._control)
                    self._promised[packet.number] = packet, bound
        except Exception:  # the packet itself will meet it again
            return

    def forget(self, packet: Packet) -> None:
        """Drops what was fetched of a packet, and does not ask for the rest."""
        with self._lock:
            self._forget(packet.number)

    def _forget(self, number: int) -> None:
        packet, bound = self._promised.pop(number, (None, None))
        if packet is not None and bound is not None:
            bound.forget(packet.start, packet.stop)

    def begin(self, packet: Packet) -> None:
        """Notes that the worker begins the packet, which is no promise any more."""
        self._has_begun = True  # before the look: who promises something meanwhile sees it
        if self._promised:
            self.pass_on(packet)
            if self._waiting:
                self._begin_first(packet)

    def _begin_first(self, packet: Packet) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        with contextlib.suppress(Exception):  # the packet itself meets it next
            self._workload.bound(packet.file).prefetch(packet.start, packet.stop, self._control)
        for promised in waiting:
            self.open_for(promised.file, partial(self._prefetch, promised))

    def pass_on(self, packet: Packet) -> None:
        """Notes that the packet is no promise any more: this worker begins it, or another one that
        has the same workload, and so what was fetched."""
        if self._promised:
            with self._lock:
                self._promised.pop(packet.number, None)

    def leave(self) -> None:
        """Does nothing more of what waits, and drops what was fetched. The pass is over: if it was
        stopped, servers need not continue to send."""
        with self._lock:
            for number in list(self._promised):
                self._forget(number)
            self._waiting.clear()
            self._tasks.clear()
            self._is_over = True  # files may be open later


# Errors that another try would raise again, from the same bytes and the same question.
_FINAL = (ChangedError, FormatError, UnsupportedError, QueryError, MemoryError)


class Worker(Generic[P]):
    """A worker with its partial, which grows from packet to packet until it is committed."""

    def __init__(
        self,
        number: int,
        workload: Workload[P],
        control: Control,
        commit: Callable[[P], None],
        tell: Callable[[Event], None],
    ) -> None:
        """`control`: of all workers that the process has for the pass. `commit` hands over a
        partial to be merged, and the event `Committed` with it. `tell` sends an event that answers
        a hint, on any thread; it must raise nothing."""
        self.number = number
        self._workload = workload
        self._control = control.part()
        self._meter = meter(self._control)
        self._commit = commit
        self._send_event = tell
        self._beside = BackgroundWork(workload, self._control)
        self._partial: P | None = None
        self._aside: P | None = None

    def perform(self, order: Order) -> Event | None:
        """Carries out the order and gives the answering event. None if the answer was sent along
        with a partial. Errors of the data or the query become events, not exceptions."""
        self._control.enter()
        try:
            return self._perform(order)
        finally:
            self._control.leave()
            self._meter.answered()

    def _perform(self, order: Order) -> Event | None:
        if isinstance(order, Process):
            return self._process(order.packet)
        if isinstance(order, ProcessFiles):
            return self._process_files(order)
        if isinstance(order, OpenFile):
            return self._open(order.file)
        if isinstance(order, Commit):
            return self._hand_over()
        if isinstance(order, Discard):
            self._throw_away_aside()
            self._throw_away()
            return Discarded(self.number)
        raise TypeError(f"not an order for a worker: {order!r}")

    def note(self, hint: Hint, to: Worker[P] | None = None) -> None:
        """Takes a hint, on any thread and at any time. What it asks for is done in the background;
        only OpenAhead is answered, by `tell`. `to`: the worker that gets the entries of a Forget
        instead, if it is of this process: with the same workload it has what was fetched."""
        if isinstance(hint, Prefetch):
            self._beside.prefetch(hint.packet)
        elif isinstance(hint, Forget):
            if to is not None and to._workload is self._workload:
                self._beside.pass_on(hint.packet)
            else:
                self._beside.forget(hint.packet)
        elif isinstance(hint, OpenAhead):
            self._beside.open_for(
                hint.file, lambda: self._send_event(self._open(hint.file, beside=True))
            )
        else:
            raise TypeError(f"not a hint for a worker: {hint!r}")

    def _process(self, packet: Packet) -> Event:
        self._meter.begin()
        self._beside.begin(packet)
        bound = None
        try:
            bound = self._workload.bound(packet.file)
            self._meter.opened()
            stop = self._run(bound, packet)
        except Exception as error:
            if bound is None and self._control.stopped:
                return self._done(packet, packet.start, is_open=False)
            return self._failed(packet, self._changed(packet) or error)
        changed = self._changed(packet)
        if changed is not None:
            return self._failed(packet, changed)
        return self._done(packet, packet.stop if stop is None else stop)

    def _process_files(self, order: ProcessFiles) -> Event:
        self._meter.begin()
        turn = Turn(order.most, order.seconds)
        whole = [(file, 0, None) for file in order.files]
        control, before = self._control, self._partial
        self._partial, ran = self._workload.run_files(whole, turn, before, control)
        if ran.ended == FAILED:
            self._throw_away()
        seconds, spent = self._meter.end()
        return FilesDone(self.number, ran.entries, ran.stop, seconds, ran.ended, spent)

    def _changed(self, packet: Packet) -> SourceError | None:
        """The error for a file that was written to while the packet was read: what was read may be
        of both."""
        changed = self._workload.changed(packet.file)
        if changed is not None:
            changed.entries = self._place(packet)[1]
        return changed

    def _failed(self, packet: Packet, error: Exception) -> Event:
        # The partial may hold a part of the packet: it cannot be used any more.
        self._throw_away()
        retry = not isinstance(error, _FINAL)
        if isinstance(error, MemoryError):
            error = self.out_of_memory(packet)
        spent = self._meter.end()[1]
        steps = self._meter.steps
        return PacketFailed(self.number, packet.number, error, retry, spent, steps)

    def _done(self, packet: Packet, stop: int, *, is_open: bool = True) -> Event:
        seconds, spent = self._meter.end()
        ahead = self._workload.ahead(packet.file) if is_open else 0
        steps = self._meter.steps
        full = self._partial is not None and self._partial.is_full
        return PacketDone(
            self.number, packet.number, stop, seconds, ahead, None, spent, steps, full
        )

    def _run(self, bound: Bound[P], packet: Packet) -> int | None:
        if self._partial is None:
            self._partial = bound.partial()
        try:
            return bound.run(packet.start, packet.stop, self._partial, self._control)
        except TreemillError as error:
            # The core's query sees values, and neither the file nor which entries they are of.
            if error.file is None:
                path, span = self._place(packet)
                error.file, error.entries = path, error.entries or span
            raise

    def leave(self) -> None:
        """Drops what was not committed. The pass is over."""
        self._beside.leave()
        self._throw_away_aside()
        self._throw_away()

    def put_aside(self) -> None:
        """Puts the partial aside, complete: the worker goes on with an empty one."""
        if self._partial is not None:
            self._aside = self._finished(self._partial)

    def take_aside(self) -> P | None:
        """Takes out what was put aside, to be handed over; None if there is nothing. On any
        thread."""
        aside, self._aside = self._aside, None
        return aside

    def _throw_away_aside(self) -> None:
        aside = self.take_aside()
        if aside is not None:
            self._workload.discard(aside)

    def _throw_away(self) -> None:
        if self._partial is not None:
            self._workload.discard(self._partial)
            self._partial = None

    def out_of_memory(self, packet: Packet, words: str = "ran out of memory") -> WorkerError:
        """An error that names the packet."""
        path, span = self._place(packet)
        return WorkerError(
            f"worker {self.number} {words}", worker=str(self.number), file=path, entries=span
        )

    def _place(self, packet: Packet) -> tuple[str, tuple[int, int]]:
        """The packet's file, and its entries as that file numbers them."""
        path, first = self._workload.place(packet.file)
        return path, (packet.start + first, packet.stop + first)

    def _open(self, file: int, beside: bool = False) -> Event:
        try:
            entries, cuts = self._workload.size(file)
        except Exception as caught:
            # A file that is written to just now may be no ROOT file for a moment.
            error = self._workload.changed(file) or caught
            return FileFailed(self.number, file, error, not isinstance(error, _FINAL), beside)
        return FileOpened(self.number, file, entries, cuts, self._workload.ahead(file), beside)

    def _hand_over(self) -> Event | None:
        if self._partial is None:
            return Committed(self.number)
        self._commit(self._finished(self._partial))
        return None

    def _finished(self, partial: P) -> P:
        try:
            finished = self._workload.finish(partial)
        except BaseException:
            self._throw_away()
            raise
        self._partial = None
        return finished
