"""A query in a form that can be sent: its specification and its data. Implements worker.task.Task;
knows no packet and no transport.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from treemill import _core

from ..data.rows import Sink
from ..language.external_functions import Preloaded
from . import by_dataset
from .file_query import PerFile
from .query_workload import QueryWorkload
from .row_collection import CollectingWorkload, load
from .workload import Partial, SpanWorkload, opaque

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..query.specification import Specification
    from .workload import Span, Workload

__all__ = ["QueryTask"]

_ALONE = 500_000
"""Entries of a first packet: for what the core computes itself that is a second at most."""

_SENT = (
    *("_specification", "_chain", "_workers", "_spans", "_sinks", "_remember", "_apart"),
    "alone_entries",
)


class QueryTask:
    """Bookings, as the core's specification."""

    commit_seconds = 1.0
    least_seconds = 0.0
    second_runs = True
    share_entries = 0
    inputs: Mapping[str, object] | None = None

    def __init__(
        self,
        specification: Specification,
        chain: Chain,
        workers: int,
        spans: Sequence[Span] | None,
        sinks: Mapping[int, Sink] | None = None,
        *,
        remember: bool = False,
        apart: bool = False,
    ) -> None:
        """`sinks`: where rows go, by the booking's index in the specification. `remember`: whether
        workers share the cache of this process. `apart`: whether the results of a fileset's data
        sets are kept apart (by_dataset.py)."""
        self._remember = remember
        self._apart = apart
        self._sinks = sinks or {}
        self._specification = specification
        self._chain = chain.pinned()
        self._workers = workers
        self._spans = spans
        # If the file is on a server, the first bytes of a short packet come sooner.
        plain = not (sinks or specification.provided or 0 in chain.trees.far)
        self.alone_entries = _ALONE if plain else 0
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._workload: Workload[Partial] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {name: self.__dict__[name] for name in _SENT}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def preload(self) -> None:
        """Imports what functions of the user's own need."""
        for each in self._specification.provided.values():
            if isinstance(each, Preloaded):
                each.preload()

    def control(self) -> _core.Control:
        """A control of the core's."""
        return _core.Control()

    def workload(self, number: int) -> Workload[Partial]:
        """The one workload of all workers of a process."""
        with self._lock:
            if self._workload is None:
                self._workload = self._make()
            return self._workload

    def _make(self) -> Workload[Partial]:
        query = PerFile(self._specification)
        plain = QueryWorkload(query, self._chain, self._workers, remember=self._remember)
        workload = opaque(CollectingWorkload(plain, self._sinks)) if self._sinks else opaque(plain)
        if self._apart:
            files = range(len(self._chain.locations))
            datasets = [self._chain.dataset_of(file) for file in files]
            workload = opaque(by_dataset.ByDatasetWorkload(workload, datasets))
        return workload if self._spans is None else SpanWorkload(workload, self._spans)

    def load(self, data: bytes) -> Partial:
        """Rebuilds a partial of the core's, with rows if the query has some."""
        return by_dataset.load(data, self._load) if self._apart else self._load(data)

    def _load(self, data: bytes) -> Partial:
        return load(data, _core.Partial.loads) if self._sinks else _core.Partial.loads(data)
