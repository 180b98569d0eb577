"""Where the files of a pass lie, by the hosts that their addresses name. So workers may read the
files of their own host. Knows no worker.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..packetizer import node_of
from ..tree import source

__all__ = ["nodes"]


def nodes(files: Sequence[str]) -> list[str | None]:
    """The node of each file; None if its name has no host.

    >>> nodes(["root://server//store/a.root", "/data/b.root"])
    ['root://server/store', None]
    """
    return [node_of(file) if source.is_url(file) else None for file in files]
