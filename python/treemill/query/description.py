"""The numbers that `describe` gives for columns, and how single values look in tables. Computes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from ..pictures.tables import plain

if TYPE_CHECKING:
    from .axes import Bins, Range

__all__ = ["Column", "Description", "Drawing", "shown"]

# The arguments of `draw`, as the user writes them. Pure: standard library only.


@dataclass(frozen=True)
class Drawing:
    """The arguments of `draw`."""

    expr: str | Sequence[str]
    where: str | None = None
    option: str = ""
    bins: Bins = None
    range: Range = None
    weight: str | None = None
    profile: bool = False
    log: bool = False


@dataclass(frozen=True)
class Column:
    """The statistics of a column. `values` is the number of finite values, in all lists together;
    `not_finite` counts NaN and infinite ones. The quartiles are approximate, as those of
    `approx_quantiles`. `bytes` and `bytes_in_file` are None for columns that are not branches."""

    values: int
    not_finite: int
    missing: int
    mean: float | None
    std: float | None
    min: float | None
    quartile: float | None
    median: float | None
    upper_quartile: float | None
    max: float | None
    bytes: int | None
    bytes_in_file: int | None


_HEADS = {"quartile": "25 %", "upper_quartile": "75 %", "bytes_in_file": "in file"}


class Description(Mapping[str, Column]):
    """The statistics of columns, by name. It prints as a table."""

    def __init__(self, entries: int, columns: Mapping[str, Column]) -> None:
        self.entries = entries
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        names = [each.name for each in fields(Column)]
        head = ["column", *(_HEADS.get(name, name.replace("_", " ")) for name in names)]
        rows = [
            [name, *(_cell(*each) for each in zip(names, astuple(column), strict=True))]
            for name, column in self.items()
        ]
        return head, rows

    def __str__(self) -> str:
        return f"{plain(*self._table())}\n{self.entries:,} entries"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ..pictures.html import table  # start-up

        return table(*self._table(), f"{self.entries:,} entries")


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if name.startswith("bytes"):
        from ..pictures.tables import size  # start-up

        return size(int(value))
    if isinstance(value, int) and name not in ("min", "max"):
        return f"{value:,}"
    return shown(value)


def shown(value: object) -> str:
    """The text of a value in a cell."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 32 else text[:31] + "…"
