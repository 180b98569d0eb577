"""A user's selector as one worker calls it: begins it, gives it chunks, checks what it puts out.

Knows what the user's methods may do; knows no data, no packet and no partial.
"""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ..errors import QueryError, TreemillError, WorkerError, traceback_of
from ..frozen import frozen
from ..results.file_output import file_outputs, writing_at, written
from ..results.parts import Client, work_for
from .merge import check, check_neutral, merge
from .selector import Chunk, Inputs, Output, Selector, commits_only_at_end

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_values

    import awkward

    from ..data.file_constants import DataFile

__all__ = ["Additive", "ChunkPlace", "Chunks", "UserSelector", "materialised"]

# A selector's output while `process` adds to it. `process` may change what an earlier chunk has
# put there, but must not replace it by something that was made without it. `output["n"] += 1`
# rebinds the name, as `output["n"] = len(events)` does; but it reads the name first. So the
# output notes which keys each chunk has read. Knows dicts, and nothing of their values.

Results = dict[Any, object]
"""Results by name. A nested dict may have keys of any kind."""


class Chunks:
    """Counts the chunks of one output. All dicts of the output ask the same object."""

    def __init__(self, name: str) -> None:
        """`name` of the output, for messages."""
        self.name = name
        self.number = 0
        self.at_work = False

    def begin(self) -> None:
        """Notes that `process` begins with the next chunk."""
        self.number += 1
        self.at_work = True

    def end(self) -> None:
        """Notes that `process` has returned: later changes of the output are not its own."""
        self.at_work = False


class Additive(Results):
    """A dict of results that notes what is read. Dicts in it become Additive too. Copies and
    pickles are plain dicts."""

    def __init__(self, values: Results, chunks: Chunks, name: str) -> None:
        super().__init__(values)
        self._chunks = chunks
        self._name = name
        self._seen: dict[object, int] = {}  # the chunk that last read or bound a key
        self.adopt()

    def adopt(self) -> None:
        """Makes the plain dicts that were put into it Additive."""
        for key, value in self._plain_items():
            if type(value) is dict:
                results = Additive(value, self._chunks, f"{self._name}[{key!r}]")
                super().__setitem__(key, results)
            elif type(value) is Additive:
                value.adopt()

    def plain(self) -> Results:
        """A copy that consists of plain dicts."""
        return {
            key: value.plain() if isinstance(value, Additive) else value
            for key, value in self._plain_items()
        }

    def _plain_items(self) -> list[tuple[object, object]]:
        return list(super().items())

    def check_replacement(self, other: Mapping[Any, object]) -> None:
        """Raises QueryError if `other`, which was bound in place of this dict, has lost or replaced
        a value."""
        for key, old in self._plain_items():
            self._check(key, old, other.get(key))

    def _check(self, key: object, old: object, new: object) -> None:
        chunks = self._chunks
        if not chunks.at_work or self._seen.get(key) == chunks.number or new is old or old is None:
            return
        if isinstance(old, str | bool) and type(new) is type(old) and new == old:
            return  # text and Booleans may be rebound if they are the same in all chunks
        what = f"{self._name}[{key!r}]"
        raise QueryError(
            f"process replaces {what}, which loses the values of earlier chunks: add to it, "
            f"{what} += …, or return a dict, whose values are added: return {{{key!r}: …}}"
        )

    def _note(self, key: object) -> None:
        self._seen[key] = self._chunks.number

    # Changes.

    def __setitem__(self, key: object, value: object) -> None:
        if key in self:
            self._check(key, super().__getitem__(key), value)
        self._note(key)
        super().__setitem__(key, value)

    def update(self, *others: Any, **values: object) -> None:
        """Updates as a dict does, key by key."""
        for key, value in dict(*others, **values).items():
            self[key] = value

    def __ior__(self, other: object) -> Additive:
        self.update(other)
        return self

    # Reads.

    def __getitem__(self, key: object) -> object:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: object, default: object = None) -> object:
        """Gets a value as a dict does."""
        self._note(key)
        return super().get(key, default)

    def setdefault(self, key: object, default: object = None) -> object:
        """Gets or sets a value as a dict does."""
        self._note(key)
        return super().setdefault(key, default)

    def pop(self, key: object, *default: object) -> object:
        """Removes a value as a dict does."""
        self._note(key)
        return super().pop(key, *default)

    def items(self) -> dict_items[object, object]:
        """Gives the items as a dict does; all values count as read."""
        self._note_all()
        return super().items()

    def values(self) -> dict_values[object, object]:
        """Gives the values as a dict does; all of them count as read."""
        self._note_all()
        return super().values()

    def _note_all(self) -> None:
        for key in super().__iter__():
            self._note(key)

    def __iter__(self) -> Iterator[object]:
        # Because of this method dict(x) and {**x} call __getitem__.
        return super().__iter__()

    def __or__(self, other: Mapping[Any, object]) -> Results:
        return dict(self.items()) | dict(other)

    def __ror__(self, other: Mapping[Any, object]) -> Results:
        return dict(other) | dict(self.items())

    def copy(self) -> Results:
        """A plain dict with these values."""
        return dict(self.items())

    def __reduce__(self) -> tuple[type[Results], tuple[Results]]:
        return dict, (self.plain(),)

    def __reduce_ex__(self, protocol: object) -> tuple[type[Results], tuple[Results]]:
        return self.__reduce__()


