"""A session: the user's handle on workers, which are threads of this process or processes."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .account import Account
from .backend.passes import Pool
from .booked import BookedQuery
from .errors import QueryError, UnsupportedError
from .faces import face, short_errors
from .monitor.together import Together
from .monitor.watch import Feedback, Watch
from .packages import Package, PackageStore
from .query import Bookable, Booking, Node, Origin
from .run_options import RunOptions, refuse
from .running import Query
from .shapes import is_shape, leaves, mapped
from .typed_run import typed
from .waiting import hearing, wait, watch_aside

if TYPE_CHECKING:
    from .chain.chain import Chain

__all__ = ["Session", "connect", "run"]

_REMEMBERED = 100
"""Queries of which a session keeps the account."""


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
    """A session with local workers, one per core if `workers` is None; no daemon.

    `mode="threads"`: threads of this process, started when first needed: for queries, and for
    selectors that let go of the GIL. `mode="processes"`: processes, forked for each run from a
    template that has loaded everything; for selectors in Python. For these, `memory` is how many
    bytes each worker may take on top of what the template has (None: any number), and `silence`
    after how many seconds without a sign of life a worker is given up, or what does not come to an
    end while the template loads it. `start="spawn"` starts each worker as a program of its own
    instead, slower and without shared memory, which is the way where the system's libraries do not
    survive a fork (macOS); "fork" is Linux's.

    `patience` is how many seconds `stop`, Ctrl-C and `close` wait for what workers are at. After
    that a process is killed; a thread, which Python cannot end, is named in a warning and left
    behind. What they had in their hands is missing in the result, by name in the report.

    `trace` is how many records the report of a query keeps of what its workers said and were told
    (`report.trace`): 10,000 take some MB.

    Threads share what this process remembers of files (`treemill.cache`); processes, which live
    for one run, remember nothing.

    Raises UnsupportedError for addresses, which come with later versions.
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
        from .backend.processes import ProcessPool

        pool = ProcessPool(
            size, memory=memory, silence=silence, patience=patience, start=start, trace=trace
        )
        return Session(pool)
    if memory is not None:
        raise QueryError('threads share one memory; a limit for each needs mode="processes"')
    from .backend.threads import ThreadPool

    return Session(ThreadPool(size, patience=patience, trace=trace))


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@face()
class Session:
    """Workers, and the queries that run on them. Use it as a context manager, or `close` it."""

    def __init__(self, pool: Pool) -> None:
        self.workers = pool.size
        self._pool = pool
        self._accounts: deque[Account] = deque(maxlen=_REMEMBERED)
        self._running: weakref.WeakSet[Query] = weakref.WeakSet()  # and others that somebody holds
        self._store = PackageStore()

    def upload(self, path: str | os.PathLike[str]) -> Package:
        """Puts a folder with Python modules and data, or a wheel, on every worker's path, for the
        runs to come. It is known by its content: what has changed is sent anew, what has not is
        there already. A module `treemill_setup` in it is run once per worker, before anything
        else. For sessions with `mode="processes"`; threads import what this process can."""
        package = self._store.add(path)
        self._pool.set_paths([each.path for each in self._store])
        return package

    def remove(self, name: str) -> None:
        """Takes a package off the workers' path."""
        self._store.remove(name)
        self._pool.set_paths([each.path for each in self._store])

    @property
    def packages(self) -> tuple[Package, ...]:
        """What was uploaded."""
        return tuple(self._store)

    @property
    def queries(self) -> tuple[Account, ...]:
        """The last hundred queries of this session, oldest first, finished or not: the title,
        progress and report of each. Results live as long as the caller holds them."""
        return tuple(self._accounts)

    @property
    def report(self) -> Any:
        """The report of the query that was started last; None before the first."""
        return self._accounts[-1].report if self._accounts else None

    @typed
    def run(
        self,
        *what: Any,
        inputs: Mapping[str, Any] | None = None,
        progress: bool | None = None,
        feedback: Feedback | None = None,
        on_error: str = "stop",
        entries: Any = None,
        max_files: int | None = None,
        cycles: int | None = None,
        seed: int = 0,
        schema: Any = None,
        **others: Any,
    ) -> Any:
        """Computes the bookings that it is given, and no others, and gives back their values, a
        tuple of them if there are several. Bookings may be in dicts, lists and tuples, in one
        another; the values then come in the same: `run({"dy": dy.count(), "tt": tt.count()})`.
        Those of one dataset are done in one pass (after a first one for automatic ranges).

        Or runs a selector: `run(DiMuon(), events, inputs={"cut": 20})` gives back its merged
        output. It may be a `treemill.Selector`, a function of a chunk of events that gives a dict,
        or a coffea processor. On a node, `run(DiMuon(), events.filter("nMuon >= 2"))`, it sees the
        entries that arrive there and the columns that were defined. A fileset of coffea's is a
        dataset, too (docs/coffea.md). Instead of a dataset, `cycles=` is how often to generate
        something.

        `inputs`: what the selector's methods get; sent to workers once.
        `progress`: show a progress bar, one for all datasets; None: after 0.3 s on a terminal and
        in notebooks, or at once where many short runs follow one another on a terminal.
        `feedback`: called about every second with the values, or the output, so far; or the name of
        a histogram among them (True: the first one), which is drawn under the progress bar.
        `on_error`: "stop" raises the first error; "skip" leaves out the entries that cannot be read
        or processed (`session.report` names them).
        `entries`, `max_files`: go through a part of the dataset: a number of entries, a pair
        (start, stop) or a range over the whole chain; the first files.
        `seed`: of the selector's `self.rng`.
        `schema`: one of coffea's, which makes the selector's events (NanoAODSchema those of its
        processors); docs/coffea.md.

        Ctrl-C ends the query within a batch and raises QueryInterrupted, a KeyboardInterrupt with
        `partial_result` and `report`; a second one does not wait for the workers.
        """
        refuse(others)
        options = RunOptions(inputs, on_error, entries, max_files, cycles, seed, schema)
        if _is_selector(what):
            with hearing() as news:
                query = self._select(what, options)
                with closing(Watch(query, progress, feedback)) as watch:
                    return wait(query, news, watch)
        options.for_bookings()
        groups = _by_dataset(what)
        if options.whole:  # else values that are there are no part's
            groups = [todo for group in groups if (todo := [b for b in group if not b.done])]
        values = self._computed(groups, options, progress, feedback)

        def value(booking: Booking) -> Any:
            if booking.number in values:
                return values[booking.number]
            return booking.value

        return mapped(what[0] if len(what) == 1 else what, value)

    def _computed(
        self,
        groups: Sequence[Sequence[Booking]],
        options: RunOptions,
        progress: bool | None,
        feedback: Feedback | None,
    ) -> dict[int, Any]:
        """Values by the bookings' numbers. Each group is of one dataset."""
        values: dict[int, Any] = {}
        if not groups:
            return values
        chains = [group[0].node.origin.chain for group in groups]
        together = Together([(each.name, len(each.files)) for each in chains])
        watch: Watch | None = None
        try:
            for group in groups:
                with hearing() as news:
                    query = self._start(BookedQuery(group, self._pool, options))
                    together.start(query)
                    if watch is None:
                        watch = Watch(together if len(groups) > 1 else query, progress, feedback)
                    found = wait(query, news, watch)
                values |= {each.number: value for each, value in zip(group, found, strict=True)}
        finally:
            if watch is not None:
                watch.close()
        return values

    def submit(
        self,
        *what: Any,
        inputs: Mapping[str, Any] | None = None,
        feedback: Feedback | None = None,
        on_error: str = "stop",
        entries: Any = None,
        max_files: int | None = None,
        cycles: int | None = None,
        seed: int = 0,
        schema: Any = None,
        **others: Any,
    ) -> Query:
        """Starts a selector, or bookings of one dataset, and returns at once; `.result()` of the
        handle gives what `run` would, always a tuple for bookings. `feedback` as for `run`; a
        function is called on a thread of its own."""
        refuse(others)
        options = RunOptions(inputs, on_error, entries, max_files, cycles, seed, schema)
        query = self._started(what, options)
        if feedback:
            watch_aside(query, Watch(query, None if not callable(feedback) else False, feedback))
        return query

    def _started(self, what: Sequence[Any], options: RunOptions) -> Query:
        if _is_selector(what):
            return self._select(what, options)
        options.for_bookings()
        groups = _by_dataset(what)
        if len(groups) != 1:
            raise QueryError(f"submit() takes bookings of one dataset, not of {len(groups)}")
        return self._start(BookedQuery(groups[0], self._pool, options))

    def close(self) -> None:
        """Stops what runs and ends the workers."""
        for query in list(self._running):
            query.stop("the session was closed")
        self._pool.close()
        self._store.close()

    def _select(self, what: Sequence[Any], options: RunOptions) -> Query:
        from .selected import SelectorQuery
        from .selector import as_selector

        chain, node = _data_of(what, options.cycles)
        selector = as_selector(what[0])
        return self._start(SelectorQuery(selector, chain, self._pool, options, node=node))

    def _start(self, query: Query) -> Query:
        self._accounts.append(query.account)
        self._running.add(query)
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
        return f"<session of {self.workers} {self._pool.kind}>"


