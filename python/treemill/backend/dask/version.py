"""Which versions of distributed treemill works with."""

from __future__ import annotations

import distributed

from ...errors import UnsupportedError

__all__ = ["check_version"]

OLDEST = (2024, 8, 0)
"""The oldest version of distributed with which this was tested."""


def check_version() -> None:
    """Raises UnsupportedError if this distributed is too old."""
    found = tuple(int(part) for part in distributed.__version__.split("+")[0].split(".")[:3])
    if found < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise UnsupportedError(
            f"treemill needs distributed {oldest} or newer, and this is "
            f"{distributed.__version__}: pip install --upgrade 'treemill[cluster]'"
        )
