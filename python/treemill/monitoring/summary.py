"""What a trace tells of its query: by worker, by file, against time, and where the time went. Pure.

A worker's time is that from when it joined until it was lost or the query ended. What of it is no
packet, no commit and no opening of a file is waiting: for the packetizer, or for others to end.
After the last commit it is merging: mergers hand over what they have, and the master merges that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .recorded import STEPS, Recorded, Row
from .recorded import STEPS as KINDS

__all__ = ["STAGES", "OfFile", "TraceSummary", "WorkerSummary", "against_time", "summary"]

# What the steps of workers tell, if a trace has them: by kind, by server, and the longest reads.
# Pure.


@dataclass
class StepSummary:
    """One kind of step."""

    kind: str
    number: int = 0
    seconds: float = 0.0
    """The sum, with the steps inside."""
    longest: float = 0.0
    bytes: int = 0
    entries: int = 0


@dataclass
class ServerSummary:
    """What one server was asked for."""

    source: str
    reads: int = 0
    ranges: int = 0
    bytes: int = 0
    seconds: float = 0.0
    """The time from asking until the last bytes, summed over all reads."""
    longest: float = 0.0
    failed: int = 0


@dataclass
class Steps:
    """A summary of the steps of a pass."""

    kinds: list[StepSummary]
    servers: list[ServerSummary]
    reads: list[Row]
    """All reads, in the order of time."""

    @property
    def longest_reads(self) -> list[Row]:
        """The longest first."""
        return sorted(self.reads, key=lambda row: -row.seconds)


def steps(rows: Sequence[Row]) -> Steps:
    """Sums up the steps among these rows."""
    kinds = {kind: StepSummary(kind) for kind in STEPS}
    servers: dict[str, ServerSummary] = {}
    for row in rows:
        if row.event not in kinds:
            continue
        kind = kinds[row.event]
        kind.number += 1
        kind.seconds += row.seconds
        kind.longest = max(kind.longest, row.seconds)
        kind.bytes += row.bytes
        kind.entries += row.entries
        if row.event == "read":
            server = servers.setdefault(row.source, ServerSummary(row.source))
            server.reads += 1
            server.ranges += len(row.ranges.split())
            server.bytes += row.bytes
            server.seconds += row.seconds
            server.longest = max(server.longest, row.seconds)
            server.failed += not row.ok
    return Steps(
        [kind for kind in kinds.values() if kind.number],
        [servers[name] for name in sorted(servers)],
        [row for row in rows if row.event == "read"],
    )


STAGES = {
    "start-up": "before the workers had joined",
    "wait": "for packets, and at the end for other workers",
    "open": "opening files, and binding the query to them",
    "wait for servers": "for bytes that had been asked for and were not here yet",
    "read": "reads of near files",
    "decompress": "of baskets and pages",
    "decode": "bytes to columns",
    "evaluate": "the rest of the packets' time: expressions, fills, the user's code",
    "commit": "handing over what workers have filled",
    "merge": "merging that, and all after the last commit, until the result was there",
}
"""What the workers' time goes to."""


@dataclass
class WorkerSummary:
    """One worker."""

    worker: int
    host: str = ""
    joined: float = 0.0
    left: float = 0.0
    lost: bool = False
    packets: int = 0
    entries: int = 0
    in_vain: int = 0
    """Entries that it has done and that are not in the result."""
    seconds: float = 0.0
    """The time in packets."""
    cpu: float = 0.0
    latency: float = 0.0
    bytes_read: int = 0
    commits: float = 0.0
    """Seconds, merging included."""
    merges: float = 0.0
    """Seconds for which what it had committed was merged."""
    opens: float = 0.0
    """Seconds of orders to open files."""
    ended: float = 0.0
    """When its last packet was done."""

    @property
    def there(self) -> float:
        """Seconds for which it was there."""
        return self.left - self.joined

    @property
    def rate(self) -> float:
        """Entries per second of its packets' time."""
        return self.entries / self.seconds if self.seconds > 0 else 0.0


@dataclass
class OfFile:
    """One file."""

    file: str
    node: str = ""
    packets: int = 0
    entries: int = 0
    seconds: float = 0.0
    bytes_read: int = 0
    opening: float = 0.0
    workers: set[int] = field(default_factory=set)
    failed: int = 0

    @property
    def rate(self) -> float:
        """Entries per second of its packets' time."""
        return self.entries / self.seconds if self.seconds > 0 else 0.0


@dataclass
class TraceSummary:
    """The whole query: its last pass, if it had several."""

    recorded: Recorded
    packets: list[Row]
    """Those that were done, in the order in which the master heard of it."""
    seconds: float
    """The time from the start of the pass to its end."""
    entries: int
    """The entries in the result."""
    in_vain: int
    """Entries that were done and are not in the result."""
    bytes_read: int
    workers: list[WorkerSummary]
    files: list[OfFile]
    stages: dict[str, float]
    """Seconds of all workers together, by `STAGES`."""
    all_at_work: float
    """The first time at which the largest number of workers had a packet."""
    first_idle: float
    """The time at which the first of the workers that stayed to the end had done its last
    packet."""
    collecting: float
    """Seconds from the last commit to the end. Mergers hand over what they have; a client fetches
    it."""
    steps: Steps
    """What workers did one by one; empty if the trace does not have it."""
    losses: list[Row]
    """Workers and mergers that were lost, packets and files that failed."""
    ok: bool
    reason: str

    @property
    def tail(self) -> float:
        """Seconds from the first worker's last packet to the end."""
        return self.seconds - self.first_idle

    @property
    def slowest_packets(self) -> list[Row]:
        """The longest first."""
        return sorted(self.packets, key=lambda row: -row.seconds)

    @property
    def slowest_files(self) -> list[OfFile]:
        """Files, those with the fewest entries per second first."""
        return sorted((each for each in self.files if each.entries), key=lambda each: each.rate)


