"""What tells one function of the user's own from another, in any process."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from ..checkpoint.digest import digest
from ..errors import UnsupportedError

__all__ = ["identity_of"]

_numbers = itertools.count()


def identity_of(kind: str, function: Callable[..., object], about: object) -> str:
    """A text that is equal for equal functions. One whose code and data have no digest is equal to
    itself only."""
    try:
        return f"{kind} {digest((function, about))}"
    except UnsupportedError:
        return f"{kind} {os.getpid()}-{next(_numbers)} {about}"
