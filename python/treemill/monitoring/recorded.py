"""A trace in memory: its rows, and what is known of the query as a whole. Plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from ..scheduling import Sizing
from .row import Row

__all__ = ["COLUMNS", "About", "Recorded", "RecordedFile", "of_columns"]

COLUMNS: dict[str, type] = {
    name: kind for name, kind in get_type_hints(Row).items() if name in Row._fields
}
"""The types of a row's columns: float, int, str or bool."""
FORMAT = 1
"""The version of what is written. A reader refuses newer ones."""


@dataclass(frozen=True)
class RecordedFile:
    """A file of the dataset, or a part of one."""

    file: str
    first: int
    entries: int
    pieces: int = 1
    """The number of pieces of equal size between which packets may end."""


@dataclass(frozen=True)
class About:
    """What is known of the query as a whole."""

    format: int = FORMAT
    version: str = ""
    """treemill's."""
    query: str = ""
    workers: int = 0
    """The number that was asked for."""
    kind: str = ""
    """What the workers were: "threads", "processes", ..."""
    machine: str = ""
    """The master's."""
    seconds: float = 0.0
    entries: int = 0
    """The entries in the result."""
    bytes_read: int = 0
    """The bytes that sources counted, those of lost workers included."""
    dropped: int = 0
    """Records that were dropped because there were too many: the oldest ones."""
    phases: tuple[str, ...] = ()
    """The passes in order. The last one has made the result."""
    files: tuple[RecordedFile, ...] = ()
    known: bool = True
    """Whether the sizes of files were known before the first packet."""
    sizing: Sizing | None = None
    """The parameters of the sizes of packets, if they are known."""
    commit_seconds: float = 1.0

    def to_json(self) -> dict[str, object]:
        """The fields, as JSON has them."""
        return dataclasses.asdict(self)

    @classmethod
    def of_json(cls, document: Mapping[str, object]) -> About:
        """The fields from what `to_json` gave. Fields of later versions are left out. Raises
        ValueError for what is newer or none of ours."""
        if not isinstance(written := document.get("format"), int) or written > FORMAT:
            raise ValueError("it is of a newer version of treemill")
        values = _known(document, cls)
        values["files"] = tuple(RecordedFile(**each) for each in values.get("files", ()))
        sizing = values.get("sizing")
        values["sizing"] = Sizing(**_known(sizing, Sizing)) if sizing else None
        values["phases"] = tuple(values.get("phases", ()))
        return cls(**values)


def _known(told: Mapping[str, object], kind: type) -> dict[str, Any]:
    """The values of the fields that this version knows."""
    names = {each.name for each in dataclasses.fields(kind)}
    return {name: value for name, value in told.items() if name in names}


@dataclass(frozen=True)
class Recorded:
    """A trace: its rows in the order of time."""

    rows: Sequence[Row]
    about: About

    def columns(self, start: int, stop: int) -> Iterator[tuple[str, type, list[object]]]:
        """The columns of some rows: name, type, values."""
        part = self.rows[start:stop]
        for at, (name, kind) in enumerate(COLUMNS.items()):
            yield name, kind, [kind(row[at]) for row in part]

    def chunks(self, size: int = 10_000) -> Iterator[range]:
        """Yields all rows in ranges of at most this size."""
        for start in range(0, len(self.rows), size):
            yield range(start, min(start + size, len(self.rows)))

    @property
    def last_phase(self) -> Recorded:
        """The rows of the pass that has made the result."""
        if len(self.about.phases) < 2:
            return self
        last = self.about.phases[-1]
        return Recorded([row for row in self.rows if row.phase == last], self.about)


def of_columns(columns: Mapping[str, Iterable[object]], about: About) -> Recorded:
    """The trace from columns by their names. Raises ValueError if one is missing."""
    missing = [name for name in ("time", "event") if name not in columns]
    if missing:
        raise ValueError(f"it has no {' and no '.join(missing)}")
    named = [name for name in COLUMNS if name in columns]
    cells = zip(*(map(COLUMNS[name], columns[name]) for name in named), strict=True)
    return Recorded([Row(**dict(zip(named, values, strict=True))) for values in cells], about)
