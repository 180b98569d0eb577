"""The state of one query, which the parts of the packetizer share. Each field says what must be
true of it; view.py checks that. Changed by packetizer.py, assignment.py, promises.py,
feeding.py and recovery.py only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .entities import Ending, Files, Lifetimes, Retries, Totals, WorkerState
from .ledger import Ledger
from .sizing import Crowd, Rates, Sizing
from .storage_nodes import StorageNodes

__all__ = ["Policy", "State"]

# The parameters by which a query is scheduled. The sizes of packets are in sizing.py. Plain data.


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The parameters; times in seconds."""

    max_attempts: int = 3
    """The number of attempts after which a packet or a file is given up."""
    skip_errors: bool = False
    """Whether the query continues without the entries that were given up; else it ends with the
    error."""
    commit_seconds: float = 1.0
    """Workers are asked to commit about this often; `inf`: only when there is nothing to do."""
    collect_seconds: float | None = 5.0
    """Mergers that get partials are asked to hand over about this often. None: they are not asked;
    their partials are fetched once only they hold something."""
    roots: int | None = None
    """If more mergers than this hold something at the end, they join in pairs until no more do.
    None: they do not join."""
    speculate: bool = False
    """Whether idle workers run packets that others are late with. This needs a Tick about every
    second."""
    reserve: bool = False
    """Whether workers get packets ahead, which they begin without asking; see feeding.py."""
    small_files: bool = False
    """Whether workers may process several small files in one order; see small_files.py."""
    shares_lock: bool = False
    """Whether workers wait for each other: they are threads that run Python's code. Then no more
    of them get packets than are of use; see Crowd."""
    expected_workers: int = 0
    """The number of workers that will join: the first one must not take the share of all others."""


@dataclass
class State:
    """Which worker has which work, and what is left."""

    policy: Policy
    sizing: Sizing
    files: Files
    """The files by number. A file's entries from `next` on were never handed out. Its `entries` are
    None until a worker has opened it; they stay None if the file is given up."""
    nodes: StorageNodes
    """`left`: the sum of the entries that the files have left, and the number of files of unknown
    size that no worker has tried to open."""
    totals: Totals
    """`known` is the sum of all sizes that are known, `unknown` the number of files of unknown size
    that may still be opened."""
    ledger: Ledger = field(default_factory=Ledger)
    """Has each entry of the files of known size exactly once, except the unassigned ones. Only
    workers that are there, are not tainted and have something else to do have promises."""
    rates: Rates = field(default_factory=Rates)
    """The speeds of the workers that have done a packet and are not lost."""
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    """How long the workers live that have joined."""
    crowd: Crowd = field(default_factory=Crowd)
    """How many workers are of use, if they share a lock."""
    workers: dict[int, WorkerState] = field(default_factory=dict)
    """The workers that have joined and are not lost. A worker has the packet that it has in the
    ledger; a tainted worker has none."""
    idle: dict[int, WorkerState] = field(default_factory=dict)
    """The workers without an order, in the order in which they became idle: they have no packet,
    hold nothing that is not committed, have no promises and are not tainted. They may be opening
    files ahead."""
    tainted: set[int] = field(default_factory=set)
    """The tainted workers, for which the end does not wait."""
    leaving: set[int] = field(default_factory=set)
    """The workers that get no packets: they will go, or rest."""
    opening_seconds: float = 0.7
    """How long opening a far file takes, lately; before any was opened, five round trips over an
    ocean."""
    handing_over: float = 0.0
    """How long it takes a worker to hand over its partial, lately: it does nothing else then,
    unless it has put it aside."""
    answer: float = 0.0
    """How long a worker has waited for a packet that it has asked for, lately."""
    file_seconds: float | None = None
    """How long a small file has taken lately, from its opening to its last entry."""
    refused_in_a_row: int = 0
    """How often lately the first of several small files was not one that is processed so."""
    again: Retries = field(default_factory=Retries)
    """The ranges and files that a worker has had, and that no worker has now. `entries` is the sum
    of the ranges."""
    ending: Ending = field(default_factory=Ending)
    """Has a reason if the query ends early: then no new work is handed out, and nothing is promised
    once that is announced. `over` after Finish: then nothing changes any more."""

    @property
    def left(self) -> float:
        """The entries that are neither done nor any worker's, not even by a promise; a file of
        unknown size counts as many as the others on average."""
        known = self.nodes.left.entries + self.again.entries
        return known + self.totals.rest if self.totals.unknown else known

    @property
    def everything_handed_out(self) -> bool:
        """True if no work waits for a worker without any, as far as is known: there may be
        promises."""
        return not (self.again.waiting or self.nodes.left.is_some or self.nodes.opening)

    def commit_seconds(self, now: float) -> float:
        """Seconds between two commits of a worker: as the policy says, but no more than half of a
        worker's life. If workers die sooner than they commit, all is done again without end."""
        return min(self.policy.commit_seconds, self.lifetimes.mean(now) / 2.0)

    def opened_in(self, seconds: float) -> None:
        """Notes how long opening a far file has taken."""
        self.opening_seconds = 0.8 * self.opening_seconds + 0.2 * seconds

    def answered_in(self, seconds: float) -> None:
        """Notes how long a worker has waited for a packet."""
        seconds = min(seconds, self.sizing.ahead)
        self.answer = 0.9 * self.answer + 0.1 * seconds if self.answer else seconds

    def handed_over_in(self, seconds: float) -> None:
        """Notes how long handing over a partial has taken."""
        before = self.handing_over
        self.handing_over = (before + seconds) / 2 if before else seconds

    def wait(self, worker: WorkerState, file: int) -> float:
        """The seconds for which a worker is expected to wait for the first bytes of a packet of a
        far file that was not promised to it. Opening a file takes about four round trips."""
        return self.opening_seconds * (0.25 if file in worker.opened else 1.25)

    @property
    def sharing(self) -> int:
        """The number of workers that share what is left: those that are there or will be, as far as
        they are of use."""
        there = max(len(self.workers) - len(self.leaving), self.policy.expected_workers)
        return there if self.crowd.limit is None else min(there, self.crowd.limit)

    def is_crowded(self, worker: WorkerState, now: float) -> bool:
        """Whether a worker that has no order should get none, so that fewer work."""
        if self.crowd.limit is None:
            return False
        return self.crowd.is_full(self.others_at_work(worker), now)

    def others_at_work(self, worker: WorkerState) -> int:
        """The number of other workers that have an order, and will have more."""
        others = [each for each in self.workers.values() if each is not worker]
        return sum([each.has_work and not each.leaving for each in others])
