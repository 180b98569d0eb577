"""A session: the user's handle on workers, which are threads of this process or processes, and the
packages that they have got; and the session that there is by default.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .._system.processor import available_cores
from ..backends.base import Pool, RemoteQuery
from ..errors import QueryError, SourceError
from ..frozen import frozen
from ..monitoring.watch import Feedback, Watch, check_watched
from ..public_api import public_class
from ..query.node import Booking
from .options import RunKeywords, RunOptions, typed, with_options
from .queries import Queries, by_dataset, data_of, hearing, is_selector, mapped, wait, watch_aside
from .query_account import Account, begin_run
from .run import Query

if TYPE_CHECKING:
    from typing import Unpack

    from ..monitoring.report import Report
    from ..monitoring.server import Dashboard
    from .run_checkpoint import QueryCheckpoint

__all__ = ["Session", "default_session"]

# Packages for workers, as PROOF's PAR files: a folder with modules and data, or a wheel. The name
# of a package's copy is made from its content, so that workers never meet an old one. Knows files
# only; knows no session and no worker.

_LEFT_OUT = {"__pycache__", ".git"}


@frozen
class Package:
    """A package as workers get it."""

    name: str
    digest: str
    """The hash of its content, hexadecimal."""
    path: str
    """Where its copy is: this folder comes first in workers' sys.path."""


