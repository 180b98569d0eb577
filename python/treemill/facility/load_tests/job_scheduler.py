"""The kinds of jobs of an endurance run, and which of them begin and end when: a state machine that
is told the time and what has ended. Pure: it starts no process and looks at no clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from ...errors import QueryError
from ..storage.matrix import WHATS

__all__ = ["Bounds", "JobScheduler", "JobType", "KillJob", "Start", "job_types"]

# The kinds of jobs of an endurance run, from a file's mapping. Pure: opens no file.

_KEY = "job"
"""The name of the table of jobs in a file."""
_KINDS = ("read", "hist", "command")


@dataclass(frozen=True)
class JobType:
    """What one kind of job does. Exactly one of `read`, `hist` and `command` is given."""

    name: str
    share: float = 1.0
    """The share of all jobs, relative to the shares of the others."""
    files: int = 1
    """How many of the storage's files a job takes; the next job takes the next ones."""
    read: str | None = None
    """One of "whole", "all" and "two", as `treemill bench storage` reads."""
    window: int = 60_000_000
    """Bytes that may be asked for before they are needed, for `read`."""
    hist: tuple[str, ...] = ()
    """Expressions, each of which is filled into a histogram."""
    filter: str | None = None
    """Which events, for `hist`."""
    command: tuple[str, ...] = ()
    """A program and its words: the word {files} stands for the files, {file} for the first one."""


def job_types(told: object) -> list[JobType]:
    """The jobs that a file describes: a list of tables under `job`. Raises QueryError that says
    which job is wrong, and how.

    >>> [job] = job_types({"job": [{"name": "pt", "hist": "Muon_pt", "filter": "nMuon >= 2"}]})
    >>> job.hist
    ('Muon_pt',)
    """
    tables = told.get(_KEY) if isinstance(told, Mapping) else None
    if not isinstance(tables, list) or not tables:
        raise QueryError(f"a file of jobs has tables [[{_KEY}]], one for each kind of job")
    jobs = [_job(number, table) for number, table in enumerate(tables, 1)]
    names = [job.name for job in jobs]
    for name in names:
        if names.count(name) > 1:
            raise QueryError(f"two jobs have the name {name!r}")
    return jobs


def _job(number: int, table: object) -> JobType:
    if not isinstance(table, Mapping):
        raise QueryError(f"job {number} is no table but {table!r}")
    name = str(table.get("name", f"job {number}"))
    known = [each.name for each in fields(JobType)]
    for key in table:
        if key not in known:
            raise QueryError(f"job {name!r} has {key!r}, which no job has", suggestions=known)
    kinds = [kind for kind in _KINDS if table.get(kind)]
    if len(kinds) != 1:
        said = ", ".join(_KINDS)
        raise QueryError(f"job {name!r} has {len(kinds)} of {said}, and needs exactly one")
    job = JobType(
        name,
        _number(name, "share", table.get("share", 1.0)),
        int(_number(name, "files", table.get("files", 1))),
        _text(name, "read", table.get("read")),
        int(_number(name, "window", table.get("window", JobType.window), least=0)),
        _texts(name, "hist", table.get("hist", ())),
        _text(name, "filter", table.get("filter")),
        _texts(name, "command", table.get("command", ())),
    )
    if job.read is not None and job.read not in WHATS:
        raise QueryError(f"job {name!r} reads {job.read!r}, not one of {', '.join(WHATS)}")
    if job.filter is not None and not job.hist:
        raise QueryError(f"job {name!r} has a filter, but no histogram to fill")
    if job.files < 1:
        raise QueryError(f"job {name!r} takes 1 file or more, not {job.files}")
    return job


def _number(name: str, key: str, value: object, least: float = 1e-9) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= float(value) < 1e15:  # type: ignore[arg-type]
        raise QueryError(f"job {name!r}: {key} is a number above 0, not {value!r}")
    return float(value)  # type: ignore[arg-type]


def _text(name: str, key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise QueryError(f"job {name!r}: {key} is a text, not {value!r}")
    return value


def _texts(name: str, key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise QueryError(f"job {name!r}: {key} is a text or a list of texts, not {value!r}")


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
            raise QueryError("give the end of the run: --for or --jobs")

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
