"""All that the packetizer knows of one query, for its parts to share: which is handed out by
outgoing.py and taken back by incoming.py, as packetizer.py's events have it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .ledger import Ledger
from .nodes import Nodes
from .sizing import Rates, Sizing
from .state import Ending, File, Retries, Totals, Worker

__all__ = ["Distribution"]


@dataclass
class Distribution:
    """Who has what, and what is left."""

    sizing: Sizing
    files: list[File]
    nodes: Nodes
    totals: Totals
    expected_workers: int
    speculate: bool
    ledger: Ledger = field(default_factory=Ledger)
    rates: Rates = field(default_factory=Rates)
    workers: dict[int, Worker] = field(default_factory=dict)
    tainted: set[int] = field(default_factory=set)
    """Workers that nobody waits for."""
    opening: int = 0
    """Files that are being opened."""
    again: Retries = field(default_factory=Retries)
    ending: Ending = field(default_factory=Ending)

    @property
    def everything_handed_out(self) -> bool:
        """Whether no entry waits for a worker, as far as is known."""
        return not (self.again.waiting or self.nodes.has_work)
