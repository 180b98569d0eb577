"""Keeps the results of a fileset's data sets apart: a partial for each, in one pass. Knows what a
workload is; knows no worker, no file and no query.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .workload import Bound, Forwarding, Partial, Workload

if TYPE_CHECKING:
    from .._core import Control

__all__ = ["ByDatasetWorkload", "PartialByDataset", "load"]


class PartialByDataset:
    """A partial for each data set of which entries were run. Implements Partial."""

    def __init__(self, parts: Mapping[str, Partial]) -> None:
        self.parts = dict(parts)

    def merge(self, other: PartialByDataset) -> None:
        """See Partial."""
        for dataset, part in other.parts.items():
            mine = self.parts.get(dataset)
            if mine is None:
                self.parts[dataset] = part  # the other is not used afterwards
            else:
                mine.merge(part)

    def results(self) -> list[object]:
        """One item: a mapping of data sets to their results. A data set without entries may be
        lacking."""
        return [{dataset: part.results() for dataset, part in self.parts.items()}]

    def dumps(self) -> bytes:
        """See Partial."""
        return pickle.dumps({dataset: part.dumps() for dataset, part in self.parts.items()})


def load(data: bytes, loads: Callable[[bytes], Partial]) -> PartialByDataset:
    """Rebuilds a partial from the bytes of its `dumps`; `loads` is that of its parts."""
    return PartialByDataset({name: loads(part) for name, part in pickle.loads(data).items()})


class ByDatasetWorkload(Forwarding[Partial]):
    """A workload whose partials are apart by data set."""

    def __init__(self, inner: Workload[Partial], datasets: Sequence[str]) -> None:
        """`datasets`: the data set of each file."""
        super().__init__(inner)
        self._datasets = datasets

    def bound(self, file: int) -> _OfDataset:
        """See Workload."""
        return _OfDataset(self.inner.bound(file), self._datasets[file])

    def finish(self, partial: PartialByDataset) -> PartialByDataset:
        """See Workload."""
        parts = partial.parts.items()
        return PartialByDataset({name: self.inner.finish(part) for name, part in parts})

    def discard(self, partial: PartialByDataset) -> None:
        """See Workload."""
        for part in partial.parts.values():
            self.inner.discard(part)


class _OfDataset:
    """A workload bound to one file of a data set. Implements Bound."""

    def __init__(self, bound: Bound[Partial], dataset: str) -> None:
        self._bound = bound
        self._dataset = dataset

    def partial(self) -> PartialByDataset:
        return PartialByDataset({self._dataset: self._bound.partial()})

    def run(self, start: int, stop: int, partial: PartialByDataset, control: Control) -> int | None:
        part = partial.parts.get(self._dataset)
        if part is None:
            part = partial.parts[self._dataset] = self._bound.partial()
        return self._bound.run(start, stop, part, control)

    def prefetch(self, start: int, stop: int, control: Control) -> None:
        self._bound.prefetch(start, stop, control)

    def forget(self, start: int, stop: int) -> None:
        self._bound.forget(start, stop)

    def ahead(self) -> int:
        return self._bound.ahead()

    def bytes_of(self, start: int, stop: int) -> int:
        return self._bound.bytes_of(start, stop)
