"""Selectors: a user's own analysis as an object that treemill calls, like ROOT's TSelector.

This is the interface that users write against; it knows nothing of how selectors are run. Plain
functions and coffea's processors become selectors here too.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeGuard, TypeVar

from ..errors import QueryError

if TYPE_CHECKING:
    import numpy as np

    from ..data.file_constants import DataFile
    from ..query.booking import Booking

__all__ = [
    "Chunk",
    "Inputs",
    "Output",
    "PristineCopies",
    "Processor",
    "Selector",
    "as_selector",
    "commits_only_at_end",
    "given_for",
    "take_booked",
]

# Makes copies of an object as it was given: changes to one copy are not in the next. Uses pickle,
# and knows which objects need not be copied.

T = TypeVar("T")

_CODE = (type, FunctionType, BuiltinFunctionType, ModuleType)
_STATELESS = (
    *("correctionlib", "coffea.lookup_tools", "coffea.jetmet_tools", "coffea.btag_tools"),
    *("coffea.ml_tools", "numba", "onnxruntime", "tensorflow", "torch", "xgboost", "lightgbm"),
)
"""Modules whose objects do not change when they are used. Some take seconds to be made again."""


class PristineCopies(Generic[T]):
    """Makes the copies. They share code, and objects that do not change when they are used."""

    def __init__(self, given: T) -> None:
        """Raises what pickle raises if `given` cannot be copied."""
        self._shared: list[object] = []
        data = io.BytesIO()
        _Pickler(data, self._shared).dump(given)
        self._data = data.getvalue()

    def copy(self) -> T:
        """Makes another copy of the object as it was given."""
        copy: T = _Unpickler(io.BytesIO(self._data), self._shared).load()
        return copy


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file, protocol=5)
        self._shared = shared

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, _CODE) and not _within(type(obj).__module__, _STATELESS):
            return None
        self._shared.append(obj)
        return len(self._shared) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, pid: int) -> object:
        return self._shared[pid]


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


# These contain Any because only the user's code knows more: it may say "a dict of histograms" or
# "awkward.Array", and type checkers must accept that.
Output = dict[str, Any]
"""What selectors put out, by name: all that merge.py can merge."""
Inputs = Mapping[str, Any]
"""What the user gives to all workers, by name."""
Chunk = Any
"""What `process` gets: an awkward array of records, or `Cycles`."""


class Processor(Protocol):
    """An object like coffea's ProcessorABC."""

    def process(self, events: Chunk, /) -> object:
        """Makes an accumulator of a chunk."""

    def postprocess(self, accumulator: Chunk, /) -> object:
        """Makes the result of the merged accumulator; None keeps that."""


class Selector:
    """Base class of selectors. Derived classes define `process`, and other methods as needed.

    `begin` and `end` run in the process that started the query. The other methods run on each
    worker, on the worker's own copy of the selector. About every second the worker hands over
    `self.output`, as `begin_worker` and `process` have filled it, and outputs are merged by kind:
    histograms, numbers and numpy arrays are added; lists, tuples and awkward arrays are
    concatenated, in no particular order; sets are united; dicts are merged key by key; other
    objects are merged by their method `merge(other)`, or by `+`. Text and Booleans must be the same
    in all chunks. Any other value replaces None.

    >>> class Sum(tm.Selector):
    ...     def begin_worker(self, inputs):
    ...         self.output["n"], self.output["met"] = 0, 0.0
    ...     def process(self, chunk):
    ...         self.output["n"] += len(chunk)
    ...         self.output["met"] += float(sum(chunk.MET_pt))
    ...     def end(self, output):
    ...         return output["met"] / output["n"]
    >>> tm.run(Sum(), events, progress=False) > 0
    True
    """

    output: Output
    """The worker's results. It is empty before `begin_worker`. `process` adds to it: it is an error
    if a second chunk binds a key that it has not read, `self.output["n"] = len(events)`, because
    the first chunk's value would be lost."""
    inputs: Inputs
    """The argument of `run(…, inputs=…)`. Workers share it, so it must not be changed."""
    rng: np.random.Generator
    """Random numbers for `process`, which depend on `seed` and the chunk's entries only."""
    collections: bool = False
    """Whether `events.Muon.pt` is read from a branch Muon_pt (NanoAOD's collections)."""

    def begin(self, inputs: Inputs) -> None:
        """Begin: called first, in the process that starts the query.

        Parameters
        ----------
        inputs
            The argument of `run(…, inputs=…)`; empty if there is none.
        """

    def book(self, name: str, booking: Booking[Any]) -> None:
        """Compute a booking in the same pass as this selector. Call it in `begin`.

        Parameters
        ----------
        name
            The key in `output` of the booking's value.
        booking
            A booking on the dataset that the selector runs over.

        Raises
        ------
        QueryError
            By `run`, if the booking is on another dataset, or has an automatic range.

        Examples
        --------
        >>> class Both(tm.Selector):
        ...     def begin(self, inputs):
        ...         self.book("entries", events.count())
        ...     def process(self, chunk):
        ...         return {"n": len(chunk)}
        >>> output = tm.run(Both(), events, progress=False)
        >>> output["n"] == output["entries"]
        True
        """
        self.__dict__.setdefault("_booked", {})[name] = booking

    def begin_worker(self, inputs: Inputs) -> None:
        """Make `self.output[…]`, empty or zero: called on each worker before its first chunk.

        Parameters
        ----------
        inputs
            The same as in `begin`.
        """

    def begin_file(self, file: DataFile) -> None:
        """Set up what holds for a file, as in TSelector::Notify. Each worker calls it before
        `process` gets the first chunk of another file.

        A worker may come back to a file, and then calls it again. If you count something here, you
        may therefore count it more than once. No worker calls it for a file without processed
        entries.

        Parameters
        ----------
        file
            It has `path`, `tree`, `dataset` and `metadata`.
        """

    def process(self, events: Chunk) -> Mapping[str, object] | None:
        """Process a chunk: called on each worker for one chunk after another.

        Parameters
        ----------
        events
            An awkward array of records. treemill reads a field when `process` uses it. Without data
            (`cycles=`), an object with `start`, `stop` and `len`.

        Returns
        -------
        dict or None
            Results by name, which are merged into `self.output`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method process(events)")

    def end_worker(self) -> None:
        """End on a worker: called after its last chunk, when `self.output` has everything since
        `begin_worker`.

        A worker whose selector defines this method hands over its output only then. Until then
        feedback shows nothing, and if the worker dies, other workers do all of its work again. A
        worker may begin again after its end, to do the work of another one again, or because
        workers die so often that it hands over its output before.
        """

    def end(self, output: Output) -> object:
        """End: called last, in the process that started the query.

        Parameters
        ----------
        output
            The merged output of all workers.

        Returns
        -------
        object
            The value that `run` returns instead of the output. If it is None, `run` returns the
            output.
        """

    @property
    def title(self) -> str:
        """The selector's name in messages."""
        return type(self).__name__


