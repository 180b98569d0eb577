"""A user's selector as one worker calls it: begins it, gives it chunks, checks what it puts out.

Knows what the user's methods may do; knows no data, no packet and no partial.
"""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError, TreemillError, WorkerError
from ..frozen import frozen
from ..results.file_output import file_outputs, writing_at, written
from ..results.parts import Client, work_for
from .additive import Additive, Chunks
from .lazy_arrays import materialised
from .merge import check, check_neutral, merge
from .selector import Chunk, Inputs, Output, Selector, commits_only_at_end

if TYPE_CHECKING:
    from ..data.file_constants import DataFile

__all__ = ["ChunkPlace", "UserSelector"]


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
                traceback="".join(traceback.format_exception(error)),
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
