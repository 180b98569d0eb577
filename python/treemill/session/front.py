"""Sessions as users get them: by `connect`, or the one that `run` makes by itself."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from ..errors import QueryError, UnsupportedError
from ..faces import short_errors
from .session import Session
from .typed_run import typed

__all__ = ["connect", "run"]


@short_errors
def connect(
    address: Any = None,
    *,
    workers: int | None = None,
    mode: str = "threads",
    memory: int | None = None,
    silence: float = 60.0,
    patience: float = 10.0,
    start: str | None = None,
    trace: int = 0,
) -> Session:
    """Make a session with local workers; no daemon is needed.

    Parameters
    ----------
    address
        Of a cluster: comes with a later version.
    workers
        How many; None: one per core.
    mode
        "threads" of this process, for queries, and for selectors that let go of the GIL; or
        "processes", forked for each run from a template that has loaded everything, for selectors
        in Python. Threads share what this process remembers of files (`treemill.cache`); processes,
        which live for one run, remember nothing.
    memory
        Bytes that each process may take on top of what the template has; None: any number.
    silence
        Seconds without a sign of life after which a process is given up, as is what takes longer to
        load.
    patience
        Seconds for which `stop`, Ctrl-C and `close` wait for the user's code. After that a process
        is killed; a thread, which Python cannot end, is named in a warning and left behind. What
        they had in their hands is missing in the result, by name in the report.
    start
        "fork", or "spawn", which starts each worker as a program of its own: slower and without
        shared memory, for systems whose libraries do not survive a fork (macOS).
    trace
        How many records the report of a query keeps of what its workers said and were told
        (`report.trace`): 10,000 take some MB.

    Returns
    -------
    Session
        A context manager.

    Raises
    ------
    QueryError
        For options that make no sense.
    UnsupportedError
        For addresses.

    Examples
    --------
    >>> with tm.connect(workers=2) as session:
    ...     session.run(events.count()) == events.num_entries
    True
    """
    if address is not None:
        raise UnsupportedError(
            f"clusters ({address!r}) come with a later version of treemill; "
            "connect() without an address uses this machine's cores"
        )
    if mode not in ("threads", "processes"):
        raise QueryError(f'mode is "threads" or "processes", not {mode!r}')
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        raise QueryError(f"workers must be 1 or more, not {workers}")
    if start not in (None, "fork", "spawn"):
        raise QueryError(f'start is "fork" or "spawn", not {start!r}')
    if isinstance(trace, bool) or trace < 0:
        raise QueryError(f"trace is a number of records, not {trace}")
    size = workers or available_cores()
    if mode == "processes":
        from ..backend.processes.pool import ProcessPool  # start-up

        pool = ProcessPool(
            size, memory=memory, silence=silence, patience=patience, start=start, trace=trace
        )
        return Session(pool)
    if memory is not None:
        raise QueryError('threads share one memory; a limit for each needs mode="processes"')
    from ..backend.threads import ThreadPool  # start-up

    return Session(ThreadPool(size, patience=patience, trace=trace))


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


@typed
@short_errors
def run(*what: Any, **options: Any) -> Any:
    """Compute bookings, or run a selector, on this machine's cores.

    The session is made when it is first needed, with one thread per core.

    Parameters
    ----------
    *what, **options
        As for `Session.run`.

    Returns
    -------
    Any
        As of `Session.run`.

    Raises
    ------
    TreemillError
        As `Session.run`.

    Examples
    --------
    >>> n, pt = tm.run(events.count(), events.hist("Muon_pt", bins=(50, 0, 100)))
    >>> tm.run({"all": events.count()})["all"] == n
    True
    >>> tm.run(lambda chunk: {"n": len(chunk)}, events)["n"] == n
    True
    """
    return default_session().run(*what, **options)
