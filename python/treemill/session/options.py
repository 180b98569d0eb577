"""The options that `run` and `submit` share: their names, types, defaults and words, each once.

`RunKeywords` has their types, for type checkers and for signatures; `_DEFAULTS` has their defaults.
`RunOptions` has the values of one run, checked; `with_options` gives a function their signature and
words; `Run` has the types of what `run` gives. Knows chains and spans; knows no query and no
session.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from operator import index
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    overload,
)

from .._system.cache import size_of
from ..errors import QueryError, TreemillError, check_flag, check_whole
from ..workers.packets_and_chunks import COFFEAS_CHUNK, chunk_of
from ..workers.workload import Span
from .results_folder import results_folder

if TYPE_CHECKING:
    from typing import Unpack

    from ..checkpoint.results import Results
    from ..data.chain import Chain
    from ..monitoring.watch import Feedback
    from ..query.booking import Booking
    from ..query.node import Bookable
    from ..workers.selector import Processor, Selector

__all__ = ["RunKeywords", "RunOptions", "typed", "with_options"]

Entries: TypeAlias = int | tuple[int | None, int | None] | range | slice | None
"""Entries of a chain: a number from the start, or a pair (start, stop), range or slice, in which
negative numbers count from the end; None: all."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_WORDS = """\
inputs
    The argument `inputs` of the selector's methods; it is sent to workers once.
on_error
    "stop" raises the first error; "skip" leaves out the entries that cannot be read or processed,
    and the report names them.
entries
    The part of the dataset to process: a number of entries from the start; or a pair (start,
    stop), a range or a slice, in which negative numbers count from the end. None: all.
max_files
    The number of files to process, from the first one on. None: all.
checkpoint
    A folder to which the merged results are written every few seconds. If the run is interrupted,
    the same run with the same folder continues from there (docs/checkpoints.md). None: keep
    nothing.
remember
    False: take no results from the folder of `treemill.remember`, and keep none there
    (docs/remember.md). "code": also remember the output of a selector, if everything that its code
    depends on is certain.
trace
    A file for the events of the query: which worker processed which entries, at which time and for
    how long. It is written when the query has ended. Its suffix selects the format: .root (a TTree
    PerfStats), .parquet or .json (for Perfetto). `treemill trace report` sums it up
    (docs/monitoring.md).
trace_steps
    If true, the trace also has each step of the workers: files bound, each read with its ranges,
    bytes, duration and server, waits, decompression, decoding, evaluation.
monitor
    The report has histograms of the workers: packets, entries, latencies and times by worker, and
    workers by node; `feedback=` takes their names. True: the output of a selector also has them, as
    `output["monitor"]`. False: treemill counts nothing.
cycles
    For a selector without a dataset: the number of cycles, in which it generates data.
seed
    The seed of the selector's `self.rng`.
schema
    One of coffea's schemas, or a name such as "delphes", which makes the selector's events
    (docs/coffea.md).
