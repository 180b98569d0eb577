"""How much memory this process may use: that of the machine, or less if its control group has a
limit. Knows nothing of treemill.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["available"]


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
