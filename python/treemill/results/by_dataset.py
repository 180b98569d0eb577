"""The value of a booking on a fileset: one for each sample, which can be stacked and added up.

Knows no query. A value that has axes is a histogram; hist is imported only to make one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..errors import QueryError, check_text
from .listing import as_html, as_text
from .variations import NOMINAL, Variations, alike, plus

if TYPE_CHECKING:
    import hist
    from typing_extensions import TypeVar

    Value = TypeVar("Value", default=object)
    Made = TypeVar("Made")
else:  # Python's own has no defaults before 3.13
    from typing import TypeVar

    Value = TypeVar("Value")

__all__ = ["DATASET", "ByDataset", "is_measured"]

DATASET = "dataset"
"""What stands for a sample's name among the items of its metadata."""
_OF_DATA = ("data", "data_obs")
"""Usual names of what was measured."""


class ByDataset(dict[str, Value]):
    """A value for each sample of a fileset, by name, in the fileset's order.

    >>> fs = tm.fileset({"dy": "data/*.root:Events", "tt": "data/*.root:Events"})
    >>> met = fs.hist("MET_pt", bins=(50, 0, 200)).value
    >>> met["dy"] == met["tt"]
    True
    >>> list(met.stack().axes[0])
    ['dy', 'tt']
    """

    def __init__(
        self,
        values: Mapping[str, Value] | Iterable[tuple[str, Value]] = (),
        metadata: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        super().__init__(values)
        self.metadata = {name: dict((metadata or {}).get(name, {})) for name in self}
        """The metadata of each sample."""

    def __missing__(self, name: str) -> Value:
        near = get_close_matches(str(name), list(self), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self)}"
        raise KeyError(f"no sample {name!r}; {hint}")

    def __repr__(self) -> str:
        return as_text(self)

    __str__ = __repr__

    def map(self, function: Callable[[Value], Made]) -> ByDataset[Made]:
        """Apply a function to each value.

        Parameters
        ----------
        function
            It takes a value, and returns the one that replaces it.

        Returns
        -------
        ByDataset
            The results of the function, by the same names.

        Examples
        --------
        >>> fs = tm.fileset({"dy": "data/*.root:Events", "tt": "data/*.root:Events"})
        >>> fs.count().value.map(lambda n: n > 0)
        {'dy': True, 'tt': True}
        """
        return ByDataset({name: function(value) for name, value in self.items()}, self.metadata)

    def stack(self, by: str = DATASET) -> hist.Hist | Variations[hist.Hist]:
        """Make one histogram of all samples, with a category axis before the others.

        Parameters
        ----------
        by
            "dataset", or an item of the metadata, such as "process": histograms of samples that
            share it are added up. The axis has this name.

        Returns
        -------
        hist.Hist
            The histograms, side by side; `Variations` of such if the values are `Variations`.

        Raises
        ------
        QueryError
            If the values are not histograms, if a sample has no such item, or if the histograms
            have different axes or storages, as those of several bookings may: `a | b`.

        Examples
        --------
        >>> fs = tm.fileset({"dy": "data/*.root:Events", "tt": "data/*.root:Events"})
        >>> met = fs.hist("MET_pt", bins=(50, 0, 200)).value
        >>> list(met.stack().axes["dataset"])
        ['dy', 'tt']
        """
        check_text("by", by)
        categories: dict[str, list[Value]] = {}
        for name, value in self.items():
            categories.setdefault(_category(by, name, self.metadata[name]), []).append(value)
        if not any(isinstance(value, Variations) for value in self.values()):
            return _stacked(by, categories)
        return _stacked_variations(by, categories)

    def as_variations(
        self, by: str = "process", variation: str = "variation"
    ) -> ByDataset[Variations[Value]]:
        """Make one result for each process: the sum of its samples with the nominal simulation,
        with the samples of other simulations as variations.

        Parameters
        ----------
        by
            The item of the metadata that names the process.
        variation
            The item that is "nominal", or the name of the variation.

        Returns
        -------
        ByDataset
            `Variations` by process.

        Raises
        ------
        QueryError
            If a sample lacks one of the items, if a process has no nominal sample, or if a sample's
            variation has the name of one by `vary`.

        Examples
        --------
        >>> def tt(variation):
        ...     metadata = {"process": "tt", "variation": variation}
        ...     return {"files": "data/*.root:Events", "metadata": metadata}
        >>> fs = tm.fileset({"tt": tt("nominal"), "tt_up": tt("shower_up")})
        >>> list(fs.count().value.as_variations()["tt"])
        ['nominal', 'shower_up']
        """
        nominal: dict[str, Variations[Value]] = {}
        others: dict[str, dict[str, Value]] = {}
        shared: dict[str, dict[str, object]] = {}
        """What the nominal samples of a process agree on."""
        for name, value in self.items():
            of, kind = (_category(item, name, self.metadata[name]) for item in (by, variation))
            varied = value if isinstance(value, Variations) else Variations({NOMINAL: value})
            if kind == NOMINAL:
                nominal[of] = nominal[of] + varied if of in nominal else varied
                own = {key: each for key, each in self.metadata[name].items() if key != variation}
                shared[of] = _common(shared[of], own) if of in shared else own
            else:
                _add(others.setdefault(of, {}), kind, varied.nominal)
        for of in others.keys() & nominal.keys():
            twice = others[of].keys() & (nominal[of].keys() | nominal[of].unchanged)
            if twice:
                raise QueryError(
                    f"{by} {of!r} has the variation {min(twice)!r} twice, by vary() and by a "
                    f"sample whose {variation} has this name: give one of them another name"
                )
        for of in others.keys() - nominal.keys():
            raise QueryError(
                f"{by} {of!r} has the variations {', '.join(others[of])}, and no sample whose "
                f"{variation} is {NOMINAL!r}"
            )
        return ByDataset(
            {of: Variations({**v, **others.get(of, {})}, v.unchanged) for of, v in nominal.items()},
            {of: shared[of] | {by: of} for of in nominal},
        )

    def __or__(self, other: object) -> ByDataset[Value]:  # type: ignore[override]
        if not isinstance(other, ByDataset):
            return NotImplemented
        return ByDataset({**self, **other}, {**self.metadata, **other.metadata})

    def __reduce__(self) -> tuple[type[ByDataset], tuple[object, ...]]:
        return ByDataset, (dict(self), self.metadata)

    def _repr_html_(self) -> str:
        from ..pictures.html import of_datasets  # start-up

        return as_html(self) or of_datasets(self)