chunksize
    About the number of entries of a chunk, for selectors. treemill cuts files as coffea's Runner
    does, always in the same way. None: as many entries as a worker processes in half a second (with
    coffea's processors two seconds).
maxchunks
    The number of chunks of each sample to process, as coffea counts them. None: all.
memory
    The most memory that the query may take in each worker process of a cluster: a number of bytes,
    or a text such as "2 GB". A query that takes more ends with an error that names the entries.
    None: as much as the cluster's operator allows (docs/clusters.md).
second_runs
    True: a worker without other work may process a packet with which another worker is late, and
    the first result counts. If the user's code does more than return results, for example write
    files, it does this twice. False: never. None: True, but False for coffea's processors and with
    `schema=`."""

_SESSION = "connect(workers=…, mode=…) makes a session, which runs it"
_NEEDLESS = "leave it out: treemill checks files once, and chooses the size of chunks by their time"
_OF_COFFEA = {
    "skipbadfiles": 'on_error="skip" leaves out data that fail, and a warning names them',
    "retries": "leave it out: treemill repeats the packets of workers that die",
    "savemetrics": "session.report has the bytes that were read, and the rates",
    "metadata_cache": _NEEDLESS,
    "cachestrategy": "treemill.cache keeps data in memory; treemill.cache.limit is its size",
    "align_clusters": _NEEDLESS,
    "dynamic_chunksize": _NEEDLESS,
    "checkpointer": 'checkpoint="a folder" keeps results, from which the same run continues',
    "format": "treemill reads ROOT files",
    "executor": _SESSION,
    "pre_executor": _SESSION,
    "workers": _SESSION,
    "processor_instance": "write run(processor, dataset), without their names",
    "fileset": "write run(processor, dataset), without their names",
    "treename": 'treemill.dataset(files, "Events") names the tree',
    "use_result_type": "run raises errors; submit(…) gives a handle",
    "preload": _NEEDLESS,
    "uproot_options": "leave it out: treemill calls uproot for data that it cannot read",
    "iteritems_options": "leave it out: a processor can use all branches. If a schema fails with "
    "some, derive a class from it that removes them from the form",
}
"""Options of coffea's Runner, and what to write here instead."""


class RunKeywords(TypedDict, total=False):
    """The options and their types."""

    inputs: Mapping[str, object] | None
    on_error: str
    entries: Entries
    max_files: int | None
    checkpoint: str | os.PathLike[str] | None
    remember: bool | Literal["code"]
    trace: str | os.PathLike[str] | None
    trace_steps: bool
    monitor: bool | None
    cycles: int | None
    seed: int
    schema: str | Callable[..., object] | None
    chunksize: int | None
    maxchunks: int | None
    memory: int | str | None
    second_runs: bool | None


_DEFAULTS: RunKeywords = {
    "inputs": None,
    "on_error": "stop",
    "entries": None,
    "max_files": None,
    "checkpoint": None,
    "remember": True,
    "trace": None,
    "trace_steps": False,
    "monitor": None,
    "cycles": None,
    "seed": 0,
    "schema": None,
    "chunksize": None,
    "maxchunks": None,
    "memory": None,
    "second_runs": None,
}


# What options may be; of `entries` and `max_files` the dataset decides (`subset`).

_Check = Callable[[str, Any], None]


def _one(kind: type | tuple[type, ...], words: str, least: int | None = None) -> _Check:
    """Raises QueryError for what is not of this kind, or is less than `least`."""

    def check(name: str, value: Any) -> None:
        is_one = isinstance(value, kind) and not isinstance(value, bool)
        if not is_one or (least is not None and value < least):
            raise QueryError(f"{name} is {words}, not {value!r:.60}")

    return check


def _on_error(name: str, value: object) -> None:
    if not isinstance(value, str) or value not in ("stop", "skip"):
        raise QueryError(f'{name} is "stop" or "skip", not {value!r:.60}')


def _remember(name: str, value: object) -> None:
    if not (isinstance(value, str) and value == "code"):
        check_flag(name, value)


def _schema(name: str, value: str | Callable[..., object]) -> None:
    from ..data.object_schemas import coffeas  # start-up

    coffeas(value)  # raises


def _memory(name: str, value: object) -> None:
    size_of(value, name, least=1)


_CHECKS: Mapping[str, _Check] = {
    "inputs": _one(Mapping, "a mapping of names to values"),
    "on_error": _on_error,
    "checkpoint": _one((str, os.PathLike), "the path of a folder"),
    "remember": _remember,
    "trace": _one((str, os.PathLike), "the name of a file"),
    "trace_steps": check_flag,
    "monitor": check_flag,
    "cycles": _one(int, "a number of cycles", least=0),
    "seed": check_whole,
    "schema": _schema,
    "chunksize": _one(int, "a number of 1 or more", least=1),
    "maxchunks": _one(int, "a number of 1 or more", least=1),
    "memory": _memory,
    "second_runs": check_flag,
}
"""Each is called with an option's name and value, and raises QueryError if no run can have that."""


class RunOptions:
    """What a run is asked for besides bookings or a selector. Does not change."""

    __slots__ = ("values",)

    def __init__(self, **given: Unpack[RunKeywords]) -> None:
        """Raises QueryError for a name that is no option, and for values that no run can have."""
        for name in given:
            if name not in _DEFAULTS:
                raise _unknown(name)
        self.values: RunKeywords = {**_DEFAULTS, **given}
        """The value of each option."""
        for name, check in _CHECKS.items():
            if (value := self._value(name)) is not None or _default(name) is not None:
                check(name, value)
        if self.values["trace_steps"] and self.values["trace"] is None:
            raise QueryError('trace_steps is for a trace: trace="trace.root" names its file')
        for name in ("chunksize", "maxchunks"):
            if self.values["cycles"] is not None and self._value(name) is not None:
                raise QueryError(f"{name} is for chunks of a dataset, and cycles= has none")

    def _value(self, name: str) -> object:
        return cast("Mapping[str, object]", self.values)[name]

    @property
    def skip_errors(self) -> bool:
        """True if entries that cannot be read or processed are left out and named."""
        return self.values["on_error"] == "skip"

    @property
    def memory(self) -> int | None:
        """The most bytes that the query may take in each process."""
        given = self.values["memory"]
        return None if given is None else size_of(given)

    @property
    def whole(self) -> bool:
        """True if the run goes through all entries."""
        return (
            self.values["entries"] is None
            and self.values["max_files"] is None
            and self.values["maxchunks"] is None
        )

    def results_folder(self) -> Results | None:
        """The folder in which results are remembered; None: they are not."""
        if not self.values["remember"]:
            return None
        return results_folder()

    def keeps_trace(self, records: int) -> bool:
        """Whether the query's events are kept. `records`: those that the session keeps of each
        pass."""
        return self.values["trace"] is not None or records > 0

    @property
    def chunk_entries(self) -> int | None:
        """About the entries of a chunk; None: as many as suit."""
        return (
            COFFEAS_CHUNK
            if self.values["chunksize"] is None and self.values["maxchunks"]
            else self.values["chunksize"]
        )

    def spans(self, chain: Chain | None) -> list[Span] | None:
        """The parts of the chain's files that the run goes through; None for all."""
        if chain is None:
            return None
        spans = subset(chain, self.values["entries"], self.values["max_files"])
        if self.values["maxchunks"] is None:
            return spans
        size = self.chunk_entries or COFFEAS_CHUNK
        return first_chunks(chain, spans, size, self.values["maxchunks"], skip=self.skip_errors)

    def for_bookings(self) -> None:
        """Raises QueryError if an option is set that only selectors have."""
        if any(self._value(name) is not None for name in _OF_SELECTORS):
            words = f"{', '.join(_OF_SELECTORS[:-1])} and {_OF_SELECTORS[-1]}"
            raise QueryError(f"{words} are for selectors, not for bookings")


_OF_SELECTORS = ("inputs", "cycles", "schema", "chunksize", "maxchunks", "second_runs")


def _default(name: str) -> object:
    return cast("Mapping[str, object]", _DEFAULTS)[name]


def _unknown(name: str) -> QueryError:
    """The error about an option that no run has."""
    hint = _OF_COFFEA.get(name)
    if hint is not None:
        return QueryError(f"{name} is an option of coffea's Runner. Here {hint}")
    return QueryError(
        f"run() has no option {name}", suggestions=get_close_matches(name, _DEFAULTS, 1)
    )


def with_options(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """The function, which takes `**options`. Its signature names each option instead, for `help`
    and for tab completion, and its docstring has their words in place of the line `{options}`."""
    signature = inspect.signature(function)
    named = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(name),
            annotation=each.__forward_arg__,
        )
        for name, each in RunKeywords.__annotations__.items()
    ]
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    spelled = signature.replace(parameters=[*own, *named])
    vars(function)["__signature__"] = spelled
    function.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("{options}", _WORDS)
    return function


