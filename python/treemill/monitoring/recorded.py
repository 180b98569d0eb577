"""A trace in memory: its rows, and what is known of the query as a whole. Plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, get_type_hints

from ..scheduling import Sizing

__all__ = [
    "COLUMNS",
    "EVENTS",
    "STEPS",
    "About",
    "Recorded",
    "RecordedFile",
    "Row",
    "RowValues",
    "of_columns",
]

# A row of a trace, and the names of its events, which are here and nowhere else. Plain data.

EVENTS = {
    "start": "the pass began",
    "worker joined": "a worker can work",
    "worker leaving": "a worker will go, or rest, and gets no more packets",
    "worker stays": "a worker that was to go, or that has rested, gets packets again",
    "worker lost": "a worker is gone, and its uncommitted results are lost",
    "file assigned": "a worker got its first packet of a file",
    "file released": "the worker got a packet of another file, or was lost, or the pass ended",
    "open": "the master ordered a worker to open a file",
    "file opened": "a worker has opened a file; `seconds`: since the order",
    "file failed": "a worker could not open a file",
    "assigned": "a worker got a packet",
    "reserved": "a worker got a packet that it begins when it has completed the present one",
    "promised": "the master ordered a worker to fetch a packet's bytes ahead",
    "forgotten": "the master took a promise back",
    "packet": "a worker has completed a packet; `seconds`: the time that it took",
    "packet failed": "a packet failed",
    "discard": "a worker has thrown away its uncommitted results",
    "commit": "a worker has handed over its results; `seconds`: since the order; `entries`: the "
    "sum over its packets",
    "merger joined": "a merger can merge",
    "merger leaving": "a merger will go, and hands its partials on",
    "handed on": "another merger has taken over the partials of a merger; `seconds`: since the "
    "order",
    "merger lost": "a merger is gone, and the partials that it had not handed over are lost",
    "merge": "the partial of a worker is merged; `seconds`: the time of the merge, which is a "
    "part of the commit's time. If the row has no worker, the partial of a merger is in the "
    "result; `seconds`: since the order to hand it over",
    "lease": "a site began with a part of the dataset, in sessions of several sites",
    "lease ended": "a site has processed its part, and its committed results are in the result",
    "stop": "the query must end early",
    "end": "the pass is over",
}
"""The names of the master's events, and when they happened."""
STEPS = {
    "bound": "a worker had the file of its packet open, and the query bound to it, for the first "
    "time",
    "read": "a worker read `ranges` with `bytes` in total from `source`; `seconds`: until the "
    "last bytes came",
    "wait": "the worker waited for bytes of a server",
    "decompress": "the worker decompressed a basket or page; `bytes`: the size after that",
    "decode": "the worker decoded bytes of a basket or page; `entries`: rows of the column",
    "evaluate": "the worker evaluated the query over a batch, or a selector over a chunk: `start` "
    "to `stop`",
    "left out": "the number of steps of the packet that the trace does not contain; `bytes`: the "
    "bytes of their reads",
}
"""The names of workers' steps, in traces that have them, and what they were. Steps inside of others
are there, too."""


class Row(NamedTuple):
    """An event. Numbers that an event does not have are -1, and times 0."""

    time: float
    """Seconds from the query's start. An event is seen when the master hears of it."""
    event: str
    """One of `EVENTS` or `STEPS`."""
    phase: str = ""
    """What the pass was for: queries with automatic ranges have two."""
    worker: int = -1
    host: str = ""
    """The worker's, if it is another than the master's."""
    file: str = ""
    node: str = ""
    """The node that serves the file: scheme, host and first folder."""
    packet: int = -1
    attempt: int = 0
    start: int = -1
    """The first entry of the packet, in the file."""
    stop: int = -1
    """The entry after the last one."""
    entries: int = 0
    ok: bool = True
    counted: bool = False
    """Whether the entries of a packet are in the result. Each entry is in one such packet."""
    seconds: float = 0.0
    latency: float = 0.0
    opening: float = 0.0
    cpu: float = 0.0
    bytes_read: int = 0
    reads: int = 0
    requests: int = 0
    bytes_decompressed: int = 0
    bytes_from_cache: int = 0
    waits: int = 0
    waited: float = 0.0
    reading: float = 0.0
    decompressing: float = 0.0
    decoding: float = 0.0
    reason: str = ""
    """Why something failed, was lost or stopped."""
    bytes: int = 0
    """The bytes of a step."""
    source: str = ""
    """The server of a read: scheme, host and port, or "this machine"."""
    ranges: str = ""
    """The bytes of a read in its file: first-stop, with spaces between ranges."""


RowValues: TypeAlias = dict[str, Any]
"""The values of some columns of a row, by the names and of the types that Row has."""


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
