"""Writes a realistic NanoAOD-like dataset: run and event numbers, jagged muons, jets, electrons,
missing transverse momentum and a generator's weight.

The values depend on the seed, the file's number and the place in it, and on nothing else. A
manifest says by which recipe the files in a folder were made, so that they are made once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import QueryError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Recipe", "chunk", "paths", "write", "write_dataset"]

# To be raised when other values come out of the same recipe.
_VERSION = 1
_MANIFEST = "manifest.json"
_Z_MASS, _Z_WIDTH = 91.19, 2.5
_MUON_MASS, _ELECTRON_MASS = 0.10566, 0.000511


@dataclass(frozen=True)
class Recipe:
    """What to write."""

    files: int = 4
    events_per_file: int = 500_000
    events_per_cluster: int = 100_000
    codec: str = "zstd"
    """zstd, lz4, zlib, lzma or none."""
    seed: int = 1

    def name(self, index: int) -> str:
        """Of file number `index`."""
        return f"events_{index:03d}.root"


def paths(folder: str | Path, recipe: Recipe) -> list[Path]:
    """The files' paths."""
    return [Path(folder) / recipe.name(i) for i in range(recipe.files)]


def write_dataset(folder: str | Path, recipe: Recipe | None = None) -> Iterator[str]:
    """Writes the files that are not there yet, each at once under its final name; gives a line of
    words before each and at the end. Raises OSError where the disk does not let it."""
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


def _compression(codec: str, level: int | None) -> Any:
    import uproot

    if codec not in _LEVELS:
        raise QueryError(f"no compression {codec!r}", suggestions=list(_LEVELS))
    if codec == "none":
        return None
    return getattr(uproot, codec.upper())(_LEVELS[codec] if level is None else level)


# The manifest.


def _written_by(recipe: Recipe) -> dict[str, Any]:
    made_from = asdict(recipe) | {"version": _VERSION}
    del made_from["files"]  # more files of the same recipe go beside those that are there
    return made_from


def _done(folder: Path, recipe: Recipe) -> dict[str, int]:
    """Files of this recipe that are there, whole: name and size."""
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
) -> None:
    """Writes one file with a tree `Events`, one basket per branch and `cluster` events. `level` of
    the codec: None for the one that is usual. `index` numbers the files of a dataset."""
    import awkward as ak
    import uproot

    with uproot.recreate(path, compression=_compression(codec, level)) as file:
        tree = None
        for start in range(0, events, cluster):
            columns = chunk(seed, index, start, min(cluster, events - start))
            if tree is None:
                types: dict[str, Any] = {
                    name: c.dtype if isinstance(c, np.ndarray) else ak.type(c).content
                    for name, c in columns.items()
                }
                # mktree, not assignment: the latter writes an RNTuple in newer versions of uproot.
                tree = file.mktree(
                    "Events",
                    types,
                    title="made up by treemill",
                    counter_name=lambda name: f"n{name}",
                )
            tree.extend(columns)


