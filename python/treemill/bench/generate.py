"""Writes a realistic NanoAOD-like dataset, in one of the schemas that `SCHEMAS` names.

The values depend only on the seed, the file's number and the place in the file. A manifest in the
folder has the recipe of its files, so that they are made once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError
from . import opendata
from .physics import chunk

if TYPE_CHECKING:
    import uproot

    from .physics import Columns

__all__ = ["SCHEMAS", "Recipe", "chunk", "paths", "write", "write_dataset"]

SCHEMAS: dict[str, Callable[[int, int, int, int], Columns]] = {
    "demo": chunk,
    "opendata": opendata.chunk,
}
"""Schemas by name: functions that give columns of events from (seed, file, start, count). "demo" is
a small NanoAOD, "opendata" has the branches of CMS's open data in that form,
`Run2012B_SingleMu`."""

# To be raised when the same recipe gives other values.
_VERSION = 1
_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Recipe:
    """The files to write, and their content."""

    files: int = 4
    events_per_file: int = 500_000
    events_per_cluster: int = 100_000
    codec: str = "zstd"
    """zstd, lz4, zlib, lzma or none."""
    seed: int = 1
    schema: str = "demo"

    def name(self, index: int) -> str:
        """The name of the file with this number."""
        return f"events_{index:03d}.root"


def paths(folder: str | Path, recipe: Recipe) -> list[Path]:
    """The files' paths."""
    return [Path(folder) / recipe.name(i) for i in range(recipe.files)]


def write_dataset(folder: str | Path, recipe: Recipe | None = None) -> Iterator[str]:
    """Writes the files that are missing. Each gets its name when it is complete. Yields a line of
    text before each file and at the end. Raises OSError if a file cannot be written."""
    recipe = recipe or Recipe()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    done = _done(folder, recipe)
    if len(done) == recipe.files:
        yield f"{folder}: {recipe.files} files are there already"
        return
    for index, path in enumerate(paths(folder, recipe)):
        if path.name in done:
            continue
        yield (
            f"writing {path} ({index + 1} of {recipe.files}, {recipe.events_per_file:,} events, "
            f"{recipe.codec})"
        )
        part = path.with_suffix(f".{os.getpid()}.tmp")
        try:
            write(
                part,
                events=recipe.events_per_file,
                codec=recipe.codec,
                seed=recipe.seed,
                index=index,
                cluster=recipe.events_per_cluster,
                schema=recipe.schema,
            )
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        done[path.name] = path.stat().st_size
        _write_manifest(folder, recipe, done)
    total = sum(done.values())
    yield f"{folder}: {recipe.files * recipe.events_per_file:,} events, {total / 1e6:.0f} MB"


# The levels that ROOT and NanoAOD use for each codec.
_LEVELS = {"zlib": 1, "lz4": 4, "zstd": 5, "lzma": 7, "none": 0}


def _compression(codec: str, level: int | None) -> uproot.compression.Compression | None:
    import uproot

    if codec not in _LEVELS:
        raise QueryError(f"no compression {codec!r}", suggestions=list(_LEVELS))
    if codec == "none":
        return None
    return getattr(uproot, codec.upper())(_LEVELS[codec] if level is None else level)


# The manifest.


def _written_by(recipe: Recipe) -> dict[str, object]:
    made_from = asdict(recipe) | {"version": _VERSION}
    del made_from["files"]  # more files of the same recipe may be added
    if recipe.schema == Recipe.schema:
        del made_from["schema"]  # older manifests have no schema
    return made_from


def _done(folder: Path, recipe: Recipe) -> dict[str, int]:
    """The names and sizes of the files of this recipe that are complete."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["recipe"] != _written_by(recipe):
            return {}
        sizes = manifest["files"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    wanted = {path.name for path in paths(folder, recipe)}
    return {
        name: size
        for name, size in sizes
        if name in wanted and (folder / name).is_file() and (folder / name).stat().st_size == size
    }


def _write_manifest(folder: Path, recipe: Recipe, done: dict[str, int]) -> None:
    part = folder / f"{_MANIFEST}.{os.getpid()}.tmp"
    text = json.dumps({"recipe": _written_by(recipe), "files": done}, indent=1)
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, folder / _MANIFEST)


# One file.


def write(
    path: str | Path,
    *,
    events: int = 500_000,
    codec: str = "zstd",
    level: int | None = None,
    seed: int = 1,
    index: int = 0,
    cluster: int = 100_000,
    schema: str = "demo",
) -> None:
    """Writes one file with a tree `Events`, one basket per branch and `cluster` events. `level`: of
    the codec; None: the usual one. `index`: the file's number in its dataset."""
    import awkward as ak
    import uproot

    if schema not in SCHEMAS:
        raise QueryError(f"no schema {schema!r}", suggestions=list(SCHEMAS))
    with uproot.recreate(path, compression=_compression(codec, level)) as file:
        tree = None
        for start in range(0, events, cluster):
            columns = SCHEMAS[schema](seed, index, start, min(cluster, events - start))
            if tree is None:
                types: dict[str, object] = {
                    name: c.dtype if isinstance(c, np.ndarray) else ak.type(c).content
                    for name, c in columns.items()
                }
                # An assignment would write an RNTuple in newer versions of uproot.
                tree = file.mktree(
                    "Events",
                    types,
                    title="made up by treemill",
                    counter_name=lambda name: f"n{name}",
                )
            tree.extend(columns)
