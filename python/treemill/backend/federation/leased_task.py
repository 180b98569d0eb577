"""A task on the parts of files that a site has leased: to the site's workers they are its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...submasters import Part
from ...worker.task import Task
from ...worker.workload import Partial, SpanWorkload, Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["LeasedTask"]


class LeasedTask:
    """See Task."""

    def __init__(self, task: Task, parts: Sequence[Part]) -> None:
        self._task = task
        self._spans = [(part.file, part.start, part.stop) for part in parts]
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
        return self._task.control()

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return SpanWorkload(self._task.workload(number), self._spans)

    def load(self, data: bytes) -> Partial:
        """See Task."""
        return self._task.load(data)
