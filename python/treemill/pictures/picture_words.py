"""The words of a picture: formulas that matplotlib cannot draw are named, long names are shortened,
and labels that would be cut off or overlap are wrapped or turned. Knows matplotlib's texts only.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["check_formulas", "fit_words", "shortened"]

_LONG = 40
"""Characters of a name, which is shortened if it has more."""
_HEAD = 2 / 3
"""The share of a shortened name that its beginning has: most names differ there."""
_LINES = 3
"""The most lines of an axis' label."""


def shortened(names: Sequence[str], length: int = _LONG) -> list[str]:
    """Long names without their middles, which are as short as they can be without becoming equal.
    Formulas are left as they are."""
    for most in range(length, max(map(len, names), default=0), length // 2):
        short = [_without_middle(name, most) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def _without_middle(name: str, length: int) -> str:
    if len(name) <= length or _is_formula(name):
        return name
    head = round(_HEAD * length)
    return f"{name[:head]}…{name[head + 1 - length :]}"


def _is_formula(text: str) -> bool:
    from matplotlib.cbook import is_math_text

    return bool(is_math_text(text))


def check_formulas(texts: Iterable[str]) -> None:
    """Raises ValueError for a text whose formula matplotlib cannot draw. matplotlib's own error
    does not say which text that is."""
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    lines = (line for text in texts for line in text.split("\n"))  # each is drawn by itself
    for text in filter(_is_formula, lines):
        try:
            parser.parse(text)
        except ValueError as error:
            # matplotlib says it below a picture of the text, and with places in it.
            said = str(error).strip().splitlines()[-1].rpartition("Exception: ")[2]
            raise ValueError(
                f"matplotlib cannot draw the formula in {text!r} ({said.split(', found ')[0]}): "
                r"correct it, or write \$ for a dollar sign"
            ) from None


def fit_words(figure: Figure) -> bool:
    """Turns names below bins that overlap, and wraps labels that are longer than their axes. The
    figure must have been laid out. True if something has changed."""
    changed = [change(place) for place in figure.axes for change in (_turn, _wrap)]
    return any(changed)


def _turn(place: Axes) -> bool:
    labels = [each for each in place.get_xticklabels() if each.get_visible() and each.get_text()]
    spans = sorted((box.x0, box.x1) for box in (each.get_window_extent() for each in labels))
    if all(left < right for (_, left), (right, _) in pairwise(spans)):
        return False
    for label in labels:
        label.set(rotation=45, ha="right")
    return True


def _wrap(place: Axes) -> bool:
    panel = place.get_window_extent()
    across = place.xaxis.label, place.xaxis.label.get_window_extent().width, panel.width
    up = place.yaxis.label, place.yaxis.label.get_window_extent().height, panel.height
    changed = [_shorten(*each) for each in (across, up)]
    return any(changed)


def _shorten(label: Text, length: float, room: float) -> bool:
    """Breaks a label into lines of this length; a formula becomes smaller, as it has no words."""
    if length <= room:
        return False
    text = label.get_text()
    if _is_formula(text):
        label.set_fontsize(float(label.get_fontsize()) * room / length)
    else:
        width = int(len(text) * room / length)
        label.set_text("\n".join(textwrap.wrap(text, width, max_lines=_LINES, placeholder=" …")))
    return True
