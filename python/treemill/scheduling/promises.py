"""Promises packets to workers on far files before they have done the ones that they have, so that
the next bytes are on their way meanwhile; has their next files opened; takes promises back.

A promise is no work in progress: it counts as left when packets are sized, and goes to an idle
worker that would be done with it sooner. For near files nothing here has an effect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from .assignment import FRESH_SECONDS, Assignment, seconds_left, seconds_of
from .entities import File, WorkerState
from .events import Action, Forget, OpenAhead, Packet, Prefetch, Process
from .recovery import Recovery
from .sizing import OPENING, OPENINGS, PROMISES
from .state import State

__all__ = ["Promises"]


class Promises:
    """Makes promises and takes them back."""

    def __init__(self, state: State, assignment: Assignment, recovery: Recovery) -> None:
        self._state = state
        self._assignment = assignment
        self._recovery = recovery
        self._listed_at: float | None = None
        self._last: list[tuple[float, int, Packet]] = []  # when it would be done, worker, packet

    def fill(self, worker: WorkerState, now: float, actions: list[Action]) -> None:
        """Promises the worker as much as is worth it, and has files opened for what follows."""
        state = self._state
        if not worker.ahead or worker.packet is None or worker.leaving:
            return
        if state.ending.reason is not None:
            return
        promised = state.ledger.promises.get(worker.number, ())
        count, held = len(promised), _entries(promised)
        # No more is promised before the packet is done: until then that must be enough.
        wanted = worker.ahead + worker.packet.stop - worker.packet.start
        while count < PROMISES:
            # No more than its share of what is not begun: others need not take it back.
            share = (state.left + state.ledger.promised_entries) / state.sharing
            if held and held >= min(wanted, share):
                break
            packet = self._assignment.promise(worker)
            if packet is None:
                break
            count, held = count + 1, held + packet.stop - packet.start
            actions.append(Prefetch(worker.number, packet))
        wanted += (OPENING - 1) * worker.ahead
        for file in self._next_files(worker, held, wanted):
            worker.coming[file] = now
            actions.append(OpenAhead(worker.number, file.number))

    def _next_files(self, worker: WorkerState, held: int, wanted: int) -> Iterator[File]:
        """Files to be opened until `wanted` entries are held, or near in files that are open."""
        state = self._state
        near = float(held) + sum(self._left_in(file) for file in worker.coming)
        near += sum(file.left for file in worker.ready)
        near += worker.file.left if worker.file is not None else 0
        while len(worker.coming) + len(worker.ready) < OPENINGS and near < wanted:
            if 0 < state.nodes.left.unknown <= state.sharing - len(state.workers):
                return  # those that have not joined yet will want a file each
            file = state.nodes.pick(worker, state.totals.mean)
            if file is None or file is worker.file or file in worker.coming or file in worker.ready:
                return
            if file.entries is None:
                state.nodes.begin_opening(file.number)
            near += self._left_in(file)
            yield file

    def _left_in(self, file: File) -> float:
        return file.left if file.entries is not None else max(self._state.totals.mean, 1.0)

    def take(self, helper: WorkerState, now: float, actions: list[Action]) -> Process | None:
        """A packet that was promised to another worker, if this one, which has nothing else to do,
        would be done with it sooner, although it has none of its bytes."""
        state = self._state
        if not state.ledger.promises or state.ending.reason is not None:
            return None
        if self._listed_at is None or now - self._listed_at >= FRESH_SECONDS:
            self._make(now)
        while self._last:
            done, number, packet = self._last[-1]
            if packet not in state.ledger.promises.get(number, ()):
                self._last.pop()
                continue
            entries = packet.stop - packet.start
            wait = state.wait(helper, packet.file)
            if now + wait + seconds_of(state.rates, helper, entries) >= done:
                return None
            self._last.pop()
            state.ledger.break_promise(number, packet)
            actions.append(Forget(number, packet, helper.number))
            state.nodes.move(helper, state.files[packet.file])
            span = (packet.start, packet.stop)
            mine = state.ledger.hand_out(helper.number, packet.file, span, packet.attempt)
            return helper.process(mine, now)
        return None

    def _make(self, now: float) -> None:
        self._listed_at, self._last = now, []
        state = self._state
        for number, promised in state.ledger.promises.items():
            worker = state.workers[number]
            done = now + seconds_left(state.rates, worker, now)
            for packet in promised:
                done += seconds_of(state.rates, worker, packet.stop - packet.start)
                if packet.attempt == 1:  # the helper may be the one that has failed it
                    self._last.append((done, number, packet))
        self._last.sort(key=lambda each: each[:2])

    def locate(self, nodes: Mapping[int, str]) -> None:
        """Puts files, by their numbers, on the nodes with these names. Those that a worker was only
        to open ahead are left to workers of their own hosts; those that are being read stay where
        they are."""
        state = self._state
        reading = {w.file.number for w in state.workers.values() if w.file is not None}
        state.nodes.locate({file: name for file, name in nodes.items() if file not in reading})
        hosts = {worker.host for worker in state.workers.values()}
        for worker in state.workers.values():
            theirs = set()
            for file in (*worker.ready, *worker.coming):
                host = state.nodes.host(file)
                if file.number in nodes and host in hosts and host != worker.host:
                    theirs.add(file)
            worker.ready = deque(file for file in worker.ready if file not in theirs)
            worker.declined |= theirs & worker.coming.keys()

    def drop(self, worker: WorkerState) -> list[Packet]:
        """Puts all back that was promised to a worker or is being opened ahead by it. Returns the
        packets."""
        promised = self._state.ledger.break_promises(worker.number)
        for packet in promised:
            self._recovery.put_back(packet.file, (packet.start, packet.stop), packet.attempt, None)
        for file in list(worker.coming):
            self.not_opened(worker, file)
        worker.ready.clear()
        return promised

    def not_opened(self, worker: WorkerState, file: File) -> None:
        """Puts a file back that a worker was to open ahead. What may be wrong with it comes again
        when it is opened by an order."""
        del worker.coming[file]
        worker.declined.discard(file)
        if file.entries is None:
            self._state.nodes.end_opening(file.number)
            self._recovery.reopen(file)

    def drop_all(self) -> None:
        """Puts everything back: the query ends early."""
        for worker in self._state.workers.values():
            self.drop(worker)


def _entries(packets: Iterable[Packet]) -> int:
    return sum(packet.stop - packet.start for packet in packets)
