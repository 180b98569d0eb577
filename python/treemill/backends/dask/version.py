"""Which versions of distributed treemill works with."""

from __future__ import annotations

import distributed

from ...errors import UnsupportedError, require_version

__all__ = ["check_version", "differs"]

OLDEST = "2024.8.0"
"""The oldest version of distributed with which this is tested (requirements/oldest.txt)."""
NEWEST = "2026.8.0"
"""The newest one (requirements/dev.txt)."""


def check_version(version: str = distributed.__version__) -> None:
    """Raises UnsupportedError if this distributed is too old.

    >>> check_version("2026.9.0rc1+local")
    """
    require_version("distributed", version, OLDEST, "'treemill[cluster]'")


def differs(error: Exception) -> UnsupportedError:
    """Returns what to say if distributed does not have what treemill uses of it."""
    return UnsupportedError(
        f"treemill cannot be put on this scheduler: its distributed {distributed.__version__} "
        f"differs from those with which treemill is tested, {OLDEST} to {NEWEST} "
        f"({type(error).__name__}: {error}): install one of these on the scheduler, on the workers "
        "and here"
    )
