"""What a worker's work costs: a time that each piece takes whatever its entries, and a speed beyond
that, fitted to what the last pieces took. Arithmetic only.

A piece is a packet, or a chunk of one. Models that are loaded, corrections that are evaluated and
graphs that are compiled for each piece take the same time for a hundred entries as for a million.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FIXED_PART", "Cost"]

FIXED_PART = 0.1
"""The part of a piece's time that its fixed time should be, at most."""
_MEMORY = 0.8
"""What a piece counts beside the next one in the fit. The fixed time changes little."""
_FIRST = 0.3
"""What the first piece counts beside the others."""
_APART = 0.04
"""How far the sizes of pieces must be apart to tell what is fixed: two of them by half. (It is one
minus the square of the cosine between 1 / seconds and entries / seconds.)"""
_ALIKE = 1.5
"""Sizes of pieces that differ by less than this factor do not tell."""
_UNEXPLAINED = 0.25
"""The part of a piece's time that counts as that of its entries, at least."""
_STRIDE = 8
"""Pieces grow by this factor at most because of a fixed time: what is fitted holds near by."""


@dataclass(slots=True)
class Cost:
    """The cost of a worker's pieces: `fixed + entries / rate` seconds."""

    fixed: float = 0.0
    rate: float = 0.0
    """Entries per second beyond the fixed time; 0 before anything is measured."""
    told: bool = False
    """Whether sizes have been far enough apart to tell what is fixed."""
    last: int = 0
    """The entries of the last piece."""
    _uu: float = 0.0  # sums of products of 1 / seconds (u) and entries / seconds (v)
    _uv: float = 0.0
    _vv: float = 0.0
    _u: float = 0.0
    _v: float = 0.0

    def measured(self, entries: int, seconds: float, *, is_whole: bool = True) -> float:
        """Notes what a piece took, and gives its speed beyond the fixed time. The newest piece
        counts half in `rate`, because the load of machines changes. `is_whole`: False for one that
        has ended early, whose size followed from its time, or that has waited for its bytes.

        The first piece counts little: files are opened, modules and caches loaded for it once."""
        seconds = max(seconds, 1e-6)
        if is_whole:
            self._fit(entries, seconds, 1.0 if self.last else _FIRST)
        rate = entries / max(seconds - self.fixed, _UNEXPLAINED * seconds)
        self.rate = (self.rate + rate) / 2 if self.rate else rate
        self.last = entries
        return rate

    def _fit(self, entries: int, seconds: float, weight: float) -> None:
        """Fits `seconds = fixed + b * entries`, in which deviations count by the part that they are
        of the time."""
        u, v = 1.0 / seconds, entries / seconds
        self._uu = _MEMORY * self._uu + weight * u * u
        self._uv = _MEMORY * self._uv + weight * u * v
        self._vv = _MEMORY * self._vv + weight * v * v
        self._u = _MEMORY * self._u + weight * u
        self._v = _MEMORY * self._v + weight * v
        determinant = self._uu * self._vv - self._uv * self._uv
        if determinant <= _APART * self._uu * self._vv:
            return
        self.told = True
        fixed = (self._vv * self._u - self._uv * self._v) / determinant
        slope = (self._uu * self._v - self._uv * self._u) / determinant
        if slope < 0.0:
            fixed = self._u / self._uu
        self.fixed = max(fixed, 0.0)

    def seconds(self, entries: int) -> float:
        """The time that a piece is expected to take; only if something was measured."""
        return self.fixed + entries / self.rate

    def worth(self, entries: float) -> float:
        """The entries of the next piece, which would have so many: more, if the fixed time were
        more than `FIXED_PART` of it, but not many times those of the last one. As long as nothing
        tells what is fixed, pieces are not alike: two sizes tell."""
        if self.told:
            enough = self.fixed * self.rate * (1.0 / FIXED_PART - 1.0)
            return max(entries, min(enough, float(_STRIDE * self.last)))
        alike = self.last < _ALIKE * entries and entries < _ALIKE * self.last
        return 2.0 * self.last if alike else entries