def chunk(seed: int, file: int, start: int, count: int) -> dict[str, Any]:
    """Columns of events `[start, start + count)` of a file: numpy arrays, and awkward arrays of
    records for collections."""
    import awkward as ak

    rng = np.random.default_rng([seed, file, start])
    muons = _muons(rng, count)
    jets = _jets(rng, count)
    electrons = _electrons(rng, count)
    met, met_phi = _met(rng, ak.sum(jets["pt"], axis=1))
    number = np.arange(count, dtype=np.uint64) + np.uint64(start)
    return {
        "run": np.full(count, 200_000 + file, dtype=np.uint32),
        "luminosityBlock": (number // np.uint64(1_000) + np.uint64(1)).astype(np.uint32),
        "event": number + np.uint64(file) * np.uint64(10_000_000_000) + np.uint64(1),
        "Muon": ak.zip(muons),
        "Jet": ak.zip(jets),
        "Electron": ak.zip(electrons),
        "MET_pt": met.astype(np.float32),
        "MET_phi": met_phi.astype(np.float32),
        "genWeight": np.where(rng.random(count) < 0.05, -1.0, 1.0).astype(np.float32)
        * rng.normal(1.0, 0.02, count).astype(np.float32),
    }


def _falling(rng: np.random.Generator, count: int, least: float, power: float) -> NDArray[Any]:
    """A power law above a threshold, as transverse momenta have."""
    return least * (1.0 - rng.random(count)) ** (-1.0 / (power - 1.0))


def _phi(rng: np.random.Generator, count: int) -> NDArray[Any]:
    return rng.uniform(-np.pi, np.pi, count)


def _jagged(columns: dict[str, NDArray[Any]], counts: NDArray[Any]) -> dict[str, Any]:
    """float32 and int32 columns cut into lists, the largest pt of each event first."""
    import awkward as ak

    lists = {
        name: ak.unflatten(c.astype(np.int32 if c.dtype.kind == "i" else np.float32), counts)
        for name, c in columns.items()
    }
    order = ak.argsort(lists["pt"], axis=1, ascending=False, stable=True)
    return {name: column[order] for name, column in lists.items()}


def _muons(rng: np.random.Generator, count: int) -> dict[str, Any]:
    """Pairs from Z decays in a third of the events, single soft muons besides."""
    from_z = rng.random(count) < 0.33
    others = rng.poisson(0.35, count)
    counts = others + 2 * from_z
    total = int(counts.sum())
    columns = {
        "pt": _falling(rng, total, 3.0, 3.2),
        "eta": rng.uniform(-2.4, 2.4, total),
        "phi": _phi(rng, total),
        "mass": np.full(total, _MUON_MASS),
        "charge": 2 * rng.integers(0, 2, total) - 1,
    }
    first = (np.cumsum(counts) - counts)[from_z]
    for name, (plus, minus) in _z_decays(rng, len(first)).items():
        columns[name][first] = plus
        columns[name][first + 1] = minus
    seen = (np.abs(columns["eta"]) < 2.4) & (columns["pt"] > 3.0)
    event = np.repeat(np.arange(count), counts)
    kept = {name: column[seen] for name, column in columns.items()}
    return _jagged(kept, np.bincount(event[seen], minlength=count))


def _z_decays(rng: np.random.Generator, count: int) -> dict[str, tuple[Any, Any]]:
    """Two muons each, back to back in the Z's frame, boosted along the beam and across it."""
    # A Breit-Wigner between 40 and 200 GeV, by its cumulative distribution's inverse.
    low, high = (np.arctan((edge - _Z_MASS) * 2 / _Z_WIDTH) for edge in (40.0, 200.0))
    mass = _Z_MASS + _Z_WIDTH / 2 * np.tan(rng.uniform(low, high, count))
    mass *= rng.normal(1.0, 0.01, count)  # the detector's resolution
    cos, phi = rng.uniform(-1, 1, count), _phi(rng, count)
    sin = np.sqrt(1 - cos**2)
    decay = mass / 2 * np.stack([sin * np.cos(phi), sin * np.sin(phi), cos])
    z_pt, z_phi, z_y = rng.exponential(18.0, count), _phi(rng, count), rng.normal(0, 1.1, count)
    across = z_pt / mass
    gamma = np.sqrt(1 + across**2)
    direction = np.stack([np.cos(z_phi), np.sin(z_phi)])
    columns: dict[str, list[Any]] = {"pt": [], "eta": [], "phi": []}
    for sign in (1, -1):
        p = sign * decay
        energy = mass / 2
        along = (p[:2] * direction).sum(axis=0)
        shift = (gamma - 1) * along + across * energy
        pxy = p[:2] + shift * direction
        energy = gamma * energy + across * along
        pz = np.sinh(z_y) * energy + np.cosh(z_y) * p[2]
        pt = np.hypot(*pxy)
        columns["pt"].append(pt)
        columns["eta"].append(np.arcsinh(pz / np.maximum(pt, 1e-3)))
        columns["phi"].append(np.arctan2(pxy[1], pxy[0]))
    charge = 2 * rng.integers(0, 2, count) - 1
    pairs = {name: (plus, minus) for name, (plus, minus) in columns.items()}
    return pairs | {"charge": (charge, -charge)}


def _jets(rng: np.random.Generator, count: int) -> dict[str, Any]:
    counts = rng.poisson(3.2, count)
    total = int(counts.sum())
    heavy = rng.random(total) < 0.12
    columns = {
        "pt": _falling(rng, total, 15.0, 3.4),
        "eta": np.clip(rng.normal(0.0, 1.9, total), -4.7, 4.7),
        "phi": _phi(rng, total),
        "mass": rng.gamma(4.0, 2.2, total),
        "btag": np.where(heavy, rng.beta(6.0, 1.3, total), rng.beta(1.1, 7.0, total)),
    }
    return _jagged(columns, counts)


def _electrons(rng: np.random.Generator, count: int) -> dict[str, Any]:
    counts = rng.poisson(0.4, count)
    total = int(counts.sum())
    columns = {
        "pt": _falling(rng, total, 5.0, 3.0),
        "eta": rng.uniform(-2.5, 2.5, total),
        "phi": _phi(rng, total),
        "mass": np.full(total, _ELECTRON_MASS),
        "charge": 2 * rng.integers(0, 2, total) - 1,
    }
    return _jagged(columns, counts)


def _met(rng: np.random.Generator, activity: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Resolution that grows with the jets' activity, and a neutrino now and then."""
    ht = np.asarray(activity, dtype=np.float64)
    count = len(ht)
    sigma = 8.0 + 0.6 * np.sqrt(ht)
    x, y = rng.normal(0, sigma), rng.normal(0, sigma)
    true = np.where(rng.random(count) < 0.2, rng.exponential(35.0, count), 0.0)
    phi = _phi(rng, count)
    x, y = x + true * np.cos(phi), y + true * np.sin(phi)
    return np.hypot(x, y), np.arctan2(y, x)
