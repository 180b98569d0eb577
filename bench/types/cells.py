"""What was measured of a branch, and what was promised of it: pure, measures nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..times import Times

FAST, SLOW = 3.0, 10.0
"""How many times uproot's speed is promised: where it has a fast path, and where it goes through
AsObjects."""


@dataclass(frozen=True)
class Cell:
    """One branch of one file. Times are seconds of reading it whole, the file being open."""

    kind: str
    codec: str
    cpp_type: str
    interpretation: str
    """Class of uproot's interpretation, or why uproot cannot read the branch."""
    bytes: int
    """Uncompressed, of its baskets."""
    treemill: Times
    uproot: Times | None
    limit: Times
    """Reading and decompressing its baskets into one buffer, and nothing else."""
    difference: str = ""
    """Where uproot's array is another one, and why that is well."""

    @property
    def ratio(self) -> float | None:
        """uproot's median over treemill's."""
        return None if self.uproot is None else self.uproot.median / self.treemill.median

    @property
    def wanted(self) -> float | None:
        """The ratio that was promised."""
        if self.uproot is None:
            return None
        return SLOW if self.interpretation == "AsObjects" else FAST

    @property
    def reached(self) -> bool:
        """Whether the promise is kept, where there is one."""
        return self.ratio is None or self.wanted is None or self.ratio >= self.wanted

    @property
    def over_limit(self) -> float:
        """treemill's median over the limit's."""
        return self.treemill.median / self.limit.median if self.limit.median else float("inf")

    @property
    def reason(self) -> str:
        """What the limit says about a promise that is not kept."""
        if self.reached or self.uproot is None or self.wanted is None:
            return ""
        possible = self.uproot.median / self.limit.median if self.limit.median else float("inf")
        if possible < self.wanted:
            return f"out of reach: decompression alone has {possible:.1f}"
        return f"decompression alone has {possible:.1f}; treemill takes {self.over_limit:.1f} of it"

    def as_dict(self) -> dict[str, Any]:
        """For the file of raw numbers."""
        times = {"treemill": self.treemill, "uproot": self.uproot, "limit": self.limit}
        known = {name: t.as_dict() if t is not None else None for name, t in times.items()}
        own = ("kind", "codec", "cpp_type", "interpretation", "bytes", "difference")
        return {name: getattr(self, name) for name in own} | known | {"ratio": self.ratio}


def cell(raw: Mapping[str, Any]) -> Cell:
    """From the file of raw numbers."""

    def times(name: str) -> Times | None:
        return Times(tuple(raw[name]["seconds"])) if raw[name] else None

    treemill, limit = times("treemill"), times("limit")
    assert treemill is not None
    assert limit is not None
    own = ("kind", "codec", "cpp_type", "interpretation", "bytes", "difference")
    described = {name: raw[name] for name in own}
    return Cell(**described, treemill=treemill, uproot=times("uproot"), limit=limit)