# The types of `run` for type checkers: values have the types of their bookings. No code that
# runs. What a user's function gets and a user's selector gives is Any: only the user knows its
# type.

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
Key = TypeVar("Key")


class Options(RunKeywords, total=False):
    """The keywords of `Session.run`, which says what each means."""

    progress: bool | None
    feedback: Feedback | None


class Run(Protocol):
    """`Session.run`, and the function `treemill.run`."""

    @overload
    def __call__(self, a: Booking[A], /, **options: Unpack[Options]) -> A: ...

    @overload
    def __call__(
        self, a: Booking[A], b: Booking[B], /, **options: Unpack[Options]
    ) -> tuple[A, B]: ...

    @overload
    def __call__(
        self, a: Booking[A], b: Booking[B], c: Booking[C], /, **options: Unpack[Options]
    ) -> tuple[A, B, C]: ...

    @overload
    def __call__(
        self,
        a: Booking[A],
        b: Booking[B],
        c: Booking[C],
        d: Booking[D],
        /,
        **options: Unpack[Options],
    ) -> tuple[A, B, C, D]: ...

    @overload
    def __call__(
        self,
        a: Booking,
        b: Booking,
        c: Booking,
        d: Booking,
        e: Booking,
        /,
        *more: Booking,
        **options: Unpack[Options],
    ) -> tuple[Any, ...]: ...

    @overload
    def __call__(
        self, bookings: Mapping[str, Booking[A]], /, **options: Unpack[Options]
    ) -> dict[str, A]: ...

    @overload
    def __call__(
        self, bookings: Sequence[Booking[A]], /, **options: Unpack[Options]
    ) -> list[A]: ...

    @overload
    def __call__(
        self, nested: Mapping[Key, object] | Sequence[object], /, **options: Unpack[Options]
    ) -> Any: ...

    @overload
    def __call__(
        self,
        selector: Selector | Processor | Callable[[Any], Any],
        data: Bookable | Mapping[str, object] = ...,
        /,
        **options: Unpack[Options],
    ) -> Any: ...


