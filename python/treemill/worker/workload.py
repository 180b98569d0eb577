"""What a worker works with: a query or a selector, bound to one file after another. Protocols,
which queries and selectors implement, and wrappers that change a part of another workload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Bound", "Forwarding", "Partial", "Span", "SpanWorkload", "Workload"]

Span = tuple[int, int, int | None]
"""Entries `[first, stop)` of a file of the dataset; stop None: to its end."""


class Partial(Protocol):
    """What a worker has accumulated."""

    def merge(self, other: Self) -> None:
        """Takes over what another partial of the same workload has. The other one is used up."""

    def results(self) -> list[Any]:
        """What it comes to, one value per booking."""

    def dumps(self) -> bytes:
        """The partial as it is sent to another process, where `Task.load` reads it."""


P = TypeVar("P", bound=Partial)


class Bound(Protocol[P]):
    """A workload, bound to one file."""

    def partial(self) -> P:
        """A new partial, without entries."""

    def run(self, start: int, stop: int, partial: P, control: Control) -> int | None:
        """Adds the entries `[start, stop)` to the partial. Gives the entry before which it has
        ended, if it was told to stop by `control`; None or `stop` otherwise."""


class Workload(Protocol[P]):
    """What a worker does with packets. One object may serve all workers of a process."""

    def begin(self) -> None:
        """Called before the first packet. Raises what makes any work impossible."""

    def bound(self, file: int) -> Bound[P]:
        """The workload, bound to this file; files may stay open."""

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The file's number of entries, and the entries before which packets are best cut."""

    def place(self, file: int) -> tuple[str, int]:
        """The file's name, and the entry of it that packets call 0."""

    def finish(self, partial: P) -> P:
        """The partial as it is to be handed over. Raises what makes its results worthless."""

    def discard(self, partial: P) -> None:
        """Called when a partial is thrown away, to remove what it has outside of memory."""


class Forwarding(Generic[P]):
    """A workload that does all as another one does. Wrappers inherit it and change a part."""

    def __init__(self, inner: Workload[Any]) -> None:
        self.inner = inner

    def begin(self) -> None:
        """See Workload."""
        self.inner.begin()

    def bound(self, file: int) -> Bound[P]:
        """See Workload."""
        return self.inner.bound(file)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See Workload."""
        return self.inner.size(file)

    def place(self, file: int) -> tuple[str, int]:
        """See Workload."""
        return self.inner.place(file)

    def finish(self, partial: P) -> P:
        """See Workload."""
        finished: P = self.inner.finish(partial)
        return finished

    def discard(self, partial: P) -> None:
        """See Workload."""
        self.inner.discard(partial)


class SpanWorkload(Forwarding[P]):
    """A workload on parts of files: file `i` is the span `i`, whose entries count from 0."""

    def __init__(self, inner: Workload[P], spans: Sequence[Span]) -> None:
        super().__init__(inner)
        self._spans = spans

    def bound(self, file: int) -> Bound[P]:
        """See Workload."""
        number, first, _ = self._spans[file]
        return _Shifted(self.inner.bound(number), first)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See Workload."""
        number, first, stop = self._spans[file]
        entries, cuts = self.inner.size(number)
        last = entries if stop is None else min(stop, entries)
        return max(last - first, 0), tuple(cut - first for cut in cuts if first < cut < last)

    def place(self, file: int) -> tuple[str, int]:
        """See Workload."""
        number, first, _ = self._spans[file]
        path, begin = self.inner.place(number)
        return path, begin + first


class _Shifted(Generic[P]):
    def __init__(self, bound: Bound[P], first: int) -> None:
        self._bound = bound
        self._first = first

    def partial(self) -> P:
        return self._bound.partial()

    def run(self, start: int, stop: int, partial: P, control: Control) -> int | None:
        first = self._first
        ended = self._bound.run(start + first, stop + first, partial, control)
        return None if ended is None else ended - first
