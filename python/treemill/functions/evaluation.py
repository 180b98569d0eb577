"""Arguments of functions, from NumPy, awkward and Python, for the core's buffers, and results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._system.files import unpacked
from ..data import source
from ..errors import FormatError, QueryError

if TYPE_CHECKING:
    import awkward as ak
    from awkward.contents import Content
    from numpy.typing import NDArray

__all__ = ["evaluated"]

# The content of a document that a user gives by its path, by its URL, or as it is.

Given: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview
"""A path, a URL, or the content itself."""

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Document:
    """A document."""

    content: bytes
    """Not compressed."""
    name: str
    """What messages call it."""


def read_document(document: Given, most: int) -> Document:
    """Returns what is there, unzipped. `most`: bytes that it may have then. Raises QueryError for
    what is neither a path nor a content."""
    name = "the given bytes"
    if isinstance(document, (bytes, bytearray, memoryview)):
        content = bytes(document)
    elif isinstance(document, str) and ("\n" in document or document.lstrip().startswith("{")):
        name, content = "the given text", document.encode()
    elif not isinstance(document, (str, os.PathLike)):
        raise QueryError(
            f"a document is given by its path, by its URL, or as its content, not as "
            f"{type(document).__name__}: save it in a file, and give the path"
        )
    else:
        name = os.fspath(document)
        content = source.content(source.address(name))
    return Document(_unzipped(content, name, most), name)


def _unzipped(content: bytes, name: str, most: int) -> bytes:
    if not content.startswith(_GZIP):
        if len(content) > most:
            raise FormatError(f"{name} has more than {most} bytes")
        return content
    try:
        return unpacked(content, most)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None


if TYPE_CHECKING:
    Argument: TypeAlias = str | float | int | NDArray[np.generic] | ak.Array
    Result: TypeAlias = float | NDArray[np.float64] | ak.Array

_DTYPES = {"real": np.float64, "int": np.int64}

Evaluate = Callable[[list[object], "NDArray[np.float64]"], None]
"""Writes the results for these arguments into an array."""


def evaluated(evaluate: Evaluate, types: Sequence[str], arguments: Sequence[Argument]) -> Result:
    """The values of a function of inputs of these types (`real`, `int`, `string`)."""
    if len(types) != len(arguments):
        got, wanted = len(arguments), len(types)
        raise QueryError(f"Incorrect number of inputs (got {got}, expected {wanted})")
    arrays = [each for each in arguments if not isinstance(each, (str, int, float))]
    if any(type(each).__module__.startswith("awkward") for each in arrays):
        return _nested(evaluate, types, arguments)
    shape = np.broadcast_shapes(*(np.shape(each) for each in arrays))
    out = np.empty(shape)
    values = [
        _argument(argument, kind, shape) for argument, kind in zip(arguments, types, strict=True)
    ]
    flat = out.reshape(-1)
    evaluate(values, flat)
    return out if arrays else float(flat[0])


def _argument(argument: Argument, kind: str, shape: tuple[int, ...]) -> object:
    if isinstance(argument, str):
        if kind != "string":
            raise QueryError(f"a string is given for an input of type {kind}")
        return argument
    dtype = _DTYPES.get(kind)
    if dtype is None:
        raise QueryError("this input is a string; only expressions take arrays of strings")
    values = np.asarray(argument)
    wrong = not np.issubdtype(values.dtype, np.integer) and values.dtype != bool
    if kind == "int" and wrong and values.size:  # an empty array may have no type of its own
        what = "of more than 64 bits" if values.dtype == object else "a real number"
        raise QueryError(f"this input is an integer, and the argument is {what}")
    if values.ndim == 0:
        return dtype(values).item()
    return np.ascontiguousarray(np.broadcast_to(values, shape), dtype).reshape(-1)


def _nested(evaluate: Evaluate, types: Sequence[str], arguments: Sequence[Argument]) -> Result:
    import awkward as ak

    places = [i for i, each in enumerate(arguments) if not isinstance(each, (str, int, float))]
    arrays = ak.broadcast_arrays(*(arguments[i] for i in places))

    def leaves(given: Content | Sequence[Content], **_: object) -> Content | None:
        layouts = given if isinstance(given, Sequence) else (given,)  # of one array it is itself
        if not all(layout.is_numpy for layout in layouts):
            return None
        values = list(arguments)
        for place, layout in zip(places, layouts, strict=True):
            values[place] = ak.to_numpy(layout)  # the columns of a selector are virtual
        return ak.contents.NumpyArray(np.asarray(evaluated(evaluate, types, values)))

    array: ak.Array = ak.transform(leaves, *arrays)
    return array
