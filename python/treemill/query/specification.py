"""What the core computes in one pass, as data: numbered steps, and bookings at them (spec.rs).

Pure: standard library and the query's steps only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from .steps import Define

__all__ = ["Specification"]

_VERSION = 1


class Specification:
    """Steps and bookings of one pass. Immutable."""

    def __init__(
        self,
        steps: Sequence[Mapping[str, Any]] = (),
        bookings: Sequence[Mapping[str, Any]] = (),
        words: Iterable[str] = (),
    ) -> None:
        """`steps`: filters and definitions, each with the number of its parent. `bookings`: each
        with the number of its step; None: the dataset itself. `words`: all names and
        attributes in their expressions."""
        self.steps = tuple(steps)
        self.bookings = tuple(bookings)
        self.words = frozenset(words)

    @cached_property
    def text(self) -> str:
        """As the core reads it."""
        return json.dumps({"version": _VERSION, "steps": self.steps, "bookings": self.bookings})

    def after(self, defines: Sequence[Define]) -> Specification:
        """With these columns defined before all else."""
        first: list[dict[str, Any]] = []
        for define in defines:
            first.append({"parent": len(first) - 1 if first else None, "action": define.to_json()})
        added = len(first)
        if not added:
            return self

        def moved(place: int | None) -> int:
            return added - 1 if place is None else place + added

        return Specification(
            [*first, *({**step, "parent": moved(step["parent"])} for step in self.steps)],
            [{**booking, "at": moved(booking["at"])} for booking in self.bookings],
            self.words.union(*(define.expr.words for define in defines)),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Specification, (self.steps, self.bookings, self.words)
