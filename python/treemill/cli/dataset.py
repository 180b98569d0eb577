"""`treemill dataset`: whether the files of a fileset are what they should be. Exit status 0: they
are; 1: something is wrong with one of them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._system.files import write_text
from ..data.file_checks import Finding, Seen, findings
from ..data.filesets import named_fileset
from ..data.inspection import Contents, listed, looked_at, text
from ..errors import SourceError, TreemillError, local_path

if TYPE_CHECKING:
    from ..data.filesets import FilesetFiles

__all__ = ["dataset"]


@click.group()
def dataset() -> None:
    """Look after the files of samples."""


@dataset.command()
@click.argument("fileset")
@click.option("--tree", help="The tree of files that are listed without one.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    help="Where the list of sound files is written; else beside FILESET, as NAME.verified.json.",
)
def verify(fileset: str, tree: str | None, output: str | None) -> None:
    """Look at all files of a fileset, once, before an analysis runs on them.

    FILESET is a JSON file as treemill.fileset takes it, or a path or glob of the files of one
    sample. Told are files that are missing, truncated or unreadable; files that are there twice, by
    name, UUID or content; and trees that differ within a sample. The list that is written has the
    sound files with their entries, clusters and sizes: treemill.fileset and treemill.dataset
    take it, and open no file to plan. Files that are left out are named in it.
    """
    try:
        path = Path(local_path(output)) if output else _beside(fileset)
        if not os.access(path.parent, os.W_OK):  # said before all files are looked at
            raise SourceError(f"cannot write into the folder {path.parent}", file=str(path))
        source: object = (
            fileset if fileset.endswith((".json", ".json.gz")) else {"dataset": fileset}
        )
        files = named_fileset(source, tree)
        inspected = _seen(files)
        problems = findings(inspected, Contents(inspected, files.locations).is_same)
        write_text(path, text(listed(files, inspected, problems)))
    except TreemillError as error:
        raise click.ClickException(str(error)) from None
    for line in _lines(inspected, problems):
        click.echo(line)
    click.echo(f"written: {path}")
    if problems:
        sys.exit(1)


def _seen(files: FilesetFiles) -> list[Seen]:
    datasets = [str((location.metadata or {})["dataset"]) for location in files.locations]
    total = len(files.locations)
    with click.progressbar(length=total, label="files", file=sys.stderr) as bar:
        return list(looked_at(files.locations, datasets, lambda: bar.update(1)))


def _beside(fileset: str) -> Path:
    name = Path(fileset).name
    if not name.endswith((".json", ".json.gz")):
        return Path("dataset.verified.json")
    stem = name.removesuffix(".gz").removesuffix(".json")
    return Path(local_path(fileset)).with_name(f"{stem}.verified.json")


def _lines(inspected: Sequence[Seen], problems: Sequence[Finding]) -> Iterator[str]:
    width = max((len(each.kind) for each in problems), default=0)
    for finding in problems:
        fate = " (left out)" if finding.left_out else ""
        place = f"{finding.dataset}: {finding.path}"
        yield f"{finding.kind:{width}}  {place}: {finding.text}{fate}"
    out = {finding.number for finding in problems if finding.left_out}
    entries: Counter[str] = Counter()
    files: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for number, each in enumerate(inspected):
        entries[each.dataset] += 0
        if number not in out and each.verified is not None:
            entries[each.dataset] += each.verified.entries
            size[each.dataset] += each.verified.size
            files[each.dataset] += 1
    all_of = Counter(each.dataset for each in inspected)
    for name, count in entries.items():
        of = f"{files[name]} of {all_of[name]} files"
        yield f"{name}: {of}, {count:,} entries, {size[name] / 1e6:,.1f} MB"