# Reads what is left to be read in a selector's output. awkward's virtual arrays are read when
# they are touched, and until then they hold all of their chunk in memory. Recognises awkward's
# arrays without importing awkward; knows no chunk and no selector.

K = TypeVar("K", contravariant=True)


class _Container(Protocol[K]):
    def __setitem__(self, key: K, value: object, /) -> None: ...


def materialised(value: object) -> object:
    """The value with all of its arrays read. Dicts, lists and accumulators are changed in place;
    arrays and tuples may be replaced. Raises what reading raises."""
    loaded = sys.modules.get("awkward")
    return value if loaded is None else _read(value, loaded)


def _read(value: object, ak: ModuleType) -> object:
    if isinstance(value, ak.Array):
        return _array(value, ak)
    if isinstance(value, MutableMapping):
        _replace(value, value.items(), ak)
    elif isinstance(value, list | deque):
        _replace(value, enumerate(value), ak)
    elif type(value) is tuple:
        return tuple(_read(each, ak) for each in value)
    elif _is_accumulator(value):
        _replace(vars(value), vars(value).items(), ak)
    return value


def _replace(container: _Container[K], items: Iterable[tuple[K, object]], ak: ModuleType) -> None:
    for key, each in list(items):
        value = _read(each, ak)
        if value is not each:
            container[key] = value


def _is_accumulator(value: object) -> bool:
    """True if it is one of coffea's accumulators, or like them."""
    return hasattr(value, "__dict__") and hasattr(value, "identity") and hasattr(value, "add")


def _array(array: awkward.Array, ak: ModuleType) -> awkward.Array:
    own = {name: each for name, each in array.attrs.items() if not name.startswith("@")}
    if array.layout.is_all_materialized and len(own) == len(array.attrs):
        return array
    # The copy has only the entries that are in the array. It has no awkward attributes with "@":
    # they hold the chunk (coffea's events, from which references to other collections are read).
    layout = ak.to_packed(ak.materialize(array), highlevel=False)
    return ak.Array(copy.deepcopy(layout), behavior=array.behavior, attrs=own or None)


@frozen
class ChunkPlace:
    """The place of a chunk: entries `[start, stop)` of a file with a number and a path."""

    file: int
    path: str | None
    start: int
    stop: int
    described: Callable[[], DataFile | None] = lambda: None
    """What the user's method gets of the file; None if there is no file."""


