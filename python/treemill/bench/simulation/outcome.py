"""The outcome of a simulated query: its timeline, and the time that was possible at best. Plain
data."""

from __future__ import annotations

from dataclasses import dataclass

from ...packetizer import Timeline

__all__ = ["Outcome"]


@dataclass(frozen=True, kw_only=True)
class Outcome(Timeline):
    """The timeline of a simulated query from its trace. `entries` is counted by the simulation
    itself, as a check."""

    scenario: str
    strategy: str
    workers: int
    ideal: float
    """Seconds of the query if every worker read from its own node and none waited, without noise
    and faults."""
    entries: int
    """Events in the result."""
    expected: int
    """Events of the dataset."""
