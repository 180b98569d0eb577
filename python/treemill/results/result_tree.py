"""Results as a tree of groups and leaves that every format writes in its own way, and back. Knows
which objects there are; knows no file.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import UnsupportedError, warn
from ..pictures.histogram_labels import edges_of
from ..query.booking import Booking
from ..query.cutflow import Cut, CutFlow
from .by_dataset import ByDataset
from .variations import Variations

if TYPE_CHECKING:
    import boost_histogram
    import numpy as np
    from hist import Hist
    from numpy.typing import NDArray

    from ..data.array_columns import SupportsArray

    Results: TypeAlias = (
        boost_histogram.Histogram
        | Booking[Any]
        | CutFlow
        | SupportsArray
        | np.generic
        | float
        | str
        | Mapping[str, "Results"]
        | Sequence["Results"]
        | None
    )
    """What `save` takes, nested as deep as users like."""

__all__ = [
    "Json",
    "ResultGroup",
    "ResultLeaf",
    "ResultTree",
    "described",
    "first_few",
    "from_description",
    "rebuilt",
    "result_tree",
    "unsupported",
]


Json: TypeAlias = dict[str, Any]
"""An object of JSON. It contains Any because its kind says what is in it."""


@dataclass(frozen=True)
class ResultLeaf:
    """One object: `kind` is "histogram", "number", "text", "array" or "nothing"."""

    kind: str
    value: Any


@dataclass
class ResultGroup:
    """Objects by name. `kind` says what they make together."""

    kind: str = "mapping"
    items: dict[str, ResultTree] = field(default_factory=dict)
    facts: Json = field(default_factory=dict)
    """What else there is to know, as JSON has it."""


ResultTree: TypeAlias = ResultGroup | ResultLeaf


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def unsupported(path: str, what: str, instead: str) -> UnsupportedError:
    """The error that says which result cannot be written, and what to do."""
    place = path.encode(errors="backslashreplace").decode() or "the result"
    return UnsupportedError(f"cannot save {place}, {what}: {instead}")


def result_tree(results: object, path: str = "") -> ResultTree:
    """The outline of results. A booking is computed. Raises UnsupportedError, which names the place
    in the results, for objects that no format holds."""
    if isinstance(results, Booking):
        results = results.value
    kind = type(results)
    if results is None:
        return ResultLeaf("nothing", None)
    if isinstance(results, (bool, int, float)):
        return ResultLeaf("number", results)
    if isinstance(results, str):
        return ResultLeaf("text", str(results))
    if isinstance(results, CutFlow):
        return _of_cuts(results)
    if isinstance(results, Variations):
        facts = {"unchanged": sorted(results.unchanged)}
        return ResultGroup("variations", _items(results.items(), path), facts)
    if isinstance(results, ByDataset):
        of_each: Json = {"metadata": _json(results.metadata, path)}
        return ResultGroup("by_dataset", _items(results.items(), path), of_each)
    if isinstance(results, Mapping):
        return ResultGroup("mapping", _items(results.items(), path))
    if isinstance(results, (list, tuple)):
        named = ((str(i), each) for i, each in enumerate(results))
        return ResultGroup("tuple" if isinstance(results, tuple) else "list", _items(named, path))
    library = kind.__module__.partition(".")[0]
    make = _BY_LIBRARY.get(library)
    if make is None:
        own = _INSTEAD.get(kind.__name__) if library == "treemill" else None
        raise unsupported(
            path,
            f"a {kind.__name__}",
            own
            or "results are histograms, numbers, texts, arrays, cut flows, and mappings and lists "
            "of these",
        )
    return make(results, path)


def _json(metadata: object, path: str) -> object:
    """Metadata as JSON has them. Raises UnsupportedError for what it has no form for."""
    try:
        return json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError) as error:
        what = f"whose metadata have something that JSON does not hold ({error})"
        raise unsupported(path, what, "leave it out, or save dict(results)") from error


def _items(pairs: Iterable[tuple[object, object]], path: str) -> dict[str, ResultTree]:
    items = {}
    for name, value in pairs:
        if not isinstance(name, str):
            raise unsupported(f"{path}[{name!r}]", "whose key is not a string", "name it by one")
        items[name] = result_tree(value, f"{path}/{name}" if path else name)
    return items


def _of_histogram(histogram: object, path: str) -> ResultTree:
    from hist import Hist

    if not hasattr(histogram, "storage_type"):
        raise unsupported(path, f"a {type(histogram).__name__}", "give its histograms in a mapping")
    return ResultLeaf("histogram", histogram if hasattr(histogram, "show") else Hist(histogram))


def _of_numpy(values: object, path: str) -> ResultTree:
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        raise unsupported(
            path,
            "a masked array, whose mask no format keeps",
            "fill it, values.filled(…), or save values.data and values.mask",
        )
    if isinstance(values, np.ndarray) and not values.ndim:
        values = values[()]
    if isinstance(values, np.generic):
        if values.dtype.kind in "biuf":
            return ResultLeaf("number", values.item())
        if values.dtype.kind == "U":
            return ResultLeaf("text", str(values))
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if not isinstance(values, np.ndarray) or kind is None or kind not in "biufU":
        what = f"a {type(values).__name__} of {getattr(values, 'dtype', 'another kind')}"
        raise unsupported(path, what, "arrays are of numbers, bools or texts")
    return ResultLeaf("array", np.ascontiguousarray(values))


def _of_awkward(array: object, path: str) -> ResultTree:
    import awkward as ak

    if not isinstance(array, ak.Array):
        what = f"an awkward {type(array).__name__}"
        raise unsupported(path, what, "save a mapping of its fields, or an array")
    form, length, buffers = ak.to_buffers(ak.to_packed(array))
    items: dict[str, ResultTree] = {
        name: ResultLeaf("array", each) for name, each in buffers.items()
    }
    return ResultGroup("awkward", items, {"form": form.to_json(), "length": int(length)})


_BY_LIBRARY: dict[str, Callable[[object, str], ResultTree]] = {
    "hist": _of_histogram,
    "boost_histogram": _of_histogram,
    "numpy": _of_numpy,
    "awkward": _of_awkward,
}

_INSTEAD = {
    "LumiSections": 'sections.save("lumi.json") writes what lumi_mask reads, and '
    "sections.to_json() is a mapping that save() takes",
    "SnapshotFile": "its rows are in a file already, of which save() takes the path, file.path",
}
"""What to write for objects of treemill that no format holds."""

_COLUMNS = ("total", "passed", "total_variance", "passed_variance")
_row = operator.attrgetter(*_COLUMNS)


def _of_cuts(cuts: CutFlow) -> ResultGroup:
    import numpy as np

    items: dict[str, ResultTree] = {}
    for column, values in zip(_COLUMNS, zip(*map(_row, cuts), strict=True), strict=False):
        whole = all(isinstance(value, int) for value in values)
        items[column] = ResultLeaf("array", np.array(values, np.int64 if whole else np.float64))
    return ResultGroup("cutflow", items, {"names": [cut.name for cut in cuts]})


def rebuilt(stored: ResultTree) -> object:
    """The results of an outline."""
    if isinstance(stored, ResultLeaf):
        return stored.value
    make = _MAKERS.get(stored.kind)
    if make is None:
        raise UnsupportedError(
            f"results of kind {stored.kind!r} are not known: a later treemill wrote"
        )
    return make(stored)


def _values(group: ResultGroup) -> dict[str, object]:
    return {name: rebuilt(each) for name, each in group.items.items()}


def _cuts(group: ResultGroup) -> CutFlow:
    columns: list[NDArray[np.generic]] = [
        group.items[column].value  # type: ignore[union-attr]
        for column in _COLUMNS
        if column in group.items
    ]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return CutFlow(
        [Cut(str(name), *row) for name, row in zip(group.facts["names"], rows, strict=True)]
    )


def _awkward(group: ResultGroup) -> object:
    import awkward as ak

    form = ak.forms.from_json(group.facts["form"])
    return ak.from_buffers(form, group.facts["length"], _values(group))


def _in_order(group: ResultGroup) -> list[object]:
    return [rebuilt(group.items[str(i)]) for i in range(len(group.items))]


_MAKERS: dict[str, Callable[[ResultGroup], object]] = {
    "mapping": _values,
    "list": _in_order,
    "tuple": lambda group: tuple(_in_order(group)),
    "variations": lambda group: Variations(_values(group), group.facts["unchanged"]),
    "by_dataset": lambda group: ByDataset(_values(group), group.facts["metadata"]),
    "cutflow": _cuts,
    "awkward": _awkward,
}


# A histogram as UHI's serialisation describes it, and back. Its variances of means are those that
# give the same histogram again.

_OFF = {"Mean": "_sum_of_deltas_squared", "WeightedMean": "_sum_of_weighted_deltas_squared"}

_ROUNDING = 1e-9
"""The part of a sum of squares up to which deviations are rounding."""


def described(histogram: Hist, path: str, *, is_all: bool = True) -> Json:
    """UHI's description, with NumPy arrays. Warns of what it does not hold, if the description is
    all that is kept. Raises UnsupportedError for a histogram that UHI cannot describe."""
    import numpy as np

    try:
        description: Json = histogram._to_uhi_()
        for axis, said in zip(histogram.axes, description["axes"], strict=True):
            if said["type"] == "variable":
                said["edges"] = np.array(edges_of(axis))
    except (AttributeError, TypeError, KeyError, NotImplementedError) as error:
        raise UnsupportedError(f"cannot save {path}: UHI does not describe it: {error}") from error
    storage = dict(description["storage"])
    if storage["type"] in ("mean", "weighted_mean"):
        # One value has no variance: it comes back as the sum of squared deviations, which is 0.
        variances = np.array(storage["variances"])
        is_known = np.isfinite(variances)
        storage["variances"] = np.where(is_known, variances, 0.0)
        # With weights of both signs there may be deviations, and no estimate of the variance.
        view = histogram.view(flow=True)
        off = np.abs(view[_OFF[histogram.storage_type.__name__]])
        weights = view["count" if storage["type"] == "mean" else "sum_of_weights"]
        with np.errstate(invalid="ignore"):  # where weights cancel hist may have an infinite mean
            lost = ~is_known & (off > _ROUNDING * np.abs(weights * view["value"] ** 2))
        if is_all and lost.any():
            warn(
                f"{path or 'the result'}: the squared deviations in {int(lost.sum())} bins are "
                "lost, because their weights give no variance: a .root file keeps them"
            )
    description["storage"] = storage
    return description


def from_description(description: Json) -> Hist:
    """The histogram, of which the description may have the filled bins only."""
    import numpy as np
    from hist import Hist

    if "index" in description["storage"]:
        from uhi.io import from_sparse  # younger than the rest of uhi.io

        description = from_sparse(description)
    histogram = Hist(description)
    off = _OFF.get(histogram.storage_type.__name__)
    if off is not None:  # a bin with at most one value has no deviations; its variance is NaN
        view = histogram.view(flow=True)
        view[off] = np.where(np.isfinite(view[off]), view[off], 0.0)
    return histogram
