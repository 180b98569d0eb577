"""`treemill machine`: what treemill runs on here, for reports of faults, and to see which kernels
are in use. `treemill remembered`: what it keeps of results, how large that is, and its removal."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Iterator
from datetime import datetime

import click

from .._system.cache import cache, size_of
from .._system.memory import available
from .._system.processor import VARIABLE, installed, levels_of, this_processor
from ..errors import QueryError
from ..session.results_folder import results_folder, results_in

__all__ = ["kernels", "machine", "remembered"]

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
def machine() -> None:
    """Print the processor's level, the memory and the versions that treemill runs with.

    A wheel for x86-64 contains the core for several levels of processors, and treemill loads the
    best one that this processor supports. TREEMILL_CPU_LEVEL=x86-64 chooses the core for any
    processor.
    """
    try:
        lines = list(_lines())
    except ImportError as error:
        sys.exit(f"treemill: {error}")
    for name, text in lines:
        click.echo(f"{name:<12}{text}")


_DAY = 86400.0


@click.command("remembered")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@click.option(
    "--limit",
    metavar="SIZE",
    help='Remove the results that were used least recently, until their size is at most SIZE: "5 '
    'GB", or 0 to remove all.',
)
@click.option(
    "--unused",
    metavar="DAYS",
    type=float,
    help="Remove the results that were not used for this number of days.",
)
def remembered(folder: str | None, limit: str | None, unused: float | None) -> None:
    """List the remembered results, and remove results that are not used.

    FOLDER is the folder of treemill.remember; the default is the folder in TREEMILL_REMEMBER. It
    contains the results in segments, one or more for each run that has computed something.
    """
    results = results_folder() if folder is None else results_in(folder)
    if results is None:
        raise QueryError("name the folder, or set TREEMILL_REMEMBER")
    if limit is not None or unused is not None:
        before = None if unused is None else time.time() - unused * _DAY
        most = None if limit is None else size_of(limit)
        freed = results.prune(most, before)
        click.echo(f"removed {freed / 1e6:,.1f} MB")
    segments = results.segments()
    for each in segments:
        used = datetime.fromtimestamp(each.used).strftime("%Y-%m-%d %H:%M")
        click.echo(f"{each.size / 1e6:>12,.1f} MB  used {used}  {each.path.name}")
    total = sum(each.size for each in segments)
    click.echo(f"{total / 1e6:>12,.1f} MB in {len(segments)} segments of {results.path}")
