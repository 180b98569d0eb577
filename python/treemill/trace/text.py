"""The summary of a trace as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .summary import STAGES, TraceSummary, against_time

__all__ = ["lines", "tables"]

Cells = Sequence[Sequence[str]]


def lines(found: TraceSummary, most: int = 20) -> Iterator[str]:
    """The text. `most`: the lines of the longer tables, at most."""
    yield from head(found)
    for title, cells in tables(found, most):
        yield ""
        yield title
        yield from _aligned(cells)


def head(found: TraceSummary) -> Iterator[str]:
    """The query in some sentences."""
    about = found.recorded.about
    yield f"{about.query or 'a query'}, on {about.workers} {about.kind} of {about.machine}"
    rate = found.entries / found.seconds if found.seconds > 0 else 0.0
    speed = found.bytes_read / 1e6 / found.seconds if found.seconds > 0 else 0.0
    yield (
        f"{found.entries:,} entries in {found.seconds:.3f} s: {rate:,.0f} entries/s, "
        f"{speed:,.1f} MB/s, {len(found.packets):,} packets"
    )
    if not found.ok:
        yield f"it did not end well: {found.reason}"
    yield (
        f"all workers were at work after {found.all_at_work:.3f} s; the first had nothing more to "
        f"do {found.tail:.3f} s before the end"
    )
    busy = sum(each.seconds for each in found.workers)
    if busy > 0:
        cpu = sum(each.cpu for each in found.workers) / busy
        yield f"the workers' threads had a CPU for {cpu:.0%} of their packets' time"
    if found.in_vain:
        yield f"{found.in_vain:,} entries were done in vain"
    if about.dropped:
        yield (
            f"{about.dropped:,} records were dropped, the oldest ones: what follows is of the rest"
        )


def tables(found: TraceSummary, most: int = 20) -> Iterator[tuple[str, Cells]]:
    """The tables: a title, and cells with a first row of headings."""
    yield "Where the workers' time went", _stages(found)
    yield _of("Workers", len(found.workers), most), _workers(found, most)
    yield _of("Files, the slowest first", len(found.files), most), _files(found, most)
    yield _of("The longest packets", len(found.packets), most), _packets(found, most)
    yield "Against time", _times(found)
    steps = found.steps
    if steps.kinds:
        yield "Steps of the workers, each with those inside", _kinds(found)
    if steps.servers:
        yield "Reads by server", _servers(found)
        yield _of("The longest reads", len(steps.reads), most), _reads(found, most)
    if found.losses:
        yield _of("What was lost or has failed", len(found.losses), most), _losses(found, most)


def _of(title: str, number: int, most: int) -> str:
    return title if number <= most else f"{title} ({most} of {number:,})"


def _stages(found: TraceSummary) -> Cells:
    whole = sum(found.stages.values()) or 1.0
    return [
        ("", "seconds", "share", ""),
        *(
            (name, f"{seconds:.3f}", f"{seconds / whole:.1%}", STAGES[name])
            for name, seconds in found.stages.items()
        ),
    ]


def _workers(found: TraceSummary, most: int) -> Cells:
    cells = [
        (
            "worker",
            "host",
            "packets",
            "entries",
            "entries/s",
            "MB",
            "packets s",
            "CPU s",
            "wait for packets s",
            "joined s",
            "last packet s",
            "",
        )
    ]
    for each in found.workers[:most]:
        told = "lost" if each.lost else ""
        if each.in_vain:
            told = f"{told} {each.in_vain:,} entries in vain".strip()
        cells.append(
            (
                str(each.worker),
                each.host,
                f"{each.packets:,}",
                f"{each.entries:,}",
                f"{each.rate:,.0f}",
                f"{each.bytes_read / 1e6:,.1f}",
                f"{each.seconds:.3f}",
                f"{each.cpu:.3f}",
                f"{each.latency:.3f}",
                f"{each.joined:.3f}",
                f"{each.ended:.3f}",
                told,
            )
        )
    return cells


def _files(found: TraceSummary, most: int) -> Cells:
    cells = [("file", "packets", "workers", "entries", "entries/s", "MB", "packets s", "open s")]
    for each in found.slowest_files[:most]:
        cells.append(
            (
                each.file,
                f"{each.packets:,}",
                str(len(each.workers)),
                f"{each.entries:,}",
                f"{each.rate:,.0f}",
                f"{each.bytes_read / 1e6:,.1f}",
                f"{each.seconds:.3f}",
                f"{each.opening:.3f}",
            )
        )
    return cells


def _packets(found: TraceSummary, most: int) -> Cells:
    cells = [("seconds", "worker", "file", "entries", "at s", "CPU s", "latency s", "MB", "")]
    for row in found.slowest_packets[:most]:
        cells.append(
            (
                f"{row.seconds:.3f}",
                str(row.worker),
                row.file,
                f"{row.start}..{row.stop}",
                f"{row.time - row.seconds:.3f}",
                f"{row.cpu:.3f}",
                f"{row.latency:.4f}",
                f"{row.bytes_read / 1e6:,.1f}",
                "" if row.counted else "in vain",
            )
        )
    return cells


def _times(found: TraceSummary, points: int = 10) -> Cells:
    packets, end = found.packets, found.seconds
    times, entries = against_time(packets, end, points, lambda row: row.entries)
    _, read = against_time(packets, end, points, lambda row: row.bytes_read)
    _, active = against_time(packets, end, points, lambda row: row.seconds)
    half = end / points / 2
    cells = [("until s", "entries/s", "MB/s", "workers at a packet", "mean latency s")]
    for at, time in enumerate(times):
        inside = [row.latency for row in packets if time - half <= row.time < time + half]
        mean = sum(inside) / len(inside) if inside else 0.0
        cells.append(
            (
                f"{time + half:.3f}",
                f"{entries[at]:,.0f}",
                f"{read[at] / 1e6:,.1f}",
                f"{active[at]:.1f}",
                f"{mean:.4f}",
            )
        )
    return cells


def _kinds(found: TraceSummary) -> Cells:
    return [
        ("step", "number", "seconds", "mean s", "longest s", "MB", "entries"),
        *(
            (
                each.kind,
                f"{each.number:,}",
                f"{each.seconds:.3f}",
                f"{each.seconds / each.number:.6f}",
                f"{each.longest:.6f}",
                f"{each.bytes / 1e6:,.1f}",
                f"{each.entries:,}",
            )
            for each in found.steps.kinds
        ),
    ]


def _servers(found: TraceSummary) -> Cells:
    return [
        ("server", "reads", "ranges", "MB", "kB a read", "mean s", "longest s", "failed"),
        *(
            (
                each.source,
                f"{each.reads:,}",
                f"{each.ranges:,}",
                f"{each.bytes / 1e6:,.1f}",
                f"{each.bytes / 1e3 / each.reads:,.1f}",
                f"{each.seconds / each.reads:.6f}",
                f"{each.longest:.6f}",
                f"{each.failed:,}",
            )
            for each in found.steps.servers
        ),
    ]


def _reads(found: TraceSummary, most: int) -> Cells:
    cells = [("seconds", "worker", "at s", "MB", "ranges", "first bytes", "file")]
    for row in found.steps.longest_reads[:most]:
        ranges = row.ranges.split()
        cells.append(
            (
                f"{row.seconds:.6f}",
                str(row.worker),
                f"{row.time - row.seconds:.3f}",
                f"{row.bytes / 1e6:,.3f}",
                f"{len(ranges):,}",
                ranges[0] if ranges else "",
                row.file,
            )
        )
    return cells


def _losses(found: TraceSummary, most: int) -> Cells:
    return [
        ("at s", "what", "worker", "file", "why"),
        *(
            (f"{row.time:.3f}", row.event, str(row.worker), row.file, row.reason)
            for row in found.losses[:most]
        ),
    ]


def _aligned(cells: Cells) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        parts = [
            text.rjust(width) if _is_number(text) or row is cells[0] else text.ljust(width)
            for text, width in zip(row, widths, strict=True)
        ]
        yield f"  {'  '.join(parts)}".rstrip()


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("%", "").isdigit()
