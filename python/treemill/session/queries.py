"""The queries of a session: the accounts of the last ones, and the queries that can still be asked.
What `run` and `submit` were given is taken apart here, one dataset after another, and waited for.
Thread-safe. Implements the dashboard's `Board`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from .._system.process import Interrupts
from ..backends.base import Pool
from ..errors import QueryError, QueryInterrupted, WorkerError
from ..monitoring.watch import Feedback, SeveralQueries, Watch
from ..query.booking import leaves
from ..query.node import Bookable, Booking, Node, Origin
from ..query.rows import Rows, Snapshot
from .booking_run import BookingRun
from .options import RunOptions
from .query_account import Account
from .run import Query, QueryNews
from .run_checkpoint import QueryCheckpoint, folder_for

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..monitoring.watch import Feedback

__all__ = [
    "Queries",
    "by_dataset",
    "computed_by_dataset",
    "data_of",
    "hearing",
    "is_selector",
    "mapped",
    "wait",
    "watch_aside",
]

# Waits for the end of a query while a `Watch` shows it: on the caller's thread, or on another
# one.

_Result = TypeVar("_Result")

_LONGEST_WAIT = 0.2
"""Seconds for which a thread may sleep. On Windows no signal wakes it; elsewhere a signal does not
that comes after the interpreter's check for signals and before the sleep."""


def hearing() -> Interrupts[QueryNews]:
    """Gives, as a context, a queue into which Ctrl-C puts `QueryNews.INTERRUPT`."""
    return Interrupts(SimpleQueue(), QueryNews.INTERRUPT)


def wait(
    query: Query[_Result],
    news: SimpleQueue[QueryNews],
    watch: Watch,
    meanwhile: Callable[[], None] | None = None,
) -> _Result:
    """Waits for the end of the query and returns its result. Shows the query by `watch`, which the
    caller closes. `QueryNews.INTERRUPT` stops the query; the second one aborts it. `meanwhile` is
    called once workers are at work."""
    interrupted = False
    try:
        query.watch(news, QueryNews.AT_WORK, QueryNews.DONE)
        while True:
            try:
                word = news.get(timeout=min(watch.delay(), _LONGEST_WAIT))
            except Empty:
                watch.tick()
                query.tell()
                continue
            if word is QueryNews.DONE:
                break
            if word is QueryNews.AT_WORK:
                query.prepare()
                if meanwhile is not None:
                    meanwhile()
                continue
            if interrupted:
                query.abort("interrupted twice")
            else:
                interrupted = True
                query.stop("interrupted")
    except BaseException:
        query.stop("interrupted")
        raise
    if not interrupted:
        return query.final()
    query.drop()
    raise QueryInterrupted(
        f"interrupted; {query.report}", partial_result=query.snapshot(), report=query.report
    )


def watch_aside(query: Query, watch: Watch) -> None:
    """Shows the query by `watch` on a thread of its own, until the query's end."""
    news: SimpleQueue[QueryNews] = SimpleQueue()
    query.watch(news, QueryNews.DONE)

    def look() -> None:
        try:
            while True:
                try:
                    news.get(timeout=min(watch.delay(), _LONGEST_WAIT))
                    return
                except Empty:
                    watch.tick()
        finally:
            watch.close()

    threading.Thread(target=look, name="treemill-watch", daemon=True).start()


Started = TypeVar("Started", bound=Query)

_REMEMBERED = 100
"""Queries of which a session keeps the account."""


class Queries:
    """A session's queries."""

    def __init__(self, named: Callable[[], str]) -> None:
        """`named`: gives the session in a few words."""
        self.named = named
        self._process = os.getpid()
        self._accounts: deque[Account] = deque(maxlen=_REMEMBERED)
        self._there: weakref.WeakSet[Query] = weakref.WeakSet()  # ended ones may be in it
        self._lock = threading.Lock()

    def add(self, query: Query) -> None:
        """Adds the newest query. Raises WorkerError in a process that was forked from the
        session's: threads do not come along, so that the query would never end."""
        if os.getpid() != self._process:
            raise WorkerError(
                "this session was made before this process was forked, and its workers are in the "
                "other process: make another one here by treemill.connect()"
            )
        query.account.reading.prepare()
        with self._lock:
            self._accounts.append(query.account)
            self._there.add(query)

    def start(self, query: Started, feedback: Feedback | None) -> Started:
        """Adds the newest query, and starts its first pass. `feedback`: the name of the histogram
        that the user has chosen to see while it runs, if it is one."""
        query.account.feedback = feedback if isinstance(feedback, str) else None
        self.add(query)
        try:
            query.start()
        except BaseException:
            query.account.end("failed")  # no pass will end it
            query.account.settle()
            raise
        return query

    def accounts(self) -> Sequence[Account]:
        """The accounts of the last hundred queries, oldest first."""
        with self._lock:
            return tuple(self._accounts)

    def there(self) -> Sequence[Query]:
        """The queries that run, and those that the caller holds."""
        with self._lock:
            return list(self._there)

    def live(self, name: str) -> Query | None:
        """The query with this id, if it is still there."""
        return next((query for query in self.there() if query.id == name), None)

    def trace_page(self, name: str) -> str | None:
        """The report of the trace of a query that has ended, as an HTML page; None if there is no
        such query, or it has no trace."""
        account = next((each for each in self.accounts() if each.id == name), None)
        if account is None or not account.done or account.recorded is None:
            return None
        from ..monitoring.offline_page import page  # start-up
        from ..monitoring.summary import summary  # start-up

        recorded = account.recorded(account)
        return page(summary(recorded)) if recorded.last_phase.rows else None


