"""The parameters by which a query is led. The sizes of packets are in sizing.py. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Policy"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The parameters; times in seconds."""

    max_attempts: int = 3
    """The number of attempts after which a packet or a file is given up."""
    skip_errors: bool = False
    """Whether the query goes on without the entries that were given up; else it ends with the
    error."""
    commit_seconds: float = 1.0
    """Workers are asked to commit about this often; `inf`: only when there is nothing to do."""
    collect_seconds: float | None = 5.0
    """Mergers that get partials are asked to hand over about this often. None: they are not asked;
    their partials are fetched once only they hold something."""
    roots: int | None = None
    """If more mergers than this hold something at the end, they join in pairs until no more do.
    None: they do not join."""
    speculate: bool = False
    """Whether idle workers run packets that others are late with. This needs a Tick about every
    second."""
    reserve: bool = False
    """Whether workers get packets ahead, which they begin without asking; see reserves.py."""
    expected_workers: int = 0
    """The number of workers that will join: the first one must not take the share of all others."""
