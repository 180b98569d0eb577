"""Four-vectors of one event, with the names of scikit-hep's vector, by the textbook."""

import math
from collections.abc import Callable
from typing import Any

from .values import MISSING, Element, each

_POLAR = ("pt", "eta", "phi", "mass")


def _cartesian(a: Element) -> tuple[float, float, float, float]:
    if "px" in a:
        return a["px"], a["py"], a["pz"], a["energy"]
    pt, eta, phi, mass = (float(a[name]) for name in _POLAR)
    px, py, pz = pt * math.cos(phi), pt * math.sin(phi), pt * math.sinh(eta)
    return px, py, pz, math.sqrt(px * px + py * py + pz * pz + mass * mass)


def add(a: Element, b: Element) -> Element:
    names = ("px", "py", "pz", "energy")
    sums = (x + y for x, y in zip(_cartesian(a), _cartesian(b), strict=True))
    return Element(zip(names, sums, strict=True))


def subtract(a: Element, b: Element) -> Element:
    names = ("px", "py", "pz", "energy")
    sums = (x - y for x, y in zip(_cartesian(a), _cartesian(b), strict=True))
    return Element(zip(names, sums, strict=True))


def _mass(px: float, py: float, pz: float, energy: float) -> float:
    square = energy * energy - px * px - py * py - pz * pz
    return math.copysign(math.sqrt(abs(square)), square)


_DERIVED: dict[str, Callable[[float, float, float, float], float]] = {
    "px": lambda px, py, pz, e: px,
    "py": lambda px, py, pz, e: py,
    "pz": lambda px, py, pz, e: pz,
    "energy": lambda px, py, pz, e: e,
    "pt": lambda px, py, pz, e: math.hypot(px, py),
    "phi": lambda px, py, pz, e: math.atan2(py, px),
    "eta": lambda px, py, pz, e: math.asinh(pz / math.hypot(px, py)),
    "p": lambda px, py, pz, e: math.sqrt(px * px + py * py + pz * pz),
    "mass": _mass,
    "rapidity": lambda px, py, pz, e: 0.5 * math.log((e + pz) / (e - pz)),
    "et": lambda px, py, pz, e: e * math.hypot(px, py) / math.hypot(px, py, pz),
    "mt": lambda px, py, pz, e: math.sqrt(e * e - pz * pz),
}


def attribute(a: Any, name: str) -> Any:
    """A field, or what follows from the momentum."""

    def of(element: Element) -> Any:
        return element[name] if name in element else _DERIVED[name](*_cartesian(element))

    return each(of, a)


def deltaphi(a: Any, b: Any) -> float:
    difference = attribute(a, "phi") - attribute(b, "phi")
    return math.remainder(difference, 2 * math.pi)


def deltaeta(a: Any, b: Any) -> float:
    return float(attribute(a, "eta") - attribute(b, "eta"))


def delta_r(a: Any, b: Any) -> float:
    return math.hypot(deltaeta(a, b), deltaphi(a, b))


def nearest(a: Any, others: Any) -> Any:
    """The element at the least distance, the first of equals."""
    if isinstance(a, list):
        return [nearest(one, others) for one in a]
    if a is MISSING or not others:
        return MISSING
    return min(others, key=lambda other: delta_r(a, other))


METHODS: dict[str, Callable[[Any, Any], float]] = {
    "deltaR": delta_r,
    "deltaphi": deltaphi,
    "deltaeta": deltaeta,
}

__all__ = ["METHODS", "MISSING", "add", "attribute", "nearest", "subtract"]
