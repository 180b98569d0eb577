"""Where the time of a query's workers went, from what the master has counted: for queries without a
trace. Pure.

Counts are sums and bins, so that this is coarser than the breakdown of a trace. The sums of packets
and of waiting are exact. The rest is time in which workers had no packet: it is divided by how many
were active when.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, repeat
from math import ceil

from ...scheduling import PER_DECADE, SECONDS, Monitored
from .breakdown import LATENCIES, PARTS_OF_BUSY, WINDOW, Breakdown

__all__ = ["counted"]

_RAMP = 0.75
"""The query has begun when this part of the most workers that ever had a packet have one, and ends
when fewer have one."""


def counted(counts: Monitored, workers: int, seconds: float) -> Breakdown | None:
    """The breakdown of a query that took `seconds` for the user on `workers` workers. None if no
    packet was done."""
    sums = _sums(counts)
    bins = _bins(counts)
    if not sums.get("packets") or not any(spent for spent, _ in bins):
        return None
    there = max(workers, len(counts.workers))
    pass_seconds = min(counts.seconds, seconds)
    at_packets, asking = sums.get("seconds", 0.0), sums.get("latency", 0.0)
    idle = max(there * pass_seconds - at_packets - asking, 0.0)
    before, after, collecting = _idle(bins, there)
    # Bins are coarse: what they say is too much if there is less in all.
    scale = min(idle / max(before + after + collecting, 1e-12), 1.0)
    before, after, collecting = before * scale, after * scale, collecting * scale
    opening = min(sums.get("opening", 0.0), at_packets)
    active = [spent / width for spent, width in bins]
    return Breakdown(
        starting=before,
        opening=opening,
        busy=at_packets - opening,
        asking=asking,
        committing=max(idle - before - after - collecting, 0.0),
        tail=after,
        collecting=collecting,
        around=(seconds - pass_seconds) * there,
        **{name: sums.get(name, 0.0) for name in PARTS_OF_BUSY},
        packets=int(sums["packets"]),
        peak=_peak(bins, sums.get("entries", 0.0)),
        peak_bytes=_peak(bins, sums.get("bytes_read", 0.0)),
        times=[round(at * counts.width, 6) for at in range(len(active))],
        active=[round(each, 3) for each in active],
        latencies=_latencies(counts),
    )


def _sums(counts: Monitored) -> dict[str, float]:
    totals: dict[str, float] = {}
    for worker in counts.workers.values():
        for name, value in worker.sums.items():
            totals[name] = totals.get(name, 0.0) + value
    return totals


def _bins(counts: Monitored) -> list[tuple[float, float]]:
    """Seconds that workers had a packet for, and seconds of the clock, by bin of time, up to the
    end of the pass."""
    spent = [sum(each) for each in zip(*counts.nodes.values(), strict=True)]
    used = min(ceil(counts.seconds / counts.width), len(spent))
    ends = [min((at + 1) * counts.width, counts.seconds) for at in range(used)]
    return [(spent[at], max(end - at * counts.width, 1e-9)) for at, end in enumerate(ends)]


def _idle(bins: Sequence[tuple[float, float]], workers: int) -> tuple[float, float, float]:
    """Seconds of workers without a packet: until most of them had one, since most of them had none
    any more, and after all had done."""
    active = [spent / width for spent, width in bins]
    idle = [max(workers * width - spent, 0.0) for spent, width in bins]
    enough = _RAMP * max(active)
    full = [at for at, number in enumerate(active) if number >= enough]
    last = max(at for at, number in enumerate(active) if number > 0)
    first, end = full[0], max(full[-1], full[0] + 1)
    # The bin in which they begin, and the one in which they end, are partly without work.
    return sum(idle[: first + 1]), sum(idle[end : last + 1]), sum(idle[last + 1 :])


def _peak(bins: Sequence[tuple[float, float]], amount: float) -> float:
    """So much of this amount in a second when most workers had a packet, over a tenth of the run,
    if each second that a worker had one gave as much as any other."""
    active = [spent / width for spent, width in bins]
    window = max(len(active) // WINDOW, 1)
    most = max(sum(active[at : at + window]) / window for at in range(len(active) - window + 1))
    # The master's time, as `active` has it: a short packet is longer for it than for its worker.
    return most * amount / sum(spent for spent, _ in bins)


def _latencies(counts: Monitored) -> list[float]:
    """The middles of the bins of all packets, evenly chosen if there are many."""
    bins: dict[int, int] = {}
    for worker in counts.workers.values():
        for at, number in worker.spread.get("latency", {}).items():
            bins[at] = bins.get(at, 0) + number
    total = sum(bins.values())
    step = -(-total // LATENCIES) or 1
    each = chain.from_iterable(repeat(_middle(at), number) for at, number in sorted(bins.items()))
    return list(islice(each, 0, None, step))


def _middle(at: int) -> float:
    """The middle of a bin of times."""
    return round(10 ** (SECONDS[0] + (at + 0.5) / PER_DECADE), 7)
