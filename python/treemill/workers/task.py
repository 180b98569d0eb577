"""The protocol of tasks: what a pass computes, in a form that can be sent to workers. Queries and
selectors implement it. Knows workloads and partials; knows no packet and no transport.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..errors import ChangedError, QueryError
from .workload import Bound, FileState, Forwarding, Partial, Ran, Span, Turn, Workload, opaque

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["OneStateTask", "States", "StepwiseTask", "Task", "WrappedTask", "pickled"]


class Task(Protocol):
    """One pass's work. It is pickled by cloudpickle if workers are other processes. The inputs are
    sent separately: they may be large, and are often the same as in the last pass."""

    commit_seconds: float
    """Seconds between two commits of a worker."""
    least_seconds: float
    """Seconds that a packet should take at least, because each packet has a fixed cost."""
    alone_entries: int
    """Entries of the first packet of a worker that shares with no other; 0: as many as others get.
    Before anything is measured a packet may take long, and nothing of it is seen until it ends."""
    share_entries: int
    """Entries for each worker of one process, at least: with fewer, another worker is no help. 0:
    as many workers as there are packets."""
    second_runs: bool
    """Whether a packet that a worker is late with may be run by another one, too: what its code
    does besides its results would be done twice."""
    holds_lock: bool
    """Whether it runs Python's code, which one thread of a process runs at a time."""
    small_files: bool
    """Whether workers may process several small files in one order: they are all near."""
    inputs: Mapping[str, object] | None
    """The user's inputs of a selector. A task that was sent has None until its inputs arrive."""

    def preload(self) -> None:
        """Imports the modules that workers will need."""

    def control(self) -> Control:
        """Makes a stop flag and counters for one process."""

    def workload(self, number: int) -> Workload[Partial]:
        """Makes or gives the workload of the worker with this number. The caller must give it no
        partials but its own: only the task knows their class."""

    def load(self, data: bytes, first: int = 0) -> Partial:
        """Rebuilds a partial from the bytes of its `dumps()`, which begin at `first`."""


# A task around another one, which does all of it. Classes derived from it change what they differ
# in.


class WrappedTask:
    """See Task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.commit_seconds = task.commit_seconds
        self.least_seconds = task.least_seconds
        self.alone_entries = task.alone_entries
        self.second_runs = task.second_runs
        self.share_entries = task.share_entries
        self.holds_lock = task.holds_lock
        self.small_files = task.small_files

    @property
    def inputs(self) -> Mapping[str, object] | None:
        """See Task."""
        return self._task.inputs

    @inputs.setter
    def inputs(self, inputs: Mapping[str, object] | None) -> None:
        self._task.inputs = inputs

    def preload(self) -> None:
        """See Task."""
        self._task.preload()

    def control(self) -> Control:
        """See Task."""
        return self._task.control()

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return self._task.workload(number)

    def load(self, data: bytes, first: int = 0) -> Partial:
        """See Task."""
        return self._task.load(data, first)


# A task whose workers keep what they do, step by step, for a trace. Knows no step.


class StepwiseTask(WrappedTask):
    """See Task."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.small_files = False  # steps are of a file

    def control(self) -> Control:
        """See Task."""
        control = super().control()
        control.keep_steps()
        return control


# A task whose partials know which states of files they are of. Each process looks at files by
# itself, and two of them may see two states of one: their partials do not go together, wherever
# they meet. Knows no file and no transport.


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
        for path, state in others.items():
            self.seen.setdefault(path, state)

    def inner(self, partial: _PartialOfStates) -> Partial:
        """The partial itself, which goes with what was seen before. Raises ChangedError."""
        self.add(partial.states.seen)
        return partial.inner


_SIZE = 8
"""Bytes in which the size of the states is written."""


class _PartialOfStates:
    """A partial, and the states of the files that it is of. Implements Partial."""

    def __init__(self, inner: Partial, states: States) -> None:
        self.inner = inner
        self.states = states
        self.files: set[int] = set()
        """The files of which it has entries, by their numbers, until it is finished."""

    @property
    def is_full(self) -> bool:
        """See Partial."""
        return self.inner.is_full

    def merge(self, other: _PartialOfStates) -> None:
        """See Partial. Raises ChangedError if the other one is of another state of a file."""
        self.inner.merge(self.states.inner(other))

    def results(self) -> list[object]:
        """See Partial."""
        return self.inner.results()

    def dumps(self, before: bytes = b"") -> bytes:
        """See Partial."""
        seen = pickle.dumps(self.states.seen)
        size = len(seen).to_bytes(_SIZE, "little")
        return self.inner.dumps(b"".join((before, size, seen)))


class OneStateTask(WrappedTask):
    """A task whose partials are merged only if they are of the same states of files."""

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return opaque(_Workload(super().workload(number)))

    def load(self, data: bytes, first: int = 0) -> _PartialOfStates:
        """See Task."""
        begin = first + _SIZE
        end = begin + int.from_bytes(data[first:begin], "little")
        seen = pickle.loads(data[begin:end])
        return _PartialOfStates(super().load(data, end), States(seen))


class _Workload(Forwarding[Partial]):
    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: _PartialOfStates | None, control: Control
    ) -> tuple[_PartialOfStates | None, Ran]:
        before = None if partial is None else partial.inner
        inner, ran = self.inner.run_files(spans, turn, before, control)
        if inner is not None:
            partial = partial or _PartialOfStates(inner, States())
            partial.files.update(file for file, *_ in spans[: len(ran.entries)])
        return partial, ran

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


def pickled(value: object, what: str) -> bytes:
    """A value in bytes. Raises QueryError if that cannot be; `what` names it."""
    import cloudpickle  # start-up

    try:
        data: bytes = cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise QueryError(
            f"{what} cannot be sent to other processes: {type(error).__name__}: {error}"
        ) from error
    return data
