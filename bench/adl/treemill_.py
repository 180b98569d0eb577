"""treemill on the eight tasks, as examples/adl/ has them, through its public face."""

import importlib

import treemill as tm

from .. import remembering, spent
from .tasks import TREE


class Treemill:
    """The tasks by their names, on a session of threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._session = tm.connect(workers=threads, mode="threads")

    def run(self, query: str, path: str) -> list[float]:
        clock = spent.Clock(self._session)
        analysis = importlib.import_module(f"examples.adl.{query}").analysis
        made = analysis(tm.dataset(path, tree=TREE))
        booked = made if isinstance(made, tuple) else (made,)
        filled = self._session.run(*booked, progress=False)
        histograms = filled if isinstance(made, tuple) else (filled,)
        bins = [float(x) for h in histograms for x in h.values(flow=True)]
        if self._threads == 1:
            self.measured = {"spent": clock.spent()}
        return bins

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("the eight tasks only")

    def versions(self) -> dict[str, str]:
        return {"treemill": tm.__version__}


def make(threads: int, variant: str) -> Treemill:
    """treemill on `threads` threads; `variant`: whether it remembers what it decompressed."""
    if variant == remembering.VARIANT:
        remembering.as_users_have_it()
    return Treemill(threads)
