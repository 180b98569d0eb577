"""The record of a pass: what it is of, which entries are done, their merged partial; and its bytes.

The bytes are a segment of results, whose values are JSON and the partial. Pure: knows no file and
no clock. Bytes are read without running anything of them; the caller loads the partial.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SourceError
from ..scheduling import Range
from .segments import FORM, only_record, packed

__all__ = ["Fingerprint", "PassRecord"]

# What a kept partial is of, and in what it differs from what a run wants now. Pure.


@dataclass(frozen=True)
class Fingerprint:
    """What decides the numbers of a pass, as digests by name."""

    versions: Mapping[str, str]
    """The versions of treemill and of Python."""
    parts: Mapping[str, str]
    """What is computed, on which files: digests by names that the user understands."""

    def difference(self, now: Fingerprint) -> str | None:
        """Returns what differs, in words, if this is kept and `now` is wanted; None if nothing
        does."""
        for name in sorted({*self.versions, *now.versions}):
            kept, wanted = self.versions.get(name, "none"), now.versions.get(name, "none")
            if kept != wanted:
                return f"it was written with {name} {kept}, and this is {name} {wanted}"
        differing = [
            name
            for name in sorted({*self.parts, *now.parts})
            if self.parts.get(name) != now.parts.get(name)
        ]
        if not differing:
            return None
        return f"it is of another run: not the same {_listed(differing)}"


def changed(
    kept: Mapping[int, str], now: Callable[[int], str], name: Callable[[int], str]
) -> str | None:
    """The first file that is not what it was, in words. `kept`: digests of the files' identities by
    number; `now`: of what they are; `name` of a file."""
    for number, digest in sorted(kept.items()):
        if now(number) != digest:
            return f"{name(number)} has changed since"
    return None


def _listed(names: list[str]) -> str:
    shown = names[:4] + ([f"{len(names) - 4} more"] if len(names) > 4 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


_REMOVE = "remove it to begin again"
_PASS = b"an open pass".ljust(16, b"\0")
"""The key of the data: not of files that a run takes from what is remembered."""
_ABOUT = b"about".ljust(16, b"\0")
_PIECE = 1 << 30
"""Bytes of the partial that are one value, at most."""


@dataclass(frozen=True)
class PassRecord:
    """What is kept of one pass."""

    fingerprint: Fingerprint
    identities: Mapping[int, str]
    """Digests of the identities of the files that entries are done of."""
    processed: Mapping[int, Sequence[Range]]
    """The entries that the partial covers, as ascending ranges by file."""
    sizes: Mapping[int, int]
    """The entries of files that are done, if they are known."""
    partial: bytes

    @property
    def entries(self) -> int:
        """The number of entries that are done."""
        return sum(stop - start for ranges in self.processed.values() for start, stop in ranges)

    def dumps(self) -> bytes:
        """The segment of the record."""
        about = json.dumps(
            {
                "versions": dict(self.fingerprint.versions),
                "parts": dict(self.fingerprint.parts),
                "files": {
                    str(file): [self.identities[file], self.sizes.get(file), list(ranges)]
                    for file, ranges in sorted(self.processed.items())
                },
            },
            separators=(",", ":"),
        )
        pieces = range(0, max(len(self.partial), 1), _PIECE)
        values = {_ABOUT: about.encode()}
        values |= {_piece(i): self.partial[at : at + _PIECE] for i, at in enumerate(pieces)}
        return FORM + packed(_PASS, (), values)[0]

    @staticmethod
    def loads(data: bytes, file: str) -> PassRecord:
        """The record from the bytes of its segment. Raises SourceError, which names `file`."""
        if not data.startswith(FORM):
            raise SourceError(f"is no checkpoint of this version of treemill: {_REMOVE}", file=file)
        of, values = only_record(data) or (b"", {})
        if of != _PASS:
            raise SourceError(f"is damaged, its checksum is wrong: {_REMOVE}", file=file)
        try:
            about = json.loads(values.pop(_ABOUT))
            return _record(about, b"".join([values[_piece(i)] for i in range(len(values))]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SourceError(f"is damaged ({error}): {_REMOVE}", file=file) from None


def _piece(number: int) -> bytes:
    return b"partial".ljust(8, b"\0") + number.to_bytes(8, "little")


def _record(about: dict[str, Any], partial: bytes) -> PassRecord:
    fingerprint = Fingerprint(dict(about["versions"]), dict(about["parts"]))
    identities, processed, sizes = {}, {}, {}
    for text, (identity, size, ranges) in about["files"].items():
        file = int(text)
        identities[file] = str(identity)
        processed[file] = [_range(each) for each in ranges]
        if size is not None:
            sizes[file] = int(size)
    return PassRecord(fingerprint, identities, processed, sizes, partial)


def _range(pair: Sequence[object]) -> Range:
    start, stop = pair
    if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start < stop):
        raise ValueError(f"{pair} is no range of entries")
    return start, stop
