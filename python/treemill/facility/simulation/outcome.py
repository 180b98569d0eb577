"""The outcome of a simulated query: its timeline, and the time that was possible at best. Plain
data."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...scheduling import Timeline
from .master_queue import MasterLoad

__all__ = ["SimulationOutcome"]


@dataclass(frozen=True, kw_only=True)
class SimulationOutcome(Timeline):
    """The timeline of a simulated query from its trace. `entries` is counted by the simulation
    itself, as a check."""

    scenario: str
    strategy: str
    workers: int
    ideal: float
    """Seconds of the query if every worker read from its own node and none waited, without noise
    and faults."""
    entries: int
    """Events in the result, each counted once."""
    twice: int
    """Events that are in the result once more."""
    expected: int
    """Events of the dataset."""
    fetched: bool = False
    """Whether a client has fetched what mergers had."""
    load: MasterLoad = field(default_factory=MasterLoad)
    """What the master had to do."""

    @property
    def last_merges(self) -> float:
        """Seconds from the end of the last packet to the query's end."""
        return self.seconds - max(span.ended for span in self.spans)
