"""Small files, several in one order: then asking for work costs little beside a turn of a worker,
however small the files are. What is unusual about one of them is no case of this: it is opened and
processed by orders of its own, as are files that a lost worker had, so that it is known which one
was to blame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from .entities import File, WorkerState, joined_numbers
from .events import FAILED, REFUSED, FilesDone, ProcessFiles
from .recovery import Recovery
from .state import State

__all__ = ["SmallFiles"]

TURN_SECONDS = 0.05
"""How long a worker goes on without asking: long beside what asking takes, short beside the time
in which users expect an answer."""
_MOST = 4096
"""Files of one order, at most."""
_TRIED = 2
"""Files of an order, at least, if what follows on their opening is short: opened by itself, a file
of many branches takes longer than a turn, and with others a part of that."""
_REFUSED = 3
"""So many orders in a row of which not one file was processed, or one took a turn, are the last
ones."""


class SmallFiles:
    """Chooses files for one order, and notes what became of them."""

    def __init__(self, state: State, recovery: Recovery) -> None:
        self._state = state
        self._recovery = recovery
        self._is_tried = False  # whether any order was of several
        self._slow_in_a_row = 0  # orders in which one file took longer than a turn
        self._run_seconds = 0.0  # what a file has taken lately after its opening

    def are_worth_it(self, worker: WorkerState, file: File) -> bool:
        """True if the worker, which begins this file, should get more of them at once."""
        return self._count(worker, file) > 1

    def may_come(self, worker: WorkerState) -> bool:
        """True if the worker will get files so when it asks for work: it gets nothing ahead."""
        state = self._state
        file = worker.file
        return (
            file is not None
            and not file.left
            and state.nodes.fresh(file) > 1
            and self._count(worker, file, at_hand=0) > 1
        )

    def _count(self, worker: WorkerState, file: File, at_hand: int = 1) -> int:
        """The number of files of one order: a turn of them, and a share of what is left."""
        state = self._state
        seconds = state.file_seconds
        if not state.policy.small_files or seconds is None or worker.ahead:
            return 1
        if state.refused_in_a_row >= _REFUSED or (at_hand and not file.is_whole):
            return 1
        left = state.nodes.fresh(file) + at_hand
        share = ceil(left * state.sizing.share / state.sharing)
        wanted = int(TURN_SECONDS / max(seconds, 1e-6))
        if self._slow_in_a_row < _REFUSED and _TRIED * self._run_seconds <= TURN_SECONDS:
            wanted = max(wanted, _TRIED)
        return min(wanted, share, _MOST)

    def hand_out(self, worker: WorkerState, first: File, now: float) -> ProcessFiles:
        """Gives the worker this file, which was picked for it, and others with it."""
        state = self._state
        count, most = self._count(worker, first), self._most(worker)
        if first.entries is not None:
            state.nodes.take(first, first.entries)
        others = state.nodes.take_fresh(first, count - 1, most)
        files = joined_numbers(first.number, others)
        known = state.files.known(files)
        state.files.hand_out([*known], [*known.values()])
        state.nodes.begin_opening(*_without(files, known))
        worker.files, worker.began = files, now
        return ProcessFiles(worker.number, files, most, TURN_SECONDS)

    def _most(self, worker: WorkerState) -> int:
        """The entries that a file may have: more are worth packets of their own."""
        rate = self._state.rates.of(worker.number) or 0.0
        return max(int(rate * TURN_SECONDS), int(2 * self._state.totals.mean))

    def done(self, worker: WorkerState, event: FilesDone) -> bool:
        """Notes what the worker has done of its files. True if some came back."""
        state = self._state
        files, worker.files = worker.files, ()
        count = len(event.entries)
        if event.ended == FAILED:  # the partial is gone
            self._recovery.take_back(worker, RuntimeError("a small file failed"), True)
            self._put_back(files[count + 1 :])
            self._put_back(files[:count])
            self._alone(files[count : count + 1])
            state.refused_in_a_row = 0 if count else state.refused_in_a_row + 1
            return True
        self._opened(files[:count], event.entries)
        is_short = count > 0 and event.stop < event.entries[-1]
        stops = (*event.entries[:-1], event.stop) if is_short else event.entries
        state.ledger.files_done(worker.number, files[:count], stops)
        if is_short:
            span = (event.stop, event.entries[-1])
            self._recovery.put_back(files[count - 1], span, 1, None)
        refused = count < len(files) and event.ended == REFUSED
        self._alone(files[count : count + refused])
        self._put_back(files[count + refused :])
        state.refused_in_a_row = 0 if count else state.refused_in_a_row + refused
        if count:
            self._is_tried = True
            is_slow = event.seconds / count > TURN_SECONDS
            self._slow_in_a_row = self._slow_in_a_row + 1 if is_slow else 0
            self._took(event.seconds / count)
        return count < len(files)

    def took(self, seconds: float, opening: float) -> None:
        """Notes how long a file took that was processed by itself, and how long opening it."""
        self._run_seconds = seconds - opening
        if not self._is_tried:  # with others it takes less
            self._took(seconds)

    def _took(self, seconds: float) -> None:
        # A first one has to load and compile what others need not.
        known = self._state.file_seconds
        self._state.file_seconds = seconds if known is None else min((known + seconds) / 2, seconds)

    def lost(self, worker: WorkerState) -> None:
        """Takes back the files of a worker that is lost: each is tried alone."""
        files, worker.files = worker.files, ()
        self._alone(files)

    def _opened(self, files: Sequence[int], entries: Sequence[int]) -> None:
        """Notes the sizes of files, all of which were handed out."""
        state = self._state
        known = state.files.known(files)
        state.nodes.end_opening(*_without(files, known))
        # The sizes of the others may be other ones than a list has said.
        state.totals.opened(sum(entries) - sum(known.values()), len(files) - len(known))
        state.files.hand_out(files, entries)

    def _put_back(self, files: Sequence[int]) -> None:
        """Puts files back that were not begun."""
        if files:
            state = self._state
            state.files.take_back(files)
            state.nodes.end_opening(*_without(files, state.files.known(files)))
            state.nodes.put_back(files)

    def _alone(self, files: Sequence[int]) -> None:
        """Puts files back that are to be opened and processed by orders of their own."""
        for file in map(self._state.files.__getitem__, files):
            if file.entries is None:
                self._state.nodes.end_opening(file.number)
                self._recovery.reopen(file)
            else:
                self._recovery.put_back(file.number, (0, file.entries), 1, None)


def _without(files: Sequence[int], known: Mapping[int, int]) -> Sequence[int]:
    """The files that are not among those whose size is known."""
    return [file for file in files if file not in known] if known else files
