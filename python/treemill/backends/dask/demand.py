"""How many of Dask's workers the passes can keep busy, for clusters that grow and shrink. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .messages import Status

__all__ = ["demand"]


def demand(passes: Iterable[Status], seconds: float, threads: float) -> int:
    """The number of Dask's workers with which the passes would be done after `seconds`.

    Parameters: `seconds`, Dask's `distributed.adaptive.target-duration`; `threads` of one of
    Dask's workers. A pass that has done nothing yet wants the workers that it has, and one at
    least: how long it takes is not known.

    >>> from treemill.backends.pulse import Pulse
    >>> done = Pulse(entries=500)
    >>> half = Status(0, done, expected=1000, before=0, workers=2, seconds=60.0, begun=True)
    >>> demand([half], seconds=5.0, threads=4)
    6
    """
    workers = 0.0
    for each in passes:
        if each.ended is not None or each.parts is not None:
            continue
        left = each.expected - each.before - each.pulse.entries
        spent = each.seconds * each.workers
        if each.pulse.entries and spent:
            workers += max(left * spent / each.pulse.entries / seconds, 1.0)
        else:
            workers += max(each.workers, 1)
    return math.ceil(workers / max(threads, 1.0))
