"""Where the benchmark runs, by the names that users give: threads or processes of this machine, a
Dask cluster that is started here, or one that is there already. Makes sessions, and drops what
systems keep of files; runs nothing else.
"""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypeVar

from .._system import processor
from .._system.processor import available_cores
from ..errors import QueryError, TreemillError, UnsupportedError, WorkerError

if TYPE_CHECKING:
    from ..session.session import Session

__all__ = [
    "DROPPED",
    "HERE",
    "NO_DATA",
    "CacheDropper",
    "drop_caches",
    "drop_files",
    "has_dask",
    "is_here",
    "on_each_process",
    "session_on",
    "there_are",
]

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


# The operating system's cache of files: dropped before a measurement where that is possible, here
# and on a cluster's hosts, and words for where it is not.

# Drops what the operating system keeps of files, on the machine that it is called on: directly,
# or on workers as a selector without data, and then what the worker's process keeps, too. Needs
# no privilege for files that the user may read.


class CacheDropper:
    """Drops the files and the process's own cache wherever it is called, and tells on which host
    that was."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = list(files)
        self.__name__ = "drop caches"

    def __call__(self, numbers: object) -> dict[str, object]:
        """Drops them; what it is called with does not matter."""
        from .._system.cache import cache  # start-up

        cache.clear()
        failed = drop_files(self.files)
        return {"hosts": {socket.gethostname()}, "failed": {failed} if failed else set()}


def drop_files(files: Sequence[str]) -> str | None:
    """Drops the system's cache of these files. None; or why not, in a few words."""
    if not hasattr(os, "posix_fadvise"):
        return "the system has no call for it"
    try:
        for file in files:
            _drop(file)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _drop(file: str) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        # Pages that are not written yet cannot be dropped.
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


DROPPED = "dropped"
NO_DATA = "no data"
_UNTOUCHED = "as they were"
_ASKED = 4
"""How often each worker of a cluster is asked, on average: some get no question."""


def drop_caches(
    session: Session, files: Sequence[str], system: str, *, wanted: bool, hosts: int = 1
) -> str:
    """Drops what the system keeps of these files, and what this process and a cluster's workers
    keep. `hosts`: how many the workers are on. Returns what was done, in a few words."""
    _drop_own()
    if not wanted:
        return _UNTOUCHED
    far = any("://" in file for file in files)
    if system in HERE:
        failed = "the files are on servers" if far else drop_files(files)
        return DROPPED if failed is None else f"not dropped: {failed}"
    dropper = CacheDropper([] if far else files)  # what the workers themselves keep goes anyway
    output = session.run(dropper, cycles=_ASKED * session.workers, progress=False)
    if far:
        return "not dropped: the files are on servers"
    if output["failed"]:
        return f"not dropped: {min(output['failed'])}"
    reached = len(output["hosts"])
    return DROPPED if reached >= hosts else f"dropped on {reached} of {hosts} hosts"


def _drop_own() -> None:
    from .._system.cache import cache  # start-up

    cache.clear()
