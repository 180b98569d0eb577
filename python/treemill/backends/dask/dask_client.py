"""Opens a Client to a scheduler, for sessions and for checks of clusters. The address and the
certificates are looked at first, and a Client that cannot be opened is closed at once. Says which
versions of distributed will do.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import re

import distributed
from distributed import Client, Security
from distributed.comm import parse_address

from ...errors import QueryError, UnsupportedError, WorkerError, require_version

__all__ = ["NEWEST", "OLDEST", "check_version", "differs", "opened"]

# Which versions of distributed treemill works with.

OLDEST = "2024.8.0"
"""The oldest version of distributed with which this is tested (requirements/oldest.txt)."""
NEWEST = "2026.8.0"
"""The newest one (requirements/dev.txt)."""


def check_version(version: str = distributed.__version__) -> None:
    """Raises UnsupportedError if this distributed is too old.

    >>> check_version("2026.9.0rc1+local")
    """
    require_version("distributed", version, OLDEST, "'treemill[cluster]'")


def differs(error: Exception) -> UnsupportedError:
    """Returns what to say if distributed does not have what treemill uses of it."""
    return UnsupportedError(
        f"treemill cannot be put on this scheduler: its distributed {distributed.__version__} "
        f"differs from those with which treemill is tested, {OLDEST} to {NEWEST} "
        f"({type(error).__name__}: {error}): install one of these on the scheduler, on the workers "
        "and here"
    )


_HOST_AND_PORT = re.compile(r"(\[[^\]]+\]|[^:/\s]*):\d{1,5}/?")
_SHUTDOWN_SECONDS = 2.0
"""Seconds within which a Client that was not opened must be closed."""
_LATER_SECONDS = 1.0
"""Seconds after its timeout in which Dask's own attempt to connect may say why it failed."""


class TreemillClient(Client):  # type: ignore[misc]
    """A Client that leaves nothing behind if it cannot be opened, and that prints no traceback if
    its scheduler is gone: the session says so."""

    async def _ensure_connected(self, timeout: float | None = None) -> None:
        # Dask waits for the first words of a scheduler without end, if its process is stopped.
        async with asyncio.timeout(None if timeout is None else timeout + _LATER_SECONDS):
            await super()._ensure_connected(timeout=timeout)

    async def _reconnect(self) -> None:
        # Dask's decorator logs errors, and the end of the attempt when the Client is closed is one.
        await inspect.unwrap(Client._reconnect)(self)

    def start(self, **options: object) -> None:
        """See Client."""
        try:
            super().start(**options)
        except BaseException:
            # Dask closes it when it is collected, and waits a minute for that as a program ends.
            with contextlib.suppress(Exception):
                self.close(timeout=_SHUTDOWN_SECONDS)
            self._loop_runner.stop()
            raise


def opened(address: object, timeout: float, security: object = None) -> Client:
    """Returns a Client of the scheduler at this address, or of this cluster object. Raises
    QueryError if there can be none at such an address, WorkerError if no scheduler answers within
    `timeout` seconds."""
    if isinstance(address, str):
        _check(address, security)
    kept = {} if security is None else {"security": security}
    try:
        return TreemillClient(address, timeout=timeout, set_as_default=False, **kept)
    except OSError as error:
        why = str(error) or "it is silent"
        raise WorkerError(
            f"no scheduler answers at {address} within {timeout:g} s ({why}): "
            "check that it runs, that the address is the one that `dask scheduler` prints, "
            "and that no firewall blocks the connection"
        ) from error
    except Exception as error:
        raise QueryError(
            f"Dask opens no connection to {address} ({type(error).__name__}: {error}): give the "
            "address that `dask scheduler` prints, a distributed.Client or a cluster object"
        ) from error


def _check(address: str, security: object) -> None:
    """Raises QueryError if Dask would find out too late that it cannot use the address."""
    scheme, place = parse_address(address)
    if scheme in ("tcp", "tls") and not _HOST_AND_PORT.fullmatch(place):
        raise QueryError(
            f"{address!r} is no address of a scheduler: it is written tcp://host:8786, "
            "tls://host:8786 or host:8786, with the port; `dask scheduler` prints it"
        )
    has_certificates = security is not None or Security().get_connection_args("client").get(
        "ssl_context"
    )
    if scheme == "tls" and not has_certificates:
        raise QueryError(
            f"{address} uses TLS, but Dask has no certificates: set distributed.comm.tls in "
            "Dask's configuration (or DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and "
            "…__CLIENT__KEY), or give connect() security=distributed.Security(…)"
        )
