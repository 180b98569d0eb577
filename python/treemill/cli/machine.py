"""`treemill machine`: what treemill runs on here, for reports of faults, and to see which kernels
are in use."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator

import click

from .._system.cache import cache
from .._system.memory import available
from .._system.processor import VARIABLE, installed, levels_of, this_processor

__all__ = ["command", "kernels"]

_LIBRARIES = ("numpy", "awkward", "hist", "uproot", "pyarrow", "distributed", "matplotlib")


def kernels(used: str, there: list[str], can: list[str]) -> str:
    """The level in use, in words. `there`: the levels that are installed, none if the core was
    compiled for one; `can`: those that the processor has, best first."""
    if not there:
        better = can[: can.index(used)] if used in can else []
        hint = [f'; RUSTFLAGS="-C target-cpu={level}" builds a faster one' for level in better[:1]]
        return f"{used} (compiled for this level alone{''.join(hint)})"
    return f"{used} (of {', '.join(there)}; {VARIABLE} chooses)"


def _lines() -> Iterator[tuple[str, str]]:
    from treemill import _core  # heavy: core

    yield "treemill", importlib.metadata.version("treemill")
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", platform.platform()
    yield "kernels", kernels(_core.CPU_LEVEL, list(installed()), levels_of(this_processor()))
    affinity = getattr(os, "sched_getaffinity", None)
    yield "cores", str(len(affinity(0)) if affinity else os.cpu_count())
    memory = available()
    yield "memory", "not known" if memory is None else f"{memory / 1e9:.1f} GB"
    yield "cache", f"at most {cache.limit / 1e9:.1f} GB"
    yield "core", str(_core.__file__)
    for name in _LIBRARIES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield name, "not installed"


@click.command("machine")
def command() -> None:
    """Tell what treemill runs on: the processor's level, memory, versions.

    The core of a wheel for x86-64 is there for several levels of processors, and the best one that
    this processor has is loaded. TREEMILL_CPU_LEVEL=x86-64 chooses the one for any processor.
    """
    try:
        lines = list(_lines())
    except ImportError as error:
        sys.exit(f"treemill: {error}")
    for name, text in lines:
        click.echo(f"{name:<12}{text}")
