"""The description of a made-up dataset: a fileset in coffea's form as JSON, which
`treemill.dataset` and the commands read, with the recipe of its files. Knows no ROOT file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._system.whole_file import whole_file
from ..errors import QueryError, writing
from .event_files import TREE
from .recipe import Recipe
from .survey import Made

__all__ = ["NAME", "check_unused", "described", "recipe_of", "write_description"]

NAME = "dataset.json"
"""The description's name in the folder of the files."""


def described(
    files: Sequence[Made], recipe: Recipe, url: str | None = None
) -> dict[str, dict[str, object]]:
    """The fileset. `url`: the files' addresses for those that read them, with {host}, {path} and
    {name} in it; None: their paths.

    >>> made = [Made(0, "/d/events_000.root", "n1", 5, 10, False)]
    >>> fileset = described(made, Recipe(files=1), "root://{host}/{path}")
    >>> list(fileset["demo"]["files"])
    ['root://n1//d/events_000.root']
    """
    template = url or "{path}"
    in_order = sorted(files, key=lambda each: each.index)
    try:
        addresses = [
            template.format(host=each.host, path=each.path, name=Path(each.path).name)
            for each in in_order
        ]
    except (KeyError, IndexError, ValueError) as error:
        raise QueryError(
            f"{template!r} is no address of files: {{host}}, {{path}} and {{name}} stand for parts "
            f"of it ({error})"
        ) from None
    return {
        recipe.schema: {
            "files": dict.fromkeys(addresses, TREE),
            "metadata": {
                "recipe": recipe.made_from(),
                "events": sum(each.events for each in files),
                "bytes": sum(each.bytes for each in files),
                "hosts": sorted({each.host for each in files}),
            },
        }
    }


def recipe_of(path: str | Path) -> Mapping[str, object] | None:
    """Returns what the metadata of a description says; None if the file is no description."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        (dataset,) = document.values()
        metadata = dataset["metadata"]
        return metadata if "recipe" in metadata else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def check_unused(path: Path, recipe: Recipe) -> None:
    """Raises QueryError if there is a file at `path` that is no description of files of this
    recipe."""
    if not path.exists():
        return
    known = recipe_of(path)
    if known is None or known["recipe"] != recipe.made_from():
        raise QueryError(
            f"{path} is there and describes something else; --force overwrites it", file=str(path)
        )


def write_description(path: Path, fileset: Mapping[str, object]) -> None:
    """Writes it. It gets its name when it is complete. Raises SourceError if that fails."""
    with writing(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            Path(part).write_text(json.dumps(fileset, indent=1) + "\n", encoding="utf-8")
