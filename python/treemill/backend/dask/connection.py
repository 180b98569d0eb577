"""What users may give to connect(): an address, a Client or a cluster. Makes the pool of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from ...errors import MissingPackageError, QueryError, WorkerError
from .pool import DaskPool

if TYPE_CHECKING:
    from typing import Unpack

    from .admission import Limits

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
    submasters: bool | int | None


def connected(address: object, security: object = None, **options: Unpack[DaskOptions]) -> DaskPool:
    """The pool of the cluster at this address."""
    is_address = isinstance(address, str) or hasattr(address, "scheduler_address")
    if not is_address and not hasattr(address, "scheduler"):
        raise QueryError(
            "connect() takes the address of a Dask scheduler (tcp://host:8786), a "
            f"distributed.Client or a cluster object, not {type(address).__name__}"
        )
    try:
        from distributed import Client, Security
    except ImportError as error:
        raise MissingPackageError(
            "clusters need dask's distributed: pip install 'treemill[cluster]'"
        ) from error
    from .version import check_version  # start-up

    check_version()
    if isinstance(address, Client):
        if address.asynchronous:
            raise QueryError(
                "an asynchronous Client cannot be waited for: give connect() its address"
            )
        return DaskPool(address, owned=False, **options)
    has_certificates = security is not None or Security().get_connection_args("client").get(
        "ssl_context"
    )
    if isinstance(address, str) and address.startswith("tls:") and not has_certificates:
        raise QueryError(
            f"{address} uses TLS: give connect() security=distributed.Security(…), or set "
            "distributed.comm.tls in Dask's configuration"
        )
    kept = {} if security is None else {"security": security}
    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False, **kept)
    except OSError as error:
        raise WorkerError(
            f"no scheduler answers at {address}: {error}. Is it running, and is the address right? "
            "`dask scheduler` prints it"
        ) from error
    try:
        return DaskPool(client, owned=True, **options)
    except BaseException:
        client.close()
        raise
