"""The rivals: one module each, listed in a table; the tasks of bench/adl have another.

A rival's module has `make(threads, variant) -> Engine`. It is imported in that rival's own process
only, so that no rival's libraries, caches or thread pools touch another's. Rivals of one `group`
(two ways to write the same thing) count as one in the ratios: the faster one.
"""

from dataclasses import dataclass
from typing import Protocol

from ..remembering import VARIANT


class Engine(Protocol):
    """A rival, ready to answer."""

    def run(self, query: str, path: str) -> list[float]:
        """Open the file anew, answer, and give all bins with underflow first, overflow last."""

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        """One histogram of each branch over all files in one pass; the sum of all bins."""

    def versions(self) -> dict[str, str]:
        """What answered."""


@dataclass(frozen=True)
class Rival:
    """A line of the table."""

    key: str
    title: str
    module: str
    group: str
    threads: int = 1
    variant: str = ""
    sweeps: bool = False


TREEMILL, TREEMILL_2 = "treemill", "treemill, 2 threads"
REMEMBERING = "treemill, remembering"
ROOT_1, ROOT_2, UPROOT, LIMIT = "RDataFrame", "RDataFrame, 2 threads", "uproot", "limit"

RIVALS = (
    Rival("treemill", "treemill", "rivals.treemill_", TREEMILL, sweeps=True),
    Rival(
        "treemill-2", "treemill, 2 threads", "rivals.treemill_", TREEMILL_2, threads=2, sweeps=True
    ),
    Rival(
        "rdf", "RDataFrame, strings", "rivals.rdataframe", ROOT_1, variant="strings", sweeps=True
    ),
    Rival("rdf-c++", "RDataFrame, C++ at -O3", "rivals.rdataframe", ROOT_1, variant="compiled"),
    Rival("rdf-2", "RDataFrame, strings, 2 threads", "rivals.rdataframe", ROOT_2, 2, "strings"),
    Rival(
        "rdf-c++-2", "RDataFrame, C++ at -O3, 2 threads", "rivals.rdataframe", ROOT_2, 2, "compiled"
    ),
    Rival("uproot", "uproot + awkward + boost-histogram", "rivals.uproot_", UPROOT),
    Rival("limit", "the limit", "rivals.limit", LIMIT),
    Rival(
        "treemill-remembering",
        "treemill, remembering",
        "rivals.treemill_",
        REMEMBERING,
        variant=VARIANT,
    ),
)
