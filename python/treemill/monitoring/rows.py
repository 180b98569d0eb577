"""One row for each event of a query, from the packetizer's records. Pure: records and names in,
rows out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import without_credentials
from ..scheduling import (
    FAILED,
    Action,
    Collect,
    Collected,
    Commit,
    Committed,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    FilesDone,
    Finish,
    Forget,
    HandedOn,
    HandOn,
    LeasedTrace,
    MergerJoined,
    MergerLeaving,
    MergerLost,
    OpenAhead,
    OpenFile,
    Packet,
    PacketDone,
    PacketFailed,
    Prefetch,
    Process,
    ProcessFiles,
    Record,
    Refused,
    RefusedFrom,
    Reserve,
    Spent,
    Step,
    Stop,
    WorkerJoined,
    WorkerLeaving,
    WorkerLost,
    WorkerStays,
    node_of,
)
from .recorded import Row, RowValues

__all__ = ["Place", "StepRows", "leased_rows", "rows"]

# Rows of what workers did, step by step, in addition to the row of the packet that it was done for.
# Pure.


class StepRows:
    """Adds rows of steps to the rows of a pass."""

    def __init__(self, rows: list[Row]) -> None:
        self.are_there = False
        self._rows = rows
        self._bound: set[tuple[int, str]] = set()
        """Workers and the files that they have open."""
        self._reading: dict[tuple[int, int], int] = {}
        """The row of each read that is on its way, by worker and number."""

    def follow(self, steps: Sequence[Step]) -> None:
        """Adds the steps of the packet that the last row is of, which ended with it."""
        packet = self._rows[-1]
        for step in steps:
            self.are_there = True
            if step.kind == "came":
                self._came(packet, step)
            elif step.kind != "bound" or (packet.worker, packet.file) not in self._bound:
                self._rows.append(self._row(packet, step))

    def _row(self, packet: Row, step: Step) -> Row:
        values: RowValues = {}
        file, node = packet.file, packet.node
        if step.kind == "bound":
            self._bound.add((packet.worker, packet.file))
        elif step.kind == "read":
            if step.seconds < 0:
                self._reading[packet.worker, step.number] = len(self._rows)
            ranges = " ".join(f"{start}-{stop}" for start, stop in step.ranges)
            values = {"bytes": step.amount, "source": step.server, "ranges": ranges}
            if "://" in step.file:  # a read ahead may be of another file than the packet
                file = without_credentials(step.file)
                node = node_of(file)
        elif step.kind == "evaluate":
            start, stop = step.ranges[0]
            values = {"start": start, "stop": stop, "entries": step.amount}
        elif step.kind == "decode":
            values = {"entries": step.amount}
        elif step.kind == "left out":
            values = {"bytes": step.amount, "reason": f"{step.number:,} steps had no room"}
        else:
            values = {"bytes": step.amount}
        return Row(
            _end(packet, step),
            step.kind,
            packet.phase,
            packet.worker,
            packet.host,
            file,
            node,
            packet.packet,
            packet.attempt,
            ok=step.ok,
            seconds=max(step.seconds, 0.0),
            **values,
        )

    def _came(self, packet: Row, step: Step) -> None:
        """A read has ended that was told of with an earlier packet."""
        at = self._reading.pop((packet.worker, step.number), None)
        if at is not None:
            time = _end(packet, step)
            self._rows[at] = self._rows[at]._replace(time=time, seconds=step.seconds, ok=step.ok)


def _end(packet: Row, step: Step) -> float:
    return min(packet.time - step.ago + max(step.seconds, 0.0), packet.time)


Place = Callable[[int], tuple[str, int]]
"""A file's name by its number, and the entry of the file that packets count as 0."""


def rows(
    records: Iterable[Record],
    place: Place,
    *,
    phase: str = "",
    offset: float = 0.0,
    there: Mapping[int, float] | None = None,
) -> list[Row]:
    """The rows of one pass. `offset`: when the pass began, in seconds from the query's start.
    `there`: the workers that had joined before the first record, and when."""
    follower = _Follower(place, phase, offset)
    follower.begin(there or {})
    for record in records:
        follower.follow(record.time, record.event, record.actions)
    if follower.has_steps:  # they began and ended before their packet
        follower.rows.sort(key=lambda row: row.time)
    return follower.rows


