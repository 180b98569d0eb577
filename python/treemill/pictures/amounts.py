"""Numbers in tables: amounts, their errors, and shares. Pure: standard library only."""

from __future__ import annotations

import math

__all__ = ["amount", "percent", "with_error"]

_ALL_DIGITS = 1e5, 1e15
"""The numbers between which all digits before the point are written, and none behind it."""
_LARGE_ERROR, _SMALL = 1e7, 1e-3
"""Plain digits say little if the error is larger than the first, or both numbers are smaller than
the second: then a power of ten is taken out."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def amount(value: float, thousands: str = "") -> str:
    """A count or a sum of weights. `thousands`: what separates them."""
    low, high = _ALL_DIGITS
    if isinstance(value, int):
        return f"{value:{thousands}}"
    return f"{value:{thousands}.0f}" if low <= abs(value) < high else f"{value:{thousands}.6g}"


def with_error(value: float, error: float) -> str:
    """A number and its error, which has two digits and decides how many the number has behind the
    point."""
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{amount(value, ',')} ± {amount(error)}"
    larger = max(abs(value), error)
    if error >= _LARGE_ERROR or larger < _SMALL:
        power = _power(larger)
        one, other = _aligned(value / 10.0**power, error / 10.0**power)
        return f"({one} ± {other})×10{str(power).translate(_RAISED)}"  # noqa: RUF001
    one, other = _aligned(value, error)
    return f"{one} ± {other}"


def percent(part: float) -> str:
    """A share, such as an efficiency; a dash for NaN, which is a share of nothing."""
    return "-" if math.isnan(part) else f"{100 * part:.2f} %"


def _power(value: float) -> int:
    return math.floor(math.log10(value))


def _aligned(value: float, error: float) -> tuple[str, str]:
    behind = 1 - _power(error)
    shown = max(behind, 0)
    return f"{value:,.{shown}f}", f"{round(error, behind):,.{shown}f}"
