"""A selector's output as workers hand it over, and the end of the files in a merged output."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..results.file_output import file_outputs
from .merge import merge
from .remembered_columns import remember

if TYPE_CHECKING:
    from .remembered_columns import Key
    from .selector import Output
    from .workload import Partial

__all__ = ["OutputPartial", "drop_files", "finish_files"]


class OutputPartial:
    """What a selector has put into its output since the last commit, with the partial of the
    bookings that are computed along with it, if any."""

    def __init__(self, output: Output, bookings: Partial | None = None) -> None:
        self.output = output
        self.bookings = bookings
        self.learned: tuple[Key, frozenset[str]] | None = None
        """What is to be remembered of the selector in the process that gets this."""

    def merge(self, other: OutputPartial) -> None:
        """See Partial."""
        self.output = merge(self.output, other.output)
        if self.bookings is not None and other.bookings is not None:
            self.bookings.merge(other.bookings)

    def dumps(self) -> bytes:
        """See Partial."""
        import cloudpickle

        bookings = None if self.bookings is None else self.bookings.dumps()
        data: bytes = cloudpickle.dumps((self.output, bookings, self.learned), protocol=5)
        return data

    @staticmethod
    def loads(data: bytes, load: Callable[[bytes], Partial] | None = None) -> OutputPartial:
        """Rebuilds a partial from its `dumps()`. `load` rebuilds the bookings' partial."""
        import pickle

        output, bookings, learned = pickle.loads(data)
        if learned is not None:
            remember(*learned)
        return OutputPartial(output, None if load is None else load(bookings))

    def results(self) -> list[object]:
        """See Partial. The output is a copy, which does not change if more is merged."""
        bookings = [] if self.bookings is None else self.bookings.results()
        return [copy.deepcopy(self.output), *bookings]


def finish_files(output: object) -> None:
    """Puts the files that workers have written into their places."""
    for file in file_outputs(output):
        file.finish()


def drop_files(output: object) -> None:
    """Removes what workers have written, because there will be no result."""
    for file in file_outputs(output):
        file.drop()
