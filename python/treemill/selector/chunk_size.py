"""How many entries a selector's chunks have, by how long the last ones took. Pure: no clock."""

from __future__ import annotations

__all__ = ["PACKET_SECONDS", "Pace"]

PACKET_SECONDS = 1.0
"""After which a packet ends early, between two chunks: workers commit between packets only, and a
selector may be a thousand times as slow as the packetizer could know."""
_FIRST_CHUNK = 500
_SMALLEST_CHUNK = 100
_LARGEST_CHUNK = 200_000
_CHUNK_SECONDS = 0.5
_GROWTH = 12
"""By which chunks grow at least while they take less than a quarter of that: much of the time of a
small one is Python's own, the same for any number of entries."""
_CHUNK_BYTES = 64_000_000
"""Of uncompressed columns that the selector touches, at most in one chunk."""


class Pace:
    """A worker's. `each` is always the bytes of one entry."""

    def __init__(self) -> None:
        self._rate = 0.0  # of the last chunk, entries per second
        self._fitting = 0.0  # entries in the next one, as far as time goes

    def took(self, entries: int, seconds: float) -> None:
        """A chunk of so many entries."""
        seconds = max(seconds, 1e-6)
        self._rate = entries / seconds
        self._fitting = self._rate * _CHUNK_SECONDS
        if seconds < _CHUNK_SECONDS / 4:
            self._fitting = max(self._fitting, _GROWTH * entries)

    def chunk(self, each: float) -> int:
        """Entries in the next chunk."""
        if not self._fitting:
            return _FIRST_CHUNK
        fitting = min(self._fitting, _CHUNK_BYTES / max(each, 1.0))
        return max(_SMALLEST_CHUNK, min(_LARGEST_CHUNK, int(fitting)))

    def ahead(self, each: float) -> int:
        """Entries of which columns may be read at once."""
        fitting = _CHUNK_BYTES / max(each, 1.0)
        if self._rate:
            fitting = min(fitting, max(self._rate * PACKET_SECONDS, self._fitting))
        return int(fitting)