class PackageStore:
    """The packages of one session, copied into a folder that `close` removes."""

    def __init__(self, tell: Callable[[Sequence[str]], None]) -> None:
        """`tell` gets the folders for workers' paths, and may refuse them."""
        self._tell = tell
        self._folder: str | None = None
        self._packages: dict[str, Package] = {}

    def add(self, path: str | os.PathLike[str]) -> Package:
        """Copies the package, unless the same content is there; it replaces one of the same name.
        Raises SourceError if there is no such package, and what `tell` raises."""
        source = Path(path)
        if source.is_dir():
            files = [(str(p.relative_to(source)), p.read_bytes()) for p in _files(source)]
        elif source.suffix == ".whl" and zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as wheel:
                names = [name for name in wheel.namelist() if not name.endswith("/")]
                files = [(name, wheel.read(name)) for name in names]
        else:
            raise SourceError(f"neither a folder nor a wheel: {source}", file=str(source))
        name = source.name.split("-")[0] if source.suffix == ".whl" else source.resolve().name
        digest = _digest(files)
        known = self._packages.get(name)
        if known is not None and known.digest == digest:
            return known
        # A folder with an __init__.py is a package; others hold modules.
        inner = name if any(each == "__init__.py" for each, _ in files) else ""
        package = Package(name, digest, self._write(digest, inner, files))
        self._change({**self._packages, name: package})
        return package

    def remove(self, name: str) -> None:
        """Removes the copy of the package. Raises QueryError if there is none of this name."""
        package = self._packages.get(name)
        if package is None:
            raise QueryError(f"no package {name!r} was uploaded", suggestions=list(self._packages))
        self._change({other: each for other, each in self._packages.items() if other != name})
        shutil.rmtree(package.path, ignore_errors=True)

    def _change(self, packages: dict[str, Package]) -> None:
        self._tell([each.path for each in packages.values()])
        self._packages = packages

    def __iter__(self) -> Iterator[Package]:
        return iter(self._packages.values())

    def close(self) -> None:
        """Removes all copies."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _write(self, digest: str, inner: str, files: list[tuple[str, bytes]]) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="treemill-packages-")
        target = Path(self._folder, digest[:16])
        root = (target / inner).resolve()
        for name, data in files:
            path = (root / name).resolve()
            if not path.is_relative_to(root):
                raise SourceError(f"a file of the package lies outside of it: {name}", file=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return str(target)


def _files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(folder).parts)
    )


def _digest(files: list[tuple[str, bytes]]) -> str:
    sums = hashlib.sha256()
    for name, data in sorted(files):
        sums.update(f"{len(name.encode())}:{name}:{len(data)}:".encode())
        sums.update(data)
    return sums.hexdigest()


logging.getLogger("treemill").addHandler(logging.NullHandler())
_log = logging.getLogger(__name__)


@public_class("compute")
class Session:
    """Workers, and the queries that run on them. Use it as a context manager, or `close` it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._queries = Queries(lambda: f"{pool.size} {pool.kind}")
        self._store = PackageStore(pool.set_paths)
        self._dashboard: Dashboard | None = None
        self._is_closed = False
        _log.info("session opened: %d %s", pool.size, pool.kind)

    @property
    def workers(self) -> int:
        """The number of workers; on a cluster, of those that are there now."""
        return self._pool.size

    def upload(self, path: str | os.PathLike[str]) -> Package:
        """Put a folder with Python modules and data, or a wheel, on the path of every worker for
        later runs.

        treemill identifies a package by its content, and sends it again if the content has changed.
        If it contains a module `treemill_setup`, each worker runs this module once before anything
        else. Packages are for sessions with `mode="processes"` and for clusters; threads import the
        modules that this process can import.

        Parameters
        ----------
        path
            The folder or wheel.

        Returns
        -------
        Package
            The name of the package and the hash of its content.

        Raises
        ------
        SourceError
            If the folder does not exist.
        UnsupportedError
            If the workers are threads.

        Examples
        --------
        >>> import pathlib
        >>> pathlib.Path("mine").mkdir(exist_ok=True)
        >>> _ = pathlib.Path("mine/helper.py").write_text("CUT = 20")
        >>> with tm.connect(workers=1, mode="processes") as session:
        ...     session.upload("mine").name
        'mine'
        """
        return self._store.add(path)

    def remove(self, name: str) -> None:
        """Take a package off the workers' path.

        Parameters
        ----------
        name
            The name that `upload` gave.

        Raises
        ------
        QueryError
            If no package has this name.

        Examples
        --------
        >>> import pathlib
        >>> pathlib.Path("mine").mkdir(exist_ok=True)
        >>> with tm.connect(workers=1, mode="processes") as session:
        ...     package = session.upload("mine")
        ...     session.remove(package.name)
        """
        self._store.remove(name)

    @property
    def packages(self) -> tuple[Package, ...]:
        """The packages that were uploaded and not removed."""
        return tuple(self._store)

    @property
    def queries(self) -> tuple[Account | RemoteQuery, ...]:
        """The last hundred queries of this session, oldest first, finished or not: the title,
        state ("running", "stopped", "aborted", "failed" or "done"), progress and report of each.
        Results live as long as the caller holds them. On a cluster, your queries of other sessions
        come after them. Each query has an `id`, which `attach` takes, a `title`, a `state` and an
        `owner`."""
        mine = {account.id: account for account in self._queries.accounts()}
        return (*mine.values(), *(kept for kept in self._pool.kept() if kept.id not in mine))

    def attach(self, id: str) -> Query:  # noqa: A002 - what users call it
        """Continue with a query that another session has started on this cluster.

        Parameters
        ----------
        id
            The `query.id` of your query, which `session.queries` lists. For the query of another
            user, the `query.key` of that user's handle.

        Returns
        -------
        Query
            Its `result()` gives the result that the other session would have got. Values of
            bookings come in their order, and `end` of a selector runs in this process.

        Raises
        ------
        QueryError
            If the cluster does not have this query (any more), if it belongs to another user, or if
            the session is not on a cluster.

        Examples
        --------
        >>> with tm.connect(workers=1) as session:
        ...     session.attach("0123456789ab")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        treemill.errors.QueryError: no query '0123456789ab': only clusters keep queries ...
        """
        query, task, attach = self._pool.attach(id)
        assert isinstance(query, Query)
        self._queries.add(query)
        query.resume(self._pool, task, attach)
        return query

    @property
    def report(self) -> Report | None:
        """The report of the query that was started last; None before the first."""
        accounts = self._queries.accounts()
        return accounts[-1].report if accounts else None

    @typed
    @with_options
    def run(
        self,
        *what: object,
        progress: bool | None = None,
        feedback: Feedback | None = None,
        **options: Unpack[RunKeywords],
    ) -> object:
        """Compute bookings, or run a selector.

        A run computes only the given bookings. One pass computes all bookings of one dataset. If an
        axis finds its range by itself, another pass comes before. Ctrl-C ends the query within a
        batch and raises QueryInterrupted, a KeyboardInterrupt with `partial_result` and `report`; a
        second Ctrl-C does not wait for the workers.

        Parameters
        ----------
        *what
            Bookings, alone or in nested dicts, lists and tuples; or a selector and a dataset, a
            node or a fileset in coffea's form. A selector is a `treemill.Selector`, a function that
            takes a chunk of events and returns a dict, or a coffea processor (docs/coffea.md).
        progress
            Show a progress bar, one for all datasets; None: after 0.3 s on a terminal and in
            notebooks, or at once if many short runs follow one another on a terminal.
        feedback
            A function that is called about every second with the values, or the output, so far; or
            the name of a histogram among them (True: the first one), which is drawn under the
            progress bar.
        {options}

        Returns
        -------
        object
            The value of a single booking, a tuple of the values of several, or the containers of
            the bookings with the values in their places. A selector gives its merged output, or the
            value that its `end` returns.

        Raises
        ------
        QueryError
            If an argument makes no sense. For an option of coffea's Runner, the error says what to
            write in treemill.
        WorkerError
            If the user's code fails.
        SourceError, FormatError, UnsupportedError
            For files that cannot be read.
        QueryInterrupted
            After Ctrl-C.

        Examples
        --------
        >>> n, pt = tm.run(events.count(), events.hist("Muon_pt", bins=(50, 0, 100)))
        >>> tm.run({"all": events.count()})["all"] == n
        True
        >>> tm.run(lambda chunk: {"n": len(chunk)}, events)["n"] == n
        True
        """
        return self.compute(what, RunOptions(**options), progress, feedback)

    @with_options
    def submit(
        self,
        *what: object,
        feedback: Feedback | None = None,
        **options: Unpack[RunKeywords],
    ) -> Query:
        """Start a selector, or bookings of one dataset, and return at once.

        Parameters
        ----------
        *what
            Bookings of one dataset, or a selector and its data, as for `run`.
        feedback
            As for `run`. A function runs on a thread of its own.
        {options}

        Returns
        -------
        Query
            Its `result()` gives the same as `run`, but always a tuple for bookings.

        Raises
        ------
        QueryError
            If an argument makes no sense. `result()` raises other errors.

        Examples
        --------
        >>> with tm.connect(workers=2) as session:
        ...     query = session.submit(events.count())
        ...     query.result() == (events.num_entries,)
        True
        """
        check_watched(None, feedback)
        query = self._submitted(what, RunOptions(**options), feedback)
        if feedback:
            watch_aside(query, Watch(query, None if not callable(feedback) else False, feedback))
        return query

    def compute(
        self,
        what: Sequence[object],
        options: RunOptions,
        progress: bool | None = None,
        feedback: Feedback | None = None,
    ) -> object:
        """Returns what `run` gives."""
        check_watched(progress, feedback)
        begin_run()
        if is_selector(what):
            with hearing() as news:
                query = self._select(what, options, feedback)
                with closing(Watch(query, progress, feedback)) as watch:
                    return wait(query, news, watch)
        from .queries import computed_by_dataset  # start-up

        options.for_bookings()
        groups = by_dataset(what)
        if options.whole:  # of a part of the data, a booking's value says nothing
            groups = [todo for group in groups if (todo := [b for b in group if not b.done])]

        values = computed_by_dataset(groups, options, self._pool, self._queries, progress, feedback)

        def value(booking: object) -> object:
            assert isinstance(booking, Booking)  # _by_dataset has refused everything else
            known = booking.number in values
            return values[booking.number] if known else booking.value

        return mapped(what[0] if len(what) == 1 else tuple(what), value)

    def _submitted(
        self, what: Sequence[object], options: RunOptions, feedback: Feedback | None
    ) -> Query:
        begin_run()
        if is_selector(what):
            return self._select(what, options, feedback)
        from .booking_run import BookingRun  # start-up

        options.for_bookings()
        groups = by_dataset(what)
        if len(groups) != 1:
            raise QueryError(f"submit() takes bookings of one dataset, not of {len(groups)}")
        kept = self._kept(options)
        computes = BookingRun(groups[0], self._pool, options, kept)
        return self._queries.start(Query(computes, self._pool, options), feedback)

    def _kept(self, options: RunOptions) -> QueryCheckpoint | None:
        if options.values["checkpoint"] is None:
            return None
        from .run_checkpoint import QueryCheckpoint, folder_for  # start-up

        return QueryCheckpoint(folder_for(options.values["checkpoint"], self._pool), 0)

    def dashboard(self, host: str = "127.0.0.1", port: int = 0) -> Dashboard:
        """Serve a page for the browser that shows the queries of this session while they run.

        The page shows progress, rates, workers and the histograms so far, and has buttons that stop
        or abort a query (docs/dashboard.md). Only people who know its address can see and use it.

        Parameters
        ----------
        host
            The address of this machine by which other machines reach the page. With the default,
            only this machine reaches it.
        port
            The port of the page; 0: any free port.

        Returns
        -------
        Dashboard
            Its `url` is the page's address. A session has one page; it ends with the session.

        Raises
        ------
        OSError
            If the port is taken.

        Examples
        --------
        >>> with tm.connect(workers=1) as session:
        ...     session.dashboard().url  # doctest: +ELLIPSIS
        'http://127.0.0.1:.../?token=...'
        """
        from ..monitoring.server import Dashboard  # start-up

        if self._dashboard is None:
            self._dashboard = Dashboard(self._queries, host, port)
        return self._dashboard

    def close(self) -> None:
        """Stop the running queries, and end the workers. A cluster and the queries on it go on.

        Examples
        --------
        >>> session = tm.connect(workers=1)
        >>> session.close()
        """
        if not self._pool.outlive:
            for query in self._queries.there():
                query.stop("the session was closed")
        if self._dashboard is not None:
            self._dashboard.close()
        self._pool.close()
        self._store.close()
        if not self._is_closed:
            _log.info("session closed")
        self._is_closed = True

    def _select(
        self, what: Sequence[object], options: RunOptions, feedback: Feedback | None
    ) -> Query:
        from ..workers.selector import as_selector  # start-up
        from .selector_run import SelectorRun  # heavy: numpy

        chain, node = data_of(what, options.values["cycles"], with_missing=options.skip_errors)
        selector = as_selector(what[0])
        kept = self._kept(options)
        computes = SelectorRun(selector, chain, self._pool, options, node=node, kept=kept)
        return self._queries.start(Query(computes, self._pool, options), feedback)

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


# The session of those who make none, on the cores of this machine.

_default: Session | None = None
_default_lock = threading.Lock()


def _begin_anew() -> None:
    """Forgets the default session in a process that was forked: its threads did not come along."""
    global _default, _default_lock
    _default, _default_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def default_session() -> Session:
    """The session that `treemill.run` and `Booking.value` use: one thread per core."""
    global _default
    with _default_lock:
        if _default is None:
            from ..backends.threads import ThreadPool  # start-up

            _default = Session(ThreadPool(available_cores()))
            atexit.register(_default.close)
        return _default