def typed(run: Callable[..., object]) -> Run:
    """The function itself, to type checkers a `Run`."""
    return cast("Run", run)


# Which entries of a dataset a query goes through: all, those of some files, a range of the chain.


def subset(chain: Chain, entries: Entries, max_files: int | None) -> list[Span] | None:
    """The parts of files that hold these entries; None for all. Opens only the files whose sizes
    the range of entries depends on."""
    files = len(chain.locations)
    if max_files is not None:
        if isinstance(max_files, bool) or not isinstance(max_files, int) or max_files < 1:
            raise QueryError(f"max_files must be 1 or more, not {max_files!r}")
        files = min(files, max_files)
    if chain.selected is not None:
        selected = chain.selected
        chosen = selected if entries is None else selected.sliced(*_range(entries))
        parts = chosen.parts(chain.sizes.__getitem__)
        spans: list[Span] = [span for span in parts if span[0] < files]
        return spans or [(0, 0, 0)]
    if entries is None:
        if max_files is None:
            return None
        return [(file, 0, None) for file in range(files)]
    start, stop = _range(entries)
    return [part for part in chain.parts(start, stop) if part[0] < files] or [(0, 0, 0)]


def first_chunks(
    chain: Chain, spans: Sequence[Span] | None, chunksize: int, most: int, *, skip: bool
) -> list[Span]:
    """The parts of files that hold the first `most` chunks of each sample, as coffea's Runner
    counts them, within `spans` (None: all entries). Opens only the files that these lie in. `skip`:
    a file that cannot be opened has no chunk; the run that meets it again will name it."""
    if spans is None:
        spans = [(file, 0, None) for file in range(len(chain.locations))]
    seen: Counter[str] = Counter()
    parts: list[Span] = []
    for file, first, stop in spans:
        dataset = chain.constants.file(file).dataset
        left = most - seen[dataset]
        if left <= 0:
            continue
        try:
            entries = chain.sizes[file][0]
        except TreemillError:
            if not skip:
                raise
            parts.append((file, first, stop))
            continue
        chunk = chunk_of(entries, chunksize)
        begin = first // chunk
        last = min(entries if stop is None else stop, entries, (begin + left) * chunk)
        parts.append((file, first, max(last, first)))
        seen[dataset] += max(-(-last // chunk) - begin, 1)
    return parts or [(0, 0, 0)]


def _range(entries: object) -> tuple[int | None, int | None]:
    if isinstance(entries, int) and not isinstance(entries, bool):
        if entries < 0:
            raise QueryError(
                f"entries={entries} is no number of entries: ({entries}, None) are the last ones, "
                f"(None, {entries}) all but these"
            )
        return 0, entries
    ends: tuple[object, ...] = ()
    if isinstance(entries, (range, slice)) and entries.step in (None, 1):
        ends = entries.start, entries.stop
    if isinstance(entries, tuple) and len(entries) == 2:
        ends = entries
    with suppress(TypeError):
        if ends:
            start, stop = (None if end is None else index(end) for end in ends)  # type: ignore[arg-type]
            return start, stop
    raise QueryError(f"entries are a number, a pair (start, stop) or a range, not {entries!r}")
