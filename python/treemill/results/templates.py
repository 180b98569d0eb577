"""`templates`: nested results as the named histograms in a ROOT file that fits take."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from os import PathLike
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .._system.files import whole_file
from ..errors import QueryError, UnsupportedError, local_path, warn, writing
from ..pictures.histogram_labels import edges_of
from ..public_api import short_errors
from ..query.booking import Booking, compute
from .by_dataset import ByDataset, is_measured
from .histograms import bins_of
from .root_histograms import check_exact, is_profile, root_histogram
from .variations import NOMINAL, Variations, split, systematic

if TYPE_CHECKING:
    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray

    from .showing import Histograms

__all__ = ["templates"]

# What a fit would stumble over in templates: bins that are empty, negative or no number, empty
# variations. Knows histograms by their labels; knows no file.

_SHOWN = 3
"""Bins that a message names."""


class TemplateFinding(NamedTuple):
    """One thing that is wrong with one template."""

    kind: str
    """"bad", "negative" or "empty"."""
    name: str
    words: str


def findings(
    nominal: Mapping[str, Hist], varied: Mapping[str, tuple[str, Hist]]
) -> list[TemplateFinding]:
    """Returns what is wrong. `nominal`: histograms by name; `varied`: by name, with the name of the
    nominal one."""
    problems = [
        each for name, histogram in nominal.items() for each in _of_one(name, histogram, None)
    ]
    for name, (base, histogram) in varied.items():
        problems += _of_one(name, histogram, nominal[base])
    return problems


def _of_one(name: str, histogram: Hist, base: Hist | None) -> Iterator[TemplateFinding]:
    import numpy as np

    values = np.asarray(histogram.values(), float)
    bad = ~np.isfinite(values)
    if bad.any():
        yield TemplateFinding("bad", name, f"{bins_in_words(histogram, bad)} no number")
    negative = values < 0
    if negative.any():
        yield TemplateFinding("negative", name, f"{bins_in_words(histogram, negative)} negative")
    if base is None:
        empty = values == 0
        if empty.all():
            yield TemplateFinding("empty", name, "it is empty")
        elif empty.any():
            yield TemplateFinding("empty", name, f"{bins_in_words(histogram, empty)} empty")
        return
    expected = np.asarray(base.values(), float)
    if not values.any() and expected.any():
        yield TemplateFinding("empty", name, "it is empty, and the nominal one is not")
        return
    # Fits interpolate between logarithms of the two.
    for where, which in (
        ((values > 0) & (expected == 0), "the nominal one"),
        ((values == 0) & (expected > 0), "this variation"),
    ):
        if where.any():
            words = f"{bins_in_words(histogram, where)} empty in {which} only"
            yield TemplateFinding("empty", name, words)


def bins_in_words(histogram: Hist, chosen: NDArray[np.bool_]) -> str:
    """The first of the chosen bins by their edges, with a verb: "bin 3 [40, 60) is"."""
    import numpy as np

    places = [tuple(map(int, at)) for at in np.argwhere(chosen)]
    named = [_bin(histogram, at) for at in places[:_SHOWN]]
    more = len(places) - len(named)
    words = ", ".join(named) + (f" and {more} more" if more else "")
    return f"bin{'s' if len(places) > 1 else ''} {words} {'are' if len(places) > 1 else 'is'}"


def _bin(histogram: Hist, at: Sequence[int]) -> str:
    words = [_range(axis, i) for axis, i in zip(histogram.axes, at, strict=True)]
    numbers = ",".join(str(i + 1) for i in at)
    return f"{numbers} {' x '.join(words)}"


def _range(axis: Axis, i: int) -> str:
    if not axis.traits.continuous:
        return repr(axis.value(i))
    low, high = edges_of(axis)[i : i + 2]
    return f"[{low:.6g}, {high:.6g})"


# The names of a fit's templates: what results in nested mappings are called by a pattern such as
# "{region}/{process}_{variation}".

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


T = TypeVar("T")

_DO = ("error", "warn", "ignore")
_PROCESS = "process"
"""The field of what is added up in a region, which the other fields name."""
_TOLD = 5
"""Findings that an error or warnings name."""


@short_errors
def templates(
    results: Mapping[Any, Histograms],
    path: str | PathLike[str],
    name: str = "{region}/{process}_{variation}",
    *,
    levels: Sequence[str] | None = None,
    rename: Mapping[str, str] | Callable[[str], str] | None = None,
    negative: str = "error",
    empty: str = "warn",
) -> list[str]:
    """Write histograms with the names that a fit expects to a ROOT file.

    Combine, TRExFitter, pyhf and cabinetry read such files. Histograms keep their errors: book them
    with a weight, or with `storage="Weight"`.

    Parameters
    ----------
    results
        Nested mappings: their keys are the fields of `name`, level by level. At the bottom are
        histograms, `Variations` of them, or bookings, which one pass computes. For data, only the
        nominal histograms are written. Data are the processes `data` and `data_obs`, and the
        samples whose metadata say so (`is_mc` is false, or `is_data` is true). If a category axis
        has the name of a field (`process`, or `variation`), the histogram is split into its
        categories.
    path
        The `.root` file. It replaces an older one when it is complete.
    name
        The pattern of the names. Slashes make folders. The name of the nominal histogram leaves out
        `{variation}` and the character that joins it.
    levels
        The fields in the order of the levels of `results`, if that is not the pattern's order:
        `["process", "region"]` for results by sample.
    rename
        Names of variations: a mapping or a function. Other variations get the names that Combine
        uses: `jes:up` becomes `jesUp`, `jes:down` becomes `jesDown`.
    negative
        The action for bins below zero: "error", "warn", "ignore", or "clip", which writes 0 and
        keeps the errors. Fits of counts do not accept negative bins.
    empty
        The action for empty bins and histograms; in variations, for bins that are empty in only one
        of the variation and the nominal histogram. Many fits fail if a bin is empty in all
        processes.

    Returns
    -------
    list of str
        The names of the histograms, in the file's order.

    Raises
    ------
    QueryError
        If the names do not fit the results, or are not different; if bins are not numbers or are
        negative (the error names their edges); if a variation has other bins than the nominal
        histogram; or if two processes with otherwise equal fields have different bins.
    UnsupportedError
        If a result is not a histogram of one to three dimensions.

    Examples
    --------
    >>> varied = events.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})
    >>> met = varied.hist("MET_pt", bins=(3, 0, 90), storage="Weight")
    >>> tm.templates({"signal_region": {"ttbar": met}}, "shapes.root")
    ['signal_region/ttbar', 'signal_region/ttbar_MET_ptUp', 'signal_region/ttbar_MET_ptDown']
    """
    path = local_path(path)
    if not path.endswith(".root"):
        raise UnsupportedError(f"templates are in a .root file, not in {path}")
    for option, action, known in (("negative", negative, (*_DO, "clip")), ("empty", empty, _DO)):
        if not isinstance(action, str) or action not in known:
            words = ", ".join(f'"{each}"' for each in known)
            raise QueryError(f"{option}= is one of {words}, not {action!r}")
    compute(results)
    nominal, varied = named(results, Pattern.parsed(name), levels, renamer(rename))
    if negative == "clip":
        nominal = {own: _clipped(each) for own, each in nominal.items()}
        varied = {own: (of, _clipped(each)) for own, (of, each) in varied.items()}
    _act(findings(nominal, varied), {"bad": "error", "negative": negative, "empty": empty})
    whole = {
        own: histogram
        for base in nominal
        for own, histogram in [
            (base, nominal[base]),
            *((own, histogram) for own, (of, histogram) in varied.items() if of == base),
        ]
    }
    _write(whole, path)
    return [*whole]


def named(
    results: Mapping[str, object],
    pattern: Pattern,
    levels: Sequence[str] | None,
    rename: Callable[[str], str],
) -> tuple[dict[str, Hist], dict[str, tuple[str, Hist]]]:
    """Nominal histograms by name, and those of variations with the names of their nominal ones."""
    nominal: dict[str, Hist] = {}
    varied: dict[str, tuple[str, Hist]] = {}
    regions: dict[tuple[str, ...], tuple[str, list[list[object]]]] = {}
    for labels, value, of_data in _leaves(results, levels_of(pattern, levels), {}, False):
        missing = [field for field in pattern.fields if field not in labels]
        if missing:
            raise QueryError(
                f"{pattern.text!r} has {{{missing[0]}}}, and the results below "
                f"{' / '.join(labels.values()) or 'the top'} have no such level: nest the results "
                f"by {' and '.join(pattern.fields)}, or give another name="
            )
        base = pattern.name(labels, None)
        _take(nominal, base, value.nominal, varied)
        if _PROCESS in labels:
            region = tuple(label for field, label in labels.items() if field != _PROCESS)
            bins = bins_of(value.nominal)
            first, expected = regions.setdefault(region, (base, bins))
            if bins != expected:
                raise QueryError(
                    f"{base} has other bins than {first}: a fit adds the processes of a region up, "
                    "bin by bin"
                )
        is_data = of_data or is_measured(labels.get(_PROCESS, ""), {})
        for variation, variation_histogram in value.items():
            if variation == NOMINAL or is_data:
                continue
            if not pattern.has_variation:
                raise QueryError(f"{pattern.text!r} has no {{{VARIATION}}}, and {base} has some")
            own = pattern.name(labels, rename(variation))
            if variation_histogram.axes != value.nominal.axes:
                raise QueryError(f"{own} has other bins than {base}")
            _take(varied, own, (base, variation_histogram), nominal)
    if not nominal:
        raise QueryError("the results have no histograms")
    check_names({*nominal, *varied})
    return nominal, varied


def _take(into: dict[str, T], name: str, result: T, others: Mapping[str, object]) -> None:
    if name in into or name in others:
        raise QueryError(f"two histograms would have the name {name!r}: use rename=, or other keys")
    into[name] = result


def _leaves(
    value: object, levels: Sequence[str], labels: dict[str, str], of_data: bool
) -> Iterator[tuple[dict[str, str], Variations[Hist], bool]]:
    """The histograms with the labels of the mappings above them, and whether a sample above is of
    data."""
    if isinstance(value, Booking):
        value = value.value
    if isinstance(value, Mapping) and not isinstance(value, Variations):
        free = [level for level in levels if level not in labels]
        if not free:
            where = " / ".join(labels.values())
            raise QueryError(f"below {where} are more levels than the names have: {levels}")
        known = value.metadata if isinstance(value, ByDataset) else {}
        for key, inner in value.items():
            measured = of_data or (key in known and is_measured(str(key), known[key]))
            yield from _leaves(inner, levels, {**labels, free[0]: str(key)}, measured)
        return
    values = value if isinstance(value, Variations) else Variations({NOMINAL: value})
    for each in values.values():
        _check(each, labels)
    for field in levels:
        if field not in labels and (by := split(values, field)):
            for category, inner in by.items():
                yield from _leaves(inner, levels, {**labels, field: category}, of_data)
            return
    yield labels, systematic(values), of_data


def _check(value: object, labels: Mapping[str, str]) -> None:
    where = " / ".join(labels.values()) or "the result"
    if not hasattr(value, "storage_type"):
        raise UnsupportedError(f"{where} is a {type(value).__name__}, and no histogram")
    if is_profile(value):
        raise UnsupportedError(f"{where} is a profile: fits take counts and sums of weights")


def _clipped(histogram: Hist) -> Hist:
    """The histogram with 0 in place of what is negative."""
    import numpy as np

    clipped = histogram.copy()
    view = clipped.view(flow=True)
    values = view["value"] if view.dtype.names else view
    np.maximum(values, 0, out=values)
    return clipped


def _act(problems: Sequence[TemplateFinding], do: Mapping[str, str]) -> None:
    wrong = [each for each in problems if do[each.kind] == "error"]
    if wrong:
        lines = "; ".join(f"{each.name}: {each.words}" for each in wrong[:_TOLD])
        more = f"; and {len(wrong) - _TOLD} more" if len(wrong) > _TOLD else ""
        option = next((each.kind for each in wrong if each.kind != "bad"), "")
        hint = f'. {option}="warn" writes them nevertheless' if option else ""
        raise QueryError(f"a fit cannot take these templates: {lines}{more}{hint}")
    warned = [each for each in problems if do[each.kind] == "warn"]
    for each in warned[:_TOLD]:
        warn(f"template {each.name}: {each.words}")
    if len(warned) > _TOLD:
        more = f"templates: {len(warned) - _TOLD} more such findings; merge bins, or say "
        kinds = dict.fromkeys(f'{each.kind}="ignore"' for each in warned)
        warn(more + " and ".join(kinds))


def _write(histograms: Mapping[str, Hist], path: str) -> None:
    import uproot

    for own, histogram in histograms.items():
        check_exact(histogram, own)
    objects = {own: root_histogram(histogram, own) for own, histogram in histograms.items()}
    with (
        writing(path),
        whole_file(path) as whole,
        uproot.recreate(whole) as file,
    ):
        for own, each in objects.items():
            file[own] = each
