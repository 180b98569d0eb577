"""`templates`: nested results as the named histograms in a ROOT file that fits take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

from .._system.whole_file import whole_file
from ..errors import QueryError, UnsupportedError, local_path, writing
from ..faces import short_errors
from ..query.booking import Booking, compute
from .bins import bins_of
from .by_dataset import ByDataset, is_measured
from .categories import split, systematic
from .root_histograms import check_exact, is_profile, root_histogram
from .template_checks import TemplateFinding, findings
from .template_names import VARIATION, Pattern, check_names, levels_of, renamer
from .variations import NOMINAL, Variations

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["templates"]

T = TypeVar("T")

_DO = ("error", "warn", "ignore")
_PROCESS = "process"
"""The field of what is added up in a region, which the other fields name."""
_TOLD = 5
"""Findings that an error or warnings name."""


@short_errors
def templates(
    results: Mapping[str, object],
    path: str | PathLike[str],
    name: str = "{region}/{process}_{variation}",
    *,
    levels: Sequence[str] | None = None,
    rename: Mapping[str, str] | Callable[[str], str] | None = None,
    negative: str = "error",
    empty: str = "warn",
) -> list[str]:
    """Write histograms with the names that a fit expects to a ROOT file.

    Combine, TRExFitter, pyhf and cabinetry read such files. Histograms keep their errors: book
    weighted ones, or with `storage="Weight"`.

    Parameters
    ----------
    results
        Nested mappings: their keys are the fields of `name`, level by level. At the bottom are
        histograms, `Variations` of them, or bookings, which one pass computes. Of data only the
        nominal histograms are written: of the processes `data` and `data_obs`, and of data sets
        whose metadata say so (`is_mc` is false, or `is_data` is true). A category axis of a
        histogram that has a field's name (`process`, or `variation`) is taken apart into its
        categories.
    path
        The `.root` file. An older one is replaced when the new one is complete.
    name
        The pattern of the names. Slashes make folders. `{variation}` is left out of the nominal
        histogram's name, with the sign that joins it.
    levels
        The fields in the order of the levels of `results`, if that is not the pattern's order:
        `["process", "region"]` for results by data set.
    rename
        Names of variations: a mapping or a function. Others are named as in Combine: `jes:up` is
        `jesUp`, `jes:down` is `jesDown`.
    negative
        The action for bins below zero: "error", "warn", "ignore", or "clip", which writes 0 for
        them and keeps their errors. No fit of counts takes them.
    empty
        The same for empty bins and histograms; of variations, for bins that are empty in either
        the variation or the nominal one. Many fits fail if a bin is empty in all processes.

    Returns
    -------
    list of str
        The names of the histograms, in the file's order.

    Raises
    ------
    QueryError
        If the names do not fit the results, or are not different; if bins are no numbers or
        negative, with their edges; if a variation has other bins than the nominal histogram, or a
        `{process}` than another one with the same other fields.
    UnsupportedError
        For what is no histogram of one to three dimensions.

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
                f"{' / '.join(labels.values()) or 'the top'} have no such level"
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
        raise QueryError("there are no histograms in the results")
    check_names({*nominal, *varied})
    return nominal, varied


def _take(into: dict[str, T], name: str, result: T, others: Mapping[str, object]) -> None:
    if name in into or name in others:
        raise QueryError(f"two histograms would have the name {name!r}: use rename=, or other keys")
    into[name] = result


def _leaves(
    value: object, levels: Sequence[str], labels: dict[str, str], of_data: bool
) -> Iterator[tuple[dict[str, str], Variations[Hist], bool]]:
    """The histograms with the labels of the mappings above them, and whether a data set above is of
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
        warnings.warn(f"template {each.name}: {each.words}", stacklevel=4)
    if len(warned) > _TOLD:
        more = f"templates: {len(warned) - _TOLD} more such findings; merge bins, or say "
        kinds = dict.fromkeys(f'{each.kind}="ignore"' for each in warned)
        warnings.warn(more + " and ".join(kinds), stacklevel=4)


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
