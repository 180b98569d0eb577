"""A selector in a form that can be sent to workers. Implements `worker.task.Task`; knows no packet
and no transport.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .selector import commits_only_at_end
from .workload import SpanWorkload, opaque

if TYPE_CHECKING:
    from .._core import Control
    from .job import SelectorJob
    from .partial import OutputPartial
    from .selector import Inputs
    from .workload import Partial, Workload

__all__ = ["SelectorTask"]


class SelectorTask:
    """A selector's job, and the inputs."""

    least_seconds = 0.1
    alone_entries = 0

    def __init__(self, job: SelectorJob, inputs: Inputs) -> None:
        self.inputs: Inputs | None = inputs
        self.commit_seconds = float("inf") if commits_only_at_end(job.selector) else 1.0
        self.second_runs = job.second_runs
        self.share_entries = job.data.share(job.selector)
        self._job = job

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"inputs": None}

    def preload(self) -> None:
        """See Task. Also imports hist, which most selectors fill, and what makes each chunk's
        random numbers: numpy would load that in every worker."""
        import hist  # noqa: F401
        import numpy.random  # noqa: F401

        from . import chunk  # noqa: F401  # heavy: awkward

        self._job.data.preload(self._job.selector)

    def control(self) -> Control:
        """See Task."""
        from treemill import _core  # heavy: core

        return _core.Control()

    def workload(self, number: int) -> Workload[Partial]:
        """See Task. Each worker has a workload of its own, with its own selector."""
        from .selector_workload import SelectorWorkload  # heavy: numpy

        workload = SelectorWorkload(self._job, self.inputs or {}, number)
        spans = self._job.spans
        return opaque(workload) if spans is None else opaque(SpanWorkload(workload, spans))

    def load(self, data: bytes) -> OutputPartial:
        """See Task."""
        from .partial import OutputPartial  # start-up

        bookings = self._job.bookings
        return OutputPartial.loads(data, None if bookings is None else bookings.load)
