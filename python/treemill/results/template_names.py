"""The names of a fit's templates: what results in nested mappings are called by a pattern such as
"{region}/{process}_{variation}". Pure: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from string import Formatter

from ..errors import QueryError

__all__ = ["VARIATION", "Pattern", "check_names", "levels_of", "renamer", "variation_word"]

VARIATION = "variation"
_WORDS = {"up": "Up", "down": "Down", "dn": "Down", "nom": "Nominal"}
_FOLDER = re.compile(r"(^|/)\{variation[^}]*\}(/|$)")
_JOINED = re.compile(r"[_\-.: ]+\{variation[^}]*\}")
_JOINS = re.compile(r"\{variation[^}]*\}[_\-.: ]*")


def variation_word(name: str) -> str:
    """A variation's name as Combine has it: "jes:up" is "jesUp", "pdf:7" is "pdf7"."""
    group, colon, tag = name.rpartition(":")
    if not colon:
        return name
    return group + (_WORDS.get(tag.lower(), tag))


@dataclass(frozen=True)
class Pattern:
    """A pattern with the fields that it names."""

    text: str
    fields: tuple[str, ...]
    """Without the variation, in the pattern's order."""
    has_variation: bool

    @classmethod
    def parsed(cls, text: str) -> Pattern:
        """Read a pattern. Raises QueryError if it is none."""
        if not isinstance(text, str):
            raise QueryError(f"a pattern of names is a text, not {text!r:.60}")
        try:
            parts = [*Formatter().parse(text)]
        except ValueError as error:
            raise QueryError(f"{text!r} is no pattern of names: {error}") from error
        names = [name for _, name, _, _ in parts if name is not None]
        wrong = [name for name in names if not name.isidentifier()]
        if wrong or not names:
            raise QueryError(
                f"{text!r} is no pattern of names: it needs fields such as {{region}}, {{process}} "
                "and {variation}"
            )
        fields = tuple(dict.fromkeys(name for name in names if name != VARIATION))
        return cls(text, fields, VARIATION in names)

    def name(self, labels: Mapping[str, str], variation: str | None) -> str:
        """The name of a template. The nominal one's (None) has no variation and no sign that joins
        it; if the variation is a folder, or the name in one, it is "nominal"."""
        text = self.text
        if variation is None:
            variation = "nominal"
            if not _FOLDER.search(text):
                text = _JOINED.sub("", text, count=1) if _JOINED.search(text) else text
                text = _JOINS.sub("", text)
        return text.format(**labels, **{VARIATION: variation})


def check_names(names: Collection[str]) -> None:
    """Raises QueryError for names by which objects in a ROOT file are not found."""
    for name in names:
        *folders, last = name.split("/")
        sign = next((sign for sign in name if sign in ";\x7f" or not sign.isprintable()), "")
        within = next((each for each in accumulate(folders, "{}/{}".format) if each in names), "")
        for is_so, why in (
            (sign, f"of {sign!r}, by which ROOT does not find it"),
            (":" in "".join(folders), "a folder's name has ':', which ends the name of a file"),
            (not all((*folders, last)), "a name in it is empty"),
            ({".", ".."} & {*folders, last}, "it has a part that is a path to other folders"),
            (within, f"{within!r} is a template, and cannot be its folder too"),
        ):
            if is_so:
                raise QueryError(
                    f"a template cannot be called {name!r}, because {why}: give the results other "
                    "keys, or use name= or rename="
                )


def levels_of(pattern: Pattern, levels: Sequence[str] | None) -> tuple[str, ...]:
    """The fields by level of the results: the given ones, or those of the pattern in its order."""
    if levels is None:
        return pattern.fields
    if isinstance(levels, str):
        raise QueryError(f"levels= is a list of fields, [{levels!r}, …], not a text")
    if not isinstance(levels, (list, tuple)) or not all(isinstance(each, str) for each in levels):
        raise QueryError(f"levels= is a list of fields, not {levels!r:.60}")
    wrong = [name for name in levels if name not in pattern.fields]
    if wrong:
        raise QueryError(f"levels= names {wrong[0]!r}, which {pattern.text!r} does not have")
    if sorted(levels) != sorted(pattern.fields):
        raise QueryError(
            f"levels= names all fields of {pattern.text!r} once, which are "
            f"{', '.join(pattern.fields)}, in the order of the results' levels; got {[*levels]}"
        )
    return tuple(levels)


def renamer(
    rename: Mapping[str, str] | Callable[[str], str] | None,
) -> Callable[[str], str]:
    """A function from variations to what they are called."""
    if rename is None:
        return variation_word
    if callable(rename):
        return rename
    if not isinstance(rename, Mapping):
        raise QueryError(f"rename= is a mapping or a function, not {rename!r:.60}")
    return lambda name: rename.get(name, variation_word(name))