class _Follower:
    """Follows each packet from record to record, to the result or to where it was lost."""

    def __init__(self, place: Place, phase: str, offset: float) -> None:
        self.rows: list[Row] = []
        self._place = place
        self._phase = phase
        self._offset = offset
        self._now = 0.0
        self._names: dict[int, tuple[str, int, str]] = {}
        self._hosts: dict[int, str] = {}
        self._at: dict[int, Packet] = {}  # by worker: its packet
        self._files: dict[int, int] = {}  # by worker: the first of the small files that it has
        self._reserved: dict[int, Packet] = {}  # by number
        self._file: dict[int, int] = {}  # by worker: the file of its last packet
        self._asked: dict[tuple[int, int, bool], float] = {}  # since when files are being opened
        self._told: dict[int, float] = {}  # by worker: when it was told to commit
        self._told_merger: dict[int, float] = {}  # by merger: when it was told to hand over
        self._done: dict[int, list[int]] = {}  # by worker: rows of packets that are not committed
        self._moving: dict[int, tuple[int, list[int]]] = {}  # by worker: to which merger
        self._merged: dict[int, list[int]] = {}  # by merger
        self._handing_on: dict[int, tuple[int, list[int]]] = {}  # by merger: to which, if it dies
        self._steps = StepRows(self.rows)

    @property
    def has_steps(self) -> bool:
        return self._steps.are_there

    def begin(self, there: Mapping[int, float]) -> None:
        self._add("start")
        for worker, when in there.items():
            self._now = when
            self._add("worker joined", worker)

    def follow(self, now: float, event: Event, actions: Sequence[Action]) -> None:
        self._now = now
        for about in (event, *actions):
            react = _REACTIONS.get(type(about))
            if react is not None:
                react(self, about)

    def _add(self, event: str, worker: int = -1, file: int | None = None, **given: object) -> None:
        values: RowValues = given
        name, node = "", ""
        if file is not None:
            name, first, node = self._named(file)
            for key in ("start", "stop"):
                if key in values:
                    values[key] += first
        host = self._hosts.get(worker, "")
        if values.get("reason"):
            values["reason"] = without_credentials(values["reason"])
        time = self._now + self._offset
        self.rows.append(
            Row(time, event, self._phase, worker, host, file=name, node=node, **values)
        )

    def _named(self, file: int) -> tuple[str, int, str]:
        place = self._names.get(file)
        if place is None:
            name, first = self._place(file)
            name = without_credentials(name)
            place = self._names[file] = name, first, node_of(name)
        return place

    # Workers and files.

    def _joined(self, event: WorkerJoined) -> None:
        self._hosts[event.worker] = event.node or ""
        self._add("worker joined", event.worker)

    def _lost(self, event: WorkerLost) -> None:
        self._done.pop(event.worker, None)
        self._at.pop(event.worker, None)
        self._files.pop(event.worker, None)
        self._release(event.worker)
        self._add("worker lost", event.worker, ok=False, reason=event.reason)

    def _release(self, worker: int) -> None:
        file = self._file.pop(worker, None)
        if file is not None:
            self._add("file released", worker, file)

    def _open(self, action: OpenFile | OpenAhead) -> None:
        beside = isinstance(action, OpenAhead)
        self._asked[action.worker, action.file, beside] = self._now
        self._add("open", action.worker, action.file)

    def _opened(self, event: FileOpened | FileFailed) -> None:
        asked = self._asked.pop((event.worker, event.file, event.beside), self._now)
        values: RowValues = {"seconds": self._now - asked}
        if isinstance(event, FileOpened):
            self._add("file opened", event.worker, event.file, entries=event.entries, **values)
        else:
            values |= {"ok": False, "reason": str(event.error)}
            self._add("file failed", event.worker, event.file, **values)

    # Packets.

    def _process(self, action: Process) -> None:
        self._assigned(action.worker, action.packet)

    def _reserve(self, action: Reserve) -> None:
        packet = self._reserved[action.packet.number] = action.packet
        self._add("reserved", action.worker, packet.file, **_of(packet, packet.stop))

    def _assigned(self, worker: int, packet: Packet) -> None:
        self._reserved.pop(packet.number, None)
        if self._file.get(worker) != packet.file:
            self._release(worker)
            self._file[worker] = packet.file
            self._add("file assigned", worker, packet.file)
        self._at[worker] = packet
        self._add("assigned", worker, packet.file, **_of(packet, packet.stop))

    def _promise(self, action: Prefetch | Forget) -> None:
        event = "promised" if isinstance(action, Prefetch) else "forgotten"
        packet = action.packet
        self._add(event, action.worker, packet.file, **_of(packet, packet.stop))

    def _packet_done(self, event: PacketDone) -> None:
        packet = self._at.pop(event.worker, None)
        if packet is None:
            return  # the worker was given up, or its packet came before the trace
        self._done.setdefault(event.worker, []).append(len(self.rows))
        values = _of(packet, event.stop) | _measured(event.spent)
        self._add("packet", event.worker, packet.file, seconds=event.seconds, **values)
        self._steps.follow(event.steps)
        if event.begun is not None and event.begun in self._reserved:
            self._assigned(event.worker, self._reserved[event.begun])

    def _files_done(self, event: FilesDone) -> None:
        """Several small files count as one packet of the first."""
        file, ended = self._files.pop(event.worker, None), event.ended
        if file is None:
            return  # the worker was given up, or was told before the trace
        entries = sum(event.entries)
        values: RowValues = {"entries": entries, "seconds": event.seconds}
        if ended == FAILED:
            self._done.pop(event.worker, None)
            self._add("packet failed", event.worker, file, ok=False, **values)
            return
        self._done.setdefault(event.worker, []).append(len(self.rows))
        self._add("packet", event.worker, file, **values, **_measured(event.spent))

    def _process_files(self, action: ProcessFiles) -> None:
        self._release(action.worker)
        self._files[action.worker] = file = action.files[0]
        self._add("assigned", action.worker, file)

    def _packet_failed(self, event: PacketFailed) -> None:
        self._done.pop(event.worker, None)
        packet = self._at.pop(event.worker, None)
        if packet is not None:
            values = _of(packet, packet.stop) | _measured(event.spent)
            values |= {"ok": False, "reason": str(event.error)}
            self._add("packet failed", event.worker, packet.file, **values)
            self._steps.follow(event.steps)

    def _discarded(self, event: Discarded) -> None:
        self._done.pop(event.worker, None)
        self._add("discard", event.worker)

    # What becomes of them.

    def _commit(self, action: Commit) -> None:
        self._told[action.worker] = self._now
        if action.merger is not None:
            packets = self._done.pop(action.worker, [])
            self._moving[action.worker] = (action.merger, packets)

    def _committed(self, event: Committed) -> None:
        if event.merger is None:
            packets = self._done.pop(event.worker, [])
            self._count(packets)
        elif self._moving.get(event.worker, (None,))[0] == event.merger:
            packets = self._moving.pop(event.worker)[1]
            self._merged.setdefault(event.merger, []).extend(packets)
        else:
            packets = []
        seconds = self._now - self._told.pop(event.worker, self._now)
        if event.worker in self._at:  # it did not wait for this
            seconds = event.merging
        entries = sum(self.rows[at].entries for at in packets)
        self._add("commit", event.worker, seconds=seconds, entries=entries)
        if event.merging > 0:
            self._add("merge", event.worker, seconds=event.merging, entries=entries)

    def _count(self, packets: Sequence[int]) -> None:
        for at in packets:
            self.rows[at] = self.rows[at]._replace(counted=True)

    def _collected(self, event: Collected) -> None:
        packets = self._merged.pop(event.merger, [])
        self._count(packets)
        self._add_of_merger("merge", event.merger, packets)

    def _collect(self, action: Collect) -> None:
        self._told_merger[action.merger] = self._now

    def _add_of_merger(self, event: str, merger: int, packets: Sequence[int]) -> None:
        seconds = self._now - self._told_merger.pop(merger, self._now)
        self._add(event, seconds=seconds, entries=sum(self.rows[at].entries for at in packets))

    def _refused(self, event: Refused) -> None:
        self._moving.pop(event.worker, None)

    def _merger_joined(self, event: MergerJoined) -> None:
        self._add("merger joined", reason=event.node or "")

    def _leaving(self, event: WorkerLeaving | WorkerStays | MergerLeaving) -> None:
        if isinstance(event, WorkerStays):
            self._add("worker stays", event.worker)
        elif isinstance(event, WorkerLeaving):
            self._add("worker leaving", event.worker)
        else:
            self._add("merger leaving")

    def _merger_lost(self, event: MergerLost) -> None:
        lost = self._merged.pop(event.merger, [])
        if event.merger in self._handing_on:  # the other one may have it
            self._handing_on[event.merger][1].extend(lost)
        for moving in (self._moving, self._handing_on):
            for giver, (merger, _) in list(moving.items()):
                if merger == event.merger:
                    del moving[giver]
        self._add("merger lost", ok=False)

    def _hand_on(self, action: HandOn) -> None:
        self._handing_on[action.merger] = (action.to, [])
        self._told_merger[action.merger] = self._now

    def _handed_on(self, event: HandedOn) -> None:
        to, packets = self._handing_on.get(event.merger, (None, []))
        if to == event.to:
            del self._handing_on[event.merger]
            packets = packets + self._merged.pop(event.merger, [])
            self._merged.setdefault(event.to, []).extend(packets)
            self._add_of_merger("handed on", event.merger, packets)

    def _refused_from(self, event: RefusedFrom) -> None:
        self._handing_on.pop(event.giver, None)

    def _stop(self, event: Stop) -> None:
        self._add("stop", reason=event.reason)

    def _finish(self, action: Finish) -> None:
        for worker in sorted(self._file):
            self._release(worker)
        words = "" if action.error is None else str(action.error)
        self._add("end", ok=action.error is None, reason=words)


