"""Made-up events: the demo's columns, and the distributions that all schemas draw from.

Values depend on the random generator alone. Knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import awkward as ak
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Column: TypeAlias = Floats | Integers | NDArray[np.int32] | NDArray[np.bool_]
    Lists: TypeAlias = dict[str, ak.Array]
    Columns: TypeAlias = dict[str, "NDArray[np.generic] | ak.Array"]

__all__ = [
    "angles",
    "chunk",
    "counted_electrons",
    "counted_muons",
    "electrons",
    "falling",
    "jagged",
    "jets",
    "missing_momentum",
    "muons",
]

_Z_MASS, _Z_WIDTH = 91.19, 2.5
_MUON_MASS, _ELECTRON_MASS = 0.10566, 0.000511
_STORED: dict[str, type[np.generic]] = {"i": np.int32, "b": np.bool_}
"""How columns are stored, by the kind of their numbers, if not as float32."""


def chunk(seed: int, file: int, start: int, count: int) -> Columns:
    """Columns of events `[start, start + count)` of a file: numpy arrays, and awkward arrays of
    records for collections."""
    import awkward as ak

    rng = np.random.default_rng([seed, file, start])
    muon = muons(rng, count)
    jet = jets(rng, count)
    electron = electrons(rng, count)
    met, met_phi = missing_momentum(rng, ak.sum(jet["pt"], axis=1))
    number = np.arange(count, dtype=np.uint64) + np.uint64(start)
    return {
        "run": np.full(count, 200_000 + file, dtype=np.uint32),
        "luminosityBlock": (number // np.uint64(1_000) + np.uint64(1)).astype(np.uint32),
        "event": number + np.uint64(file) * np.uint64(10_000_000_000) + np.uint64(1),
        "Muon": ak.zip(muon),
        "Jet": ak.zip(jet),
        "Electron": ak.zip(electron),
        "MET_pt": met.astype(np.float32),
        "MET_phi": met_phi.astype(np.float32),
        "genWeight": np.where(rng.random(count) < 0.05, -1.0, 1.0).astype(np.float32)
        * rng.normal(1.0, 0.02, count).astype(np.float32),
    }


def falling(rng: np.random.Generator, count: int, least: float, power: float) -> Floats:
    """A power law above a threshold, as transverse momenta have."""
    return least * (1.0 - rng.random(count)) ** (-1.0 / (power - 1.0))


def angles(rng: np.random.Generator, count: int) -> Floats:
    """Uniform azimuth angles."""
    return rng.uniform(-np.pi, np.pi, count)


def jagged(columns: Mapping[str, Column], counts: Integers) -> Lists:
    """Cuts columns into lists of float32, int32 or bool, with the largest pt of each event
    first."""
    import awkward as ak

    lists = {
        name: ak.unflatten(c.astype(_STORED.get(c.dtype.kind, np.float32)), counts)
        for name, c in columns.items()
    }
    order = ak.argsort(lists["pt"], axis=1, ascending=False, stable=True)
    return {name: column[order] for name, column in lists.items()}


def muons(rng: np.random.Generator, count: int) -> Lists:
    """Pairs from Z decays in a third of the events, and soft muons. Muons that no detector would
    see are left out."""
    from_z = rng.random(count) < 0.33
    counts = rng.poisson(0.35, count) + 2 * from_z
    columns = _soft_muons(rng, int(counts.sum()))
    _put_z_decays(rng, columns, (np.cumsum(counts) - counts)[from_z])
    seen = _are_seen(columns)
    event = np.repeat(np.arange(count), counts)
    kept = {name: column[seen] for name, column in columns.items()}
    return jagged(kept, np.bincount(event[seen], minlength=count))


def counted_muons(rng: np.random.Generator, counts: Integers) -> Lists:
    """Makes a given number of visible muons for each event. In most events with two or more, two of
    them are from a Z decay."""
    columns = _soft_muons(rng, int(counts.sum()))
    from_z = (rng.random(len(counts)) < 0.7) & (counts >= 2)
    _put_z_decays(rng, columns, (np.cumsum(counts) - counts)[from_z])
    unseen = ~_are_seen(columns)
    for name, column in _soft_muons(rng, int(unseen.sum())).items():
        columns[name][unseen] = column
    return jagged(columns, counts)


def _soft_muons(rng: np.random.Generator, total: int) -> dict[str, Column]:
    return {
        "pt": falling(rng, total, 3.0, 3.2),
        "eta": rng.uniform(-2.4, 2.4, total),
        "phi": angles(rng, total),
        "mass": np.full(total, _MUON_MASS),
        "charge": 2 * rng.integers(0, 2, total) - 1,
    }


def _put_z_decays(rng: np.random.Generator, columns: dict[str, Column], first: Integers) -> None:
    """Makes the muons at these places and those after them pairs from Z decays."""
    for name, (plus, minus) in _z_decays(rng, len(first)).items():
        columns[name][first] = plus
        columns[name][first + 1] = minus


def _are_seen(columns: Mapping[str, Column]) -> NDArray[np.bool_]:
    return (np.abs(columns["eta"]) < 2.4) & (columns["pt"] > 3.0)


def _z_decays(rng: np.random.Generator, count: int) -> dict[str, tuple[Column, Column]]:
    """Columns of the two muons of each decay: back to back in the Z's frame, boosted along the beam
    and across it."""
    # A Breit-Wigner between 40 and 200 GeV, by the inverse of its cumulative distribution.
    low, high = (np.arctan((edge - _Z_MASS) * 2 / _Z_WIDTH) for edge in (40.0, 200.0))
    mass = _Z_MASS + _Z_WIDTH / 2 * np.tan(rng.uniform(low, high, count))
    mass *= rng.normal(1.0, 0.01, count)  # the detector's resolution
    cos, phi = rng.uniform(-1, 1, count), angles(rng, count)
    sin = np.sqrt(1 - cos**2)
    decay = mass / 2 * np.stack([sin * np.cos(phi), sin * np.sin(phi), cos])
    z_pt, z_phi, z_y = rng.exponential(18.0, count), angles(rng, count), rng.normal(0, 1.1, count)
    across = z_pt / mass
    gamma = np.sqrt(1 + across**2)
    direction = np.stack([np.cos(z_phi), np.sin(z_phi)])
    columns: dict[str, list[Floats]] = {"pt": [], "eta": [], "phi": []}
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
    pairs: dict[str, tuple[Column, Column]] = {
        name: (plus, minus) for name, (plus, minus) in columns.items()
    }
    return pairs | {"charge": (charge, -charge)}


def jets(rng: np.random.Generator, count: int) -> Lists:
    """About three jets per event, of pt > 15, a tenth of them from heavy quarks."""
    counts = rng.poisson(3.2, count)
    total = int(counts.sum())
    heavy = rng.random(total) < 0.12
    columns = {
        "pt": falling(rng, total, 15.0, 3.4),
        "eta": np.clip(rng.normal(0.0, 1.9, total), -4.7, 4.7),
        "phi": angles(rng, total),
        "mass": rng.gamma(4.0, 2.2, total),
        "btag": np.where(heavy, rng.beta(6.0, 1.3, total), rng.beta(1.1, 7.0, total)),
    }
    return jagged(columns, counts)


def electrons(rng: np.random.Generator, count: int) -> Lists:
    """Few electrons, of pt > 5."""
    return counted_electrons(rng, rng.poisson(0.4, count))


def counted_electrons(rng: np.random.Generator, counts: Integers) -> Lists:
    """Makes a given number of electrons with pt > 5 for each event."""
    total = int(counts.sum())
    columns: dict[str, Column] = {
        "pt": falling(rng, total, 5.0, 3.0),
        "eta": rng.uniform(-2.5, 2.5, total),
        "phi": angles(rng, total),
        "mass": np.full(total, _ELECTRON_MASS),
        "charge": 2 * rng.integers(0, 2, total) - 1,
    }
    return jagged(columns, counts)


def missing_momentum(rng: np.random.Generator, activity: ak.Array) -> tuple[Floats, Floats]:
    """Missing momentum from a resolution that grows with the jets' activity, and from a neutrino in
    a fifth of the events."""
    ht: Floats = np.asarray(activity, dtype=np.float64)
    count = len(ht)
    sigma = 8.0 + 0.6 * np.sqrt(ht)
    x, y = rng.normal(0, sigma), rng.normal(0, sigma)
    true = np.where(rng.random(count) < 0.2, rng.exponential(35.0, count), 0.0)
    phi = angles(rng, count)
    x, y = x + true * np.cos(phi), y + true * np.sin(phi)
    return np.hypot(x, y), np.arctan2(y, x)
