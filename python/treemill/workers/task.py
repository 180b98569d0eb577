"""The protocol of tasks: what a pass computes, in a form that can be sent to workers. Queries and
selectors implement it. Knows workloads and partials; knows no packet and no transport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from .workload import Partial, Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Task"]


class Task(Protocol):
    """One pass's work. It is pickled by cloudpickle if workers are other processes. The inputs are
    sent separately: they may be large, and are often the same as in the last pass."""

    commit_seconds: float
    """Seconds between two commits of a worker."""
    least_seconds: float
    """Seconds that a packet should take at least, because each packet has a fixed cost."""
    alone_entries: int
    """Entries of the first packet of a worker that shares with no other; 0: as many as others get.
    Before anything is measured a packet may take long, and nothing of it is seen until it ends."""
    share_entries: int
    """Entries for each worker of one process, at least: with fewer, another worker is no help. 0:
    as many workers as there are packets."""
    second_runs: bool
    """Whether a packet that a worker is late with may be run by another one, too: what its code
    does besides its results would be done twice."""
    inputs: Mapping[str, object] | None
    """The user's inputs of a selector. A task that was sent has None until its inputs arrive."""

    def preload(self) -> None:
        """Imports the modules that workers will need."""

    def control(self) -> Control:
        """Makes a stop flag and counters for one process."""

    def workload(self, number: int) -> Workload[Partial]:
        """Makes or gives the workload of the worker with this number. The caller must give it no
        partials but its own: only the task knows their class."""

    def load(self, data: bytes) -> Partial:
        """Rebuilds a partial from the bytes of its `dumps()`."""
