"""The memory that this process shares with no other: its size, and a limit. Knows nothing of
treemill."""

from __future__ import annotations

import contextlib

__all__ = ["limit", "private_bytes"]


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
