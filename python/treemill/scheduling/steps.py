"""What a worker did for a packet, one step after another, if a trace is to have that. Plain
data."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Step"]


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
