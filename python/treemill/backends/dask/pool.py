"""The workers of a Dask cluster as a session's pool: what the session may set, packages, and the
queries that the cluster has. A pass on it is in dask_pass.py.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypedDict

from ...errors import MissingPackageError, QueryError, WorkerError
from ...scheduling import Sizing
from ...workers.task import Task
from ..base import Pass, Pool, RemoteQuery, Request
from .dask_pass import DaskPass
from .messages import UNLIMITED, Limits, Listed
from .resumption import Resumption, checkpoint_name, find_running, into, zipped
from .scheduler_client import SchedulerClient

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["DaskPool", "connected"]

# An order and its answer cost about 1 ms; a packet should be a hundred times longer. Where files or
# clusters are so small that packets are shorter, several are told in one message: those of half a
# second, as long as they are not wanted by others.
SIZING = Sizing(shortest=0.2, longest=2.0, ask=1e-3, merge=5e-3, ahead=1.0)


class DaskPool(Pool):
    """The workers of one cluster, through a distributed.Client."""

    kind = "Dask threads"
    outlive = True
    keeps = True
    keeps_results = True
    limits_memory = True
    remembers = False
    sizing = SIZING

    def __init__(
        self,
        client: Client,
        *,
        owned: bool,
        workers: int | None = None,
        silence: float = 60.0,
        patience: float = 10.0,
        wait: float = 60.0,
        keep: float = 86400.0,
        trace: int = 0,
        limits: Limits = UNLIMITED,
    ) -> None:
        """`owned`: whether `close` closes the client. `workers`: how many are expected; None: as
        many as there are. `limits`: how many may take part."""
        self._client = client
        self._owned = owned
        self.limits = limits
        self._wanted = workers
        self.scheduler_client = SchedulerClient(client, silence)
        hello = self.scheduler_client.install()
        super().__init__(workers or limits.there(hello["threads"]), patience, trace)
        self.silence = silence
        self.wait = wait
        self.keep = keep
        self.packages: dict[str, bytes] = {}
        """The packages that workers need, zipped, by digest."""
        self.closed = False
        self._passes: weakref.WeakSet[DaskPass] = weakref.WeakSet()

    @property
    def size(self) -> int:
        """The number of workers that are expected: those that are there, if the user has not said
        another one."""
        if self._wanted is None:
            self._size = self.limits.there(self.scheduler_client.hello()["threads"])
        return self._size

    def prepare(self, request: Request) -> DaskPass:
        """Makes a pass, which the caller starts."""
        kept = checkpoint_name(request)
        there = None if kept is None else find_running(self.scheduler_client, kept)
        return self.tracked(DaskPass(self, request, *(there or ())))

    def tracked(self, started: DaskPass) -> DaskPass:
        """The pass, of which `close` lets go."""
        self._passes.add(started)
        return started

    def kept(self) -> list[RemoteQuery]:
        """See Pool."""
        return [
            RemoteQuery(
                each.request.name,
                each.request.title,
                each.done,
                each.entries,
                each.expected,
                each.state,
                str(each.request.owner),
            )
            for each in self._listed()
        ]

    def _listed(self) -> list[Listed]:
        """The cluster's passes without those that have ended here, of which it may hear later."""
        works: list[Listed] = self.scheduler_client.ask("listed")
        ended = {each.name for each in list(self._passes) if each.status().committed is not None}
        return [each for each in works if each.work not in ended]

    def attach(self, id_or_key: str) -> tuple[object, Task, Callable[[Request], Pass]]:
        """See Pool."""
        if not isinstance(id_or_key, str):
            raise QueryError(
                "attach() takes the id or the key of a query, which are texts, "
                f"not {id_or_key!r:.60}"
            )
        name, _, secret = id_or_key.partition(".")
        if secret:
            self.scheduler_client.use_key(id_or_key)
        for each in list(self._passes):
            each.released()  # what this session has is listed only if it is to stay
        works: list[Listed] = self.scheduler_client.ask("listed")
        named = [each for each in works if each.request.name == name]
        if not named:
            raise QueryError(
                f"the cluster has no query {name!r} of yours: its result was fetched, or was not "
                "fetched in time, or the scheduler was restarted; for the query of another user "
                "give attach() its key, query.key",
                suggestions=[each.request.name for each in works],
            )
        work, request = named[-1].work, named[-1].request
        if request.recipe is None:
            raise QueryError(
                f"query {name!r} could not be sent: only its own session has its values"
            )
        task: Task = pickle.loads(self._blob(request.task))
        if request.inputs is not None:
            task.inputs = pickle.loads(self._blob(request.inputs))
        query = pickle.loads(self._blob(request.recipe))
        before = Resumption.got(self.scheduler_client, request.before)

        def attached(asked: Request) -> DaskPass:
            return self.tracked(DaskPass(self, asked, work, before, str(request.owner)))

        return query, task, attached

    def _blob(self, digest: str) -> bytes:
        data = self.scheduler_client.get(digest)
        if data is None:
            raise QueryError("the scheduler has dropped the query meanwhile")
        return data

    def set_paths(self, paths: Sequence[str]) -> None:
        """Puts folders on the workers' import path, for the passes to come."""
        self.packages = {}
        for path in paths:
            into(self.packages, zipped(path))

    def close(self) -> None:
        """Leaves the cluster. What runs there continues."""
        self.closed = True
        for running in list(self._passes):
            running.leave()
            if running.status().committed is None:
                with suppress(WorkerError, QueryError):  # it is over, or the scheduler is
                    self.scheduler_client.ask("leave", running.name)
        if self._owned:
            self._client.close()


# What users may give to connect(): an address, a Client or a cluster. Makes the pool of it.

if TYPE_CHECKING:
    from typing import Unpack

    from distributed import Client, Security

    from .messages import Limits

    class Cluster(Protocol):
        """A cluster object of Dask's: LocalCluster, those of dask-jobqueue, dask-gateway …"""

        @property
        def scheduler_address(self) -> str: ...

    DaskAddress: TypeAlias = str | Client | Cluster
    Certificates: TypeAlias = Security


_CONNECT = 8.0


class DaskOptions(TypedDict, total=False):
    """What DaskPool can be told; see there."""

    workers: int | None
    silence: float
    patience: float
    wait: float
    keep: float
    trace: int
    limits: Limits


def connected(address: object, security: object = None, **options: Unpack[DaskOptions]) -> DaskPool:
    """The pool of the cluster at this address."""
    is_address = isinstance(address, str) or hasattr(address, "scheduler_address")
    if not is_address and not hasattr(address, "scheduler"):
        raise QueryError(
            "connect() takes the address of a Dask scheduler (tcp://host:8786), a "
            f"distributed.Client or a cluster object, not {type(address).__name__}"
        )
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingPackageError(
            "clusters need dask's distributed: pip install 'treemill[cluster]'"
        ) from error
    from .dask_client import (
        check_version,  # start-up
        opened,  # start-up
    )

    check_version()
    if isinstance(address, Client):
        if address.asynchronous:
            raise QueryError(
                "connect() cannot use an asynchronous Client: give it the address of the scheduler"
            )
        return DaskPool(address, owned=False, **options)
    client = opened(address, _CONNECT, security)
    try:
        return DaskPool(client, owned=True, **options)
    except BaseException:
        client.close()
        raise
