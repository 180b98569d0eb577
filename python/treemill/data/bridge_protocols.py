"""What files are to the bridges between the core and Python's protocols. Types only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

__all__ = ["BridgedFile", "State"]

State: TypeAlias = "tuple[int, bool, str | None]"
"""Bytes of a file, whether it is a folder, and what tells its state from any other; None if nothing
that the server says does."""


class BridgedFile(Protocol):
    """An open file. Its methods may be called by `at_once` threads at the same time."""

    told: State
    at_once: int

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of each half-open range."""
