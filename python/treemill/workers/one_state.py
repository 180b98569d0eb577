"""A task whose partials know which states of files they are of. Each process looks at files by
itself, and two of them may see two states of one: their partials do not go together, wherever they
meet. Knows no file and no transport.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import ChangedError
from .workload import Bound, FileState, Forwarding, Partial, Workload, opaque
from .wrapped_task import WrappedTask

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["OneStateTask", "States"]


class States:
    """The states of files that were seen, by path: one of each file."""

    def __init__(self, seen: Mapping[str, FileState] | None = None) -> None:
        self.seen = dict(seen or {})

    def add(self, others: Mapping[str, FileState]) -> None:
        """Adds what another process has seen. Raises ChangedError, and adds nothing, if it has seen
        another state of a file."""
        for path, state in others.items():
            if path in self.seen and not self.seen[path].agrees(state):
                raise ChangedError(
                    f"{path} is not the same file for all workers, or was written to while they "
                    "read it: run again",
                    file=path,
                )
        self.seen = {**others, **self.seen}

    def inner(self, partial: _PartialOfStates) -> Partial:
        """The partial itself, which goes with what was seen before. Raises ChangedError."""
        self.add(partial.states.seen)
        return partial.inner


class _PartialOfStates:
    """A partial, and the states of the files that it is of. Implements Partial."""

    def __init__(self, inner: Partial, states: States) -> None:
        self.inner = inner
        self.states = states
        self.files: set[int] = set()
        """The files of which it has entries, by their numbers, until it is finished."""

    def merge(self, other: _PartialOfStates) -> None:
        """See Partial. Raises ChangedError if the other one is of another state of a file."""
        self.inner.merge(self.states.inner(other))

    def results(self) -> list[object]:
        """See Partial."""
        return self.inner.results()

    def dumps(self) -> bytes:
        """See Partial."""
        return pickle.dumps((self.states.seen, self.inner.dumps()))


class OneStateTask(WrappedTask):
    """A task whose partials are merged only if they are of the same states of files."""

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return opaque(_Workload(super().workload(number)))

    def load(self, data: bytes) -> _PartialOfStates:
        """See Task."""
        seen, inner = pickle.loads(data)
        return _PartialOfStates(super().load(inner), States(seen))


class _Workload(Forwarding[Partial]):
    def bound(self, file: int) -> _OfFile:
        return _OfFile(self.inner.bound(file), file)

    def finish(self, partial: _PartialOfStates) -> _PartialOfStates:
        partial.inner = self.inner.finish(partial.inner)
        partial.states.add(self.inner.states(partial.files))
        partial.files = set()
        return partial

    def discard(self, partial: _PartialOfStates) -> None:
        self.inner.discard(partial.inner)


class _OfFile:
    """A workload bound to one file. Implements Bound."""

    def __init__(self, bound: Bound[Partial], file: int) -> None:
        self._bound = bound
        self._file = file

    def partial(self) -> _PartialOfStates:
        return _PartialOfStates(self._bound.partial(), States())

    def run(self, start: int, stop: int, partial: _PartialOfStates, control: Control) -> int | None:
        partial.files.add(self._file)
        return self._bound.run(start, stop, partial.inner, control)

    def prefetch(self, start: int, stop: int, control: Control) -> None:
        self._bound.prefetch(start, stop, control)

    def forget(self, start: int, stop: int) -> None:
        self._bound.forget(start, stop)

    def ahead(self) -> int:
        return self._bound.ahead()

    def bytes_of(self, start: int, stop: int) -> int:
        return self._bound.bytes_of(start, stop)
