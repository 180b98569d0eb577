"""The parameters by which parts are leased, and the size of a lease. Arithmetic only."""

from __future__ import annotations

from dataclasses import dataclass

from . import Sizing

__all__ = ["Leasing", "lease_entries"]


@dataclass(frozen=True, kw_only=True)
class Leasing:
    """The parameters; times in seconds."""

    hold: float = 3.0
    """A sub-master asks for more when it has less than this left that no worker has begun, so that
    more comes before workers have to wait."""
    shortest: float = 3.0
    longest: float = 20.0
    """Lengths of leases, in the time of the sub-master's group."""
    share: float = 0.25
    """The part of the expected time left that a lease should last."""
    first: int = 50_000
    """Entries for each worker in the first lease, before anything is measured."""
    hand_up_seconds: float = 5.0
    """A sub-master hands up what is committed about this often."""
    worth: float = 1.0
    """What is left is taken back from a sub-master for another one if that has so much less to
    do."""
    skip_errors: bool = False
    """Whether the query goes on without what has failed; else it ends with the error."""

    @classmethod
    def of(cls, sizing: Sizing, **others: object) -> Leasing:
        """The parameters that suit workers whose packets have these sizes."""
        return cls(
            hold=sizing.shortest,
            shortest=sizing.shortest,
            longest=sizing.longest,
            share=sizing.share,
            first=sizing.first,
            worth=min(max(sizing.shortest / 3, 0.05), 1.0),
            **others,  # type: ignore[arg-type]
        )


def lease_entries(leasing: Leasing, rate: float, total: float, left: float) -> float:
    """The number of entries to lease to a group with this rate (entries per second), if `left`
    entries are not leased and all groups together have the rate `total`."""
    time_left = left / total
    seconds = min(max(time_left * leasing.share, leasing.shortest), leasing.longest)
    return rate * min(seconds, time_left)
