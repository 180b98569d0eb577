"""Every kind of branch, read whole by treemill from a file that is open: how many entries there
are. `bench types` says whether the arrays are right; `earlier.py` compares two versions."""

from typing import Any

import treemill as tm

from ..types.places import SEPARATOR


class _Types:
    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Any] = {}

    def run(self, query: str, path: str) -> list[float]:
        tree, _, branch = query.partition(SEPARATOR)
        if (path, tree) not in self._open:
            self._open[path, tree] = tm.dataset(path, tree=tree)
        return [float(len(self._open[path, tree].arrays([branch])[branch]))]

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("single branches only")

    def versions(self) -> dict[str, str]:
        return {"treemill": tm.__version__}


def make(threads: int, variant: str) -> _Types:
    """A reader of branches."""
    return _Types()
