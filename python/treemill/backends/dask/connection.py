"""What users may give to connect(): an address, a Client or a cluster. Makes the pool of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypedDict

from ...errors import MissingPackageError, QueryError
from .pool import DaskPool

if TYPE_CHECKING:
    from typing import Unpack

    from distributed import Client, Security

    from .worker_limits import Limits

    class Cluster(Protocol):
        """A cluster object of Dask's: LocalCluster, those of dask-jobqueue, dask-gateway …"""

        @property
        def scheduler_address(self) -> str: ...

    DaskAddress: TypeAlias = str | Client | Cluster
    Certificates: TypeAlias = Security

__all__ = ["connected"]

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
    from .dask_client import opened  # start-up
    from .version import check_version  # start-up

    check_version()
    if isinstance(address, Client):
        if address.asynchronous:
            raise QueryError(
                "an asynchronous Client cannot be waited for: give connect() its address"
            )
        return DaskPool(address, owned=False, **options)
    client = opened(address, _CONNECT, security)
    try:
        return DaskPool(client, owned=True, **options)
    except BaseException:
        client.close()
        raise
