"""One file by each protocol of storages: XRootD, NFS, HTTP and dCap by the same plan; and pNFS with
one, two and four data servers of limited speed.
"""

import argparse
import contextlib
from collections.abc import Iterator, Mapping, Sequence
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
speed of a storage. Processor seconds are of the client's process, all threads. Over-read: bytes
that were asked for, above those that the columns have in the file. pNFS: the tests' own metadata
server, and data servers that send at most 20 MB/s each.
"""
_LINKS = {"0.3 ms": 0.15, "20 ms": 10.0}
"""Round trips, and delays of one way."""
_MEGABYTES, _LARGE, _QUICK = 80, 160, 4
"""Sizes of the files. pNFS reads the large one, so that more than the opening is measured."""
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
        for what, (path, names) in chosen.items():
            urls = {"XRootD": place.url("root", path.name), "HTTP": place.url("http", path.name)}
            urls |= {name: server.url(path.name) for name, server in servers.items()}
            yield from _protocols(f"{part}, {what}", path, names, urls, options, place, findings)
    large = uncompressed(options, _QUICK if options.quick else _LARGE, "pnfs")
    data.warm_up(large)
    for layout in ("files", "flex"):
        with contextlib.ExitStack() as stack:
            counts = {
                count: stack.enter_context(ParallelNfs(large, layout, count, _SPEED, place.far))
                for count in _COUNTS
            }
            addresses = {count: server.url("") for count, server in counts.items()}
            yield from _parallel(
                f"{part}, pNFS {layout}", large, addresses, options, place, findings
            )


def _protocols(
    what: str,
    path: Path,
    names: Sequence[str],
    urls: Mapping[str, str],
    options: argparse.Namespace,
    place: Field,
    findings: Findings,
) -> Iterator[Row]:
    known = sizes(str(path))
    wanted = sum(known[name] for name in names)
    findings.files[what] = f"{wanted / 1e6:.1f} MB to read"
    for link, runs, expected in _rounds(what, path, names, urls, options, place, findings):
        rows: dict[str, Row] = {}
        for name, found in runs.items():
            title = f"{what}, {link}: {name}"
            if not findings.look_at(title, found, expected):
                continue
            yield (row := goals.row(title, found, options.patience))
            rows[name] = row
            spent = [run.counters or {} for run in found]
            cpu = tuple(each["cpu"] / (wanted / 1e9) for each in spent)
            yield Row(f"{title}, processor seconds for 1 GB", cpu, "s")
            read = tuple(each["bytes_read"] / wanted for each in spent)
            limits = goals.PROMISED["over-read"] if name == "dCap" else {}
            yield Row(f"{title}, bytes asked for / bytes of the columns", read, "x", **limits)
        if {"NFS", "XRootD"} <= rows.keys():
            limits = goals.PROMISED["nfs"]
            yield ratios(f"{what}, {link}: NFS / XRootD", rows["NFS"], rows["XRootD"], **limits)


def _parallel(
    what: str,
    path: Path,
    addresses: Mapping[int, str],
    options: argparse.Namespace,
    place: Field,
    findings: Findings,
) -> Iterator[Row]:
    names = tuple(sizes(str(path)))
    urls = {_titled(count): url for count, url in addresses.items()}
    few = argparse.Namespace(**vars(options) | {"rounds": min(options.rounds, _MOST_ROUNDS)})
    for link, runs, expected in _rounds(what, path, names, urls, few, place, findings):
        rows: dict[int, Row] = {}
        for count in addresses:
            title = f"{what}, {link}: {_titled(count)}"
            if findings.look_at(title, runs[_titled(count)], expected):
                rows[count] = goals.row(title, runs[_titled(count)], options.patience)
                yield rows[count]
        for count in _COUNTS[1:]:
            if {1, count} <= rows.keys():
                limits = goals.PROMISED[f"{count} data servers"]
                title = f"{what}, {link}: one / {_titled(count)}"
                yield ratios(title, rows[1], rows[count], **limits)


def _titled(count: int) -> str:
    return "one data server" if count == 1 else f"{count} data servers"


def _rounds(
    what: str,
    path: Path,
    names: Sequence[str],
    urls: Mapping[str, str],
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
    for link, delay in _LINKS.items():
        place.set(Wire(delay_ms=delay))
        runs: dict[str, list[Run]] = {name: [] for name in urls}
        for _ in range(options.rounds):
            for name, url in urls.items():
                task = Task(FILES, (url,), tuple(names))
                runs[name].append(place.run(ours, task, options.patience))
        yield link, runs, here.total
