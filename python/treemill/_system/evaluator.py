"""What computes results, as a text: what is remembered of another one is not taken. Versions of
treemill, of its core as it is on this machine, and of the packages that read columns or run models
for it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

__all__ = ["evaluator"]

_PACKAGES = ("treemill", "numpy", "awkward", "uproot", "numba", "onnxruntime")


@cache
def evaluator() -> str:
    """The text. It is equal for equal installations."""
    from .. import _core  # heavy: core

    core = os.stat(str(_core.__file__))
    parts = [f"Python {sys.version_info[0]}.{sys.version_info[1]}", str(core.st_size)]
    parts.append(str(core.st_mtime_ns))
    return " ".join([*parts, *(f"{name} {_version(name)}" for name in _PACKAGES), _sources()])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # it is not there, or treemill runs from its sources
        return "none"


def _sources() -> str:
    """What the Python part is, where it is not as its version says: a checkout is edited."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if {"site-packages", "dist-packages"} & set(package.split(os.sep)):
        return ""
    newest = 0
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(".py"):
                newest = max(newest, os.stat(os.path.join(folder, name)).st_mtime_ns)
    return f"sources {newest}"
