"""Selectors: a user's own analysis as an object that treemill calls, as ROOT's TSelector.

What the user writes against, and nothing of how it is run. Plain functions and coffea's processors
become selectors here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

from ..errors import QueryError
from .fresh import Fresh

__all__ = ["Selector", "as_selector", "commits_only_at_end", "take_booked"]


class Selector:
    """Derive from it and define what is needed, `process` at least.

    `begin` and `end` run where the query was started, the others on each worker, on a copy of the
    selector of its own. What `begin_worker` and `process` put into `self.output` is handed over
    about every second and merged: histograms, numbers and numpy arrays are added, lists, tuples
    and awkward arrays concatenated (in no particular order), sets united, dicts merged key by key,
    other objects by their method `merge(other)`, or by `+`; text and Booleans must be the same in
    all chunks, and None gives way to anything.
    """

    output: dict[str, Any]
    """This worker's results; a fresh one before begin_worker. `process` adds to it: where it binds
    a key anew without having read it, `self.output["n"] = len(events)`, that is an error in the
    second chunk, because the first one's would be lost."""
    inputs: Mapping[str, Any]
    """What was given to `run(…, inputs=…)`; the workers share it, so it must not be changed."""
    rng: Any
    """In `process`: a numpy.random.Generator that depends on `seed` and the entries only."""
    collections: bool = False
    """Whether `events.Muon.pt` is read from a branch Muon_pt (NanoAOD's collections)."""

    def begin(self, inputs: Mapping[str, Any]) -> None:
        """Before anything else, where the query is started."""

    def book(self, name: str, booking: Any) -> None:
        """In `begin`: a booking on the same dataset, such as `events.hist("MET_pt", bins=…)`, is to
        be done along with this selector, in the same pass; its value becomes `output[name]`."""
        self.__dict__.setdefault("_booked", {})[name] = booking

    def begin_worker(self, inputs: Mapping[str, Any]) -> None:
        """On each worker before its first chunk: make `self.output[…]`, empty or zero."""

    def process(self, events: Any) -> Any:
        """One chunk: an awkward array of records whose fields are read when touched; without data
        (`cycles=`) an object with `start`, `stop` and `len`. What it returns, if anything, is a
        dict that is merged into `self.output`."""
        raise NotImplementedError(f"{type(self).__name__} has no method process(events)")

    def end_worker(self) -> None:
        """On each worker after its last chunk, with all its output since begin_worker. A selector
        that defines it hands over nothing before; feedback shows nothing until then, and a
        worker that dies takes all its work with it, which others do again. A worker may be begun
        again after its end, where another's work is to be done again."""

    def end(self, output: dict[str, Any]) -> Any:
        """Where the query was started, with the merged output. What it returns, unless None, is
        what `run` gives back instead of the output."""

    @property
    def title(self) -> str:
        """For messages."""
        return type(self).__name__


class FunctionSelector(Selector):
    """A plain function of a chunk that gives a dict."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def process(self, events: Any) -> Any:
        """The function's own."""
        result = self.function(events)
        if result is None:
            raise QueryError(f"{self.title} returned nothing; it should give a dict of results")
        return result

    @property
    def title(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)


_WHOLE = "what process() returns"
"""The name in the output of what a processor returns that is no dict."""


class ProcessorSelector(Selector):
    """An object like coffea's ProcessorABC: `process(events)` gives an accumulator and
    `postprocess` sees the merged one. Each chunk is processed by the processor as it was given, as
    in coffea: one that keeps its output, `self.output`, and returns it gives every chunk's once."""

    collections = True

    def __init__(self, processor: Any, method: str = "process") -> None:
        """`method`: what is called with chunks."""
        self.processor = processor
        self._method = method
        self._fresh: Fresh | None = None  # made by each worker

    def process(self, events: Any) -> Any:
        """The processor's own."""
        if self._fresh is None:
            self._fresh = Fresh(self.processor)
        result = getattr(self._fresh.copy(), self._method)(events)
        if result is None:
            name = f"{self.title}.{self._method}"
            raise QueryError(f"{name} returned nothing; it should give a result")
        return result if isinstance(result, Mapping) else {_WHOLE: result}

    def end(self, output: dict[str, Any]) -> Any:
        """The processor's postprocess. Where that gives nothing the output is the result."""
        result = output[_WHOLE] if output.keys() == {_WHOLE} else output
        changed = self.postprocessed(result)
        return result if changed is None else changed

    def postprocessed(self, result: Any) -> Any:
        """What the processor makes of the merged result."""
        return self.processor.postprocess(result)

    @property
    def title(self) -> str:
        """The processor's class."""
        return type(self.processor).__name__


class MethodSelector(ProcessorSelector):
    """A method of such an object, given as a function: nothing is done with the merged result."""

    def postprocessed(self, result: Any) -> Any:
        """As it is."""
        return result


def as_selector(given: Any) -> Selector:
    """A selector of any of the three forms. Raises QueryError for anything else."""
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
        "what is run on a dataset is a treemill.Selector, a function of a chunk of events or a "
        f"coffea processor, not {type(given).__name__}"
    )


def _is_processor(given: Any) -> bool:
    return all(callable(getattr(given, method, None)) for method in ("process", "postprocess"))


def take_booked(selector: Selector) -> dict[str, Any]:
    """What the selector's begin has booked; it forgets that."""
    booked: dict[str, Any] = selector.__dict__.pop("_booked", {})
    return booked


def commits_only_at_end(selector: Selector) -> bool:
    """Whether the selector has something to do after a worker's last chunk."""
    return type(selector).end_worker is not Selector.end_worker
