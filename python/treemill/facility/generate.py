"""Writes the files of a recipe in this process, one after the other, for the demo, tests and
measurements. A manifest in the folder has the recipe of its files, so that they are made once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._system.files import whole_file
from .physics import chunk
from .recipe import CODECS, SCHEMAS, Recipe

if TYPE_CHECKING:
    import awkward as ak
    import uproot
    from numpy.typing import NDArray
    from uproot.model import Model
    from uproot.writing import WritableDirectory

    from .physics import Columns

__all__ = [
    "SCHEMAS",
    "TREE",
    "Recipe",
    "chunk",
    "noted",
    "paths",
    "unique",
    "write",
    "write_columns",
    "write_dataset",
]

# Writes one file of made-up events, with uproot, as a TTree or an RNTuple.

TREE = "Events"
"""The name of the tree in every file."""
_CLUSTER = 10_000
_NOTE = "recipe"
"""The name of the object with the file's recipe."""


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
    kind: str = "ttree",
    note: Mapping[str, object] | None = None,
) -> None:
    """Writes one file with a tree `Events`, one basket per branch and `cluster` events. `level`: of
    the codec; None: the usual one. `index`: the file's number in its dataset. `note`: is kept in
    the file, as JSON. Raises QueryError for an unknown schema, codec or kind."""
    import uproot

    recipe = Recipe(codec=codec, schema=schema, kind=kind)
    recipe.check()
    blocks = _Blocks(SCHEMAS[schema], recipe.block, seed, index, events)
    with uproot.recreate(path, compression=_compression(codec, level)) as file:
        if note is not None:
            file[_NOTE] = json.dumps(note, sort_keys=True)
        make = _rntuple if kind == "rntuple" else _ttree
        writer = None
        for start in range(0, events, cluster):
            writer = make(file, blocks.columns(start, min(start + cluster, events)), writer)


class _Blocks:
    """The events of a file, which are drawn block by block and given out as they are wanted."""

    def __init__(
        self,
        draw: Callable[[int, int, int, int], Columns],
        block: int,
        seed: int,
        index: int,
        events: int,
    ) -> None:
        self._draw = draw
        self._block = block
        self._place = seed, index
        self._events = events
        self._held: tuple[int, Columns] | None = None

    def columns(self, start: int, stop: int) -> Columns:
        """The columns of events `[start, stop)`."""
        parts = [
            self._of_block(first, max(start, first), min(stop, first + self._block))
            for first in range(start // self._block * self._block, stop, self._block)
        ]
        if len(parts) == 1:
            return parts[0]
        return {name: _joined([part[name] for part in parts]) for name in parts[0]}

    def _of_block(self, first: int, start: int, stop: int) -> Columns:
        if self._held is None or self._held[0] != first:
            count = min(self._block, self._events - first)
            self._held = first, self._draw(*self._place, first, count)
        block = self._held[1]
        if stop - start == min(self._block, self._events - first):
            return block
        return {name: _part(column, start - first, stop - first) for name, column in block.items()}


def _part(column: NDArray[np.generic] | ak.Array, start: int, stop: int) -> object:
    if isinstance(column, np.ndarray):
        return column[start:stop]
    import awkward as ak

    return ak.to_packed(column[start:stop])


def _joined(parts: Sequence[NDArray[np.generic] | ak.Array]) -> object:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import awkward as ak

    return ak.concatenate(parts)


def write_columns(path: str | Path, columns: Columns) -> None:
    """Writes one file with a TTree `Events` of these columns, in clusters of 10,000 events."""
    import uproot

    count = len(next(iter(columns.values())))
    with uproot.recreate(path, compression=_compression("zstd", None)) as file:
        tree = None
        for start in range(0, count, _CLUSTER):
            here = {name: column[start : start + _CLUSTER] for name, column in columns.items()}
            tree = _ttree(file, here, tree)


def noted(path: str | Path) -> dict[str, object] | None:
    """The note in a file; None if there is no such file, or none of ours."""
    import uproot

    try:
        with uproot.open(path) as file:
            note = json.loads(str(file[_NOTE]))
            return note if isinstance(note, dict) else None
    except Exception:  # uproot raises anything for files that are none
        return None


def unique(path: str | Path) -> str:
    """The identity that a file got when it was written; another file has another one, whatever is
    in it."""
    import uproot

    with uproot.open(path) as file:
        return str(file.file.uuid)


def _ttree(file: WritableDirectory, columns: Columns, tree: Model | None) -> Model:
    import awkward as ak

    if tree is None:
        types: dict[str, object] = {
            name: np.dtype((c.dtype, c.shape[1:]))
            if isinstance(c, np.ndarray)
            else ak.type(c).content
            for name, c in columns.items()
        }
        # An assignment would write an RNTuple in newer versions of uproot.
        tree = file.mktree(
            TREE,
            types,
            title="made up by treemill",
            counter_name=lambda name: f"n{name}",
        )
    tree.extend(columns)
    return tree


def _rntuple(file: WritableDirectory, columns: Columns, ntuple: Model | None) -> Model:
    """Collections become a field for each of their members, named as the branches of a TTree."""
    import awkward as ak

    plain: dict[str, object] = {}
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            plain[name] = column if column.ndim == 1 else ak.from_numpy(column)
            continue
        plain[f"n{name}"] = ak.to_numpy(ak.num(column)).astype(np.int32)
        plain |= {f"{name}_{field}": column[field] for field in column.fields}
    whole = ak.zip(plain, depth_limit=1)
    if ntuple is None:
        ntuple = file.mkrntuple(TREE, whole.layout.form)
    ntuple.extend(whole)
    return ntuple


def _compression(codec: str, level: int | None) -> uproot.compression.Compression | None:
    import uproot

    if codec == "none":
        return None
    return getattr(uproot, codec.upper())(CODECS[codec] if level is None else level)


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
