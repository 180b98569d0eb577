"""What leads a pass on a cluster: the packetizer, with its rules and what it begins with, and the
coordinator. Pure but for the clock that it is given."""

from __future__ import annotations

from collections.abc import Callable

from ...scheduling import Monitoring, Packetizer, Policy
from ..coordinator import Coordinator
from .messages import PassRequest

__all__ = ["led_by"]


ROOTS = 2
"""Parts of which the result consists at most: with more, their mergers join in pairs at the end.
The simulation says which number is best (docs/packetizer.md)."""


def led_by(request: PassRequest, clock: Callable[[], float]) -> tuple[Packetizer, Coordinator]:
    """Makes both."""
    policy = Policy(
        skip_errors=request.skip_errors,
        commit_seconds=request.commit_seconds,
        # The client fetches the result once, at the end: entries that a client has got are lost
        # with it, those that a merger holds are not.
        collect_seconds=None,
        roots=ROOTS,
        expected_workers=request.workers,
        speculate=request.second_runs,
        reserve=True,
    )
    packetizer = Packetizer(
        request.files, policy, nodes=request.nodes, sizing=request.sizing, done=request.done
    )
    served = request.served
    return packetizer, Coordinator(
        packetizer,
        request.workers,
        clock,
        request.trace,
        monitoring=None if served is None else Monitoring(served.__getitem__),
    )
