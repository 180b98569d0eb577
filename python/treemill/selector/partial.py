"""A selector's output as workers hand it over, and what is done with the files in it at the end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..results.file_output import file_outputs
from .merge import merge

__all__ = ["OutputPartial", "drop_files", "finish_files"]


class OutputPartial:
    """What a selector put into its output since the last commit, and the core's partial of the
    bookings that it takes along, if any."""

    def __init__(self, output: dict[str, Any], beside: Any = None) -> None:
        self.output = output
        self.beside = beside

    def merge(self, other: OutputPartial) -> None:
        """Takes over the other's."""
        self.output = merge(self.output, other.output)
        if self.beside is not None:
            self.beside.merge(other.beside)

    def dumps(self) -> bytes:
        """For `loads` in another process."""
        import cloudpickle

        beside = None if self.beside is None else self.beside.dumps()
        data: bytes = cloudpickle.dumps((self.output, beside), protocol=5)
        return data

    @staticmethod
    def loads(data: bytes, load: Callable[[bytes], Any] | None = None) -> OutputPartial:
        """From `dumps`; `load` makes the core's."""
        import pickle

        output, beside = pickle.loads(data)
        return OutputPartial(output, None if load is None else load(beside))

    def results(self) -> list[Any]:
        """A copy, to look at while more is merged, and the results of the bookings."""
        beside = [] if self.beside is None else list(self.beside.results())
        return [copy.deepcopy(self.output), *beside]


def finish_files(output: Any) -> None:
    """Puts the files that workers wrote where they belong."""
    for file in file_outputs(output):
        file.finish()


def drop_files(output: Any) -> None:
    """Removes what workers wrote for a result that nobody gets."""
    for file in file_outputs(output):
        file.drop()
