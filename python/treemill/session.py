"""A session: the user's handle on workers. Today they are threads of this process."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from .backend.threads import ThreadPool
from .errors import QueryError, QueryInterrupted, UnsupportedError
from .interrupt import interrupts
from .monitor.watch import Watch
from .query import Booking, Origin
from .running import Query

__all__ = ["Session", "connect", "run"]

Feedback = Callable[[tuple[Any, ...]], object]


def connect(address: Any = None, *, workers: int | None = None, mode: str = "threads") -> Session:
    """A session with local workers, one per core if `workers` is None. No daemon: threads of this
    process, started when first needed.

    Raises UnsupportedError for the modes and addresses that come with later versions.
    """
    if address is not None:
        raise UnsupportedError(
            f"clusters ({address!r}) come with a later version of treemill; "
            "connect() without an address uses this machine's cores"
        )
    if mode == "processes":
        raise UnsupportedError(
            'mode="processes" comes with a later version of treemill; use mode="threads"'
        )
    if mode != "threads":
        raise QueryError(f'mode is "threads", not {mode!r}')
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        raise QueryError(f"workers must be 1 or more, not {workers}")
    return Session(workers or available_cores())


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Session:
    """Workers, and the queries that run on them. Use it as a context manager, or `close` it."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPool(workers)
        self._last: Query | None = None

    @property
    def report(self) -> Any:
        """The report of the query that was started last; None before the first."""
        return None if self._last is None else self._last.report

    def run(
        self,
        *bookings: Booking,
        progress: bool | None = None,
        feedback: Feedback | None = None,
        on_error: str = "stop",
    ) -> Any:
        """Computes the bookings and gives back their values, a tuple of them if there are several.
        Those of one dataset are done in one pass (after a first one for automatic ranges).

        `progress`: show a progress bar; None: after 0.3 s on a terminal and in notebooks.
        `feedback`: called about every second with the values of what is done so far.
        `on_error`: "stop" raises the first error; "skip" leaves out the entries that cannot be read
        (`session.report` names them).

        Ctrl-C ends the query within a batch and raises QueryInterrupted, a KeyboardInterrupt with
        `partial_result` and `report`.
        """
        values: dict[int, Any] = {}
        for group in _by_dataset(bookings):
            todo = [booking for booking in group if not booking.done]
            if not todo:
                continue
            news: SimpleQueue[str] = SimpleQueue()
            with interrupts(news):
                query = self._start(todo, on_error)
                found = _wait(query, news, Watch(query, progress, feedback))
            values |= {booking.number: value for booking, value in zip(todo, found, strict=True)}
        # Those that were done before have their value already.
        ordered = [b.value if b.done else values[b.number] for b in bookings]
        return ordered[0] if len(ordered) == 1 else tuple(ordered)

    def submit(self, *bookings: Booking, on_error: str = "stop") -> Query:
        """Starts the bookings, all of one dataset, and returns at once; `.result()` of the handle
        gives the tuple of values."""
        groups = _by_dataset(bookings)
        if len(groups) != 1:
            raise QueryError(f"submit() takes bookings of one dataset, not of {len(groups)}")
        return self._start(groups[0], on_error)

    def close(self) -> None:
        """Stops what runs and ends the threads."""
        if self._last is not None:
            self._last.stop("the session was closed")
        self._pool.close()

    def _start(self, bookings: Sequence[Booking], on_error: str) -> Query:
        if on_error not in ("stop", "skip"):
            raise QueryError(f'on_error is "stop" or "skip", not {on_error!r}')
        dataset = bookings[0].node.origin.dataset
        query = Query(dataset, bookings, self._pool, on_error == "skip")
        self._last = query
        query.start()
        return query

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<session of {self.workers} threads>"


def _by_dataset(bookings: Sequence[Booking]) -> list[list[Booking]]:
    """Groups in order, each booking once."""
    groups: dict[int, tuple[Origin, dict[int, Booking]]] = {}
    for booking in bookings:
        if not isinstance(booking, Booking):
            raise QueryError(
                "run() takes bookings, as events.hist(…) and events.count() give them, "
                f"not {type(booking).__name__}"
            )
        origin = booking.node.origin
        groups.setdefault(id(origin), (origin, {}))[1][booking.number] = booking
    if not groups:
        raise QueryError("run() needs at least one booking")
    return [list(group.values()) for _, group in groups.values()]


# A signal that arrives in the moment between the interpreter's check for signals and its going to
# sleep does not wake it; and on Windows none does. So sleep is never longer than this, in seconds.
_LONGEST_WAIT = 0.2


def _wait(query: Query, news: SimpleQueue[str], watch: Watch) -> tuple[Any, ...]:
    """Waits for the end, showing what is going on. The word "interrupt" in `news` stops the query,
    a second one gives up waiting for it."""
    interrupted = False
    try:
        query.watch(news)
        while True:
            try:
                word = news.get(timeout=min(watch.delay(), _LONGEST_WAIT))
            except Empty:
                watch.tick()
                continue
            if word == "done":
                break
            if interrupted:
                raise KeyboardInterrupt("gave up waiting for the workers to stop")
            interrupted = True
            query.stop("interrupted")
    except BaseException:
        query.stop("interrupted")
        raise
    finally:
        watch.close()
    if not interrupted:
        return query.final()
    raise QueryInterrupted(
        f"interrupted; {query.report}", partial_result=query.snapshot(), report=query.report
    )


_default: Session | None = None
_default_lock = threading.Lock()


def default_session() -> Session:
    """The session that `treemill.run` and `Booking.value` use: one thread per core."""
    global _default
    with _default_lock:
        if _default is None:
            _default = connect()
            atexit.register(_default.close)
        return _default


def run(
    *bookings: Booking,
    progress: bool | None = None,
    feedback: Feedback | None = None,
    on_error: str = "stop",
) -> Any:
    """Computes the bookings on this machine's cores; see `Session.run`."""
    return default_session().run(*bookings, progress=progress, feedback=feedback, on_error=on_error)
