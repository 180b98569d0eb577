"""The machine that a benchmark is started on, and the versions of what runs on it."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from .._system import processor
from .systems import cores

__all__ = ["describe"]

_PACKAGES = ("treemill", "numpy", "awkward", "hist", "boost-histogram", "uproot", "distributed")


def describe() -> dict[str, object]:
    """Processor, cores, memory, load, kernel, versions."""
    return {
        "host": platform.node(),
        "cpu": _cpu(),
        "cores": cores(),
        "memory": _memory(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "versions": {name: release for name in _PACKAGES if (release := _version(name))},
    }


def _cpu() -> str:
    model = processor.value(processor.cpuinfo(), "model name")
    return model or platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
