"""Where the time of a query's workers went, from the coordinator's trace. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from math import ceil

from ...scheduling import (
    PER_DECADE,
    SECONDS,
    Commit,
    Committed,
    FileFailed,
    FileOpened,
    FilesDone,
    Monitored,
    OpenFile,
    PacketDone,
    PacketFailed,
    Process,
    ProcessFiles,
    Record,
    Spent,
    Timeline,
    Trace,
    WorkerJoined,
)

__all__ = ["LATENCIES", "PARTS_OF_BUSY", "WINDOW", "Breakdown", "broken_down", "counted"]

_POINTS = 200
"""Times at which active workers are counted."""
WINDOW = 10
"""The maximum rate is that of a tenth of the run, at the least of one packet."""
LATENCIES = 2000
"""How many of them are kept of one run."""
PARTS_OF_BUSY = ("cpu", "reading", "waited", "decompressing", "decoding")
"""What workers measure themselves of a packet."""


@dataclass(frozen=True)
class Breakdown:
    """Seconds of all workers together: they add up to the number of workers times the query's."""

    starting: float
    """The time from the query's start until each worker had something to do."""
    opening: float
    """Opening files, as far as workers waited for it."""
    busy: float
    """The time at packets: reading, decoding, computing."""
    asking: float
    """The time between the end of a packet and the beginning of the next: messages, waiting."""
    committing: float
    """Handing partials over, while they were merged."""
    tail: float
    """Idle at the end, because others were not done yet."""
    collecting: float
    """After the last worker's end, until the master had the result."""
    around: float
    """Before the master began and after its end: planning, sending the query, fetching the
    result."""
    cpu: float = 0.0
    """The part of `busy` that is CPU time of the workers' own threads."""
    reading: float = 0.0
    """The part of `busy` in reads of near files, some of which the system's cache may serve."""
    waited: float = 0.0
    """The part of `busy` spent waiting for bytes of servers."""
    decompressing: float = 0.0
    """The part of `busy` spent in decompression."""
    decoding: float = 0.0
    """The part of `busy` spent making columns of bytes."""
    packets: int = 0
    peak: float = 0.0
    """Events in a second, at the best time of the run."""
    peak_bytes: float = 0.0
    """Bytes read in a second, at the best time of the run."""
    times: Sequence[float] = field(default_factory=tuple)
    """Times for `active`."""
    active: Sequence[float] = field(default_factory=tuple)
    """Workers that had a packet at these times."""
    latencies: Sequence[float] = field(default_factory=tuple)
    """Seconds that a worker waited for its next packet, each time; evenly chosen if there are
    many."""

    @property
    def evaluating(self) -> float:
        """The part of `busy` that is not spent getting columns."""
        return self.busy - self.reading - self.waited - self.decompressing - self.decoding

    @property
    def total(self) -> float:
        """The sum of all parts, in seconds."""
        return (
            self.starting
            + self.opening
            + self.busy
            + self.asking
            + self.committing
            + self.tail
            + self.collecting
            + self.around
        )


_Piece = tuple[float, float, float]
"""What was done from a time to another one: events, or bytes."""


@dataclass
class _Worker:
    """What a worker was last seen at."""

    since: float | None = None
    """When its last work had ended; None: it has had none."""
    is_at_work: bool = False
    """Whether it has an order that is no commit: what it commits beside that costs it no time."""
    opening: float = 0.0
    busy: float = 0.0
    committing: float = 0.0
    starting: float = 0.0
    spent: list[Spent] = field(default_factory=list)
    asking: float = 0.0
    latencies: list[float] = field(default_factory=list)
    reads: list[_Piece] = field(default_factory=list)


