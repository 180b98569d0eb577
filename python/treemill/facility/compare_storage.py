"""`treemill bench storage`: compares storages, with more and more readers."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from .._system.files import write_text
from .._system.memory import available
from .._system.processor import available_cores
from .exerciser import Size
from .options import Numbers, SizeList, Some
from .reader_pool import ALONE, Job, ReaderReport
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import ResultsFile, rising, save
from .storage.findings import csv_rows, row_of
from .storage.matrix import WAYS, WHATS, Matrix, Target, branches, layout, window_of
from .storage.reading import ReaderOutcome, Reading, reading_of
from .systems import DROPPED, describe, drop_files

__all__ = ["command", "measured", "targets"]

_MANY = 4
"""Readers for each core, at most, if nothing else is said."""
_PATIENCE = 60.0
"""Seconds after which readers that should have ended are killed."""
_READABLE = ("number", "list", "array")
_ROOM = 2
"""All windows together take this part of the memory at most: a half."""


@click.command("storage")
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option(
    "--readers",
    type=Numbers(),
    help="Numbers of readers; default: 1, 2, 4 … up to four for each core.",
)
@click.option(
    "--as",
    "ways",
    multiple=True,
    type=Some(WAYS),
    help="; ".join(f"{name}: {words}" for name, words in WAYS.items()) + ". Default: both.",
)
@click.option(
    "--read",
    "whats",
    multiple=True,
    type=Some(WHATS),
    help="; ".join(f"{name}: {words}" for name, words in WHATS.items())
    + ". Default: all of these.",
)
@click.option(
    "--window",
    "windows",
    type=SizeList(),
    default="0,60 MB",
    show_default=True,
    help="Numbers of bytes that each reader may request before it needs them.",
)
@click.option(
    "--seconds", type=click.FloatRange(0.1), help="Seconds of each measurement; default: 5."
)
@click.option(
    "--repeat",
    "rounds",
    type=click.IntRange(1),
    help="Number of measurements of each combination; default: 3.",
)
@click.option("--once", is_flag=True, help="Each reader ends when it has read each file once.")
@click.option("--quick", is_flag=True, help="Measure 1 and 4 readers, 1 s each, in one round.")
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the measurements to this file, as CSV.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of results; default: storages-DATE.json.",
)
def command(
    urls: tuple[str, ...],
    readers: tuple[int, ...] | None,
    ways: tuple[tuple[str, ...], ...],
    whats: tuple[tuple[str, ...], ...],
    windows: tuple[int, ...],
    seconds: float | None,
    rounds: int | None,
    once: bool,
    quick: bool,
    table: Path | None,
    output: Path | None,
) -> None:
    """Compare storages, with each combination of data to read, prefetching and number of readers.

    Each URL is a file, a glob, or the description of a dataset, by any protocol or path; the files
    of one server are one storage. To compare protocols, give the same files by several protocols.
    Readers read their files again and again until the time of a measurement is up.
    """
    storages = targets(urls)
    some_ways = {way for each in ways for way in each} or {*WAYS}
    some_whats = {what for each in whats for what in each} or {*WHATS}
    quickly = (1, 4) if quick else rising(_MANY * available_cores())
    matrix = Matrix(
        storages,
        [way for way in WAYS if way in some_ways],
        list(readers or quickly),
        [what for what in WHATS if what in some_whats],
        windows,
        rounds or (1 if quick else 3),
    )
    seconds = seconds or (1.0 if quick else 5.0)
    click.echo(f"{len(matrix)} measurements of {seconds:g} s")
    facts = describe()  # before: the load is that of others
    notes: list[str] = []
    readings: list[Reading] = []
    try:
        measured(matrix, seconds, lambda each: _note(each, readings), once=once)
    except KeyboardInterrupt:
        if not readings:
            raise
        notes.append("it ended before all was measured: interrupted")
    notes += _notes(readings, once)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    settings = {
        "readers": list(matrix.readers),
        "as": list(matrix.ways),
        "read": list(matrix.whats),
        "windows": [f"{each / 1e6:g} MB" for each in matrix.windows],
        "seconds": seconds,
        "rounds": matrix.rounds,
        "once": once,
    }
    data = {
        "files": sum(len(each.files) for each in storages),
        "storages": [f"{each.storage} ({each.layout})" for each in storages],
        "remote": any(each.protocol != "file" for each in storages),
    }
    results = ResultsFile(date, facts, settings, data, readings=readings, notes=notes)
    path = output or Path(f"storages-{date[:19].replace(':', '')}.json")
    save(results, path)
    if table is not None:
        rows = io.StringIO()
        csv.writer(rows).writerows(csv_rows(readings))
        write_text(table, rows.getvalue())
    click.echo()
    for line in conclusion(results):
        click.echo(line)
    click.echo(f"results: {path}; figures: treemill bench report {path}")


def targets(urls: Sequence[str]) -> list[Target]:
    """The storages: files by server, or by folder, and by how their baskets lie. Raises
    TreemillError if a file cannot be read."""
    from ..dataset import dataset  # start-up

    files_by_storage: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    names: dict[tuple[str, str, str], dict[str, tuple[str, ...]]] = {}
    for url in urls:
        events = dataset(url)
        sizes = [
            Size(branch.name, branch.zip_bytes)
            for branch in events.branches.values()
            if branch.kind in _READABLE and branch.dtype
        ]
        chosen = {what: branches(sizes, what) for what in WHATS}
        for number, path in enumerate(events.files):
            tree = events.chain.trees[number].path_in_file
            key = (*_place(path), _layout(path, tree))
            files_by_storage.setdefault(key, []).append((path, tree))
            names.setdefault(key, chosen)
    return [
        Target(storage, protocol, lies, tuple(dict.fromkeys(files)), names[storage, protocol, lies])
        for (storage, protocol, lies), files in files_by_storage.items()
    ]


def measured(
    matrix: Matrix, seconds: float, note: Callable[[Reading], None], *, once: bool = False
) -> None:
    """Measures all cells, and hands each reading over when it is there."""
    for cell in matrix.cells():
        files = cell.target.files
        caches = "as they were"
        if cell.target.protocol == "file":
            failed = drop_files([path for path, _ in files])
            caches = DROPPED if failed is None else f"not dropped: {failed}"
        window = window_of(cell.window, cell.readers, (available() or 1 << 32) // _ROOM)
        names = list(cell.target.names[cell.what])
        lies = cell.target.layout
        job = Job(cell.way, cell.readers, list(files), names, window, seconds, once, lies)
        answer = _run_readers(job)
        note(
            reading_of(
                cell,
                answer.outcomes,
                bytes_asked=answer.bytes_asked,
                requests=answer.requests,
                cpu=answer.cpu,
                latencies=[answer.latencies],
                caches=caches,
                window_used=window,
            )
        )


def _run_readers(job: Job) -> ReaderReport:
    """Returns what a program of readers tells; it is ended, with all its readers, when it takes too
    long."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.reader_pool"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ALONE},
        start_new_session=True,
    )
    try:
        said, complaint = process.communicate(json.dumps(asdict(job)), job.seconds + _PATIENCE)
    except subprocess.TimeoutExpired:
        words = f"the readers did not end within {_PATIENCE:.0f} s"
        return ReaderReport([ReaderOutcome(job.seconds + _PATIENCE, errors={words: job.readers})])
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        last = complaint.strip().splitlines()[-1:] or ["nothing was said"]
        words = f"the readers died (exit status {process.returncode}): {last[0][:100]}"
        return ReaderReport([ReaderOutcome(job.seconds, errors={words: job.readers})])
    return ReaderReport.of(json.loads(said))


def _place(path: str) -> tuple[str, str]:
    """The storage's name, without credentials, and its protocol."""
    scheme, is_url, rest = path.partition("://")
    if not is_url:
        return str(Path(path).absolute().parent), "file"
    host = rest.split("/")[0].rpartition("@")[2]
    return f"{scheme}://{host}", scheme


def _layout(path: str, tree: str) -> str:
    from treemill import _core  # heavy: core

    opened_tree = _core.File(path).tree(tree)
    return layout(opened_tree.clusters, [branch["baskets"] for branch in opened_tree.branches()])


def _note(reading: Reading, readings: list[Reading]) -> None:
    readings.append(reading)
    click.echo(row_of(reading))


def _notes(readings: Sequence[Reading], once: bool) -> list[str]:
    """Returns what a reader of the figures should know."""
    notes = []
    small = [each for each in readings if each.window_used < each.window]
    if small:
        least = min(each.window_used for each in small)
        notes.append(
            f"with many readers windows were smaller, down to {least / 1e6:.0f} MB: memory"
        )
    if any(each.caches == DROPPED for each in readings) and not once:
        notes.append(
            "files of this machine came from disk when they were read first, and then from the "
            "system's cache; --once reads each only once"
        )
    return notes
