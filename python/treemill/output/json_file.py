"""Results as JSON: mappings are objects, histograms are in UHI's form, and what JSON has no form
for is an object with the key "treemill". Other programs' histograms in UHI's form are read, too.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from typing import TYPE_CHECKING

from ..errors import FormatError, SourceError
from .outline import Json, Leaf, Outline, OutlineGroup, unsupported
from .uhi_description import described, from_description

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["decoded", "encoded", "read", "write"]

_MARK = "treemill"
_UHI = "uhi_schema"
_INSTEAD = "a .h5 file holds it"


def write(results: Outline, path: str) -> None:
    """Write the results; compressed if the name ends in .gz."""
    text = json.dumps(encoded(results), allow_nan=False, separators=(",", ":")) + "\n"
    data = text.encode()
    # Without a time, so that equal results are equal files.
    with open(path, "wb") as file:
        file.write(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)


def read(path: str) -> Outline:
    """Read what `write`, hist or another program wrote. Raises FormatError for what is not JSON."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        found = json.loads(gzip.decompress(data) if path.endswith(".gz") else data)
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, RecursionError) as error:
        raise FormatError(f"not a file of results in JSON: {error}", file=path) from error
    except OSError as error:
        raise SourceError(f"cannot read: {error.strerror or error}", file=path) from error
    try:
        return decoded(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"damaged results: {error!r}", file=path) from error


def encoded(made: Outline, path: str = "") -> object:
    """What the json module writes."""
    if isinstance(made, Leaf):
        return _of_leaf(made, path)
    items = {
        name: encoded(each, f"{path}/{name}" if path else name) for name, each in made.items.items()
    }
    if made.kind == "list":
        return list(items.values())
    if made.kind == "mapping" and not {_MARK, _UHI} & items.keys():
        return items
    return {_MARK: made.kind, "facts": made.facts, "items": items}


def _of_leaf(made: Leaf, path: str) -> object:
    if made.kind == "histogram":
        return _finite(described(made.value, path), path)
    if made.kind == "array":
        flat = made.value.reshape(-1).tolist()
        shape = list(made.value.shape)
        return {
            _MARK: "array",
            "dtype": made.value.dtype.str,
            "shape": shape,
            "values": [_number(v) for v in flat],
        }
    if isinstance(made.value, float) and not math.isfinite(made.value):
        return {_MARK: "number", "value": _number(made.value)}
    return made.value


def _number(value: object) -> object:
    """JSON has no numbers that are not finite: these are words."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _finite(value: object, path: str) -> object:
    """Lists of UHI's arrays. Raises UnsupportedError for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(each, path) for name, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_finite(each, path) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise unsupported(path, f"a histogram with {value}, which JSON has not", _INSTEAD)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise unsupported(path, f"whose metadata have a {type(value).__name__}", "leave it out")


def decoded(found: object) -> Outline:
    """The outline of what the json module read."""
    if found is None:
        return Leaf("nothing", None)
    if isinstance(found, str):
        return Leaf("text", found)
    if isinstance(found, list):
        return OutlineGroup("list", {str(i): decoded(each) for i, each in enumerate(found)})
    if not isinstance(found, dict):
        return Leaf("number", found)
    if isinstance(found.get(_UHI), int):
        return Leaf("histogram", from_description(_with_arrays(found)))
    kind = found.get(_MARK)
    if kind is None:
        return OutlineGroup("mapping", {name: decoded(each) for name, each in found.items()})
    if kind == "number":
        return Leaf("number", float(found["value"]))
    if kind == "array":
        return Leaf("array", _array(found))
    items = {name: decoded(each) for name, each in found["items"].items()}
    return OutlineGroup(kind, items, found["facts"])


def _with_arrays(found: Json) -> Json:
    """Lists of a histogram's description as arrays."""
    from uhi.io.json import object_hook

    axes = [object_hook(dict(axis)) for axis in found["axes"]]
    return {**found, "axes": axes, "storage": object_hook(dict(found["storage"]))}


def _array(found: Json) -> NDArray[np.generic]:
    import numpy as np

    values = found["values"]
    kind = np.dtype(found["dtype"])
    if kind.kind == "f":
        values = [float(value) for value in values]
    return np.array(values, kind).reshape(found["shape"])
