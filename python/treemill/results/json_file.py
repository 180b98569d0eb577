"""Results as JSON: mappings are objects, histograms are in UHI's form, and what JSON has no form
for is an object with the key "treemill". Other programs' histograms in UHI's form are read, too.
"""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING

from .._system.files import parsed, whole
from ..errors import FormatError, SourceError
from .result_tree import (
    Json,
    ResultGroup,
    ResultLeaf,
    ResultTree,
    described,
    from_description,
    unsupported,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["decoded", "encoded", "read", "write"]

_MARK = "treemill"
_UHI = "uhi_schema"
_INSTEAD = "a .h5 file holds it"
_LEVEL = 4
"""The level of compression. The highest one takes ten times as long for a few per cent."""


def write(results: ResultTree, path: str) -> None:
    """Write the results; compressed if the name ends in .gz."""
    text = json.dumps(encoded(results), allow_nan=False, separators=(",", ":")) + "\n"
    data = text.encode()
    # Without a time, so that equal results are equal files.
    with open(path, "wb") as file:
        file.write(gzip.compress(data, _LEVEL, mtime=0) if path.endswith(".gz") else data)


def read(path: str) -> ResultTree:
    """Read what `write`, hist or another program wrote. Raises FormatError for what is not JSON."""
    try:
        with open(path, "rb") as file:
            document = parsed(whole(file), path)
    except ValueError as error:
        raise FormatError(f"not a file of results in JSON: {error}", file=path) from error
    except OSError as error:
        raise SourceError(f"cannot read: {error.strerror or error}", file=path) from error
    try:
        return decoded(document)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(f"damaged results: {error!r}", file=path) from error


def encoded(results: ResultTree, path: str = "") -> object:
    """Returns what the json module writes."""
    if isinstance(results, ResultLeaf):
        return _of_leaf(results, path)
    items = {
        name: encoded(each, f"{path}/{name}" if path else name)
        for name, each in results.items.items()
    }
    if results.kind == "list":
        return list(items.values())
    if results.kind == "mapping" and not {_MARK, _UHI} & items.keys():
        return items
    return {_MARK: results.kind, "facts": results.facts, "items": items}


def _of_leaf(leaf: ResultLeaf, path: str) -> object:
    if leaf.kind == "histogram":
        return _finite(described(leaf.value, path), path)
    if leaf.kind == "array":
        import numpy as np

        if leaf.value.dtype.kind == "f" and leaf.value.dtype.itemsize > 8:
            raise unsupported(path, f"an array of {leaf.value.dtype}", _INSTEAD)
        flat = leaf.value.reshape(-1)
        is_finite = flat.dtype.kind != "f" or np.isfinite(flat).all()
        shape = list(leaf.value.shape)
        return {
            _MARK: "array",
            "dtype": leaf.value.dtype.str,
            "shape": shape,
            "values": flat.tolist() if is_finite else [_number(v) for v in flat.tolist()],
        }
    if isinstance(leaf.value, float) and not math.isfinite(leaf.value):
        return {_MARK: "number", "value": _number(leaf.value)}
    if not isinstance(leaf.value, (bool, int, float, str, type(None))):
        raise unsupported(path, f"a number of type {type(leaf.value).__name__}", _INSTEAD)
    return leaf.value


def _number(value: object) -> object:
    """JSON has no numbers that are not finite: these are words."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _finite(value: object, path: str) -> object:
    """Lists of UHI's arrays. Raises UnsupportedError for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(each, path) for name, each in value.items()}
    if hasattr(value, "tolist"):
        return _numbers(value, path)
    if isinstance(value, list):
        return [_finite(each, path) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise unsupported(path, f"a histogram with {value}, which JSON cannot hold", _INSTEAD)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise unsupported(path, f"whose metadata have a {type(value).__name__}", "leave it out")


def _numbers(values: object, path: str) -> object:
    """The numbers of an array, which is looked at as a whole: histograms have millions of bins."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return _finite(array.tolist(), path)
    return array.tolist()


def decoded(document: object) -> ResultTree:
    """The outline of what the json module read."""
    if document is None:
        return ResultLeaf("nothing", None)
    if isinstance(document, str):
        return ResultLeaf("text", document)
    if isinstance(document, list):
        return ResultGroup("list", {str(i): decoded(each) for i, each in enumerate(document)})
    if not isinstance(document, dict):
        return ResultLeaf("number", document)
    if isinstance(document.get(_UHI), int):
        return ResultLeaf("histogram", from_description(_with_arrays(document)))
    kind = document.get(_MARK)
    if kind is None:
        return ResultGroup("mapping", {name: decoded(each) for name, each in document.items()})
    if kind == "number":
        return ResultLeaf("number", float(document["value"]))
    if kind == "array":
        return ResultLeaf("array", _array(document))
    items = {name: decoded(each) for name, each in document["items"].items()}
    return ResultGroup(kind, items, document["facts"])


def _with_arrays(description: Json) -> Json:
    """Lists of a histogram's description as arrays."""
    from uhi.io.json import object_hook

    axes = [object_hook(dict(axis)) for axis in description["axes"]]
    return {**description, "axes": axes, "storage": object_hook(dict(description["storage"]))}


def _array(document: Json) -> NDArray[np.generic]:
    import numpy as np

    values = document["values"]
    kind = np.dtype(document["dtype"])
    if kind.kind == "f":
        values = [float(value) for value in values]
    return np.array(values, kind).reshape(document["shape"])
