"""Writes the samples of the tutorials: files of made-up collisions, the fileset of them with its
metadata, scale factors in correctionlib's form, and a list of certified luminosity sections.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._system.files import whole_file
from ..errors import QueryError, writing
from .collisions.events import BAD_SECTIONS, recorded, simulated
from .collisions.processes import LUMINOSITY, PROCESSES, SCALE_FACTORS
from .generate import TREE, write_columns

if TYPE_CHECKING:
    from .physics import Columns

__all__ = ["CERTIFIED", "CORRECTIONS", "FILESET", "write_samples"]

FILESET, CORRECTIONS, CERTIFIED = "fileset.json", "muon_sf.json.gz", "certified.json"
_DONE = "manifest.json"
_VERSION = 1
"""The version of the samples. Raise it if the same recipe gives other values."""
_ERROR = 0.01
"""The error of the scale factors."""
_FILE_EVENTS = 40_000
_RUN = LUMINOSITY / 3
"""The luminosity of a run of the data, which is a file."""


def write_samples(folder: str | Path, scale: float = 1.0, seed: int = 1) -> Iterator[str]:
    """Writes the samples if they are not there; `scale` multiplies the number of events and the
    luminosity. Yields a line of text for each sample. Raises QueryError for a scale that is not
    positive, SourceError if the folder cannot be made, and OSError if a file cannot be written."""
    if not 0 < scale <= 100:
        raise QueryError(f"the scale is a number from 0 to 100, not {scale}")
    folder = Path(folder)
    with writing(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
    recipe = {"version": _VERSION, "scale": scale, "seed": seed}
    if _is_there(folder / _DONE, recipe):
        yield f"{folder}: the samples are there already"
        return
    (folder / _DONE).unlink(missing_ok=True)
    data = _SampleData(LUMINOSITY * scale, seed)
    data_paths = _write(folder, "data", data.parts())
    yield f"{'data':<12} {data.events:>8,} events"
    fileset: dict[str, object] = {}
    for name, process in PROCESSES.items():
        count = max(int(process.events * scale), 1)
        paths = _write(folder, name, _simulated(name, seed, count))
        fileset[name] = {
            "files": dict.fromkeys(map(str, paths), TREE),
            "metadata": {
                "is_mc": True,
                "process": process.title,
                "xsec": process.cross_section,
                "lumi": round(LUMINOSITY * scale * data.good / max(data.events, 1), 4),
            },
        }
        yield f"{name:<12} {count:>8,} events"
    fileset["data"] = {
        "files": dict.fromkeys(map(str, data_paths), TREE),
        "metadata": {"is_mc": False, "process": "data"},
    }
    _put(folder / CERTIFIED, json.dumps(data.certified))
    _put(folder / CORRECTIONS, json.dumps(_scale_factors()))
    _put(folder / FILESET, json.dumps(fileset, indent=1) + "\n")
    _put(folder / _DONE, json.dumps(recipe) + "\n")
    yield f"{folder}: {FILESET}, {CORRECTIONS}, {CERTIFIED}"


def _simulated(name: str, seed: int, count: int) -> Iterator[Columns]:
    for part, start in enumerate(range(0, count, _FILE_EVENTS)):
        yield simulated(name, seed, part, min(_FILE_EVENTS, count - start))


class _SampleData:
    """The data, run by run, and what is known of them afterwards."""

    def __init__(self, luminosity: float, seed: int) -> None:
        self._luminosity = luminosity
        self._seed = seed
        self.events = 0
        self.good = 0
        """The events of certified sections."""
        self.certified: dict[str, list[list[int]]] = {}
        """The luminosity sections of each run but those with noise, as CMS's lists have them."""

    def parts(self) -> Iterator[Columns]:
        """The runs. Each has the same luminosity, but for the last one."""
        for part in range(math.ceil(self._luminosity / _RUN)):
            columns = recorded(self._seed, part, min(_RUN, self._luminosity - part * _RUN))
            self._note(columns)
            yield columns

    def _note(self, columns: Columns) -> None:
        section = np.asarray(columns["luminosityBlock"])
        if not len(section):
            return
        last = int(section.max())
        ranges = [[1, min(BAD_SECTIONS[0] - 1, last)], [BAD_SECTIONS[1] + 1, last]]
        run = str(np.asarray(columns["run"])[0])
        self.certified[run] = [each for each in ranges if each[0] <= each[1]]
        self.events += len(section)
        bad = (section >= BAD_SECTIONS[0]) & (section <= BAD_SECTIONS[1])
        self.good += int((~bad).sum())


def _is_there(path: Path, recipe: Mapping[str, object]) -> bool:
    try:
        stored: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return stored == recipe


def _put(path: Path, text: str) -> None:
    data = text.encode()
    with whole_file(path) as part:
        # Without a time the same content gives the same bytes.
        Path(part).write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _write(folder: Path, name: str, parts: Iterable[Columns]) -> list[Path]:
    """Writes a file for each part, in place of those that are there."""
    for older in folder.glob(f"{name}_*.root"):
        older.unlink()
    paths = []
    for number, columns in enumerate(parts):
        path = folder / f"{name}_{number}.root"
        with whole_file(path) as written:
            write_columns(Path(written), columns)
        paths.append(path)
    return paths


def _scale_factors() -> dict[str, object]:
    """Gives the scale factors for muons, by |eta|, with variations."""
    edges = [SCALE_FACTORS[0][0], *(high for _, high, _ in SCALE_FACTORS)]

    def bins(shift: float) -> dict[str, object]:
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
