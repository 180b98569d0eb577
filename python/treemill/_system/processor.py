"""Levels of x86-64 processors, and which of them this processor has; how many cores there are.

The core of a wheel is there once for each level, and the best that this processor has is loaded
(docs/decisions/0002-processor.md). A core that was compiled for one level, as in a checkout, has no
levels. Must not know how the core is loaded, or anything else of treemill.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection

__all__ = [
    "LEVELS",
    "VARIABLE",
    "available_cores",
    "best",
    "cpuinfo",
    "features",
    "installed",
    "levels_of",
    "this_processor",
    "value",
    "warn_if_lacking",
]

VARIABLE = "TREEMILL_CPU_LEVEL"
"""The environment variable that chooses the level."""

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_levels")
_ENDING = ".abi3.so"
_CHECKOUT = "x86-64-v3"
"""The level of a core that was compiled for one: .cargo/config.toml says so."""

LEVELS = {
    "x86-64-v3": frozenset(
        {
            *("abm", "avx", "avx2", "bmi1", "bmi2", "cx16", "f16c", "fma", "lahf_lm", "movbe"),
            *("pni", "popcnt", "sse4_1", "sse4_2", "ssse3", "xsave"),
        }
    ),
    "x86-64": frozenset[str](),
}
"""The levels' names in the x86-64 psABI, best first, with the features that Linux must tell of."""


def value(cpuinfo: str, name: str) -> str | None:
    """The value of a line that the first processor has in the text of /proc/cpuinfo."""
    for line in cpuinfo.splitlines():
        known, _, text = line.partition(":")
        if known.strip() == name:
            return text.strip()
    return None


def features(cpuinfo: str) -> frozenset[str] | None:
    """Features of the first processor in the text of /proc/cpuinfo; None if it lists none."""
    flags = value(cpuinfo, "flags")
    return None if flags is None else frozenset(flags.split())


def cpuinfo() -> str:
    """The beginning of /proc/cpuinfo, which is enough for the first processor: there may be
    hundreds. Empty if the system has no such file."""
    if sys.platform != "linux":
        return ""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return file.read(8192)
    except OSError:
        return ""


def this_processor() -> frozenset[str] | None:
    """Features of this processor; None if the system does not tell."""
    return features(cpuinfo())


def installed() -> dict[str, str]:
    """The extensions of the levels that this installation has; none if it has one core."""
    if not os.path.isdir(_FOLDER):
        return {}
    files = {level: os.path.join(_FOLDER, level + _ENDING) for level in LEVELS}
    return {level: file for level, file in files.items() if os.path.exists(file)}


def levels_of(has: Collection[str] | None) -> list[str]:
    """The levels that a processor with these features has, best first. Every one has the last."""
    return [level for level, needed in LEVELS.items() if needed <= frozenset(has or ())]


def best(there: Collection[str], has: Collection[str] | None, chosen: str | None = None) -> str:
    """Gives the best level that is there and that the processor has, or the one that was chosen.

    Raises ImportError if the chosen one is not there or the processor lacks its instructions.
    """
    can = [level for level in levels_of(has) if level in there]
    if chosen:
        if chosen not in there:
            known = ", ".join(level for level in LEVELS if level in there)
            raise ImportError(
                f"{VARIABLE}={chosen}: this level does not exist here; the levels are {known}"
            )
        if chosen not in can:
            lacks = ", ".join(sorted(LEVELS[chosen] - frozenset(has or ())))
            raise ImportError(f"{VARIABLE}={chosen}: this processor lacks {lacks}")
        return chosen
    if not can:
        raise ImportError(f"this processor can run none of treemill's levels: {', '.join(there)}")
    return can[0]


def warn_if_lacking() -> None:
    """Warns if the processor lacks instructions of a core that was compiled for one level."""
    has = this_processor()
    lacks = LEVELS[_CHECKOUT] - has if has is not None else None
    if lacks and not installed():
        warnings.warn(  # noqa: TID251 - knows no errors, and names no address
            f"this processor lacks {', '.join(sorted(lacks))}: treemill ends with 'illegal "
            'instruction\' unless it was built here with RUSTFLAGS="-C target-cpu=x86-64"',
            RuntimeWarning,
            stacklevel=3,
        )


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
