"""Requests to a server of Dask over one of a pool's connections."""

from __future__ import annotations

from typing import Any

from distributed.core import ConnectionPool, send_recv

__all__ = ["asked"]


async def asked(pool: ConnectionPool, address: str, seconds: float, **message: object) -> Any:
    """The answer of a server, over a connection of a pool that is there or is made within this many
    seconds."""
    comm = await pool.connect(address, timeout=seconds)
    try:
        return await send_recv(comm, **message)
    finally:
        pool.reuse(address, comm)
