"""Looks at the workers' processes from outside, and slows one down: all contestants run in the same
processes, and none of them tells when its workers are idle.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_LOOK = 0.02
_BUSY = 0.3
"""The share of a look's time that a process must compute for, or it counts as idle."""
_TURN = 0.01
"""Seconds for which a slowed process runs, and then does not."""


class Watch:
    """Notes when each process has computed last."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self._over = threading.Event()
        self._began = self.ended = time.perf_counter()
        self._last = dict.fromkeys(pids, self._began)
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._began = time.perf_counter()
        self._last = dict.fromkeys(self._pids, self._began)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = time.perf_counter()
        self._over.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        """How long it has watched."""
        return self.ended - self._began

    @property
    def idle(self) -> float:
        """Seconds at the end in which the process that was done first had nothing to do."""
        return max(max(self.ended - last, 0.0) for last in self._last.values())

    def _look(self) -> None:
        before = {pid: _used(pid) for pid in self._pids}
        looked = time.perf_counter()
        while not self._over.wait(_LOOK):
            now = time.perf_counter()
            for pid in self._pids:
                used = _used(pid)
                seconds = sum(used[thread] - before[pid].get(thread, 0.0) for thread in used)
                if seconds > _BUSY * (now - looked):
                    self._last[pid] = now
                before[pid] = used
            looked = now


class Runnable:
    """Counts the threads of this machine that compute or wait for a core."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._seen: list[int] = []
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Runnable":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def mean(self) -> float:
        """The mean of the looks, without the one that looks."""
        return sum(self._seen) / len(self._seen) - 1 if self._seen else 0.0

    def _look(self) -> None:
        while not self._over.wait(_LOOK):
            now = Path("/proc/loadavg").read_text().split()[3]
            self._seen.append(int(now.partition("/")[0]))


def _used(pid: int) -> dict[str, float]:
    """Seconds that each thread of a process has run on a core, by the scheduler's account: the
    clock of processes has steps of 10 ms."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with suppress(OSError):  # it has ended
            account = Path(f"/proc/{pid}/task/{thread}/schedstat").read_text()
            found[thread] = 1e-9 * int(account.split()[0])
    return found


@contextmanager
def slowed(pid: int | None) -> Iterator[None]:
    """Lets a process run half of the time only; None: none."""
    if pid is None:
        yield
        return
    over = threading.Event()

    def turn() -> None:
        while not over.wait(_TURN):
            os.kill(pid, signal.SIGSTOP)
            over.wait(_TURN)
            os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=turn, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        os.kill(pid, signal.SIGCONT)
