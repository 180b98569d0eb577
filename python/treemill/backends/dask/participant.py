"""One of Dask's workers, as far as it takes part in a pass. Plain data, which lead.py changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..pulse import KnownCounters

__all__ = ["Participant"]


@dataclass(eq=False, slots=True)
class Participant:
    """A process with the numbers of its workers in the pass."""

    address: str
    host: str
    numbers: tuple[int, ...]
    joined: set[int] = field(default_factory=set)
    """The workers that have joined."""
    loaded: bool = False
    """Whether it has loaded the task."""
    place: str | None = None
    """The name of its host for the packetizer, once it has loaded the task; see places.py."""
    leaving: bool = False
    """Whether it will go: then it gets no more work."""
    merger: int | None = None
    """The merger that it is."""
    counted: KnownCounters = field(default_factory=KnownCounters)
    """Its counters."""
