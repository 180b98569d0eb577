"""The packetizer of a pass on a cluster: its rules, and what it begins with."""

from __future__ import annotations

from ...packetizer import Packetizer, Policy
from .messages import PassRequest

__all__ = ["packetizer_of"]


def packetizer_of(request: PassRequest) -> Packetizer:
    """Makes it."""
    policy = Policy(
        skip_errors=request.skip_errors,
        commit_seconds=request.commit_seconds,
        # The result is collected once, at the end: entries that a client has got are lost with it,
        # those that a merger holds are not.
        collect_seconds=float("inf"),
        expected_workers=request.workers,
        speculate=True,
        reserve=True,
    )
    return Packetizer(
        request.files, policy, nodes=request.nodes, sizing=request.sizing, done=request.done
    )
