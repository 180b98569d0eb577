"""How the histograms of one picture are told apart: colours, then hatches or dashes. Knows names
only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Look", "Palette", "looks", "of_processes"]

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


def looks(names: Iterable[str], usual: Sequence[str]) -> dict[str, Look]:
    """A look for each name by its place. `usual`: the colours of the style, which are used if they
    are enough."""
    names = list(names)
    colors = usual if len(names) <= len(usual) else _TEN
    return {name: _look(number, colors) for number, name in enumerate(names)}


def _look(number: int, colors: Sequence[str]) -> Look:
    round_, place = divmod(number, len(colors))
    hatch, dashes = _HATCHES[round_ % len(_HATCHES)], _DASHES[round_ % len(_DASHES)]
    return Look(colors[place], hatch, dashes)


class Palette:
    """Gives names looks, and remembers their colours: a process has the same colour in all
    pictures, whatever others are in them."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        """The place of each name's colour, the last drawn name last."""
        self._lock = threading.Lock()

    def looks(
        self, names: Iterable[str], chosen: Mapping[str, str] | None = None
    ) -> dict[str, Look]:
        """A look for each name. `chosen`: the user's colours for some names."""
        names, chosen = list(names), chosen or {}
        with self._lock:
            return self._looks(names, chosen)

    def _looks(self, names: list[str], chosen: Mapping[str, str]) -> dict[str, Look]:
        own = [name for name in names if name not in chosen]
        places: dict[str, int] = {}
        for name in own:
            place = self._known.get(name)
            if place is not None and place not in places.values():
                places[name] = place
        # The rest take colours that no name has, then those whose names were drawn longest ago.
        others = dict.fromkeys(self._known.values())
        unused = [place for place in range(len(_TEN)) if place not in others]
        free = [place for place in (*unused, *others) if place not in places.values()]
        left = [name for name in own if name not in places]
        places |= dict(zip(left, free, strict=False))
        for name in own:
            if name in places:
                self._known.pop(name, None)
                self._known[name] = places[name]
        # There are more names than colours.
        beyond = {name: len(_TEN) + i for i, name in enumerate(left[len(free) :])}
        numbers = places | beyond
        return {
            name: Look(chosen[name]) if name in chosen else _look(numbers[name], _TEN)
            for name in names
        }


of_processes = Palette().looks
"""The looks of processes in all pictures of this program."""
