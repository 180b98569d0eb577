"""What has come of a lease: the messages to the lessor about a pass that has ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ...frozen import replaced
from ...scheduling import Coverage, FileSize
from ...scheduling.messages import Failed, HandedUp, Opened, Part, Upward

__all__ = ["size_of", "told"]


def told(sub: int, parts: Sequence[Part], coverage: Coverage) -> list[Upward]:
    """The messages about a pass whose file `i` was the part `i`."""
    ranges, failed = [], []
    messages: list[Upward] = []
    for number, part in enumerate(parts):
        spans = coverage.processed.get(number, [])
        missing = [gap for gap in coverage.missing if gap.file == number]
        if part.stop is None:
            if any(gap.stop is None for gap in missing):
                size = None
            else:
                ends = [stop for _, stop in spans] + [gap.stop or 0 for gap in missing]
                size = FileSize(max(ends, default=0))
            if size is not None:
                messages.append(Opened(sub, part.file, size))
        ranges += [(part.file, part.start + start, part.start + stop) for start, stop in spans]
        for gap in missing:
            if gap.error is not None:  # else it is what was left when it was stopped
                stop = None if gap.stop is None else part.start + gap.stop
                if gap.stop is None and part.stop is not None:
                    stop = part.stop  # a part of a file that could not be opened
                rest = replaced(part, start=part.start + gap.start, stop=stop)
                failed.append(Failed(sub, rest, gap.error))
    if ranges:
        messages.append(HandedUp(sub, tuple(ranges)))
    return [*messages, *failed]


def size_of(parts: Sequence[Part], mean: float) -> float:
    """Entries of parts; a file of unknown size counts `mean`."""
    return sum(mean if part.stop is None else part.stop - part.start for part in parts)