def is_measured(name: str, metadata: Mapping[str, object]) -> bool:
    """True if a sample or process is of data, not of simulated events: by what the metadata say,
    `is_mc` or `is_data` in any spelling, otherwise by its name."""
    flags = {str(key).replace("_", "").lower(): value for key, value in metadata.items()}
    if "isdata" in flags:
        return _is_true(flags["isdata"])
    if "ismc" in flags:
        return not _is_true(flags["ismc"])
    return name in _OF_DATA or metadata.get("process") in _OF_DATA


def _is_true(flag: object) -> bool:
    """Whether a flag is set; in files of text it may be a word."""
    return flag.lower() in ("true", "yes", "1") if isinstance(flag, str) else bool(flag)


def _common(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    return {key: one[key] for key in one if key in other and one[key] == other[key]}


def _add(sums: dict[str, Value], name: str, value: Value) -> None:
    sums[name] = sums[name] + value if name in sums else value  # type: ignore[operator]


def _category(by: str, name: str, metadata: Mapping[str, object]) -> str:
    if by == DATASET:
        return name
    if by not in metadata:
        known = ", ".join(metadata) or "nothing"
        raise QueryError(f"the metadata of {name!r} has no {by!r} to stack by; it has {known}")
    return str(metadata[by])


def _stacked(by: str, categories: Mapping[str, Iterable[object]]) -> hist.Hist:
    import hist

    sums = alike({name: _sum(name, values) for name, values in categories.items()})
    first = next(iter(sums.values()))
    axis = hist.axis.StrCategory(list(sums), name=by, label=by, overflow=False)
    stacked = hist.Hist(axis, *first.axes, storage=first.storage_type(), name=first.name)
    view = stacked.view(flow=True)
    for index, value in enumerate(sums.values()):
        view[index] = value.view(flow=True)
    return stacked


def _stacked_variations(
    by: str, categories: Mapping[str, Sequence[object]]
) -> Variations[hist.Hist]:
    every = [value for values in categories.values() for value in values]
    names: dict[str, None] = {NOMINAL: None}
    unchanged: set[str] = set()
    for value in every:
        if isinstance(value, Variations):
            names |= dict.fromkeys(value)
            unchanged |= value.unchanged

    def of(value: object, variation: str) -> object:
        return value.get(variation, value.nominal) if isinstance(value, Variations) else value

    stacked = {
        variation: _stacked(by, {c: [of(v, variation) for v in vs] for c, vs in categories.items()})
        for variation in names
    }
    return Variations(stacked, unchanged)


def _sum(name: str, values: Iterable[object]) -> hist.Hist:
    total: hist.Hist | None = None
    for value in values:
        if not hasattr(value, "axes"):
            raise QueryError(f"{value!r:.60} is not a histogram")
        total = value if total is None else plus(total, value, f"two samples of {name!r}")
    assert total is not None
    return total
