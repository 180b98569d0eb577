"""What a worker measures of each packet, and the one table of the names of what is counted, which
traces, histograms, Prometheus, reports and `treemill bench io` use. Plain data.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MEASURES", "Measure", "Spent", "Step"]

# What a worker did for a packet, one step after another, if a trace is to have that. Plain data.


class Step(NamedTuple):
    """A step. Those inside of others come with them: an evaluation has the reads, decompression and
    decoding of its columns."""

    kind: str
    """"bound", "read", "came", "wait", "decompress", "decode", "evaluate" or "left out"."""
    number: int
    """The number of a read among the worker's; "came" has that of a read that was told of before.
    Of what is left out: how many steps."""
    ago: float
    """Seconds from its begin to the end of the packet."""
    seconds: float
    """How long it took; -1 for a read that is on its way."""
    amount: int
    """Bytes that a read has asked for, or those after decompression; rows of other steps."""
    ranges: list[tuple[int, int]]
    """The ranges of bytes of the file; of an evaluation, those of its entries."""
    file: str
    """The file that was read."""
    server: str
    """The server that was asked."""
    ok: bool
    """Whether all of it came."""


class Spent(NamedTuple):
    """What one packet took of its worker. The counters of reading are those since the worker's
    packet before, so that what was asked for ahead counts, too, and nothing counts twice."""

    latency: float
    """Seconds from the worker's last answer until it got the packet."""
    opening: float
    """Seconds until the file was open and the query was bound to it."""
    cpu: float
    """Seconds of CPU of the worker's own thread."""
    bytes_read: int = 0
    """Bytes that sources were asked for."""
    reads: int = 0
    """Reads of sources; each may have many ranges."""
    requests: int = 0
    """Ranges that servers were asked for."""
    bytes_decompressed: int = 0
    """Bytes of baskets and pages after their decompression."""
    bytes_from_cache: int = 0
    """Bytes that earlier queries have decompressed."""
    waits: int = 0
    """Times that the worker waited for bytes of a server."""
    waited: float = 0.0
    """Seconds for which it did."""
    reading: float = 0.0
    """Seconds in reads of near sources."""
    decompressing: float = 0.0
    """Seconds of decompression."""
    decoding: float = 0.0
    """Seconds from the bytes of baskets and pages to columns."""


class Measure(NamedTuple):
    """A quantity that is measured."""

    unit: str
    """"s", "bytes" or ""."""
    words: str
    of_packets: bool = True
    """Whether it is counted for each packet; else for a whole query only."""


MEASURES = {
    "packets": Measure("", "packets that were done"),
    "entries": Measure("", "entries of these packets"),
    "seconds": Measure("s", "time that a packet took its worker"),
    "latency": Measure("s", "time from a worker's last answer until it got a packet"),
    "opening": Measure("s", "time until the file was open and the query was bound to it"),
    "cpu": Measure("s", "CPU time of the worker's own thread"),
    "bytes_read": Measure("bytes", "bytes that sources were asked for"),
    "reads": Measure("", "reads of sources; each may have many ranges"),
    "requests": Measure("", "ranges that servers were asked for"),
    "bytes_decompressed": Measure("bytes", "bytes after decompression"),
    "bytes_from_cache": Measure("bytes", "bytes that earlier queries have decompressed"),
    "bytes_from_disk": Measure("bytes", "bytes of servers' files, from the cache on disk", False),
    "bytes_wanted": Measure("bytes", "bytes from servers that were used", False),
    "bytes_over_read": Measure("bytes", "bytes from servers that nothing used", False),
    "waits": Measure("", "times that workers waited for bytes of servers"),
    "waited": Measure("s", "time for which workers waited for bytes of servers"),
    "reading": Measure("s", "time in reads of near sources"),
    "decompressing": Measure("s", "time of decompression"),
    "decoding": Measure("s", "time from the bytes of baskets and pages to columns"),
}
"""All measures by name. The fields of `Spent` are among them, and those of `report.io` that are
numbers."""
