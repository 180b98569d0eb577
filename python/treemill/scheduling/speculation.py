"""Speculation: chooses a packet in work that an idle worker should run a second time. The ledger
decides whose result counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .entities import WorkerState
from .sizing import Rates

__all__ = ["FRESH_SECONDS", "Speculation", "seconds_left", "seconds_of"]

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
