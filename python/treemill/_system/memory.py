"""How much memory this process may use: that of the machine, or less if its control group has a
limit. Knows nothing of treemill.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

__all__ = [
    "available",
    "give_back",
    "keep_freed_memory",
    "limit",
    "private_bytes",
    "said_bytes",
    "without_collector",
]


def said_bytes(number: float) -> str:
    """A number of bytes in words.

    >>> said_bytes(1_073_741_824), said_bytes(640_000_000), said_bytes(12)
    ('1.1 GB', '640 MB', '12 B')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            value = number / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{number:.0f} B"


# Python's collector of circles of objects.

_lock = threading.Lock()
_pauses = 0
"""How many pauses there are at once, on several threads."""
_was_enabled = False
"""Whether the collector was at work before the first of them."""


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Makes many small objects that form no circles, a million of them, without a search for
    circles among them again and again, which would take a third of the time. What goes on within
    should seldom wait: circles that other threads leave stay until it ends."""
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses = max(_pauses - 1, 0)  # a fork within it has ended it
            if _pauses == 0 and _was_enabled:
                gc.enable()


def _begin_anew() -> None:
    """In a forked process, which has none of the threads that paused: but for the one that forked,
    whose pause ends here, too."""
    global _lock, _pauses
    if _pauses and _was_enabled:
        gc.enable()
    _lock, _pauses = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


# The memory that this process shares with no other: its size, and a limit. Knows nothing of
# treemill.


def limit(more: int) -> int:
    """Makes the system refuse more than `more` further bytes, if it can. Returns the number of
    private bytes that this process should not exceed, for systems that cannot."""
    import resource

    private = private_bytes()
    with contextlib.suppress(OSError, ValueError):
        data = _status("VmData:")
        if data is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (data + more, hard))
    return private + more


def private_bytes() -> int:
    """The bytes of memory that this process shares with no other."""
    anonymous_bytes = _status("RssAnon:")
    if anonymous_bytes is not None:
        return anonymous_bytes
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _status(line: str) -> int | None:
    with contextlib.suppress(OSError, IndexError, ValueError), open("/proc/self/status") as status:
        return int(status.read().split(line)[1].split()[0]) * 1024
    return None


# Memory of large arrays that are made before there is anything to put into them. Knows nothing of
# treemill.


def give_back(zeros: NDArray[Any]) -> None:
    """Lets the system have the memory of an array in which all is 0, as far as it has whole pages,
    until something is written there. It reads as 0 all the same. Does nothing where systems do not
    work so.

    Source: madvise(2), MADV_DONTNEED.
    """
    import ctypes
    import mmap

    if not sys.platform.startswith("linux"):
        return
    page = mmap.PAGESIZE
    begin: int = zeros.__array_interface__["data"][0]
    first, last = -(-begin // page) * page, (begin + zeros.nbytes) // page * page
    if first < last:
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        madvise(first, last - first, mmap.MADV_DONTNEED)


# What becomes of memory that NumPy's arrays have freed. Knows nothing of treemill.

_LARGEST = 31 << 20
"""Bytes below the most that glibc's threshold rises to on machines of 64 bits, 32 MiB."""


@functools.cache
def keep_freed_memory() -> None:
    """Make this process keep memory of freed arrays for the next ones, as long as it runs.

    The C library asks the kernel for each array above a threshold and gives it back at once, and
    the kernel clears each new page: that can take longer than what is done with the array. glibc
    raises the threshold, and with it what it keeps at the end of its heap, to the size of the
    largest array that was freed so, up to 32 MiB. This frees one of nearly that size, which is
    never touched. It does nothing with other C libraries, or if `MALLOC_MMAP_THRESHOLD_` or
    another of glibc's variables fixes the threshold.

    Source: mallopt(3), M_MMAP_THRESHOLD.

    Examples
    --------
    >>> keep_freed_memory()
    """
    import numpy as np

    with contextlib.suppress(MemoryError):  # the process may have a limit
        np.empty(_LARGEST, np.uint8)


def available(root: str = "/") -> int | None:
    """Bytes of memory; None if the system does not say. `root` is the folder of proc and sys."""
    from pathlib import Path  # start-up

    with contextlib.suppress(ValueError, OSError):
        pages = os.sysconf("SC_PHYS_PAGES")
        return min([pages * os.sysconf("SC_PAGE_SIZE"), *_limits(Path(root))])
    return min(_limits(Path(root)), default=None)


def _limits(root: Path) -> Iterator[int]:
    """The limits of the process's control groups, from its own to the outermost visible one."""
    for file in _files(root):
        # The word "max" means that there is no limit, and so does a missing file.
        with contextlib.suppress(OSError, ValueError):
            yield int(file.read_text())


def _files(root: Path) -> Iterator[Path]:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:  # version 2
            base, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            base, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        folder = base / group.lstrip("/")
        # A container may see only the lower end of the path, as its own top folder.
        for each in (folder, *folder.parents):
            yield each / name
            if each == base:
                break
