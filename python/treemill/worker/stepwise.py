"""A task whose workers keep what they do, step by step, for a trace. Knows no step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .task import Task
from .workload import Partial, Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["StepwiseTask"]


class StepwiseTask:
    """See Task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.commit_seconds = task.commit_seconds
        self.least_seconds = task.least_seconds
        self.alone_entries = task.alone_entries

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
        control = self._task.control()
        control.keep_steps()
        return control

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return self._task.workload(number)

    def load(self, data: bytes) -> Partial:
        """See Task."""
        return self._task.load(data)
