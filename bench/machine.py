"""Which machine and which versions a measurement was made with, and how pages say so."""

import os
import platform
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import remembering
from .protocol import REPOSITORY

_PACKAGES = ("treemill", "uproot", "awkward", "boost-histogram", "hist", "numpy", "coffea")


def describe(*more: str) -> dict[str, Any]:
    """Processor, cores, memory, load (near 0 before a good run), kernel, versions (also of the
    packages `more`), commit."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": os.getloadavg()[0],
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "rustc": _output("rustc", "--version"),
        "commit": _output("git", "describe", "--always", "--dirty"),
        "versions": {name: found for name in (*_PACKAGES, *more) if (found := _version(name))},
    }


def about(facts: dict[str, Any], files: str, rounds: int, clock: str) -> dict[str, object]:
    """The first lines of a page, from `describe`'s facts and what was measured on."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    return {
        "machine": f"{facts['cpu']}, {facts['cores']} cores, {facts['memory'] / 2**30:.0f} GiB,"
        f" {facts['kernel']}",
        "versions": f"{versions}; Python {facts['python']}, {facts['rustc']};"
        f" commit {facts['commit']}",
        "files": files,
        "memory": remembering.FACT,
        "counted rounds": rounds,
        "clock": f"{clock}; load average before the run {facts['load']:.2f}",
    }


def slug() -> str:
    """A short name of the machine for files, of its processor and number of cores."""
    words = re.sub(r"\((R|TM)\)|CPU|Processor|@.*|\d+-Core", "", _cpu(), flags=re.IGNORECASE)
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f"{name or 'unknown'}-{os.cpu_count()}-cores"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    found = re.search(r"model name\s*:\s*(.*)", text)
    return found[1] if found else platform.machine()


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    except OSError:
        return ""
    return done.stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