def _of(packet: Packet, stop: int) -> RowValues:
    return {
        "packet": packet.number,
        "attempt": packet.attempt,
        "start": packet.start,
        "stop": stop,
        "entries": stop - packet.start,
    }


def _measured(spent: Spent | None) -> RowValues:
    return {} if spent is None else spent._asdict()


_REACTIONS: dict[type, Callable[[_Follower, Any], None]] = {
    WorkerJoined: _Follower._joined,
    WorkerLost: _Follower._lost,
    OpenFile: _Follower._open,
    OpenAhead: _Follower._open,
    FileOpened: _Follower._opened,
    FileFailed: _Follower._opened,
    Process: _Follower._process,
    ProcessFiles: _Follower._process_files,
    FilesDone: _Follower._files_done,
    Reserve: _Follower._reserve,
    Prefetch: _Follower._promise,
    Forget: _Follower._promise,
    PacketDone: _Follower._packet_done,
    PacketFailed: _Follower._packet_failed,
    Discarded: _Follower._discarded,
    Collect: _Follower._collect,
    Commit: _Follower._commit,
    Committed: _Follower._committed,
    Collected: _Follower._collected,
    Refused: _Follower._refused,
    MergerJoined: _Follower._merger_joined,
    MergerLeaving: _Follower._leaving,
    WorkerLeaving: _Follower._leaving,
    WorkerStays: _Follower._leaving,
    HandOn: _Follower._hand_on,
    HandedOn: _Follower._handed_on,
    RefusedFrom: _Follower._refused_from,
    MergerLost: _Follower._merger_lost,
    Stop: _Follower._stop,
    Finish: _Follower._finish,
}


