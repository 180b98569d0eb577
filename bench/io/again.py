"""Many files, read again: the second pass over distant files whose columns are kept on this disk,
against the same pass over local files.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace

from ..measured import Row, ratios
from . import goals
from .contest import many_files, many_name
from .contestants import BY_KEY
from .field import LINKS, LOCAL, Field, Run
from .findings import Findings

LEGEND = """\
again: some columns of many files, at 137 ms, with `tm.cache.directory`; the cache in memory is off.
The second pass is of the same process, or of a new one, which has to open the files first. Local:
the same passes over the same files on this disk, without any cache.
"""
_LINK = "137 ms"


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """First and second passes, local and far."""
    task = many_files(part, options, place)
    ours = BY_KEY["treemill"]
    names = [many_name(number) for number in range(options.files)]
    local = replace(task, urls=tuple(map(place.path, names)), passes=2)
    far = replace(local, urls=tuple(place.url(ours.scheme, name) for name in names))
    place.set(LINKS[_LINK])
    runs: dict[str, list[Run]] = {title: [] for title in (LOCAL, _SAME, _NEW)}
    for _ in range(options.rounds):
        runs[LOCAL].append(place.run(ours, local, options.patience, here=True))
        folder = tempfile.mkdtemp(prefix="io-again-", dir=options.data)
        # What opening reads is kept in the folder, too, as users have it.
        kept = {"TREEMILL_CACHE_DIRECTORY": folder, "TREEMILL_CACHE_METADATA_LIMIT": ""}
        try:
            runs[_SAME].append(place.run(ours, far, options.patience, environment=kept))
            once = replace(far, passes=1)
            runs[_NEW].append(place.run(ours, once, options.patience, environment=kept))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    expected = runs[LOCAL][0].total
    read = (runs[LOCAL][0].counters or {}).get("bytes_read", 0)
    findings.files[part] = f"{read / 1e6:.1f} MB read in two passes here"
    what = f"{part}, {_LINK}"
    well = [findings.look_at(f"{what}: {title}", each, expected) for title, each in runs.items()]
    if not all(well) or any(run.seconds is None for each in runs.values() for run in each):
        findings.notes.append(f"{what}: not every run came to its end")
        return

    def row(title: str, case: str, number: int) -> Row:
        return Row(title, tuple(run.passes[number] for run in runs[case]), "s")

    here = [row(f"{part}, {LOCAL}: {name}", LOCAL, i) for i, name in enumerate(_PASSES)]
    cold, same = (row(f"{what}: {name}", _SAME, i) for i, name in enumerate(_PASSES))
    fresh = row(f"{what}: {_NEW}", _NEW, 0)
    yield from (*here, cold, same, fresh)
    goal = goals.PROMISED["again"]
    yield ratios(f"{what}: {_SAME} / local", same, here[1], **goal)
    yield ratios(f"{what}: {_NEW} / local", fresh, here[0], **goal)


_PASSES = ("first pass", "second pass, same process")
_SAME, _NEW = _PASSES[1], "second pass, new process"