def summary(recorded: Recorded) -> TraceSummary:
    """Sums up the pass that has made the result."""
    last = recorded.last_phase
    if not last.rows:
        raise ValueError("it has no events")
    began, ended = last.rows[0].time, last.rows[-1].time
    rows = [row._replace(time=row.time - began) for row in last.rows]
    end = ended - began
    workers = _workers(rows, end)
    files = _files(rows)
    packets = [row for row in rows if row.event == "packet"]
    final = rows[-1]
    times, active = against_time(packets, end, 1000, lambda row: row.seconds)
    most = max(active, default=0.0)
    at_work = next((t for t, n in zip(times, active, strict=True) if n > 0.95 * most), 0.0)
    there = [each.ended for each in workers if not each.lost]
    handed = [row.time for row in rows if row.event in ("commit", "packet")]
    collecting = end - max(handed, default=end)
    lost = ("worker lost", "merger lost", "packet failed", "file failed")
    return TraceSummary(
        recorded,
        packets,
        end,
        sum(row.entries for row in packets if row.counted),
        sum(row.entries for row in packets if not row.counted),
        sum(row.bytes_read for row in rows),
        workers,
        files,
        _stages(packets, workers, collecting),
        at_work,
        min(there, default=end),
        collecting,
        steps(rows),
        [row for row in rows if row.event in lost],
        final.ok and final.event == "end",
        final.reason if final.event == "end" else "the trace does not say how it ended",
    )


def _workers(rows: Sequence[Row], end: float) -> list[WorkerSummary]:
    workers: dict[int, WorkerSummary] = {}
    for row in rows:
        if row.worker < 0:
            continue
        if row.worker not in workers:
            workers[row.worker] = WorkerSummary(row.worker, row.host, joined=row.time, left=end)
        each = workers[row.worker]
        if row.event == "worker lost":
            each.left, each.lost = row.time, True
        elif row.event in ("packet", "packet failed"):
            each.seconds += row.seconds
            each.cpu += row.cpu
            each.latency += row.latency
            each.bytes_read += row.bytes_read
            each.ended = row.time
            if row.event == "packet":
                each.packets += 1
                each.entries += row.entries
                each.in_vain += 0 if row.counted else row.entries
        elif row.event == "commit":
            each.commits += row.seconds
        elif row.event == "merge":
            each.merges += row.seconds
        elif row.event == "file opened":
            each.opens += row.seconds
    return [workers[number] for number in sorted(workers)]


def _files(rows: Sequence[Row]) -> list[OfFile]:
    files: dict[str, OfFile] = {}
    for row in rows:
        if not row.file or row.event in KINDS:
            continue
        each = files.setdefault(row.file, OfFile(row.file, row.node))
        each.failed += not row.ok
        each.opening += row.opening if row.event == "packet" else 0.0
        each.bytes_read += row.bytes_read
        if row.event == "file opened":
            each.opening += row.seconds
        elif row.event == "packet":
            each.packets += 1
            each.entries += row.entries
            each.seconds += row.seconds
            each.workers.add(row.worker)
    return list(files.values())


def _stages(
    packets: Sequence[Row], workers: Sequence[WorkerSummary], collecting: float
) -> dict[str, float]:
    parts = {
        "open": sum(row.opening for row in packets) + sum(each.opens for each in workers),
        "wait for servers": sum(row.waited for row in packets),
        "read": sum(row.reading for row in packets),
        "decompress": sum(row.decompressing for row in packets),
        "decode": sum(row.decoding for row in packets),
    }
    in_packets = sum(row.seconds for row in packets)
    opens = sum(each.opens for each in workers)
    commits = sum(each.commits for each in workers)
    merges = sum(each.merges for each in workers)
    after = sum(min(collecting, each.there) for each in workers if not each.lost)
    rest = in_packets - (sum(parts.values()) - opens)
    there = sum(each.there for each in workers)
    seconds = {
        "start-up": sum(each.joined for each in workers),
        "wait": max(there - in_packets - commits - opens - after, 0.0),
        **parts,
        "evaluate": max(rest, 0.0),
        "commit": max(commits - merges, 0.0),
        "merge": merges + after,
    }
    return {name: seconds[name] for name in STAGES}


def against_time(
    packets: Sequence[Row],
    end: float,
    points: int,
    amount: Callable[[Row], float],
) -> tuple[list[float], list[float]]:
    """Times in the middle of `points` intervals, and how much of the packets' `amount(row)` there
    was in each, per second; each packet's is spread evenly over its time."""
    if end <= 0:
        return [], []
    width = end / points
    sums = [0.0] * points
    for row in packets:
        stop = min(row.time, end)
        start = max(stop - row.seconds, 0.0)
        much = float(amount(row))
        if stop <= start:
            sums[min(int(stop / width), points - 1)] += much
            continue
        density = much / (stop - start)
        first, last = int(start / width), min(int(stop / width), points - 1)
        for at in range(min(first, points - 1), last + 1):
            low, high = max(start, at * width), min(stop, (at + 1) * width)
            sums[at] += density * max(high - low, 0.0)
    return [(at + 0.5) * width for at in range(points)], [each / width for each in sums]
