"""How a query is led, as the one that starts it decides; sizes of packets are in sizing.py."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Policy"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The knobs; times in seconds."""

    max_attempts: int = 3
    """So many times a packet or a file is tried before it is given up."""
    skip_errors: bool = False
    """Whether the query goes on without what was given up; it ends with the error otherwise."""
    commit_seconds: float = 1.0
    """Workers are asked to commit about this often; `inf`: only when there is nothing to do."""
    collect_seconds: float = 5.0
    """Mergers that get partials are asked to hand over about this often."""
    speculate: bool = False
    """Whether idle workers run what others are late with; that wants a Tick about every second."""
    expected_workers: int = 0
    """So many workers will come: the first one must not take what all are to share."""
