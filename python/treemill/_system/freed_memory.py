"""What becomes of memory that NumPy's arrays have freed. Knows nothing of treemill."""

from __future__ import annotations

import contextlib
import functools

__all__ = ["keep_freed_memory"]

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
