"""Writes the files of a recipe in this process, one after the other, for the demo, tests and
measurements. A manifest in the folder has the recipe of its files, so that they are made once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from .._system.whole_file import whole_file
from .event_files import write
from .physics import chunk
from .recipe import SCHEMAS, Recipe

__all__ = ["SCHEMAS", "Recipe", "chunk", "paths", "write", "write_dataset"]

_MANIFEST = "manifest.json"


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
        with whole_file(path) as part:
            write(
                Path(part),
                events=recipe.events_per_file,
                codec=recipe.codec,
                level=recipe.level,
                seed=recipe.seed,
                index=index,
                cluster=recipe.events_per_cluster,
                schema=recipe.schema,
                kind=recipe.kind,
            )
        done[path.name] = path.stat().st_size
        _write_manifest(folder, recipe, done)
    total = sum(done.values())
    yield f"{folder}: {recipe.files * recipe.events_per_file:,} events, {total / 1e6:.0f} MB"


# The manifest.


def _written_by(recipe: Recipe) -> dict[str, object]:
    made_from = recipe.made_from()
    for name in ("schema", "level", "kind"):  # older manifests have none of these
        if made_from[name] == getattr(Recipe, name):
            del made_from[name]
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
    text = json.dumps({"recipe": _written_by(recipe), "files": done}, indent=1)
    with whole_file(folder / _MANIFEST) as part:
        Path(part).write_text(text + "\n", encoding="utf-8")
