"""Sessions as users get them: `connect` makes one, and `run` has the default one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._system.processor import available_cores
from ..errors import QueryError
from ..monitoring.watch import Feedback
from ..public_api import short_errors
from .options import RunKeywords, RunOptions, typed, with_options
from .session import Session, default_session

if TYPE_CHECKING:
    from typing import TypeAlias, Unpack

    from ..backends.base import Pool
    from ..backends.dask.pool import Certificates, DaskAddress
    from ..monitoring.report import Report

    Sites: TypeAlias = Mapping[Any, "Address"] | Sequence["Address"]
    Address: TypeAlias = DaskAddress | Session | Sites
    Reach: TypeAlias = Mapping[str, str | Sequence[str]]

__all__ = ["connect", "report", "run"]


@short_errors
def connect(
    address: Address | None = None,
    *,
    workers: int | None = None,
    mode: str = "threads",
    memory: int | None = None,
    silence: float = 60.0,
    patience: float = 10.0,
    start: str | None = None,
    trace: int = 0,
    security: Certificates | None = None,
    reach: Reach | None = None,
    wait: float = 60.0,
    keep: float = 86400.0,
    most: int | None = None,
    on_host: int | None = None,
) -> Session:
    """Make a session with local workers, which needs no daemon. With an address, the session uses
    the workers of a Dask cluster.

    Parameters
    ----------
    address
        A Dask cluster: the address of its scheduler ("tcp://host:8786"), a `distributed.Client` or
        a cluster object; None: this machine. Needs `treemill[cluster]`. Several of these, or
        sessions, in a list or by name in a dictionary: sites with data of their own or with
        replicas, which work on one query together. A site may be such a list, too. If a site cannot
        open a file, the other sites get it (docs/sites.md).
    workers
        The number of workers; None: one per core.
    mode
        "threads" of this process, for queries, and for selectors that release the GIL; or
        "processes", forked for each run from a template that has loaded everything, for selectors
        in Python. Threads share the data that this process keeps in memory (`treemill.cache`);
        processes live for one run and keep no data.
    memory
        Bytes that each process may take in addition to the memory of the template; None: no limit.
    silence
        Seconds after which treemill gives up a process that gives no sign of life, and seconds that
        a process may take to load something.
    patience
        Seconds for which `stop`, Ctrl-C and `close` wait for the user's code. After that treemill
        kills a process. It leaves a thread behind and names it in a warning, because Python cannot
        end a thread. The entries that the worker has not committed are missing in the result, and
        the report names them.
    start
        "fork"; or "spawn", which starts each worker as a program of its own. "spawn" is slower and
        shares no memory, but works on systems whose libraries do not work after a fork (macOS).
    trace
        The number of records that the report of a query keeps of its workers' events and actions
        (`report.trace`): 10,000 take some MB. Reports of several sites have none;
        `run(trace="trace.root")` writes a trace of theirs, too.
    security
        A `distributed.Security` with the certificates for a cluster that uses TLS.
    reach
        For several sites: a mapping from the name of a site, or its number in the list ("0"), to
        patterns of names of files (`"root://eos.cern.ch/*"`). Only the sites with a matching
        pattern read such files.
    wait
        Seconds for which a query waits for a worker if the cluster has none.
    keep
        Seconds for which a cluster keeps the result of a query that its owner has not fetched, or
        of which `query.key` was asked for.
    most
        The number of a cluster's workers that may take part in a query; None: all.
    on_host
        The same for each host.

    Returns
    -------
    Session
        A context manager.

    Raises
    ------
    QueryError
        If an option makes no sense.
    UnsupportedError
        If a package is missing or too old, here or on the cluster.
    WorkerError
        If no scheduler answers.

    Examples
    --------
    >>> with tm.connect(workers=2) as session:
    ...     session.run(events.count()) == events.num_entries
    True
    """
    if not isinstance(mode, str) or mode not in ("threads", "processes"):
        raise QueryError(f'mode is "threads" or "processes", not {mode!r}')
    if workers is not None and not _is_whole(workers, 1):
        raise QueryError(f"workers must be 1 or more, not {workers!r}")
    if memory is not None and not _is_whole(memory, 1):
        raise QueryError(f"memory is a number of bytes, not {memory!r}")
    for name, seconds in (
        *(("silence", silence), ("patience", patience)),
        *(("wait", wait), ("keep", keep)),
    ):
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
            raise QueryError(f"{name} is a number of seconds, not {seconds!r}")
    if start is not None and (not isinstance(start, str) or start not in ("fork", "spawn")):
        raise QueryError(f'start is "fork" or "spawn", not {start!r}')
    if not _is_whole(trace, 0):
        raise QueryError(f"trace is a number of records, not {trace!r}")
    for name, number in (("most", most), ("on_host", on_host)):
        if number is not None and not _is_whole(number, 1):
            raise QueryError(f"{name} must be 1 or more, not {number!r}")
        if number is not None and address is None:
            raise QueryError(
                f"{name}= is for clusters; workers= is the number of workers on this machine"
            )
    if security is not None and address is None:
        raise QueryError("security= is for clusters: connect(address, security=…)")
    for name, given in (("mode", mode != "threads"), ("memory", memory), ("start", start)):
        if given and address is not None:
            raise QueryError(
                f"{name}= is for workers on this machine: the workers of a cluster keep the "
                "settings with which they were started"
            )
    if address is not None:
        from ..backends.dask.messages import Limits  # start-up
        from ..backends.dask.pool import connected  # start-up
        from ..backends.sites.pool import FederatedPool  # start-up

        def together(sites: Sites, reach: Reach | None = None) -> Pool:
            named = sites if isinstance(sites, Mapping) else dict(enumerate(sites))
            return FederatedPool({str(name): pool_of(site) for name, site in named.items()}, reach)

        def pool_of(site: Address) -> Pool:
            if isinstance(site, Session):
                return site._pool
            if isinstance(site, list | tuple | dict):
                return together(site)
            return connected(
                site,
                security,
                workers=workers,
                silence=silence,
                patience=patience,
                wait=wait,
                keep=keep,
                trace=trace,
                limits=Limits(most, on_host),
            )

        if isinstance(address, list | tuple | dict):
            return Session(together(address, reach))
        return Session(pool_of(address))
    if reach is not None:
        raise QueryError("reach= is for several sites: connect([a, b], reach={...})")
    size = workers or available_cores()
    if mode == "processes":
        from ..backends.processes.pool import ProcessPool  # start-up

        pool = ProcessPool(
            size, memory=memory, silence=silence, patience=patience, start=start, trace=trace
        )
        return Session(pool)
    if memory is not None:
        raise QueryError('memory= needs mode="processes": threads share the memory of one process')
    from ..backends.threads import ThreadPool  # start-up

    return Session(ThreadPool(size, patience=patience, trace=trace))


def _is_whole(number: object, least: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= least


@typed
@short_errors
@with_options
def run(
    *what: object,
    progress: bool | None = None,
    feedback: Feedback | None = None,
    **options: Unpack[RunKeywords],
) -> object:
    """Compute bookings, or run a selector, on this machine's cores.

    The first call makes a session with one thread for each core.

    Parameters
    ----------
    *what, progress, feedback
        As for `Session.run`.
    {options}

    Returns
    -------
    object
        As `Session.run`.

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
    return default_session().compute(what, RunOptions(**options), progress, feedback)


@short_errors
def report() -> Report | None:
    """Get the report of the last run on this machine's cores.

    It describes the last run of `treemill.run` or of a booking's `value`. A session that `connect`
    makes has its own report, `session.report`.

    Returns
    -------
    Report
        It says which entries are in the result, which are missing and why (`report().missing`), and
        has the rates. It is None before the first run.

    Examples
    --------
    >>> n = tm.run(events.count())
    >>> tm.report().complete
    True
    """
    return default_session().report
