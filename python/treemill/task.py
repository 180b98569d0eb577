"""What a pass computes, in a form that can be sent: a query or a selector, and on which data.

Knows how workers come by trees and partials; knows no worker's place, no packet and no transport.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .parts import client_here
from .rows import CollectingTrees, Sink, load

if TYPE_CHECKING:
    from .chain.chain import Chain
    from .derived import Derivation
    from .selector import Selector
    from .specification import Specification
    from .worker import Trees

__all__ = ["QueryTask", "SelectorTask", "Span", "Task", "Window"]

Span = tuple[int, int, int | None]
"""Entries `[first, stop)` of a file of the dataset; stop None: to its end."""


class Task(Protocol):
    """One pass's work. Pickled by cloudpickle where workers are other processes; the inputs travel
    apart, because they may be large and are often the same as last time."""

    commit_seconds: float
    least_seconds: float
    """What a packet costs, however small: shorter ones are not worth handing out."""
    inputs: Any

    def preload(self) -> None:
        """Imports what workers will need."""

    def control(self) -> Any:
        """Stop flag and counters for one process: core.Control."""

    def trees(self, number: int) -> Trees:
        """For the worker of this number."""

    def load(self, data: bytes) -> Any:
        """The partial that `dumps` of one wrote."""


class Window:
    """Implements worker.Trees for parts of files: file `i` is the span `i`, counted from 0."""

    def __init__(self, trees: Trees, spans: Sequence[Span]) -> None:
        self._trees = trees
        self._spans = spans

    def begin(self) -> None:
        """The same."""
        self._trees.begin()

    def bound(self, file: int) -> Any:
        """The same, counted from the span's start."""
        number, first, _ = self._spans[file]
        return _Shifted(self._trees.bound(number), first)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """Of the span."""
        number, first, stop = self._spans[file]
        entries, cuts = self._trees.size(number)
        last = entries if stop is None else min(stop, entries)
        return max(last - first, 0), tuple(cut - first for cut in cuts if first < cut < last)

    def place(self, file: int) -> tuple[str, int]:
        """The file that this span is of, and where it starts."""
        number, first, _ = self._spans[file]
        path, begin = self._trees.place(number)
        return path, begin + first

    def finish(self, partial: Any) -> Any:
        """The same."""
        return self._trees.finish(partial)

    def discard(self, partial: Any) -> None:
        """The same."""
        self._trees.discard(partial)


class _Shifted:
    def __init__(self, bound: Any, first: int) -> None:
        self._bound = bound
        self._first = first
        self.partial: Callable[[], Any] = bound.partial

    def run(self, start: int, stop: int, partial: Any, control: Any) -> int | None:
        first = self._first
        ended: int | None = self._bound.run(start + first, stop + first, partial, control)
        return None if ended is None else ended - first


class QueryTask:
    """Bookings, as the core's specification."""

    commit_seconds = 1.0
    least_seconds = 0.0
    inputs: Any = None

    def __init__(
        self,
        specification: Specification,
        chain: Chain,
        workers: int,
        spans: Sequence[Span] | None,
        sinks: Mapping[int, Sink] | None = None,
        *,
        remember: bool = False,
    ) -> None:
        """`sinks`: where rows go, by the booking's index in the specification. `remember`: whether
        workers find what this process remembers of files."""
        self._remember = remember
        self._sinks = sinks or {}
        self._specification = specification
        self._chain = chain.pinned()
        self._workers = workers
        self._spans = spans
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._trees: Trees | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_specification", "_chain", "_workers", "_spans", "_sinks", "_remember")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def preload(self) -> None:
        """The core."""
        from . import _core, bindings, perfile  # noqa: F401

        if self._sinks:
            from . import columns  # noqa: F401

    def control(self) -> Any:
        """The core's."""
        from . import _core

        return _core.Control()

    def trees(self, number: int) -> Trees:
        """One for all workers of a process."""
        from .bindings import BoundTrees
        from .perfile import PerFile

        with self._lock:
            if self._trees is None:
                query = PerFile(self._specification)
                found: Trees = BoundTrees(
                    query, self._chain, self._workers, remember=self._remember
                )
                if self._sinks:
                    found = CollectingTrees(found, self._sinks)
                self._trees = found if self._spans is None else Window(found, self._spans)
            return self._trees

    def load(self, data: bytes) -> Any:
        """The core's, with rows where there are some."""
        from . import _core

        if not self._sinks:
            return _core.Partial.loads(data)
        return load(data, _core.Partial.loads)


class SelectorTask:
    """A selector on a chain, or on a number of cycles."""

    least_seconds = 0.1

    def __init__(
        self,
        selector: Selector,
        inputs: Mapping[str, Any],
        chain: Chain | None,
        *,
        cycles: int,
        seed: int,
        workers: int,
        spans: Sequence[Span] | None,
        derivation: Derivation | None = None,
        beside: QueryTask | None = None,
        schema: Any = None,
    ) -> None:
        """`beside`: bookings that the selector takes along. `schema`: see selecting.reader_of."""
        from .selector import commits_only_at_end

        self._derivation = derivation
        self._beside = beside
        self._schema = schema

        self.inputs: Any = inputs
        self.commit_seconds = float("inf") if commits_only_at_end(selector) else 1.0
        self._selector = selector
        self._chain = None if chain is None else chain.pinned()
        self._cycles = cycles
        self._seed = seed
        self._workers = workers
        self._spans = spans
        self._client = client_here()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"inputs": None}

    def preload(self) -> None:
        """What selectors read with, and fill, most of them."""
        import hist  # noqa: F401

        from . import _core, chunk  # noqa: F401
        from .selecting import reader_of

        reader_of(self._selector, self._schema)

    def control(self) -> Any:
        """The core's."""
        from . import _core

        return _core.Control()

    def trees(self, number: int) -> Trees:
        """For one worker only: it has a selector of its own."""
        from .selecting import SelectorTrees

        derived = None
        if self._derivation is not None:
            from .derived import Derived

            assert self._chain is not None
            derived = Derived(self._derivation, self._chain)
        trees = SelectorTrees(
            copy.deepcopy(self._selector),
            self.inputs,
            self._chain,
            cycles=self._cycles,
            seed=self._seed,
            workers=self._workers,
            name=str(number),
            derived=derived,
            beside=None if self._beside is None else self._beside.trees(number),
            client=self._client,
            schema=self._schema,
        )
        return trees if self._spans is None else Window(trees, self._spans)

    def load(self, data: bytes) -> Any:
        """From another process."""
        from .output_partial import OutputPartial

        return OutputPartial.loads(data, None if self._beside is None else self._beside.load)
