"""Errors of a Dask worker, with the worker and what to do. Knows no pass and no transport."""

from __future__ import annotations

import os

from ...errors import TreemillError, WorkerError
from ...frozen import replaced
from ...scheduling import FileFailed, PacketFailed
from ..portable_error import portable

__all__ = ["cannot_load", "with_place"]


def cannot_load(error: Exception, address: str) -> BaseException:
    """The error of a process that cannot load what a pass is to do."""
    told = portable(error, f"worker {address} cannot load the selector", address)
    if isinstance(error, ModuleNotFoundError) and isinstance(told, TreemillError):
        told.message += "; session.upload(folder) puts modules on the workers"
    return told


def with_place(failed: PacketFailed | FileFailed, address: str) -> PacketFailed | FileFailed:
    """The event with an error that can be sent, and that says where it happened. Files may be
    there for some workers only, and relative paths begin at each worker's own folder."""
    worker = f"{failed.worker} on {address}"
    error = portable(failed.error, f"worker {worker} failed", worker)
    if isinstance(error, WorkerError):
        error.worker = worker
    else:
        error.add_note(f"This happened on worker {worker}, in the folder {os.getcwd()}.")
    return replaced(failed, error=error)
