"""Runs in Dask's workers: notes when treemill's workers get their packets. `client.run` calls the
functions; nothing of it is there in an ordinary run."""

import time
from typing import Any

_waits: list[float] = []
_commits: list[float] = []
_lengths: list[float] = []
_calls: list[float] = []
_first: list[float] = []
_nap = [0.0]


def install() -> None:
    """Begins to note. To be called again forgets what was noted."""
    from treemill.backends.dask.worker_plugin import TreemillWorkerPlugin
    from treemill.scheduling import Commit, PacketDone, Process
    from treemill.workers.worker import Worker

    for noted in (_waits, _commits, _lengths, _calls):
        noted.clear()
    _first.clear()
    if hasattr(Worker, "watched"):
        return
    inner = Worker.perform
    done: dict[int, float] = {}
    committing: set[int] = set()

    def perform(self: Any, order: Any) -> Any:
        now = time.perf_counter()
        if isinstance(order, Commit):
            committing.add(id(self))
        if isinstance(order, Process):
            since = done.pop(id(self), None)
            if since is not None:
                (_commits if id(self) in committing else _waits).append(now - since)
            committing.discard(id(self))
            if not _first:
                _first.append(time.time())
        event = inner(self, order)
        if isinstance(event, PacketDone):
            done[id(self)] = time.perf_counter()
            _lengths.append(done[id(self)] - now)
        return event

    exchange = TreemillWorkerPlugin._exchange

    async def timed(self: Any, wait: bool) -> None:
        began = time.perf_counter()
        await exchange(self, wait)
        if not wait:
            _calls.append(time.perf_counter() - began)

    TreemillWorkerPlugin._exchange = timed  # type: ignore[method-assign]
    Worker.perform = perform  # type: ignore[method-assign]
    Worker.watched = True  # type: ignore[attr-defined]


def nap(seconds: float) -> None:
    """From now on each packet begins with so much sleep, which counts as its work."""
    from treemill.workers.worker import BackgroundWork

    _nap[0] = seconds
    if hasattr(BackgroundWork, "naps"):
        return
    inner = BackgroundWork.begin

    def begin(self: Any, packet: Any) -> None:
        time.sleep(_nap[0])
        inner(self, packet)

    BackgroundWork.begin = begin  # type: ignore[method-assign]
    BackgroundWork.naps = True  # type: ignore[attr-defined]


def waits() -> list[float]:
    """Seconds from the end of one packet to the beginning of the next, without a commit between."""
    return list(_waits)


def commits() -> list[float]:
    """The same with a commit between."""
    return list(_commits)


def lengths() -> list[float]:
    """Seconds that each packet has taken."""
    return list(_lengths)


def calls() -> list[float]:
    """Seconds that each call to the scheduler has taken which told it something."""
    return list(_calls)


def first() -> float | None:
    """When the first packet was begun, as `time.time()`."""
    return _first[0] if _first else None
