"""One file by each protocol of storages: XRootD, NFS, HTTP and dCap by the same plan; and pNFS with
one, two and four data servers of limited speed.
"""

import argparse
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tools.link.link import Wire
from tools.servers.ganesha import Ganesha
from tools.servers.peers import DcapDoorProcess, ParallelNfs
from tools.servers.process import Server

from .. import data
from ..measured import Row, ratios
from . import goals
from .contestants import BY_KEY, FILES, Task
from .field import LOCAL, Field, Run
from .files import all_and_some, sizes, uncompressed
from .findings import Findings

LEGEND = """\
protocols: treemill reads all columns of one file, which is not compressed, and some columns of one
that is, through real servers: xrootd, nfs-ganesha (NFSv4.1, no mount) and nginx. The door of dCap
is the tests' own, in Python: it shows the client's processor time and what is asked for, not the
speed of a storage. Processor seconds are of the client's process, all threads, and of the server's
programs; both share two cores. Over-read: bytes that were asked for, above those that the columns
have in the file. pNFS: the tests' own metadata server, and data servers that send at most 20 MB/s
each. loopback: the client runs on the servers' host, and nothing goes over the link, whose hub
takes processor time of its own.
"""
_LOOPBACK = "loopback"
_LINKS = {_LOOPBACK: 0.0, "0.3 ms": 0.15, "20 ms": 10.0}
"""Round trips, and delays of one way."""
_PARALLEL_LINKS = (_LOOPBACK, "20 ms")
_MEGABYTES, _LARGE, _QUICK = 80, 480, 4
"""Sizes of the files. pNFS reads the large one: what a run takes beside the bytes, half a second on
a slow machine, is a tenth of the time that four servers take for them."""
_SERVER = "server's cpu"
"""The name of a counter that is added to a run's own."""
_MOST_ROUNDS = 3
"""With pNFS, where a round takes most of a minute."""
_SPEED = 20.0
_COUNTS = (1, 2, 4)


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """All protocols in every round, then pNFS."""
    if reason := Ganesha.missing():
        findings.notes.append(f"{part}: {reason}")
        return
    chosen = all_and_some(options, _QUICK if options.quick else _MEGABYTES, "protocols")
    with contextlib.ExitStack() as stack:
        servers: dict[str, Server] = {
            "NFS": stack.enter_context(Ganesha(place.far)),
            "dCap": stack.enter_context(DcapDoorProcess(place.far)),
        }
        for path, _ in chosen.values():
            place.put(path, path.name)
            for server in servers.values():
                server.put(path, path.name)
        servers = {"XRootD": place.server("root"), "HTTP": place.server("http")} | servers
        for what, (path, names) in chosen.items():
            found = {name: _Stored(each, each.url(path.name)) for name, each in servers.items()}
            yield from _protocols(f"{part}, {what}", path, names, found, options, place, findings)
    large = uncompressed(options, _QUICK if options.quick else _LARGE, "pnfs")
    data.warm_up(large)
    for layout in ("files", "flex"):
        with contextlib.ExitStack() as stack:
            counts = {
                count: stack.enter_context(ParallelNfs(large, layout, count, _SPEED, place.far))
                for count in _COUNTS
            }
            stored = {count: _Stored(server, server.url("")) for count, server in counts.items()}
            yield from _parallel(f"{part}, pNFS {layout}", large, stored, options, place, findings)


@dataclass(frozen=True)
class _Stored:
    """A file at a server."""

    server: Server
    url: str


def _protocols(
    what: str,
    path: Path,
    names: Sequence[str],
    stored: Mapping[str, _Stored],
    options: argparse.Namespace,
    place: Field,
    findings: Findings,
) -> Iterator[Row]:
    known = sizes(str(path))
    wanted = sum(known[name] for name in names)
    findings.files[what] = f"{wanted / 1e6:.1f} MB to read"
    every = tuple(_LINKS)
    for link, runs, expected in _rounds(what, path, names, stored, every, options, place, findings):
        rows: dict[str, Row] = {}
        for name, found in runs.items():
            title = f"{what}, {link}: {name}"
            if not findings.look_at(title, found, expected):
                continue
            yield (row := goals.row(title, found, options.patience))
            rows[name] = row
            yield from _spent(title, found, wanted)
            if read := tuple(run.counters["bytes_read"] / wanted for run in found if run.counters):
                limits = goals.PROMISED["over-read"] if name == "dCap" else {}
                yield Row(f"{title}, bytes asked for / bytes of the columns", read, "x", **limits)
        if {"NFS", "XRootD"} <= rows.keys():
            limits = goals.PROMISED["nfs"]
            yield ratios(f"{what}, {link}: NFS / XRootD", rows["NFS"], rows["XRootD"], **limits)


def _parallel(
    what: str,
    path: Path,
    stored: Mapping[int, _Stored],
    options: argparse.Namespace,
    place: Field,
    findings: Findings,
) -> Iterator[Row]:
    known = sizes(str(path))
    wanted = sum(known.values())
    named = {_titled(count): each for count, each in stored.items()}
    few = argparse.Namespace(**vars(options) | {"rounds": min(options.rounds, _MOST_ROUNDS)})
    links, names = _PARALLEL_LINKS, tuple(known)
    for link, runs, expected in _rounds(what, path, names, named, links, few, place, findings):
        rows: dict[int, Row] = {}
        for count in stored:
            title, found = f"{what}, {link}: {_titled(count)}", runs[_titled(count)]
            if findings.look_at(title, found, expected):
                yield (row := goals.row(title, found, options.patience))
                rows[count] = row
                yield from _spent(title, found, wanted)
        for count in _COUNTS[1:]:
            if {1, count} <= rows.keys():
                limits = goals.PROMISED[f"{count} data servers"]
                title = f"{what}, {link}: one / {_titled(count)}"
                yield ratios(title, rows[1], rows[count], **limits)


def _spent(title: str, runs: Sequence[Run], wanted: int) -> Iterator[Row]:
    """Processor seconds for 10^9 bytes wanted, of both sides."""
    counted = [run.counters for run in runs if run.counters]
    for name, whose in (("cpu", ""), (_SERVER, "server's ")):
        if counted:
            spent = tuple(counters[name] / (wanted / 1e9) for counters in counted)
            yield Row(f"{title}, {whose}processor seconds for 1 GB", spent, "s/GB")


def _titled(count: int) -> str:
    return "one data server" if count == 1 else f"{count} data servers"


def _rounds(
    what: str,
    path: Path,
    names: Sequence[str],
    stored: Mapping[str, _Stored],
    links: Sequence[str],
    options: argparse.Namespace,
    place: Field,
    findings: Findings,
) -> Iterator[tuple[str, dict[str, list[Run]], float]]:
    """By link: the runs of each address, in turn, and the sum that they must have found."""
    ours = BY_KEY["treemill"]
    here = place.run(ours, Task(FILES, (str(path),), tuple(names)), options.patience, here=True)
    if here.error:
        findings.notes.append(f"{what}, {LOCAL}: {here.error}")
        return
    for link in links:
        place.set(Wire(delay_ms=_LINKS[link]))
        runs: dict[str, list[Run]] = {name: [] for name in stored}
        for _ in range(options.rounds):
            for name, each in stored.items():
                task = Task(FILES, (each.url,), tuple(names))
                before = each.server.cpu
                run = place.run(ours, task, options.patience, beside=link == _LOOPBACK)
                spent = {_SERVER: each.server.cpu - before}
                runs[name].append(replace(run, counters=run.counters and run.counters | spent))
        yield link, runs, here.total
