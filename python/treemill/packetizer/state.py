"""All that the packetizer knows of one query, for its parts to share: what assignment.py hands out
and recovery.py takes back, as packetizer.py's events have it. Each field says what must be true of
it, and validation.py checks that."""

from __future__ import annotations

from dataclasses import dataclass, field

from .entities import Ending, File, Retries, Totals, Worker
from .ledger import Ledger
from .nodes import Nodes
from .policy import Policy
from .sizing import Rates, Sizing

__all__ = ["State"]


@dataclass
class State:
    """Which worker has what, and what is left."""

    policy: Policy
    sizing: Sizing
    files: list[File]
    """By number. A file's entries from `next` on were never handed out; its `entries` are None
    until a worker has opened it, and stay so if it is given up."""
    nodes: Nodes
    """Has the same entries left as the files have, and as many fresh files of unknown size as were
    never tried to be opened."""
    totals: Totals
    """`unassigned` is the sum of what the files have left and of the ranges in `again`; `known` the
    sum of all sizes that are known, `unknown` the number of files that may still be opened."""
    ledger: Ledger = field(default_factory=Ledger)
    """Has each entry of a file of known size exactly once, unless it is unassigned."""
    rates: Rates = field(default_factory=Rates)
    """Speeds of workers that are there and have done a packet."""
    workers: dict[int, Worker] = field(default_factory=dict)
    """All workers that have joined and are not lost. A worker's packet is the one that the ledger
    says it works on; a tainted worker has none."""
    idle: dict[int, Worker] = field(default_factory=dict)
    """All workers that have no order: they have no packet, open no file, hold nothing that is not
    committed, and are not tainted. First come, first served."""
    tainted: set[int] = field(default_factory=set)
    """All workers that are tainted, for which the end does not wait."""
    opening: int = 0
    """The number of workers that are opening a file."""
    again: Retries = field(default_factory=Retries)
    """Ranges and files that some worker has had, and no worker has now."""
    ending: Ending = field(default_factory=Ending)
    """Has a reason from the moment on when no new work is handed out before all is done; `over`
    after Finish, and then nothing changes any more."""

    @property
    def everything_handed_out(self) -> bool:
        """Whether no entry waits for a worker, as far as is known."""
        return not (self.again.waiting or self.nodes.has_work)
