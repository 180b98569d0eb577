"""The workers and mergers of lost processes, until the packetizer is told of them. That waits for
another worker: the packetizer ends a pass that has none."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import WorkerError
from ...frozen import replaced
from ...scheduling import MergerLost, Packetizer, WorkerLost

__all__ = ["Losses"]

_IN_A_ROW = 5
"""Processes that may be lost before one of their workers has done a packet."""


def _given_up(address: str, reason: str) -> WorkerError:
    """The error if so many are lost."""
    words = f"{_IN_A_ROW} of Dask's workers in a row were lost before they had done anything"
    why = "a limit of their memory, or a crash of compiled code: their logs say which"
    return WorkerError(f"given up: {words}: {reason}. Usual reasons are {why}", worker=address)


class Losses:
    """What is lost and not told."""

    def __init__(self, packetizer: Packetizer) -> None:
        """`packetizer`: is asked what workers are at."""
        self._packetizer = packetizer
        self._untold: list[WorkerLost | MergerLost] = []
        self._held: dict[int, object] = {}  # by worker: what may be to blame
        self._in_a_row = 0

    def process_lost(self, address: str, reason: str, fault: bool) -> WorkerError | None:
        """Counts a lost process. Returns an error if too many were lost in a row."""
        self._in_a_row += fault
        return None if self._in_a_row < _IN_A_ROW else _given_up(address, reason)

    def work_was_done(self) -> None:
        """Notes that a worker has done a packet."""
        self._in_a_row = 0

    def add_worker(self, number: int, reason: str, fault: bool) -> None:
        """Notes that a worker is lost. `fault`: whether its packet may be to blame."""
        busy = self._packetizer.busy_with(number)
        if busy not in self._held.values():  # a packet that two workers had counts once
            self._held[number] = busy
        self._untold.append(WorkerLost(number, reason, fault))

    def add_merger(self, number: int) -> None:
        """Notes that a merger is lost."""
        self._untold.append(MergerLost(number))

    @property
    def reason(self) -> str | None:
        """Why the last worker was lost, if the packetizer was not told of it."""
        reasons = [each.reason for each in self._untold if isinstance(each, WorkerLost)]
        return reasons[-1] if reasons else None

    @property
    def must_wait(self) -> bool:
        """True if there are losses, and no other worker."""
        gone = {each.worker for each in self._untold if isinstance(each, WorkerLost)}
        return bool(self._untold) and not self._packetizer.workers - gone

    def told(self) -> Iterator[WorkerLost | MergerLost]:
        """Returns all losses, for the packetizer to handle one by one. Mergers come first, so that
        the remaining workers get what these had."""
        untold, self._untold = self._untold, []
        for event in sorted(untold, key=lambda each: isinstance(each, WorkerLost)):
            if isinstance(event, WorkerLost):
                busy = self._packetizer.busy_with(event.worker)
                if busy != self._held.get(event.worker):  # it got that after its process was lost
                    event = replaced(event, fault=False)
            yield event
        self._held.clear()
