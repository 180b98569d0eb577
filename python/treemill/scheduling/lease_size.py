"""The parameters by which parts are leased, and the size of a lease. Arithmetic only."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Leasing", "lease_entries"]


@dataclass(frozen=True, kw_only=True)
class Leasing:
    """The parameters; times in seconds."""

    shortest: float = 3.0
    longest: float = 20.0
    """Lengths of leases, in the time of the site."""
    share: float = 0.25
    """The part of the expected time left that a lease should last."""
    first: int = 50_000
    """Entries for each worker in the first lease, before anything is measured."""
    worth: float = 1.0
    """What is left is taken back from a site for another one if that has so much less to
    do."""
    skip_errors: bool = False
    """Whether the query continues without what has failed; else it ends with the error."""


def lease_entries(leasing: Leasing, rate: float, total: float, left: float) -> float:
    """The number of entries to lease to a site with this rate (entries per second), if `left`
    entries are not leased and all sites together have the rate `total`."""
    time_left = left / total
    seconds = min(max(time_left * leasing.share, leasing.shortest), leasing.longest)
    return rate * min(seconds, time_left)
