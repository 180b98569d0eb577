"""One line of the table, and how times are taken."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One thing that was measured. `values` in the order taken; the median counts."""

    what: str
    values: tuple[float, ...]
    unit: str
    below: float | None = None
    above: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def reached(self) -> bool | None:
        """Whether the goal is; None where there is none."""
        if self.below is not None:
            return self.median <= self.below
        return None if self.above is None else self.median >= self.above

    @property
    def goal(self) -> str:
        if self.below is not None:
            return f"≤ {self.below:g} {self.unit}"
        return "" if self.above is None else f"≥ {self.above:g} {self.unit}"

    def as_dict(self) -> dict[str, object]:
        """For the file of raw numbers."""
        known = {"what": self.what, "unit": self.unit, "values": list(self.values)}
        return known | {"median": self.median, "goal": self.goal, "reached": self.reached}


def ratios(what: str, a: Row, b: Row, **goal: float) -> Row:
    """Round by round: a's over b's of the same round, since both were taken in turn."""
    values = tuple(x / y for x, y in zip(a.values, b.values, strict=True))
    return Row(what, values, "x", **goal)


def shares(what: str, a: Row, b: Row, **goal: float | None) -> Row:
    """As `ratios`, in per cent."""
    values = tuple(100 * x / y for x, y in zip(a.values, b.values, strict=True))
    return Row(what, values, "% of all", **goal)


def in_turn(
    rounds: int,
    contestants: Mapping[str, Callable[[], object]],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, tuple[float, ...]]:
    """Seconds of each, all in every round, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for counted in range(-1, rounds):
        for name, run in contestants.items():
            began = clock()
            run()
            if counted >= 0:
                times[name].append(clock() - began)
    return {name: tuple(found) for name, found in times.items()}
