"""Bookings of values themselves, in the order of entries, as data: records, one column, a file.

Pure: standard library and the query's data only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..language.expression import Expression

if TYPE_CHECKING:
    from .snapshot_target import SnapshotTarget

__all__ = ["MOST_BYTES", "Arrays", "Rows", "Snapshot", "Take"]

MOST_BYTES = 4 << 30
"""Bytes that `arrays` and `take` keep if no other limit is given."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What `Arrays`, `Take` and `Snapshot` have in common: the core computes them alike."""

    columns: tuple[tuple[str, Expression], ...]
    limit: int = MOST_BYTES
    """Bytes that may be kept in memory."""

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        names = ", ".join(name for name, _ in self.columns)
        return f"{type(self).__name__.lower()}({names})"

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of all columns."""
        return tuple(expr for _, expr in self.columns)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        columns = [
            {"name": name, "expr": expr.to_json(), **({"found": True} if expr.found else {})}
            for name, expr in self.columns
        ]
        return {"kind": "rows", "columns": columns}


@dataclass(frozen=True, eq=False)
class Arrays(Rows):
    """Records of all columns."""


@dataclass(frozen=True, eq=False)
class Take(Rows):
    """The values of the only column."""


@dataclass(frozen=True, eq=False)
class Snapshot(Rows):
    """A file."""

    target: SnapshotTarget = field(kw_only=True)

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return f"snapshot({self.target.path})"
