"""What the steps of workers tell, if a trace has them: by kind, by server, and the longest reads.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .row import STEPS, Row

__all__ = ["OfServer", "OfStep", "Steps", "steps"]


@dataclass
class OfStep:
    """One kind of step."""

    kind: str
    number: int = 0
    seconds: float = 0.0
    """The sum, with the steps inside."""
    longest: float = 0.0
    bytes: int = 0
    entries: int = 0


@dataclass
class OfServer:
    """What one server was asked for."""

    source: str
    reads: int = 0
    ranges: int = 0
    bytes: int = 0
    seconds: float = 0.0
    """The time from asking until the last bytes, summed over all reads."""
    longest: float = 0.0
    failed: int = 0


@dataclass
class Steps:
    """A summary of the steps of a pass."""

    kinds: list[OfStep]
    servers: list[OfServer]
    reads: list[Row]
    """All reads, in the order of time."""

    @property
    def longest_reads(self) -> list[Row]:
        """The longest first."""
        return sorted(self.reads, key=lambda row: -row.seconds)


def steps(rows: Sequence[Row]) -> Steps:
    """Sums up the steps among these rows."""
    kinds = {kind: OfStep(kind) for kind in STEPS}
    servers: dict[str, OfServer] = {}
    for row in rows:
        if row.event not in kinds:
            continue
        kind = kinds[row.event]
        kind.number += 1
        kind.seconds += row.seconds
        kind.longest = max(kind.longest, row.seconds)
        kind.bytes += row.bytes
        kind.entries += row.entries
        if row.event == "read":
            server = servers.setdefault(row.source, OfServer(row.source))
            server.reads += 1
            server.ranges += len(row.ranges.split())
            server.bytes += row.bytes
            server.seconds += row.seconds
            server.longest = max(server.longest, row.seconds)
            server.failed += not row.ok
    return Steps(
        [kind for kind in kinds.values() if kind.number],
        [servers[name] for name in sorted(servers)],
        [row for row in rows if row.event == "read"],
    )