def broken_down(trace: Trace, workers: int, seconds: float) -> Breakdown | None:
    """The breakdown of a query that took `seconds` for the user on `workers` workers. None if the
    trace has lost its first records, or no packet was done."""
    if trace.dropped or not trace.records:
        return None
    states: dict[int, _Worker] = {}
    for record in trace.records:
        _follow(states, record)
    timeline = Timeline.of(trace)
    spans = [*timeline.spans, *timeline.thrown_away]
    if not spans or timeline.seconds <= 0:
        return None
    took_part = [each for each in states.values() if each.since is not None]
    end = timeline.seconds
    absent = max(workers - len(took_part), 0)
    last = max((each.since or 0.0 for each in took_part), default=0.0)
    there = max(workers, len(took_part))
    times, active = timeline.activity(_POINTS)
    return Breakdown(
        starting=sum(each.starting for each in took_part),
        opening=sum(each.opening for each in took_part),
        busy=sum(each.busy for each in took_part),
        asking=sum(each.asking for each in took_part),
        committing=sum(each.committing for each in took_part),
        # A worker that got nothing to do was too late for the last packet.
        tail=sum(last - (each.since or 0.0) for each in took_part) + absent * last,
        collecting=(end - last) * there,
        around=max(seconds - end, 0.0) * there,
        **_spent([one for each in took_part for one in each.spent]),
        packets=len(spans),
        peak=_peak([(e.began, e.ended, e.entries) for e in timeline.spans], end),
        peak_bytes=_peak([one for each in took_part for one in each.reads], end),
        times=[round(each, 6) for each in times],
        active=active,
        latencies=_chosen([one for each in took_part for one in each.latencies]),
    )


def _spent(many: Sequence[Spent]) -> dict[str, float]:
    """Returns what workers have measured themselves, of all packets."""
    return {name: sum(getattr(each, name) for each in many) for name in PARTS_OF_BUSY}


def _follow(workers: dict[int, _Worker], record: Record) -> None:
    now, event = record.time, record.event
    worker = getattr(event, "worker", None)
    if worker is not None and not isinstance(event, WorkerJoined):
        _answered(workers.setdefault(worker, _Worker()), now, event)
    for action in record.actions:
        if isinstance(action, OpenFile | Commit | Process | ProcessFiles):
            state = workers.setdefault(action.worker, _Worker())
            if state.since is None:
                state.starting, state.since = now, now
            state.is_at_work = state.is_at_work or not isinstance(action, Commit)


def _answered(state: _Worker, now: float, event: object) -> None:
    since = state.since or 0.0
    if isinstance(event, Committed) and state.is_at_work:
        return
    state.is_at_work = isinstance(event, PacketDone) and event.begun is not None
    if isinstance(event, PacketDone | FilesDone):
        # The worker measures its work; all else since its last work is what asking took.
        latency = max(now - event.seconds - since, 0.0)
        state.latencies.append(latency)
        state.asking += latency
        state.busy += now - since - latency
        if event.spent is not None:
            state.spent.append(event.spent)
            state.reads.append((now - event.seconds, now, event.spent.bytes_read))
    elif isinstance(event, PacketFailed):
        state.busy += now - since
    elif isinstance(event, FileOpened | FileFailed) and not event.beside:
        state.opening += now - since
    elif isinstance(event, Committed):
        # To the master this comes after the merge, or after a merger's word that it has it.
        state.committing += now - since
    else:
        return
    state.since = now


def _peak(pieces: Sequence[_Piece], seconds: float) -> float:
    """The most that was done in a second, over a window of the run."""
    shortest = min((ended - began for began, ended, _ in pieces), default=0.0)
    width = max(seconds / WINDOW, shortest, 1e-9)
    best = 0.0
    for step in range(2 * WINDOW):
        begin = seconds * step / (2 * WINDOW)
        end = min(begin + width, seconds)
        if end - begin < width / 2:
            continue
        done = 0.0
        for began, ended, amount in pieces:
            length = max(ended - began, 1e-9)
            done += amount * max(min(end, ended) - max(begin, began), 0.0) / length
        best = max(best, done / (end - begin))
    return best


def _chosen(latencies: Sequence[float]) -> list[float]:
    step = -(-len(latencies) // LATENCIES) or 1
    return [round(each, 7) for each in sorted(latencies)[::step]]


# Where the time of a query's workers went, from what the master has counted: for queries without
# a trace. Pure. Counts are sums and bins, so that this is coarser than the breakdown of a trace.
# The sums of packets and of waiting are exact. The rest is time in which workers had no packet:
# it is divided by how many were active when.

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
        peak=_counted_peak(bins, sums.get("entries", 0.0)),
        peak_bytes=_counted_peak(bins, sums.get("bytes_read", 0.0)),
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


def _counted_peak(bins: Sequence[tuple[float, float]], amount: float) -> float:
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