def _is_selector(what: Sequence[Any]) -> bool:
    return bool(what) and not isinstance(what[0], Booking) and not is_shape(what[0])


def _data_of(what: Sequence[Any], cycles: int | None) -> tuple[Chain | None, Node | None]:
    if cycles is not None:
        if len(what) != 1:
            raise QueryError("cycles= is instead of a dataset: run(selector, cycles=…)")
        return None, None
    if len(what) == 2 and isinstance(what[1], Bookable):
        data = what[1]
        return data.node.origin.chain, data if isinstance(data, Node) else None
    if len(what) == 2 and (isinstance(what[1], Mapping) or hasattr(what[1], "model_dump")):
        from .chain.chain import chain_of

        return chain_of(what[1]), None
    names = ", ".join(type(each).__name__ for each in what)
    raise QueryError(
        "run() takes bookings, as events.hist(…) and events.count() give them, or a selector and "
        f"a dataset, not {names}"
    )


def _by_dataset(bookings: Sequence[Any]) -> list[list[Booking]]:
    """Groups in order, each booking once."""
    groups: dict[int, tuple[Origin, dict[int, Booking]]] = {}
    for booking in leaves(tuple(bookings)):
        if not isinstance(booking, Booking):
            raise QueryError(
                "run() takes bookings, as events.hist(…) and events.count() give them, "
                f"alone or in dicts, lists and tuples, not {type(booking).__name__}"
            )
        origin = booking.node.origin
        groups.setdefault(id(origin), (origin, {}))[1][booking.number] = booking
    if not bookings:
        raise QueryError("run() needs at least one booking")
    return [list(group.values()) for _, group in groups.values()]


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
    """Computes bookings, or runs a selector, on this machine's cores; see `Session.run`."""
    return default_session().run(*what, **options)
