"""Writes the samples of the tutorials: files of made-up collisions, the fileset of them with its
metadata, scale factors in correctionlib's form, and a list of certified luminosity sections.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import QueryError
from .collisions import LUMINOSITY, PROCESSES, SCALE_FACTORS, columns
from .collisions.events import BAD_SECTIONS
from .event_files import TREE, write_columns

if TYPE_CHECKING:
    from .physics import Columns

__all__ = ["CERTIFIED", "CORRECTIONS", "FILESET", "write_samples"]

FILESET, CORRECTIONS, CERTIFIED = "fileset.json", "muon_sf.json.gz", "certified.json"
_DONE = "manifest.json"
_VERSION = 1
"""To be raised if the same recipe gives other values."""
_ERROR = 0.01
"""Of the scale factors."""
_FILE_EVENTS = 40_000


def write_samples(folder: str | Path, scale: float = 1.0, seed: int = 1) -> Iterator[str]:
    """Writes the samples if they are not there; `scale` multiplies the number of events and the
    luminosity. Yields a line of text for each sample. Raises QueryError for a scale that is not
    positive, and OSError if a file cannot be written."""
    if not 0 < scale <= 100:
        raise QueryError(f"the scale is a number from 0 to 100, not {scale}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    recipe = {"version": _VERSION, "scale": scale, "seed": seed}
    if _is_there(folder / _DONE, recipe):
        yield f"{folder}: the samples are there already"
        return
    (folder / _DONE).unlink(missing_ok=True)
    data = columns("data", seed, scale)
    certified, share = _certified(data)
    _put(folder / CERTIFIED, json.dumps(certified))
    fileset: dict[str, object] = {}
    for name in (*PROCESSES, "data"):
        made = data if name == "data" else columns(name, seed, scale)
        paths = _write(folder, name, made)
        fileset[name] = {
            "files": dict.fromkeys(map(str, paths), TREE),
            "metadata": _metadata(name, LUMINOSITY * scale * share),
        }
        yield f"{name:<12} {len(made['run']):>8,} events"
    _put(folder / CORRECTIONS, json.dumps(_scale_factors()))
    _put(folder / FILESET, json.dumps(fileset, indent=1) + "\n")
    _put(folder / _DONE, json.dumps(recipe) + "\n")
    yield f"{folder}: {FILESET}, {CORRECTIONS}, {CERTIFIED}"


def _is_there(path: Path, recipe: Mapping[str, object]) -> bool:
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return found == recipe


def _put(path: Path, text: str) -> None:
    data = text.encode()
    part = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    # Without a time the same content gives the same bytes.
    part.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    os.replace(part, path)


def _write(folder: Path, name: str, made: Columns) -> list[Path]:
    count = len(made["run"])
    paths = []
    for number, start in enumerate(range(0, count, _FILE_EVENTS)):
        path = folder / f"{name}_{number}.root"
        part = path.with_suffix(f".{os.getpid()}.tmp")
        try:
            here = {key: column[start : start + _FILE_EVENTS] for key, column in made.items()}
            write_columns(part, here)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        paths.append(path)
    return paths


def _metadata(name: str, luminosity: float) -> dict[str, object]:
    if name == "data":
        return {"is_mc": False, "process": name}
    process = PROCESSES[name]
    return {
        "is_mc": True,
        "process": process.title,
        "xsec": process.cross_section,
        "lumi": round(luminosity, 4),
    }


def _certified(data: Columns) -> tuple[dict[str, list[list[int]]], float]:
    """The luminosity sections of each run but those with noise, as CMS's lists have them; and the
    share of the events that are of these."""
    runs, sections = np.asarray(data["run"]), np.asarray(data["luminosityBlock"])
    found = {}
    for run in np.unique(runs):
        last = int(sections[runs == run].max())
        ranges = [[1, min(BAD_SECTIONS[0] - 1, last)], [BAD_SECTIONS[1] + 1, last]]
        found[str(run)] = [each for each in ranges if each[0] <= each[1]]
    good = (sections < BAD_SECTIONS[0]) | (sections > BAD_SECTIONS[1])
    return found, float(good.mean())


def _scale_factors() -> dict[str, object]:
    """For muons, by |eta|, with variations."""
    edges = [SCALE_FACTORS[0][0], *(high for _, high, _ in SCALE_FACTORS)]

    def bins(shift: float) -> dict[str, Any]:
        content = [factor + shift for _, _, factor in SCALE_FACTORS]
        return {
            "nodetype": "binning",
            "input": "abseta",
            "edges": edges,
            "content": content,
            "flow": "clamp",
        }

    return {
        "schema_version": 2,
        "description": "made up, for tutorials",
        "corrections": [
            {
                "name": "muon_id",
                "description": "efficiency for tight muons, data over simulation",
                "version": 1,
                "inputs": [
                    {"name": "abseta", "type": "real", "description": "|eta|"},
                    {"name": "variation", "type": "string", "description": "nominal, up, down"},
                ],
                "output": {"name": "weight", "type": "real"},
                "data": {
                    "nodetype": "category",
                    "input": "variation",
                    "content": [
                        {"key": key, "value": bins(shift)}
                        for key, shift in (("nominal", 0.0), ("up", _ERROR), ("down", -_ERROR))
                    ],
                },
            }
        ],
    }
