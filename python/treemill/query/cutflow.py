"""Cut flows, which `report` gives users. Pure: standard library only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from ..errors import QueryError
from ..pictures.tables import amount, percent

__all__ = ["Cut", "CutFlow"]


@dataclass(frozen=True)
class Cut:
    """One named filter, with the number of entries that arrived at it and the number that passed.
    With a weight, these are sums of weights, and the variances are the sums of the squares."""

    name: str
    """The filter's name."""
    total: float
    """Number of entries that came to the filter, or the sum of their weights."""
    passed: float
    """Number of those that the filter let through, or the sum of their weights."""
    total_variance: float
    """The variance of `total`."""
    passed_variance: float
    """The variance of `passed`."""

    @property
    def efficiency(self) -> float:
        """Passed over total; NaN if no entry came."""
        return self.passed / self.total if self.total else math.nan


class CutFlow(Sequence[Cut]):
    """The named filters from the dataset down, as RDataFrame's Report."""

    def __init__(self, cuts: Sequence[Cut]) -> None:
        self._cuts = tuple(cuts)

    @overload
    def __getitem__(self, index: int | str) -> Cut: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Cut, ...]: ...

    def __getitem__(self, index: int | str | slice) -> Cut | tuple[Cut, ...]:
        """The cut at a place, or of a filter by its name."""
        if isinstance(index, str):
            for cut in self._cuts:
                if cut.name == index:
                    return cut
            raise KeyError(index)
        return self._cuts[index]

    def __len__(self) -> int:
        return len(self._cuts)

    def __iter__(self) -> Iterator[Cut]:
        return iter(self._cuts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CutFlow) and self._cuts == other._cuts

    def __add__(self, other: object) -> CutFlow:
        """The cut flow of both samples. Raises QueryError if they have other cuts."""
        if not isinstance(other, CutFlow):
            return NotImplemented
        names = [[cut.name for cut in flow] for flow in (self, other)]
        if names[0] != names[1]:
            raise QueryError(
                "cut flows are added if they have the same cuts in the same order, and these have "
                f"{', '.join(names[0])} and {', '.join(names[1])}"
            )
        return CutFlow(
            [
                Cut(
                    one.name,
                    one.total + two.total,
                    one.passed + two.passed,
                    one.total_variance + two.total_variance,
                    one.passed_variance + two.passed_variance,
                )
                for one, two in zip(self, other, strict=True)
            ]
        )

    def __radd__(self, other: object) -> CutFlow:
        """The cut flow itself, if it is added to 0, as `sum` does first."""
        return self if other == 0 else NotImplemented

    def __hash__(self) -> int:
        return hash(self._cuts)

    def cumulative(self, cut: Cut) -> float:
        """Get the number of entries that passed this cut, divided by the number that arrived at the
        first cut.

        Parameters
        ----------
        cut
            One of the cuts.

        Returns
        -------
        float
            The efficiency of all cuts down to this one; NaN if no entry came.

        Examples
        --------
        >>> flow = events.filter("nMuon >= 2", name="pair").report().value
        >>> flow.cumulative(flow["pair"]) == flow["pair"].efficiency
        True
        """
        first = self._cuts[0].total
        return cut.passed / first if first else math.nan

    def __str__(self) -> str:
        width = max(len(cut.name) for cut in self._cuts)
        lines = []
        for cut in self._cuts:
            passed, total = (f"{amount(n):<12}" for n in (cut.passed, cut.total))
            lines.append(
                f"{cut.name:<{width}}: pass={passed} all={total} -- "
                f"eff={percent(cut.efficiency)} "
                f"cumulative eff={percent(self.cumulative(cut))}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def to_latex(self) -> str:
        """Get the table that notebooks show, for LaTeX.

        Returns
        -------
        str
            A `tabular`, with lines of the package booktabs.

        Examples
        --------
        >>> flow = events.filter("nMuon >= 2", name="pair").report().value
        >>> flow.to_latex().startswith("\\\\begin{tabular}")
        True
        """
        from ..pictures.tables import table  # start-up

        rows = [
            [
                cut.name,
                amount(cut.total),
                amount(cut.passed),
                percent(cut.efficiency),
                percent(self.cumulative(cut)),
            ]
            for cut in self._cuts
        ]
        return table(["cut", "all", "passed", "efficiency", "cumulative"], rows)

    def _repr_html_(self) -> str:
        from ..pictures.html import of_cuts  # start-up

        return of_cuts(self._cuts, self.cumulative)