class UserSelector:
    """A worker's selector, with its output."""

    def __init__(
        self, selector: Selector, inputs: Inputs, client: Client, *, worker: str, seed: int
    ) -> None:
        """`selector` must be this worker's own copy. `client` owns the files that are written."""
        self._selector = selector
        self._inputs = inputs
        self._client = client
        self._worker = worker
        self._seed = seed
        self._begun = False
        self._file: int | None = None
        """The file that was begun last."""
        self._empty: Output = {}
        self._name = f"{selector.title}.output"
        self._chunks = Chunks(self._name)

    def begin(self) -> None:
        """Runs `begin_worker`. Each output then starts as a copy of what that made."""
        work_for(self._client)
        self._file = None
        self._selector.inputs = self._inputs
        self._selector.output = {}
        with self._failing("begin_worker"):
            self._selector.begin_worker(self._inputs)
        self._check(check_neutral)
        self._empty = self._selector.output
        self._begun = True

    def new_output(self) -> Output:
        """An output without entries. Begins the selector if it has not begun, or has ended."""
        if not self._begun:
            self.begin()
        return self._additive(copy.deepcopy(self._empty))

    def process(
        self, read: Callable[[], Chunk | None], output: Output, place: ChunkPlace
    ) -> Output:
        """Runs `process` on the chunk that `read` gives, if there is one. Returns the output with
        the chunk's results, which may be another dict."""
        selector = self._selector
        selector.output = output
        key = (place.file, place.start, place.stop)
        seeds = np.random.SeedSequence(self._seed, spawn_key=key)
        selector.rng = np.random.Generator(np.random.PCG64(seeds))
        writing_at((place.file, place.start))
        try:
            with self._failing("process", place):
                events = read()
                if events is None:
                    return output
            self._begin_file(place)
            with self._failing("process", place):
                self._chunks.begin()
                returned = materialised(selector.process(events))
                self._keep_additive(output)
                self._chunks.end()
            self._take(returned)
            self._check_files()
        except BaseException:
            for file in written():
                file.discard()
            raise
        finally:
            writing_at(None)
        return selector.output

    def _take(self, returned: object) -> None:
        """Adds what `process` has returned to the output."""
        selector = self._selector
        if returned is not None:
            if not isinstance(returned, Mapping):
                raise QueryError(
                    f"{selector.title}.process returned {type(returned).__name__}; it should "
                    "return a dict of results, or nothing"
                )
            check(returned, self._name)
            selector.output = merge(selector.output, returned, self._name)
        self._check(check)

    def _check_files(self) -> None:
        """Raises QueryError if `process` has written to a file that is not in the output: nothing
        would put it into its place."""
        known = {id(file) for file in file_outputs(self._selector.output)}
        for file in written():
            if id(file) not in known:
                raise QueryError(
                    f"{self._selector.title}.process has written to {file!r}, which is not in its "
                    "results: it belongs under a name of its own in the dict that process returns, "
                    "or in self.output"
                )

    def _begin_file(self, place: ChunkPlace) -> None:
        begins = type(self._selector).begin_file is not Selector.begin_file
        if not begins or self._file == place.file:
            return
        file = place.described()
        if file is not None:
            self._file = None  # if it fails, it is begun again
            with self._failing("begin_file", place):
                self._selector.begin_file(file)
        self._file = place.file

    def _keep_additive(self, before: Output) -> None:
        """Called after `process`, which began with the output `before` and may have bound another
        one."""
        output: object = self._selector.output
        if not isinstance(before, Additive):
            return
        if output is before:
            before.adopt()
        elif isinstance(output, dict):
            before.check_replacement(output)
            self._selector.output = self._additive(output)

    def _additive(self, output: Output) -> Additive:
        return Additive(output, self._chunks, self._name)

    def finish(self, output: Output) -> Output:
        """Completes an output before it is handed over: runs `end_worker`, if the selector has it,
        reads virtual arrays and closes files."""
        if commits_only_at_end(self._selector):
            self._selector.output = output
            with self._failing("end_worker"):
                self._selector.end_worker()
            output = self._selector.output
            self._begun = False
        self._check(check)
        if isinstance(output, Additive):
            output = output.plain()
        with self._failing("process"):
            materialised(output)
        for file in file_outputs(output):
            file.close()
        return output

    @contextmanager
    def _failing(self, method: str, place: ChunkPlace | None = None) -> Iterator[None]:
        """Turns what the user's method raises into a WorkerError with its traceback. TreemillErrors
        stay as they are."""
        try:
            yield
        except Exception as error:
            ours = _treemill_error(error)
            # The worker says which packet did not fit into memory.
            if ours is error or (place is not None and isinstance(error, MemoryError)):
                raise
            raise ours or WorkerError(
                f"{self._selector.title}.{method} raised {type(error).__name__}: {error}",
                worker=self._worker,
                traceback=traceback_of(error),
                file=None if place is None else place.path,
                entries=None if place is None else (place.start, place.stop),
            ) from error

    def _check(self, checks: Callable[[object, str], None]) -> None:
        output: object = self._selector.output
        if not isinstance(output, dict):
            raise QueryError(f"{self._name} is a dict by name, not {type(output).__name__}")
        checks(output, self._name)


def _treemill_error(error: BaseException) -> TreemillError | None:
    """The TreemillError that has caused an error: awkward wraps what reading raises."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, TreemillError):
        cause = cause.__cause__ or cause.__context__
    return cause
