"""Many users of one cluster: what each does next, and what came of all of it: errors, how long
queries took, how threads were divided, whether memory grew. Pure: it is told the time and given
chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from random import Random
from statistics import mean, median

from ...pictures.line_charts import Panel, Series
from ..storage.findings import Figure

__all__ = ["Asked", "Course", "QueryEnd", "Sample", "Script", "User", "drawn", "findings", "users"]

# What users do.

SIZES = {"short": 0.05, "middle": 0.25, "long": 0.5}
"""The shares of the files that queries are about."""
_MIX = ("short",) * 14 + ("middle",) * 5 + ("long",)
_HOG = 8


@dataclass(frozen=True)
class User:
    """One user."""

    name: str
    kind: str
    """One who `thinks` makes a query, then a pause; one who is `steady` makes long queries without
    a pause; a `hog` makes some of these at once; the code of one who `hangs` does not come back,
    and the user aborts it."""

    @property
    def at_once(self) -> int:
        """Queries that the user has running at the same time."""
        return _HOG if self.kind == "hog" else 1

    @property
    def always_wants(self) -> bool:
        """True if the user wants threads all the time."""
        return self.kind in ("steady", "hog")


def users(number: int) -> list[User]:
    """So many users: of these two are steady, one is a hog, and one's code hangs.

    >>> [each.kind for each in users(6)]
    ['hog', 'hangs', 'steady', 'steady', 'thinks', 'thinks']
    """
    kinds = ("hog", "hangs", "steady", "steady", *("thinks",) * number)[:number]
    return [User(f"user{i:02}-{kind}", kind) for i, kind in enumerate(kinds)]


@dataclass(frozen=True)
class Asked:
    """A query to be made."""

    size: str
    files: tuple[int, ...]
    pause: float
    """Seconds to think before it."""


class Script:
    """What a user does next."""

    def __init__(self, user: User, files: int, seed: int, think: float) -> None:
        """`files` that there are. `think`: seconds of a pause, on average."""
        self._user, self._files, self._think = user, files, think
        self._chance = Random(f"{seed}-{user.name}")

    def next(self) -> Asked:
        """The next query."""
        chance, is_plain = self._chance, self._user.kind == "thinks"
        size = chance.choice(_MIX) if is_plain else "long" if self._user.always_wants else "short"
        count = max(round(SIZES[size] * self._files), 1)
        first = chance.randrange(self._files)
        files = tuple((first + each) % self._files for each in range(count))
        pause = 0.0 if self._user.always_wants else chance.expovariate(1 / self._think)
        return Asked(size, files, min(pause, 4 * self._think))


# What came of it.


@dataclass(frozen=True)
class QueryEnd:
    """What came of one query."""

    user: str
    kind: str
    size: str
    at: float
    """Seconds since the start of the run, when it was asked."""
    seconds: float
    entries: int
    problem: str | None = None
    """Why it has no result, or that the result is wrong."""


@dataclass(frozen=True)
class Sample:
    """The cluster at a time, `at` seconds since the start of the run."""

    at: float
    running: int
    scheduler_bytes: int
    worker_bytes: int
    """Of all workers together."""
    workers: int
    entries: dict[str, int] = field(default_factory=dict)
    """What the queries of each user that always wants threads have done so far."""


@dataclass
class Course:
    """All of a run."""

    seconds: float
    queries: list[QueryEnd] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)
    """When a worker was killed."""

    def well(self) -> bool:
        """True if no query was lost and no result was wrong."""
        return bool(self.queries) and not any(each.problem for each in self.queries)

    def shares(self) -> dict[str, float]:
        """The share of what was done for users who always want threads, of each of them, from the
        first sample in which all have something to the last."""
        told = [each for each in self.samples if each.entries and all(each.entries.values())]
        if len(told) < 2:
            return {}
        names = sorted(told[-1].entries)
        done = {name: told[-1].entries[name] - told[0].entries.get(name, 0) for name in names}
        whole = sum(done.values())
        return {name: each / whole for name, each in done.items()} if whole > 0 else {}

    def growth(self, name: str) -> float:
        """How much larger `scheduler_bytes` or `worker_bytes` was in the last third of the run
        than in the middle one, as a share."""
        third = self.seconds / 3
        parts: list[list[float]] = [[], [], []]
        for each in self.samples:
            parts[min(int(each.at / third), 2)].append(float(getattr(each, name)))
        return median(parts[2]) / median(parts[1]) - 1 if parts[1] and parts[2] else 0.0


def findings(course: Course) -> Iterator[str]:
    """What a reader must know, in lines."""
    problems = [each for each in course.queries if each.problem]
    asked = len(course.queries)
    yield (
        f"{asked:,} queries in {course.seconds:,.0f} s, {len(course.kills)} workers killed: "
        + ("all results exact" if not problems else f"{len(problems):,} LOST OR WRONG")
    )
    for each in problems[:5]:
        yield f"  {each.user}, {each.size}, at {each.at:.0f} s: {each.problem}"
    for size in SIZES:
        times = [each.seconds for each in _plain(course) if each.size == size]
        if times:
            yield (
                f"{size} queries of users that think: median {median(times):.2f} s, "
                f"99th percentile {_within(times, 99):.2f} s ({len(times):,})"
            )
    shares = course.shares()
    if shares:
        even = 1 / len(shares)
        most = max(abs(each / even - 1) for each in shares.values())
        said = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        yield f"of what users who always want threads got: {said} (from even: {most:.1%})"
    for name, what in (("scheduler_bytes", "scheduler"), ("worker_bytes", "workers")):
        if course.samples:
            now = getattr(course.samples[-1], name) / 1e6
            grown = f"{course.growth(name):+.1%} in the last third"
            yield f"memory of the {what}: {now:,.0f} MB, {grown}"


def _within(times: Sequence[float], percent: float) -> float:
    """The time within which so many percent of the queries ended.

    >>> _within([3.0, 1.0, 2.0], 99), _within([3.0, 1.0, 2.0], 50)
    (3.0, 2.0)
    """
    return sorted(times)[max(ceil(len(times) * percent / 100), 1) - 1]


def _plain(course: Course) -> list[QueryEnd]:
    return [each for each in course.queries if each.kind == "thinks" and not each.problem]


def drawn(course: Course) -> list[Figure]:
    """The run against time."""
    times = [each.at for each in course.samples]
    if len(times) < 2:
        return []
    taken = [
        Series(size, [e.at for e in here], [e.seconds for e in here], loose=True)
        for size in SIZES
        if (here := [each for each in _plain(course) if each.size == size])
    ]
    names = sorted(course.samples[-1].entries)
    spans = [*pairwise(course.samples)]
    rates = [
        Series(
            name.partition("-")[0] + " " + name.partition("-")[2],
            [mean((a.at, b.at)) for a, b in spans],
            [
                (b.entries.get(name, 0) - a.entries.get(name, 0)) / max(b.at - a.at, 1e-9)
                for a, b in spans
            ],
        )
        for name in names
    ]
    grid = [
        [
            Panel(
                "queries at once",
                "s",
                "queries",
                [Series("", times, _of(course, "running"))],
                steps=True,
            ),
            Panel("how long queries took", "s", "s", taken, marked=True),
        ],
        [
            Panel("what was done for users who always want threads", "s", "entries/s", rates),
            Panel(
                "memory",
                "s",
                "MB",
                [
                    Series("all workers", times, _of(course, "worker_bytes", 1e6)),
                    Series("scheduler", times, _of(course, "scheduler_bytes", 1e6)),
                ],
            ),
        ],
    ]
    return [("Many users of one cluster", grid)]


def _of(course: Course, name: str, scale: float = 1.0) -> Sequence[float]:
    return [getattr(each, name) / scale for each in course.samples]
