"""What a simulated query came to: its timeline, beside what it could have been at best."""

from __future__ import annotations

from dataclasses import dataclass

from ...packetizer import Timeline

__all__ = ["Outcome"]


@dataclass(frozen=True, kw_only=True)
class Outcome(Timeline):
    """A simulated query, as its trace tells it. What it came to as the simulation itself counts it
    is `entries`."""

    scenario: str
    strategy: str
    workers: int
    ideal: float
    """Seconds, if every worker read from its own node and none waited; no noise, no faults."""
    entries: int
    """Events in the result; `expected` is how many there are."""
    expected: int
