"""A task on the parts of files that a site has leased: to the site's workers they are its files."""

from __future__ import annotations

from collections.abc import Sequence

from ...scheduling.messages import Part
from ...workers.task import Task
from ...workers.workload import Partial, SpanWorkload, Workload
from ...workers.wrapped_task import WrappedTask

__all__ = ["LeasedTask"]


class LeasedTask(WrappedTask):
    """See Task."""

    def __init__(self, task: Task, parts: Sequence[Part]) -> None:
        super().__init__(task)
        self._spans = [(part.file, part.start, part.stop) for part in parts]

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return SpanWorkload(super().workload(number), self._spans)
