"""The queries of a Dask cluster for those who run it: lists of them and of the workers, who ends
one, what each worker does. `treemill cluster` prints what is found here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import MissingPackageError, QueryError
from ..pictures.tables import size

if TYPE_CHECKING:
    from ..backends.dask.messages import Listed
    from ..backends.dask.operation import ProcessActivity, WorkerLine
    from ..backends.dask.scheduler_client import SchedulerClient

__all__ = ["ClusterQueries", "age", "dump_lines", "opened", "query_rows", "worker_rows"]


class ClusterQueries:
    """The queries of a cluster, as far as the user may see them: an operator sees all."""

    def __init__(self, scheduler_client: SchedulerClient) -> None:
        self._scheduler_client = scheduler_client

    def queries(self) -> list[Listed]:
        """The queries that run, and those whose results wait for a session; oldest first."""
        listed: list[Listed] = self._scheduler_client.ask("listed")
        return listed

    def stop(self, name: str, reason: str) -> str:
        """Ends a query soon: what is done by then is its result. Gives its title. Raises QueryError
        if there is none of this name."""
        return self._end("stop", name, reason)

    def drop(self, name: str) -> str:
        """Ends a query at once, and drops its result. Gives its title. Raises QueryError if there
        is none of this name."""
        return self._end("drop", name)

    def _end(self, how: str, name: str, *more: object) -> str:
        there = self.queries()
        meant = [each for each in there if each.request.name == name]
        if not meant:
            raise QueryError(
                f"the cluster has no query {name!r} that you may see",
                suggestions=[each.request.name for each in there][:3],
            )
        for each in meant:
            self._scheduler_client.ask(how, each.work, *more)
        return meant[0].request.title

    def drain(self, on: bool) -> int:
        """Lets no new query begin, or (not `on`) lets them again. Gives how many run. For
        operators."""
        running: int = self._scheduler_client.ask("drain", on)
        return running

    def retire(self, workers: Sequence[str]) -> list[str]:
        """Sends workers away, by their addresses, names or hosts, once what they have done is
        saved. Gives their addresses. For operators."""
        gone: list[str] = self._scheduler_client.operate("retire", list(workers))
        return gone

    def workers(self) -> list[WorkerLine]:
        """Dask's workers."""
        found: list[WorkerLine] = self._scheduler_client.operate("workers")
        return found

    def activity(self, held: bool = False, seconds: float = 5.0) -> list[ProcessActivity]:
        """What each worker does now. `held`: with the bytes of results that it holds. For
        operators."""
        found: list[ProcessActivity] = self._scheduler_client.operate("activity", held, seconds)
        return found


@contextmanager
def opened(address: str, timeout: float) -> Iterator[ClusterQueries]:
    """The cluster whose scheduler is at this address. Raises WorkerError if it does not answer."""
    if importlib.util.find_spec("distributed") is None:
        raise MissingPackageError("clusters need distributed: pip install 'treemill[cluster]'")
    from ..backends.dask import dask_client  # start-up
    from ..backends.dask.scheduler_client import SchedulerClient  # start-up

    client = dask_client.opened(address, timeout)
    try:
        scheduler_client = SchedulerClient(client, timeout)
        scheduler_client.installed()
        yield ClusterQueries(scheduler_client)
    finally:
        client.close()


# Tables. Pure.


def age(seconds: float) -> str:
    """A time in the largest units that fit.

    >>> age(5.2), age(200), age(90_000)
    ('5 s', '3 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def query_rows(queries: Sequence[Listed], held: Mapping[str, int] | None) -> list[list[str]]:
    """A line for each query. `held`: the bytes that workers hold of its result, by pass; None: they
    were not asked."""
    rows = []
    for each in queries:
        done = each.entries / each.expected if each.expected else 0.0
        kept = "" if held is None else size(held.get(each.work, 0))
        rows.append(
            [
                each.request.name,
                str(each.request.owner),
                each.state,
                age(each.seconds),
                f"{done:.0%}",
                str(each.workers),
                size(each.bytes_read),
                kept,
                age(each.unwatched),
                each.request.title,
            ]
        )
    return rows


QUERY_HEAD = [
    *("query", "owner", "state", "age", "done", "workers", "read", "result", "asked for", "what")
]
WORKER_HEAD = ["worker", "host", "threads", "CPU %", "memory", "limit", ""]


def worker_rows(workers: Sequence[WorkerLine]) -> list[list[str]]:
    """A line for each worker."""
    return [
        [
            each.address,
            each.host,
            str(each.threads),
            f"{each.cpu:.0f}",
            size(each.memory),
            size(each.limit) if each.limit else "-",
            "leaves" if each.leaving else "",
        ]
        for each in workers
    ]


def dump_lines(activities: Sequence[ProcessActivity], queries: Sequence[Listed]) -> Iterator[str]:
    """What each worker does, with the places in its code."""
    of = {each.work: f"query {each.request.name} of {each.request.owner}" for each in queries}
    for each in activities:
        yield each.address
        if each.silent is not None:
            yield f"  {each.silent}"
        elif not each.threads:
            yield "  has no part in a query"
        for thread in each.threads:
            query = of.get(thread.work, f"pass {thread.work}")
            yield f"  worker {thread.worker} of {query}: {thread.doing}, for {thread.seconds:.1f} s"
            yield from (f"    {call}" for call in thread.stack)
        for work, count in each.held.items():
            if count:
                yield f"  holds {size(count)} of {of.get(work, f'pass {work}')}"
