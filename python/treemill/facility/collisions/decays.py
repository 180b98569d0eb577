"""Decays into two particles: four-vectors of many events at once, as arrays with a row
(E, px, py, pz) for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..physics import Floats

__all__ = ["at", "breit_wigner", "coordinates", "decayed"]


def breit_wigner(
    rng: np.random.Generator, count: int, mass: float, width: float, low: float, high: float
) -> Floats:
    """Masses of a resonance between two limits, by the inverse of the cumulative distribution."""
    edges = [np.arctan((edge - mass) * 2 / width) for edge in (low, high)]
    masses: Floats = mass + width / 2 * np.tan(rng.uniform(edges[0], edges[1], count))
    return masses


def at(pt: Floats, y: Floats, phi: Floats, mass: Floats) -> Floats:
    """Four-vectors with a transverse momentum, a rapidity, an azimuth and a mass."""
    transverse = np.hypot(pt, mass)
    return np.stack(
        [transverse * np.cosh(y), pt * np.cos(phi), pt * np.sin(phi), transverse * np.sinh(y)],
        axis=1,
    )


def coordinates(p: Floats) -> tuple[Floats, Floats, Floats]:
    """pt, eta and phi."""
    pt = np.hypot(p[:, 1], p[:, 2])
    return pt, np.arcsinh(p[:, 3] / np.maximum(pt, 1e-3)), np.arctan2(p[:, 2], p[:, 1])


def decayed(
    rng: np.random.Generator, parent: Floats, masses: tuple[Floats | float, Floats | float]
) -> tuple[Floats, Floats]:
    """The two particles with these masses that each parent decays into, in all directions alike in
    the parent's frame."""
    mass = np.sqrt(np.maximum(parent[:, 0] ** 2 - (parent[:, 1:] ** 2).sum(axis=1), 1e-6))
    one, two = masses
    momentum = np.sqrt(
        np.maximum((mass**2 - (one + two) ** 2) * (mass**2 - (one - two) ** 2), 0.0)
    ) / (2 * mass)
    cos, phi = rng.uniform(-1, 1, len(mass)), rng.uniform(-np.pi, np.pi, len(mass))
    sin = np.sqrt(1 - cos**2)
    p = momentum[:, None] * np.stack([sin * np.cos(phi), sin * np.sin(phi), cos], axis=1)
    return (
        _boosted(np.hypot(momentum, one), p, parent, mass),
        _boosted(np.hypot(momentum, two), -p, parent, mass),
    )


def _boosted(energy: Floats, p: Floats, parent: Floats, mass: Floats) -> Floats:
    """A particle of the parent's frame in the frame in which the parent moves."""
    along = (parent[:, 1:] * p).sum(axis=1)
    total = (parent[:, 0] * energy + along) / mass
    share = (energy + total) / (parent[:, 0] + mass)
    moved: Floats = np.concatenate([total[:, None], p + share[:, None] * parent[:, 1:]], axis=1)
    return moved
