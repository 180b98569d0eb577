"""Which jobs of an endurance run begin and end when: a state machine that is told the time and what
has ended. Pure: it starts no process and looks at no clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import QueryError

__all__ = ["Bounds", "JobScheduler", "KillJob", "Start"]

_PAUSE = 1.0
"""Seconds for which the place of a job that has failed stays empty: a storage that is down is not
asked as often as the machine can start jobs."""


@dataclass(frozen=True)
class Bounds:
    """How much runs at once, and how long. Times are in seconds."""

    most: int
    """Jobs at once, at most."""
    ramp: float = 0.0
    """The time from one job at once to all of them."""
    seconds: float | None = None
    """No job begins later."""
    jobs: int | None = None
    """So many begin, at most."""
    longest: float = 3600.0
    """A job that takes longer is ended, and has failed."""
    grace: float = 30.0
    """How long jobs may continue after the run was stopped."""

    def __post_init__(self) -> None:
        if self.most < 1:
            raise QueryError(f"1 job or more at once, not {self.most}")
        if self.seconds is None and self.jobs is None:
            raise QueryError("a run has an end: --for or --jobs")

    def allowed(self, now: float) -> int:
        """Jobs at once at this time.

        >>> [Bounds(11, ramp=10, jobs=1).allowed(now) for now in (0, 5, 10)]
        [1, 6, 11]
        """
        if now >= self.ramp:
            return self.most
        return 1 + math.floor((self.most - 1) * now / self.ramp)


@dataclass(frozen=True)
class Start:
    """Begin a job."""

    job: int
    """Its number in the run."""
    kind: int
    """The kind of job, by its place in the file."""
    storage: int
    turn: int
    """How many jobs of this kind began before at this storage."""


@dataclass(frozen=True)
class KillJob:
    """End a job. It counts as running until it is told that it has ended."""

    job: int
    reason: str


@dataclass
class JobScheduler:
    """The state of a run: `tick` as time passes, `ended` for each job, `stop` and `abort`."""

    shares: Sequence[float]
    """The share of each kind of job."""
    storages: int
    bounds: Bounds
    started: int = 0
    running: dict[int, float] = field(default_factory=dict)
    """When each job that runs began."""
    _by_kind: list[int] = field(default_factory=list)
    _turns: dict[tuple[int, int], int] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)
    """The storage of each job that runs."""
    _paused: list[tuple[float, int]] = field(default_factory=list)
    """Until when a place of a storage stays empty."""
    _killed: set[int] = field(default_factory=set)
    _stopped: float | None = None

    def __post_init__(self) -> None:
        self._by_kind = [0] * len(self.shares)

    def tick(self, now: float) -> list[Start | KillJob]:
        """Returns what is to be done at this time."""
        self._paused = [(until, place) for until, place in self._paused if until > now]
        actions: list[Start | KillJob] = [*self._late(now)]
        room = self.bounds.allowed(now) - len(self.running) - len(self._paused)
        for _ in range(room):
            if not self._may_start(now):
                break
            actions.append(self._start(now))
        return actions

    def ended(self, job: int, now: float, ok: bool) -> None:
        """A job has ended, by itself or not."""
        del self.running[job]
        self._killed.discard(job)
        storage = self._places.pop(job)
        if not ok:
            self._paused.append((now + _PAUSE, storage))

    def stop(self, now: float) -> None:
        """No job begins any more; those that run have a while."""
        if self._stopped is None:
            self._stopped = now

    def abort(self) -> None:
        """Ends all jobs at the next tick."""
        self._stopped = -math.inf

    def is_done(self, now: float) -> bool:
        """True if nothing runs and nothing will begin."""
        return not self.running and not self._may_start(now)

    def _may_start(self, now: float) -> bool:
        bounds = self.bounds
        in_time = bounds.seconds is None or now < bounds.seconds
        in_number = bounds.jobs is None or self.started < bounds.jobs
        return self._stopped is None and in_time and in_number

    def _end(self) -> float | None:
        """When the run was stopped, or its time was up."""
        if self._stopped is not None:
            return self._stopped
        return self.bounds.seconds

    def _late(self, now: float) -> list[KillJob]:
        end = self._end()
        is_over = end is not None and now >= end + self.bounds.grace
        kills = []
        for job, began in self.running.items():
            if job in self._killed:
                continue
            if is_over:
                kills.append(KillJob(job, "the run has ended"))
            elif now - began >= self.bounds.longest:
                kills.append(KillJob(job, f"it took longer than {self.bounds.longest:g} s"))
        self._killed |= {each.job for each in kills}
        return kills

    def _start(self, now: float) -> Start:
        """The kind that is furthest behind its share; each kind goes round the storages. One that
        has its part of the places already is left out: jobs that wait for a storage that is down do
        not take the others' places."""
        whole = sum(self.shares)
        behind = [
            share / whole * (self.started + 1) - begun
            for share, begun in zip(self.shares, self._by_kind, strict=True)
        ]
        kind = behind.index(max(behind))
        storage = self._free(kind, now)
        turn = self._turns.get((kind, storage), 0)
        self._turns[kind, storage] = turn + 1
        self._by_kind[kind] += 1
        start = Start(self.started, kind, storage, turn)
        self.running[start.job] = now
        self._places[start.job] = storage
        self.started += 1
        return start

    def _free(self, kind: int, now: float) -> int:
        """Gives, of the storages with less than their part of the places, the one that this kind
        was at least often."""
        part = math.ceil(self.bounds.allowed(now) / self.storages)
        occupied = [*self._places.values(), *(storage for _, storage in self._paused)]
        # Kinds begin at different storages.
        order = [(kind + i) % self.storages for i in range(self.storages)]
        free = [each for each in order if occupied.count(each) < part]
        return min(free or order, key=lambda each: self._turns.get((kind, each), 0))
