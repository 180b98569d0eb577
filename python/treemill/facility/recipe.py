"""What made-up files have in them: schema, number of events, seed, compression, kind of file. Equal
recipes give equal events, in whatever process files are written. Knows no file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ..errors import QueryError
from . import event_model, opendata
from .physics import chunk

if TYPE_CHECKING:
    from .physics import Columns

__all__ = ["CODECS", "KINDS", "SCHEMAS", "Recipe"]

SCHEMAS: dict[str, Callable[[int, int, int, int], Columns]] = {
    "demo": chunk,
    "opendata": opendata.chunk,
    "event": event_model.chunk,
}
"""Schemas by name: functions that give columns of events from (seed, file, start, count). "demo" is
a small NanoAOD; "opendata" has the branches and the multiplicities of CMS's open data in that form,
`Run2012B_SingleMu`; "event" is the `Event` of ROOT's test suite, which PROOF's benchmark writes."""

BLOCKS = {"event": 1_000}
"""The events that are drawn together, by schema, where they are not `BLOCK`. Events depend on the
block that they are in, and not on what is written together."""
BLOCK = 100_000

_VERSIONS = {"demo": 1, "opendata": 3, "event": 1}
"""Versions by schema. Raise one if the same recipe gives other values."""

CODECS = {"zlib": 1, "lz4": 4, "zstd": 5, "lzma": 7, "none": 0}
"""Compressions, with the level that ROOT and NanoAOD use."""
KINDS = ("ttree", "rntuple")


@dataclass(frozen=True)
class Recipe:
    """The files to write, and their content."""

    files: int = 4
    events_per_file: int = 500_000
    events_per_cluster: int = 100_000
    codec: str = "zstd"
    """One of CODECS."""
    seed: int = 1
    schema: str = "demo"
    """One of SCHEMAS."""
    level: int | None = None
    """The level of the compression; None: the usual one."""
    kind: str = "ttree"
    """One of KINDS."""

    def name(self, index: int) -> str:
        """The name of the file with this number."""
        return f"events_{index:03d}.root"

    def number(self, name: str) -> int | None:
        """The number of the file with this name; None if there is none.

        >>> Recipe(files=2).number("events_001.root"), Recipe(files=2).number("events_002.root")
        (1, None)
        """
        digits = name.removeprefix("events_").removesuffix(".root")
        if not (digits.isascii() and digits.isdecimal() and int(digits) < self.files):
            return None
        return int(digits) if name == self.name(int(digits)) else None

    def note(self, index: int) -> dict[str, object]:
        """Returns what decides on the content of the file with this number. It is kept in the
        file."""
        return self.made_from() | {"file": index}

    def made_from(self) -> dict[str, object]:
        """Returns what decides on the content of a file with a known number."""
        facts = asdict(self) | {"version": _VERSIONS.get(self.schema, 1)}
        del facts["files"]  # more files of the same recipe may be added
        if self.events_per_cluster != self.block:  # older files were drawn cluster by cluster
            facts["block"] = self.block
        return facts

    @property
    def block(self) -> int:
        """The events that are drawn together."""
        return BLOCKS.get(self.schema, BLOCK)

    def check(self) -> None:
        """Raises QueryError if there is no such schema, compression or kind of file."""
        for what, value, known in (
            ("schema", self.schema, SCHEMAS),
            ("compression", self.codec, CODECS),
            ("kind of file", self.kind, KINDS),
        ):
            if value not in known:
                raise QueryError(f"no {what} {value!r}", suggestions=[*known])
