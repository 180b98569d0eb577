"""coffea's own way to run the processor. Imported where coffea is installed only."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from coffea import processor
from coffea.nanoevents import NanoAODSchema

from .reading import Analysis


class CoffeaAnalysis(Analysis, processor.ProcessorABC):  # type: ignore[misc]
    """The same, as coffea wants it."""


def runner(paths: list[Path], pool: Any) -> Callable[[], Any]:
    """What runs the processor on the files in the pool's processes; in this one without a pool."""
    NanoAODSchema.warn_missing_crossrefs = False
    if pool is None:
        executor = processor.IterativeExecutor(status=False)
    else:
        executor = processor.FuturesExecutor(workers=2, status=False, pool=pool)
    run = processor.Runner(
        executor,
        schema=NanoAODSchema,
        savemetrics=False,
    )
    files = {"demo": {"files": {str(path): "Events" for path in paths}}}
    return lambda: run(files, processor_instance=CoffeaAnalysis())
