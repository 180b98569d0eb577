"""A task around another one, which does all of it. Classes derived from it change what they differ
in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .task import Task
from .workload import Partial, Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["WrappedTask"]


class WrappedTask:
    """See Task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.commit_seconds = task.commit_seconds
        self.least_seconds = task.least_seconds
        self.alone_entries = task.alone_entries
        self.second_runs = task.second_runs
        self.share_entries = task.share_entries

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

    def load(self, data: bytes) -> Partial:
        """See Task."""
        return self._task.load(data)