# Rows of a pass that several sites did together, from the traces of their leases: as those of
# one, with a number for each worker of each site. Pure.

_NAMES = {"start": "lease", "end": "lease ended"}
"""What the begin and the end of a site's pass are for the whole."""


def leased_rows(
    leases: Sequence[LeasedTrace],
    place: Place,
    *,
    began: float,
    seconds: float,
    phase: str = "",
    offset: float = 0.0,
    reason: str = "",
) -> list[Row]:
    """The rows. `began`: when the pass was made, on the clock of the leases; `seconds`: how long it
    took; `reason`: why it did not end well, if it did not."""
    numbers: dict[tuple[str, int], int] = {}
    all_rows: list[Row] = []
    packets = 0
    for lease in leases:

        def inside(file: int, lease: LeasedTrace = lease) -> tuple[str, int]:
            number, first = lease.parts[file]
            name, begin = place(number)
            return name, begin + first

        rows_of_site = rows(
            lease.trace.records,
            inside,
            phase=phase,
            offset=offset + lease.began - began,
            there=lease.trace.there,
        )
        all_rows += [_of_site(row, lease, numbers, packets) for row in rows_of_site]
        packets += 1 + max((row.packet for row in rows_of_site), default=-1)
    all_rows.sort(key=lambda row: row.time)
    end = max(offset + seconds, all_rows[-1].time if all_rows else 0.0)
    return [
        Row(offset, "start", phase),
        *all_rows,
        Row(end, "end", phase, ok=not reason, reason=reason),
    ]


def _of_site(
    row: Row, lease: LeasedTrace, numbers: dict[tuple[str, int], int], packets: int
) -> Row:
    worker = row.worker
    if worker >= 0:
        worker = numbers.setdefault((lease.site, worker), len(numbers))
    return row._replace(
        event=_NAMES.get(row.event, row.event),
        worker=worker,
        host=f"{lease.site}/{row.host}" if row.host else lease.site,
        packet=row.packet + packets if row.packet >= 0 else -1,
        counted=row.counted and lease.counted,
    )
