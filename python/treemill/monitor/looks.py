"""How the histograms of one picture are told apart: colours, then hatches or dashes. Knows names
only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Look", "looks"]

_TEN = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
"""The ten colours of M. Petroff (arXiv:2107.02270), which CMS recommends for more than six things.
Readers who are colour-blind can tell them apart."""
_HATCHES = ("", "....", "xxxx", "----", "oooo", "||||", "****")
"""The band of what is uncertain has the slashes."""
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Look:
    """How one histogram is drawn."""

    color: str
    hatch: str = ""
    """What lies over the colour of an area that would look like another one."""
    dashes: str = "-"
    """The same for a line."""


def looks(
    names: Iterable[str], usual: Sequence[str], chosen: Mapping[str, str] | None = None
) -> dict[str, Look]:
    """A look for each name. `usual`: the colours of the style, which are used if they are enough.
    `chosen`: the user's colours for some names."""
    names, chosen = list(names), chosen or {}
    colors = usual if len(names) <= len(usual) else _TEN
    found = {}
    for number, name in enumerate(names):
        round_, place = divmod(number, len(colors))
        if name in chosen:
            found[name] = Look(chosen[name])
        else:
            hatch, dashes = _HATCHES[round_ % len(_HATCHES)], _DASHES[round_ % len(_DASHES)]
            found[name] = Look(colors[place], hatch, dashes)
    return found
