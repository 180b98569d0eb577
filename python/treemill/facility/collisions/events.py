"""What a detector makes of the particles: columns of events as NanoAOD has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import awkward as ak
import numpy as np

from ..physics import angles, falling, jagged
from .processes import (
    ELECTRON,
    HEAVY,
    LIGHT,
    MUON,
    NEUTRINO,
    PROCESSES,
    SCALE_FACTORS,
    Particles,
    coordinates,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..physics import Column, Columns, Floats, Integers, Lists

__all__ = ["BAD_SECTIONS", "FIRST_RUN", "SECTION_EVENTS", "recorded", "simulated"]

FIRST_RUN = 360_001
BAD_SECTIONS = (8, 11)
"""Sections of each run, first and last, in which the detector of the made-up data had noise."""
SECTION_EVENTS = 500
_MASSES = {MUON: 0.1057, ELECTRON: 0.000511}
_THRESHOLDS = {MUON: 5.0, ELECTRON: 7.0}
_TRIGGER_PT = 24.0


def simulated(name: str, seed: int, part: int, count: int) -> Columns:
    """Columns of this many events of a process: those of its part with this number."""
    rng = np.random.default_rng([30, seed, 1 + list(PROCESSES).index(name), part])
    columns = _seen(rng, PROCESSES[name].particles(rng, count), count, is_data=False)
    sign = np.where(rng.random(count) < 0.05, -1.0, 1.0)
    columns["genWeight"] = (sign * rng.normal(20.0, 0.5, count)).astype(np.float32)
    return _numbered(1, part, count) | columns


def recorded(seed: int, part: int, luminosity: float) -> Columns:
    """Columns of the data of one run: as much of each process as the luminosity gives, in no order,
    behind the trigger."""
    rng = np.random.default_rng([30, seed, 0, part])
    processes = PROCESSES.values()
    counts = [rng.poisson(process.cross_section * luminosity) for process in processes]
    parts = []
    for process, count, end in zip(processes, counts, np.cumsum(counts), strict=True):
        particles = process.particles(rng, count)
        particles.event = particles.event + (end - count)
        parts.append(particles)
    total = sum(counts)
    joined = Particles.joined(parts)
    joined.event = rng.permutation(total)[joined.event]
    columns = _seen(rng, joined, total, is_data=True)
    fired = np.asarray(columns["HLT_IsoMu24"])
    kept = {name: column[fired] for name, column in columns.items()}
    numbers = _numbered(FIRST_RUN + part, part, int(fired.sum()))
    section = np.asarray(numbers["luminosityBlock"])
    noisy = (section >= BAD_SECTIONS[0]) & (section <= BAD_SECTIONS[1])
    noise = np.where(noisy, rng.gamma(3.0, 30.0, len(section)), 0.0)
    kept["MET_pt"] = (np.asarray(kept["MET_pt"]) + noise).astype(np.float32)
    return numbers | kept


def _numbered(run: int, part: int, count: int) -> Columns:
    number = np.arange(count, dtype=np.uint64)
    return {
        "run": np.full(count, run, np.uint32),
        "luminosityBlock": (number // np.uint64(SECTION_EVENTS) + np.uint64(1)).astype(np.uint32),
        "event": number + np.uint64(1 + part * 1_000_000),
    }


def _seen(rng: np.random.Generator, particles: Particles, count: int, is_data: bool) -> Columns:
    muon = _leptons(rng, particles, MUON, count, 0.012)
    efficiency = _efficiency(ak.to_numpy(ak.flatten(muon["eta"])), is_data)
    sizes = ak.to_numpy(ak.num(muon["pt"]))
    muon["tightId"] = ak.unflatten(rng.random(len(efficiency)) < efficiency, sizes)
    hard = (muon["pt"] > _TRIGGER_PT) & muon["tightId"]
    jet = _jets(rng, particles, count)
    met, phi = _missing(rng, particles, count, ak.to_numpy(ak.sum(jet["pt"], axis=1)))
    return {
        "HLT_IsoMu24": ak.to_numpy(ak.any(hard, axis=1)),
        "PV_npvs": rng.poisson(28.0, count).astype(np.int32),
        "Muon": ak.zip(muon),
        "Electron": ak.zip(_leptons(rng, particles, ELECTRON, count, 0.02)),
        "Jet": ak.zip(jet),
        "MET_pt": met.astype(np.float32),
        "MET_phi": phi.astype(np.float32),
    }


def _efficiency(eta: Floats, is_data: bool) -> Floats:
    efficiency = np.full(len(eta), 0.96)
    if is_data:
        for low, high, factor in SCALE_FACTORS:
            efficiency[(abs(eta) >= low) & (abs(eta) < high)] *= factor
    return efficiency


def _lists(
    columns: dict[str, Column], event: Integers, visible: NDArray[np.bool_], count: int
) -> Lists:
    """Lists by event of what is seen."""
    order = np.flatnonzero(visible)
    order = order[np.argsort(event[order], kind="stable")]
    sizes = np.bincount(event[order], minlength=count)
    return jagged({name: column[order] for name, column in columns.items()}, sizes)


def _leptons(
    rng: np.random.Generator, particles: Particles, kind: int, count: int, resolution: float
) -> Lists:
    """Leptons of the process, and a few soft ones that are none of it."""
    mine = particles.kind == kind
    soft = np.flatnonzero(rng.random(count) < 0.06)
    pt, eta, phi = coordinates(particles.p[mine])
    pt = pt * rng.normal(1.0, resolution, len(pt))
    least = _THRESHOLDS[kind]
    pt = np.concatenate([pt, np.minimum(falling(rng, len(soft), least, 4.5), 200.0)])
    eta = np.concatenate([eta, rng.uniform(-2.4, 2.4, len(soft))])
    columns: dict[str, Column] = {
        "pt": pt,
        "eta": eta,
        "phi": np.concatenate([phi, angles(rng, len(soft))]),
        "mass": np.full(len(pt), _MASSES[kind]),
        "charge": np.concatenate(
            [particles.charge[mine], 2 * rng.integers(0, 2, len(soft)) - 1]
        ).astype(np.int64),
        # Soft leptons come from within jets.
        "pfRelIso04_all": np.concatenate(
            [rng.exponential(0.03, int(mine.sum())), rng.exponential(0.6, len(soft))]
        ),
    }
    event = np.concatenate([particles.event[mine], soft])
    return _lists(columns, event, (pt > least) & (abs(eta) < 2.4), count)


def _jets(rng: np.random.Generator, particles: Particles, count: int) -> Lists:
    mine = np.isin(particles.kind, (LIGHT, HEAVY))
    heavy = particles.kind[mine] == HEAVY
    pt, eta, phi = coordinates(particles.p[mine])
    total = len(pt)
    pt = pt * rng.normal(1.0, np.hypot(0.05, 0.9 / np.sqrt(np.maximum(pt, 5.0))))
    columns: dict[str, Column] = {
        "pt": pt,
        "eta": eta,
        "phi": phi,
        "mass": np.maximum(pt, 1.0) * rng.gamma(6.0, 0.025, total),
        "btagDeepFlavB": np.where(heavy, rng.beta(3.0, 0.7, total), rng.beta(0.6, 6.0, total)),
    }
    return _lists(columns, particles.event[mine], (pt > 20.0) & (abs(eta) < 4.7), count)


def _missing(
    rng: np.random.Generator, particles: Particles, count: int, activity: Floats
) -> tuple[Floats, Floats]:
    mine = particles.kind == NEUTRINO
    event = particles.event[mine]
    x, y = (
        np.bincount(event, weights=particles.p[mine, axis], minlength=count)
        + rng.normal(0.0, 10.0 + 0.55 * np.sqrt(activity))
        for axis in (1, 2)
    )
    return np.hypot(x, y), np.arctan2(y, x)
