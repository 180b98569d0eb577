"""A file on a mount, read range by range and as planned: the same program, and the switch for
mounts off and as it is by itself. And what the decision costs where there is no mount.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.servers.mount import Counts, SlowMount

from ..measured import Row, ratios
from . import goals
from .contestants import BY_KEY, FILES, Task
from .field import LOCAL, Field, Run
from .files import all_and_some, sizes
from .findings import Findings

LEGEND = """\
mounts: treemill reads all columns of one file, which is not compressed, and some columns of one
that is, from a file system in user space (FUSE) whose reads take 20 ms each, and whose files lie
in stripes of 1 MB on one or four servers of 20 MB/s: what the kernel's client of pNFS would have.
Plain: range by range, as from a disk (`TREEMILL_MOUNTS=off`). Planned: announced by
`posix_fadvise` and read by several threads, which is what treemill does on mounts. Each run has a
mount of its own, of which the system has nothing in its cache. On this disk both are the same
way, and the file is in memory.
"""
_DELAY, _SPEED = 0.02, 20.0
_SERVERS = (1, 4)
_MEGABYTES, _QUICK = 40, 4
_WAYS: Mapping[str, Mapping[str, str]] = {
    "plain": {"TREEMILL_MOUNTS": "off"},
    "planned": {"TREEMILL_MOUNTS": ""},
}


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """Both ways in every round, on mounts and on this disk."""
    if reason := SlowMount.missing():
        findings.notes.append(f"{part}: {reason}")
        return
    files = all_and_some(options, _QUICK if options.quick else _MEGABYTES, "mounts")
    for what, (path, names) in files.items():
        yield from _compared(f"{part}, {what}", path, names, options, place, findings)


def _compared(
    what: str,
    path: Path,
    names: tuple[str, ...],
    options: argparse.Namespace,
    place: Field,
    findings: Findings,
) -> Iterator[Row]:
    known = sizes(str(path))
    wanted = sum(known[name] for name in names)
    findings.files[what] = f"{wanted / 1e6:.1f} MB to read"
    expected: float | None = None
    for count in (0, *_SERVERS):
        where = f"{count} server{'s' * (count > 1)}" if count else LOCAL
        runs: dict[str, list[Run]] = {name: [] for name in _WAYS}
        counts: dict[str, list[Counts]] = {name: [] for name in _WAYS}
        for _ in range(options.rounds):
            for name, environment in _WAYS.items():
                run, counted = _run(path, names, count, environment, options, place)
                runs[name].append(run)
                counts[name].append(counted)
        expected = runs["plain"][0].total if expected is None else expected
        rows: dict[str, Row] = {}
        for name, found in runs.items():
            title = f"{what}, {where}: {name}"
            if not findings.look_at(title, found, expected):
                continue
            yield (row := goals.row(title, found, options.patience))
            rows[name] = row
            if count:
                yield Row(f"{title}, reads", tuple(each.reads for each in counts[name]), "reads")
                over = tuple(each.bytes / wanted for each in counts[name])
                yield Row(f"{title}, bytes read / bytes of the columns", over, "x")
                most = tuple(each.at_once for each in counts[name])
                yield Row(f"{title}, reads at once, at most", most, "reads")
        if len(rows) == len(_WAYS):
            title = f"{what}, {where}:"
            if count:
                yield ratios(f"{title} plain / planned", rows["plain"], rows["planned"])
            else:
                limits = goals.PROMISED["no mount"]
                faces = f"{title} decided / not decided"
                yield ratios(faces, rows["planned"], rows["plain"], **limits)


def _run(
    path: Path,
    names: tuple[str, ...],
    servers: int,
    environment: Mapping[str, str],
    options: argparse.Namespace,
    place: Field,
) -> tuple[Run, Counts]:
    """One run; `servers` is 0 for the file on this disk."""
    ours = BY_KEY["treemill"]
    if not servers:
        task = Task(FILES, (str(path),), names)
        found = place.run(ours, task, options.patience, here=True, environment=environment)
        return found, Counts(0, 0, 0)
    with SlowMount(path.parent, _DELAY, servers, _SPEED) as mount:
        task = Task(FILES, (str(mount.place / path.name),), names)
        found = place.run(ours, task, options.patience, here=True, environment=environment)
        return found, mount.counts()
