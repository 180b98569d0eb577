"""Which versions of coffea treemill works with. Imports nothing of coffea's."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from ..errors import MissingPackageError, UnsupportedError

__all__ = ["check_coffea"]

OLDEST = "2025.7.0"
"""The first version with virtual arrays, of which treemill makes the events of processors."""


def check_coffea() -> None:
    """Raises UnsupportedError if coffea is too old, and MissingPackageError if it is not there."""
    try:
        found = version("coffea")
    except PackageNotFoundError:
        if find_spec("coffea") is None:
            raise MissingPackageError(
                "coffea's schemas and processors need coffea: pip install coffea"
            ) from None
        return  # a copy that was not installed
    if _numbers(found) < _numbers(OLDEST):
        raise UnsupportedError(
            f"treemill needs coffea {OLDEST} or newer for coffea's schemas and processors, and "
            f"this is {found}: pip install --upgrade coffea"
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Year, month and number; what follows, as of a release candidate, does not count."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
