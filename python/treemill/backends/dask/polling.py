"""How long the scheduler lets a process wait for news. News come at once in any case: the wait
only says how often a process is heard of that has nothing to say. Pure.
"""

from __future__ import annotations

__all__ = ["poll_seconds"]

_POLL = 5.0
_CALLS = 100.0
"""So many such calls a second are wanted at most: each costs the scheduler 0.25 ms."""


def poll_seconds(silence: float, processes: int) -> float:
    """The seconds, if a process is given up that was not heard of for `silence` seconds. With many
    processes they are more, but never more than half of that.

    >>> poll_seconds(60, 4), poll_seconds(2, 4), poll_seconds(60, 1000), poll_seconds(60, 5000)
    (5.0, 0.5, 10.0, 30.0)
    """
    return max(min(_POLL, silence / 4), min(processes / _CALLS, silence / 2))