class FunctionSelector(Selector):
    """A plain function that makes a dict of a chunk."""

    def __init__(self, function: Callable[[Chunk], Mapping[str, object] | None]) -> None:
        self.function = function

    def process(self, events: Chunk) -> Mapping[str, object]:
        """Calls the function."""
        result = self.function(events)
        if result is None:
            raise QueryError(f"{self.title} returned nothing, but it must return a dict of results")
        return result

    @property
    def title(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)


_WHOLE = "what process() returns"
"""The name in the output of a result that is not a dict."""


class ProcessorSelector(Selector):
    """A processor like coffea's. As in coffea, each chunk is processed by the processor as it was
    given: if it keeps its output in itself and returns it, each chunk is counted once."""

    collections = True

    def __init__(self, processor: Processor, method: str = "process") -> None:
        """`method` of the processor is called with chunks."""
        self.processor = processor
        self._method = method
        self._fresh: PristineCopies[Processor] | None = None  # made by each worker

    def process(self, events: Chunk) -> Mapping[str, object]:
        """Calls the processor."""
        if self._fresh is None:
            self._fresh = PristineCopies(self.processor)
        result = getattr(self._fresh.copy(), self._method)(events)
        if result is None:
            name = f"{self.title}.{self._method}"
            raise QueryError(f"{name} returned nothing, but it must return a result")
        return result if isinstance(result, Mapping) else {_WHOLE: result}

    def end(self, output: Output) -> object:
        """Calls `postprocess`. If that returns None, the output is the result."""
        result = output[_WHOLE] if output.keys() == {_WHOLE} else output
        changed = self.postprocessed(result)
        return result if changed is None else changed

    def postprocessed(self, result: object) -> object:
        """Calls `postprocess` with the merged result."""
        return self.processor.postprocess(result)

    @property
    def title(self) -> str:
        """The name of the processor's class."""
        return type(self.processor).__name__


class MethodSelector(ProcessorSelector):
    """A method of a processor, given as a function: the merged result is not postprocessed."""

    def postprocessed(self, result: object) -> object:
        """Gives the result as it is."""
        return result


def as_selector(given: object) -> Selector:
    """A selector from one of the three forms. Raises QueryError for anything else."""
    if isinstance(given, type):
        raise QueryError(f"{given.__name__} is a class: give an object of it, {given.__name__}()")
    if isinstance(given, Selector):
        if type(given).process is Selector.process:
            raise QueryError(f"{given.title} has no method process(events)")
        return given
    if _is_processor(given):
        return ProcessorSelector(given)
    if isinstance(given, MethodType) and _is_processor(given.__self__):
        return MethodSelector(given.__self__, given.__name__)
    if callable(given):
        return FunctionSelector(given)
    raise QueryError(
        "run() takes a treemill.Selector, a function of a chunk of events or a coffea processor "
        f"with a dataset, not {type(given).__name__}"
    )


def given_for(selector: Selector) -> object:
    """Returns what the user has given for a selector: the function or the processor that it calls,
    with its method's name if it is one method; else the selector itself."""
    if isinstance(selector, FunctionSelector):
        return selector.function
    if isinstance(selector, MethodSelector):
        return selector.processor, selector._method
    if isinstance(selector, ProcessorSelector):
        return selector.processor
    return selector


def _is_processor(given: object) -> TypeGuard[Processor]:
    return all(callable(getattr(given, method, None)) for method in ("process", "postprocess"))


def take_booked(selector: Selector) -> dict[str, object]:
    """Removes what the selector's `begin` has booked from the selector, and returns it by name."""
    booked: dict[str, object] = selector.__dict__.pop("_booked", {})
    return booked


def commits_only_at_end(selector: Selector) -> bool:
    """True if the selector defines `end_worker`, so that a worker commits once."""
    return type(selector).end_worker is not Selector.end_worker
