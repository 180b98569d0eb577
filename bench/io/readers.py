"""Sixty-four readers at once of one file by each protocol, as `treemill bench storage` has them:
none may fail, and each has to read everything.
"""

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from treemill.facility.scaling.measurements import load
from treemill.facility.storage.reading import Reading

from tools.link.link import Wire
from tools.servers.ganesha import Ganesha
from tools.servers.peers import DcapDoorProcess
from tools.servers.process import Server

from .. import data
from ..measured import Row
from ..protocol import REPOSITORY
from . import goals
from .field import Field
from .files import compressed
from .findings import Findings
from .layouts import TREE

LEGEND = """\
readers: one file by 64 readers at once, each of which reads it once: as processes with
connections of their own, and as threads of one process, which share them (`treemill bench storage
--readers 64 --once`). The link has 0.3 ms. All bytes, and two branches, decoded; what each reader
has got is compared with the file. The door of dCap is the tests' own, in Python.
"""
_READERS, _QUICK = 64, 16
_MEGABYTES = 10
_PATIENCE = 120


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """Errors and rates by protocol and by what a reader is."""
    if reason := Ganesha.missing():
        findings.notes.append(f"{part}: {reason}")
        return
    path = compressed(options, 1 if options.quick else _MEGABYTES)
    data.warm_up(path)
    place.put(path, path.name)
    place.set(Wire(delay_ms=0.15))
    with contextlib.ExitStack() as stack:
        others: list[Server] = [
            stack.enter_context(Ganesha(place.far)),
            stack.enter_context(DcapDoorProcess(place.far)),
        ]
        urls = [place.url("root", path.name), place.url("http", path.name)]
        urls += [server.put(path, path.name) for server in others]
        readers = _QUICK if options.quick else _READERS
        findings.files[part] = f"{path.stat().st_size / 1e6:.1f} MB, {readers} readers"
        yield from _rows(part, _read(urls, readers, options, place), path, findings)


def _read(
    urls: list[str], readers: int, options: argparse.Namespace, place: Field
) -> Sequence[Reading]:
    output = Path(options.data) / "readers.json"
    words = [sys.executable, "-m", "treemill", "bench", "storage", *urls, "--once"]
    words += ["--readers", str(readers), "--read", "whole", "--read", "two", "--window", "60 MB"]
    words += ["--repeat", "1", "--seconds", str(_PATIENCE), "-o", str(output)]
    subprocess.run(place.command(words), check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    return load(output).readings


def _rows(part: str, readings: Sequence[Reading], path: Path, findings: Findings) -> Iterator[Row]:
    import treemill as tm  # heavy: core

    entries = len(tm.dataset(str(path), TREE))
    for each in readings:
        title = f"{part}, {each.protocol}, {each.what}, {each.readers} {each.way}"
        failed = sum(each.errors.values())
        yield Row(f"{title}: errors", (float(failed),), "errors", **goals.PROMISED["readers"])
        for cause, number in each.errors.items():
            findings.notes.append(f"{title}: {number} x {cause}")
        whole = path.stat().st_size
        found, one = (each.bytes_wanted, whole) if each.what == "whole" else (each.events, entries)
        if found != one * each.readers:
            findings.differ(title, found, one * each.readers)
        yield Row(f"{title}: all together", (each.megabytes_per_second,), "MB/s")
        yield Row(f"{title}: the slowest reader", (each.slowest,), "MB/s")
        yield Row(f"{title}: CPU", (each.cpu_per_gigabyte or 0.0,), "s/GB")
