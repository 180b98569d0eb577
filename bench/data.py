"""The benchmark's files: the demo's schema, one file a codec, made once and kept."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from .protocol import REPOSITORY

FOLDER = REPOSITORY / "demo-data" / "bench"

CODECS = ("zlib", "lz4", "zstd", "none")


def make(
    codec: str, events: int, where: Path, schema: str = "demo", cluster: int | None = None
) -> Path:
    """The file of `events` events in `codec`, in clusters of `cluster`; written when it is not
    there."""
    from treemill.facility.generate import Recipe, paths, write_dataset

    recipe = Recipe(files=1, events_per_file=events, codec=codec, schema=schema)
    name = f"{codec}-{events}" if schema == "demo" else f"{schema}-{codec}-{events}"
    if cluster is not None:
        recipe = replace(recipe, events_per_cluster=cluster)
        name += f"-in-{cluster}"
    folder = where / name
    for line in write_dataset(folder, recipe):
        print(line, file=sys.stderr, flush=True)
    return paths(folder, recipe)[0]


def describe(path: Path) -> dict[str, object]:
    """What the table says about a file: size, baskets."""
    import uproot

    with uproot.open(path) as file:
        tree = file["Events"]
        known: dict[str, object] = {
            "path": path.name,
            "bytes": path.stat().st_size,
            "events": tree.num_entries,
            "branches": len(tree.keys()),
        }
        if not isinstance(tree, uproot.TTree):
            return known
        return known | {
            "compression": str(tree["MET_pt"].compression),
            "baskets": {name: tree[name].num_baskets for name in ("MET_pt", "Jet_pt")},
        }


def warm_up(path: Path) -> None:
    """Read the file through, so that it is in the page cache."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def dump(path: Path, value: object) -> None:
    """Write JSON, indented but for lists of numbers."""
    path.write_text(json.dumps(value, indent=1) + "\n")
