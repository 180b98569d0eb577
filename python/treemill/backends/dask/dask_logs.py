"""Puts what the logger `treemill` says on a scheduler or worker into Dask's logs: those that its
pages and `client.get_scheduler_logs()` show, and those that its programs print.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
from typing import TYPE_CHECKING

import dask

from ...monitoring.logs import JsonFormatter

if TYPE_CHECKING:
    from distributed.node import ServerNode

__all__ = ["join", "leave"]

_PROGRAMS = ("distributed.cli.dask_scheduler", "distributed.cli.dask_worker")


def join(server: ServerNode, kind: str) -> None:
    """From now on the log of this server has treemill's. `kind`: "scheduler" or "worker"."""
    log = logging.getLogger("treemill")
    log.addHandler(server._deque_handler)
    if not _is_of_dask():
        return  # a user's own process
    distributed = logging.getLogger("distributed")
    is_json = dask.config.get("treemill.log-format", None) == "json"
    if own := [each for each in log.handlers if _prints(each)]:  # by DASK_LOGGING__TREEMILL
        for handler in own if is_json else ():
            handler.setFormatter(JsonFormatter())
        return
    log.setLevel(logging.getLogger(f"distributed.{kind}").getEffectiveLevel())
    if is_json:
        lines = logging.StreamHandler()
        lines.setFormatter(JsonFormatter())
        log.addHandler(lines)
    else:
        for handler in distributed.handlers:
            if _prints(handler):
                log.addHandler(handler)
    log.propagate = False


def leave(server: ServerNode) -> None:
    """The server ends."""
    logging.getLogger("treemill").removeHandler(server._deque_handler)


def _prints(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.StreamHandler)


def _is_of_dask() -> bool:
    """True if one of Dask's programs runs this process, or its nanny."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    started = main.name if main is not None else ""
    return (
        multiprocessing.parent_process() is not None
        or started in _PROGRAMS
        or any(each in sys.modules for each in _PROGRAMS)
    )