# What the user gave to `run` or `submit`: bookings, in groups of one dataset each, or a selector
# and its data. Knows no worker and no query that runs.

# Values in dicts, lists and tuples, in one another, and the same shape with other values. Pure.


def is_shape(value: object) -> bool:
    """True if it is a dict, a list or a tuple."""
    return isinstance(value, Mapping | list | tuple)


def mapped(value: object, change: Callable[[object], object]) -> object:
    """Dicts, lists and tuples as they are in `value`, with what `change` makes of each leaf."""
    if isinstance(value, Mapping):
        return {key: mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        changed = [mapped(each, change) for each in value]
        return changed if isinstance(value, list) else tuple(changed)
    return change(value)


def is_selector(what: Sequence[object]) -> bool:
    """True if a selector was given."""
    return bool(what) and not isinstance(what[0], Booking) and not is_shape(what[0])


def data_of(
    what: Sequence[object], cycles: int | None, *, with_missing: bool
) -> tuple[Chain | None, Node | None]:
    """The dataset of a selector, and the place in its query. Raises QueryError."""
    if cycles is not None:
        if len(what) != 1:
            raise QueryError("cycles= is instead of a dataset: run(selector, cycles=…)")
        return None, None
    if len(what) == 2 and isinstance(what[1], Bookable):
        data = what[1]
        return data.node.origin.chain, data if isinstance(data, Node) else None
    if len(what) == 2 and (isinstance(what[1], Mapping) or hasattr(what[1], "model_dump")):
        from ..data.chain import chain_of  # start-up

        return chain_of(what[1], with_missing=with_missing), None
    names = ", ".join(type(each).__name__ for each in what)
    raise QueryError(
        "run() takes bookings, as events.hist(…) and events.count() give them, or a selector and "
        f"a dataset, not {names}"
    )


def as_one(groups: Sequence[Sequence[Booking]]) -> SeveralQueries:
    """Returns what shows the queries of several datasets as one."""
    chains = [group[0].node.origin.chain for group in groups]
    return SeveralQueries([(each.name, len(each.files)) for each in chains])


def by_dataset(bookings: Sequence[object]) -> list[list[Booking]]:
    """The bookings in groups, in order and each once. Raises QueryError for what is no booking, and
    for two that would write the same file."""
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
    grouped = [list(group.values()) for _, group in groups.values()]
    files = [each for group in grouped for each in group if isinstance(each.wanted, Snapshot)]
    if len(files) > 1:
        from .booked_files import check_paths  # start-up

        check_paths(files)
    return grouped


# Bookings of several datasets, one dataset after the other, shown as one query.


def _rows_apart(groups: Sequence[Sequence[Booking]]) -> list[list[Booking]]:
    """The groups of bookings, each without those that give rows, which are groups of their own
    after it: the others can be remembered. What may differ from pass to pass stays together, and
    files on servers, which would be fetched twice."""
    from .remembered import is_certain  # start-up

    apart = list[list[Booking]]()
    for group in groups:
        rows = [booking for booking in group if isinstance(booking.wanted, Rows)]
        others = [booking for booking in group if not isinstance(booking.wanted, Rows)]
        if rows and others and not group[0].node.origin.chain.trees.far and is_certain(group):
            apart += [others, rows]
        else:
            apart.append([*group])
    return apart


def computed_by_dataset(
    groups: Sequence[Sequence[Booking]],
    options: RunOptions,
    pool: Pool,
    started: Queries,
    progress: bool | None,
    feedback: Feedback | None,
) -> dict[int, object]:
    """Values by the bookings' numbers. Each group is of one dataset. If results are remembered,
    rows take a pass of their own. `started` takes the queries that begin. Raises QueryError if one
    trace is asked for of several queries."""
    if options.values["trace"] is not None and len(groups) > 1:
        raise QueryError(
            f"trace= is for one dataset, and the bookings are of {len(groups)}: run each dataset's "
            "bookings with a trace of their own"
        )
    values: dict[int, object] = {}
    if not groups:
        return values
    is_one_pass = options.values["trace"] is not None or options.values["checkpoint"] is not None
    if pool.keeps_results and not is_one_pass and options.results_folder() is not None:
        groups = _rows_apart(groups)
    together = as_one(groups) if len(groups) > 1 else None
    folder = (
        None
        if options.values["checkpoint"] is None
        else folder_for(options.values["checkpoint"], pool)
    )
    watch: Watch | None = None

    def kept(number: int) -> QueryCheckpoint | None:
        return None if folder is None else QueryCheckpoint(folder, number)

    runs = (BookingRun(group, pool, options, kept(i)) for i, group in enumerate(groups))
    try:
        following = next(runs, None)
        while following is not None:
            computes, following = following, next(runs, None)
            query = Query(computes, pool, options)
            with hearing() as news:
                started.start(query, feedback)
                if together is not None:
                    together.start(query)
                if watch is None:
                    watch = Watch(together or query, progress, feedback)
                ahead = None if following is None else following.compile_ahead
                results = wait(query, news, watch, ahead)
            booked = zip(computes.bookings, results, strict=True)
            values |= {each.number: value for each, value in booked}
    finally:
        if watch is not None:
            watch.close()
    return values
