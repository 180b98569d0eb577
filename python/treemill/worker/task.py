"""What a pass computes, in a form that can be sent to workers: the protocol that query and selector
tasks implement. Knows how workers come by workloads and partials; knows no packet, no transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .workload import Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Task"]


class Task(Protocol):
    """One pass's work. Pickled by cloudpickle if workers are other processes; the inputs travel
    apart, because they may be large and are often the same as last time."""

    commit_seconds: float
    least_seconds: float
    """What a packet costs, however small: shorter ones are not worth handing out."""
    inputs: Any

    def preload(self) -> None:
        """Imports what workers will need."""

    def control(self) -> Control:
        """A stop flag and counters for one process."""

    def workload(self, number: int) -> Workload[Any]:
        """The workload of the worker with this number. Its partials are of a kind of their own,
        which only the task and its workloads know."""

    def load(self, data: bytes) -> Any:
        """Rebuilds a partial from the bytes of its `dumps()`."""
