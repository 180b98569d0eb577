"""Whether this process was forked from one that had loaded a package whose threads and locks do not
survive that. Knows no protocol.
"""

from __future__ import annotations

import os
import sys

__all__ = ["has_inherited"]

_FRAGILE = ("XRootD",)
_inherited: set[str] = set()


def _note() -> None:
    _inherited.update(name for name in _FRAGILE if name in sys.modules)


os.register_at_fork(after_in_child=_note)


def has_inherited(package: str) -> bool:
    """True if the package was loaded before this process, or one that it comes from, was forked."""
    return package in _inherited
