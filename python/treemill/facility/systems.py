"""Where the benchmark runs, by the names that users give: threads or processes of this machine, a
Dask cluster that is started here, or one that is there already. Makes sessions; runs nothing.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypeVar

from .._system import processor
from .._system.processor import available_cores
from ..errors import QueryError, TreemillError, UnsupportedError, WorkerError

if TYPE_CHECKING:
    from ..session.session import Session

__all__ = ["HERE", "has_dask", "is_here", "on_each_process", "session_on", "there_are"]

T = TypeVar("T")

HERE = ("threads", "processes", "dask")
"""Systems of this machine. Others are addresses of schedulers."""


def is_here(system: str) -> bool:
    """True if the system is of this machine. Raises QueryError for what is no system."""
    if system in HERE:
        return True
    if "://" not in system:
        raise QueryError(
            f"{system!r} is neither the address of a scheduler (tcp://host:8786) nor one of "
            f"{', '.join(HERE)}",
            suggestions=list(HERE),
        )
    return False


def has_dask() -> bool:
    """True if a Dask cluster can be started here."""
    from importlib.util import find_spec

    return find_spec("distributed") is not None


@contextlib.contextmanager
def session_on(
    system: str,
    workers: int | None,
    trace: int = 0,
    on_host: int | None = None,
) -> Iterator[Session]:
    """A session with so many workers, None: as many as there are. `on_host`: how many on each host
    of a cluster that is there already, at most. Raises UnsupportedError if Dask is needed
    and not there, WorkerError if no scheduler answers."""
    from ..session.api import connect  # start-up

    if system == "dask":
        with (
            _cluster(workers or available_cores()) as address,
            connect(address, workers=workers, trace=trace) as session,
        ):
            yield session
    elif is_here(system):
        with connect(workers=workers, mode=system, trace=trace) as session:
            yield session
    else:
        with connect(system, most=workers, on_host=on_host, trace=trace) as session:
            yield session


def on_each_process(system: str, look: Callable[[], T]) -> list[T]:
    """Returns what `look` returns in each process of a cluster that is there already, all workers'
    hosts among theirs; for systems of this machine, here. Raises WorkerError if no scheduler
    answers or a process cannot tell."""
    if is_here(system):
        return [look()]
    if not has_dask():
        raise UnsupportedError("Dask is not installed: pip install 'treemill[cluster]'")
    from distributed import Client

    try:
        with Client(system, set_as_default=False) as client:
            client.wait_for_workers(1)
            return list(client.run(look).values())
    except TreemillError:
        raise
    except Exception as error:
        raise WorkerError(f"the workers of {system} could not be asked: {error}") from error


def there_are(system: str, on_host: int | None = None) -> int:
    """The number of workers that a system can have: cores, or what a cluster has now, with so many
    on each host at most."""
    if is_here(system):
        return available_cores()
    with session_on(system, None, on_host=on_host) as session:
        return session.workers


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """A cluster of worker processes with one thread each, which ends afterwards."""
    if not has_dask():
        raise UnsupportedError("Dask is not installed: pip install 'treemill[cluster]'")
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any free port
        silence_logs=50,
        # Workers that remembered what they have read would not read it again.
        env={"TREEMILL_CACHE": "0"},
    ) as cluster:
        yield cluster.scheduler_address


# The machine that a benchmark is started on, and the versions of what runs on it.

_PACKAGES = ("treemill", "numpy", "awkward", "hist", "boost-histogram", "uproot", "distributed")


def describe() -> dict[str, object]:
    """Processor, cores, memory, load, kernel, versions."""
    return {
        "host": platform.node(),
        "cpu": _cpu(),
        "cores": available_cores(),
        "memory": _memory(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "versions": {name: release for name in _PACKAGES if (release := _version(name))},
    }


def _cpu() -> str:
    model = processor.value(processor.cpuinfo(), "model name")
    return model or platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
