"""The warm measurement: every rival, query and codec, in interleaved rounds.

A round asks each rival once, one after another (A B C C B A A …), so that a machine that slows down
or a neighbour that wakes up hits all alike, and so that no rival always finds the file's bytes in
the processor's caches where another one has left them. Before the rounds each rival answers once
uncounted (just-in-time compilers, page cache), and all answers must have the same bins.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import spent
from .protocol import RivalError, Worker
from .queries import Query
from .rivals import Rival
from .times import Times


class WrongBinsError(Exception):
    """Two rivals gave different bins for the same query on the same file."""


@dataclass
class Cell:
    """What one rival did on one query and file."""

    rival: str
    query: str
    codec: str
    wall: Times
    cpu: Times
    clock: str
    peak: int = 0
    """Memory of the process after its first answer to the query, in bytes; 0: not known."""
    spent: Mapping[str, float] = field(default_factory=dict)
    """Median seconds of each step of treemill's runs (`spent.STEPS`); empty where none counts."""

    @property
    def times(self) -> Times:
        """By the clock that counts."""
        return self.cpu if self.clock == "cpu" else self.wall

    @property
    def place(self) -> str:
        """What was asked of which file."""
        return f"{self.query} {self.codec}"

    def as_dict(self) -> dict[str, object]:
        """For the file of raw numbers."""
        known = {"rival": self.rival, "query": self.query, "codec": self.codec}
        times = {"wall": self.wall.as_dict(), "cpu": self.cpu.as_dict()}
        return {**known, **times, **({"spent": dict(self.spent)} if self.spent else {})}


@dataclass
class Pool:
    """The rivals' processes that are up. As a context manager it ends them all."""

    workers: list[Worker] = field(default_factory=list)

    @classmethod
    def of(cls, rivals: Iterable[Rival], say: Callable[[str], None]) -> "Pool":
        """Of those that start; says why the others do not."""
        pool = cls()
        for rival in rivals:
            try:
                pool.workers.append(Worker(rival))
            except RivalError as error:
                say(str(error))
        return pool

    @property
    def versions(self) -> dict[str, str]:
        """What answered."""
        return {name: v for worker in self.workers for name, v in worker.versions.items()}

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()


def measure(
    pool: Pool,
    queries: Iterable[Query],
    files: dict[str, Path],
    rounds: int,
    clock: str,
    say: Callable[[str], None],
    unlike: Callable[[list[float], list[float]], list[int]] | None = None,
) -> list[Cell]:
    """All cells. Raises `WrongBinsError` as soon as two rivals disagree. `unlike`: which bins
    differ, if not all that are not equal."""
    cells = []
    for codec, path in files.items():
        for query in queries:
            peaks = _check(pool.workers, query, codec, path, unlike or _unequal)
            taken: dict[str, list[dict[str, Any]]] = {w.rival.key: [] for w in pool.workers}
            for number in range(rounds):
                for worker in pool.workers[:: -1 if number % 2 else 1]:
                    taken[worker.rival.key].append(worker.run(query.key, path))
            new = [_cell(key, query, codec, runs, clock, peaks[key]) for key, runs in taken.items()]
            cells += new
            say(
                f"{query.key} {codec}: "
                + ", ".join(f"{cell.rival} {cell.times.median * 1e3:.1f} ms" for cell in new)
            )
    return cells


def _check(
    workers: list[Worker],
    query: Query,
    codec: str,
    path: Path,
    unlike: Callable[[list[float], list[float]], list[int]],
) -> dict[str, int]:
    """Peaks of memory, by rival."""
    answers = {worker.rival: worker.run(query.key, path) for worker in workers}
    (first, expected), *others = ((r.title, answer["bins"]) for r, answer in answers.items())
    for title, bins in others:
        inside = expected[1:-1] if len(bins) == len(expected) - 2 else expected
        where = unlike(inside, bins)
        if where or len(bins) != len(inside):
            raise WrongBinsError(
                f"{query.key} on {codec}: {title} and {first} differ in {len(where)} bins"
                f" of {len(expected)} (first: {where[:1]}); totals {sum(bins)} and {sum(expected)}"
            )
    return {rival.key: int(answer.get("peak", 0)) for rival, answer in answers.items()}


def _unequal(one: list[float], other: list[float]) -> list[int]:
    return [i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]


def _cell(
    key: str, query: Query, codec: str, runs: Sequence[Mapping[str, Any]], clock: str, peak: int
) -> Cell:
    wall, cpu = (Times(tuple(run[what] for run in runs)) for what in ("seconds", "cpu"))
    steps = spent.medians([run.get("spent", {}) for run in runs])
    return Cell(key, query.key, codec, wall, cpu, clock, peak, steps)


__all__ = ["Cell", "Pool", "RivalError", "WrongBinsError", "measure"]
