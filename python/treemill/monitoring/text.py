"""The summary of a trace as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .summary import STAGES, TraceSummary, against_time

__all__ = ["lines", "tables"]

Cells = Sequence[Sequence[str]]


def lines(summary: TraceSummary, most: int = 20) -> Iterator[str]:
    """The text. `most`: the lines of the longer tables, at most."""
    yield from head(summary)
    for title, cells in tables(summary, most):
        yield ""
        yield title
        yield from _aligned(cells)


def head(summary: TraceSummary) -> Iterator[str]:
    """The query in some sentences."""
    about = summary.recorded.about
    yield f"{about.query or 'a query'}, on {about.workers} {about.kind} of {about.machine}"
    rate = summary.entries / summary.seconds if summary.seconds > 0 else 0.0
    speed = summary.bytes_read / 1e6 / summary.seconds if summary.seconds > 0 else 0.0
    yield (
        f"{summary.entries:,} entries in {summary.seconds:.3f} s: {rate:,.0f} entries/s, "
        f"{speed:,.1f} MB/s, {len(summary.packets):,} packets"
    )
    if not summary.ok:
        yield f"it did not end well: {summary.reason}"
    yield (
        f"all workers were at work after {summary.all_at_work:.3f} s; the first had nothing more "
        f"to do {summary.tail:.3f} s before the end"
    )
    busy = sum(each.seconds for each in summary.workers)
    if busy > 0:
        cpu = sum(each.cpu for each in summary.workers) / busy
        yield f"the workers' threads had a CPU for {cpu:.0%} of their packets' time"
    if summary.in_vain:
        yield f"{summary.in_vain:,} entries were done in vain"
    if about.dropped:
        yield (
            f"{about.dropped:,} records were dropped, the oldest ones: what follows is of the rest"
        )


def tables(summary: TraceSummary, most: int = 20) -> Iterator[tuple[str, Cells]]:
    """The tables: a title, and cells with a first row of headings."""
    yield "Where the workers' time went", _stages(summary)
    yield _of("Workers", len(summary.workers), most), _workers(summary, most)
    yield _of("Files, the slowest first", len(summary.files), most), _files(summary, most)
    yield _of("The longest packets", len(summary.packets), most), _packets(summary, most)
    yield "Against time", _times(summary)
    steps = summary.steps
    if steps.kinds:
        yield "Steps of the workers, each with those inside", _kinds(summary)
    if steps.servers:
        yield "Reads by server", _servers(summary)
        yield _of("The longest reads", len(steps.reads), most), _reads(summary, most)
    if summary.losses:
        yield _of("What was lost or has failed", len(summary.losses), most), _losses(summary, most)


def _of(title: str, number: int, most: int) -> str:
    return title if number <= most else f"{title} ({most} of {number:,})"


def _stages(summary: TraceSummary) -> Cells:
    whole = sum(summary.stages.values()) or 1.0
    return [
        ("", "seconds", "share", ""),
        *(
            (name, f"{seconds:.3f}", f"{seconds / whole:.1%}", STAGES[name])
            for name, seconds in summary.stages.items()
        ),
    ]


def _workers(summary: TraceSummary, most: int) -> Cells:
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
    for each in summary.workers[:most]:
        remark = "lost" if each.lost else ""
        if each.in_vain:
            remark = f"{remark} {each.in_vain:,} entries in vain".strip()
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
                remark,
            )
        )
    return cells


def _files(summary: TraceSummary, most: int) -> Cells:
    cells = [("file", "packets", "workers", "entries", "entries/s", "MB", "packets s", "open s")]
    for each in summary.slowest_files[:most]:
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


def _packets(summary: TraceSummary, most: int) -> Cells:
    cells = [("seconds", "worker", "file", "entries", "at s", "CPU s", "latency s", "MB", "")]
    for row in summary.slowest_packets[:most]:
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


def _times(summary: TraceSummary, points: int = 10) -> Cells:
    packets, end = summary.packets, summary.seconds
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


def _kinds(summary: TraceSummary) -> Cells:
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
            for each in summary.steps.kinds
        ),
    ]


def _servers(summary: TraceSummary) -> Cells:
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
            for each in summary.steps.servers
        ),
    ]


def _reads(summary: TraceSummary, most: int) -> Cells:
    cells = [("seconds", "worker", "at s", "MB", "ranges", "first bytes", "file")]
    for row in summary.steps.longest_reads[:most]:
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


def _losses(summary: TraceSummary, most: int) -> Cells:
    return [
        ("at s", "what", "worker", "file", "why"),
        *(
            (f"{row.time:.3f}", row.event, str(row.worker), row.file, row.reason)
            for row in summary.losses[:most]
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
