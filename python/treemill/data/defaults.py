"""Defaults for branches that a file lacks: the user's choice, and the columns made of it.

Pure: knows names, values and kinds of columns, no file. The choice itself, which is sent to
workers, needs only the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..errors import QueryError
from ..frozen import frozen
from .kinds import STRING, Kind, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Column
    from .column_source import Node

__all__ = ["ERROR", "Default", "Missing", "MissingDefaults", "column", "one_entry", "policy"]

Scalar: TypeAlias = bool | int | float | str | None
Default: TypeAlias = Scalar | tuple[Scalar, ...]
"""What an entry counts as: a value, a list as a tuple, or None for a missing value."""


@frozen
class MissingDefaults:
    """Defaults by name or glob. A plain name has priority over globs, and the first glob that
    matches a branch over later ones."""

    defaults: tuple[tuple[str, Default], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are not globs."""
        return tuple(name for name, _ in self.defaults if not _is_glob(name))

    @property
    def has_globs(self) -> bool:
        """True if any of the names is a glob."""
        return len(self.names) < len(self.defaults)

    def named(self, branches: Callable[[], Iterable[str]]) -> dict[str, None]:
        """The branches with defaults, in order. A glob gives defaults to those of `branches` that
        it matches, which are asked for only then."""
        named = dict.fromkeys(self.names)
        if self.has_globs:
            named |= dict.fromkeys(name for name in branches() if self.has(name))
        return named

    def lacking(self, own: Container[str], others: Callable[[], Iterable[str]]) -> list[str]:
        """The branches with defaults that a file with the branches `own` lacks. A glob gives
        defaults to the branches of the first of the other files, `others`."""
        return [name for name in self.named(others) if name not in own]

    def has(self, branch: str) -> bool:
        """True if there is a default for the branch."""
        return self._find(branch) is not None

    def __getitem__(self, branch: str) -> Default:
        """Raises KeyError if there is none."""
        pair = self._find(branch)
        if pair is None:
            raise KeyError(branch)
        return pair[1]

    def _find(self, branch: str) -> tuple[str, Default] | None:
        """The name or glob that matches the branch, and its default."""
        plain = (each for each in self.defaults if each[0] == branch)
        globs = (d for d in self.defaults if _is_glob(d[0]) and fnmatchcase(branch, d[0]))
        return next(plain, None) or next(globs, None)


Missing: TypeAlias = Literal["error"] | Mapping[str, Scalar | Sequence[float]] | MissingDefaults
"""What users give as `missing=`: see `treemill.dataset`."""

ERROR = MissingDefaults()
"""A branch that a file lacks is an error."""


def policy(missing: object) -> MissingDefaults:
    """Understand what the user gives: "error", or a mapping of branch names or globs to defaults. A
    default is a number, a bool, a string, a list of numbers, or None for missing values."""
    if isinstance(missing, MissingDefaults):
        return missing
    if missing is None or (isinstance(missing, str) and missing == "error"):
        return ERROR
    if not isinstance(missing, Mapping):
        raise QueryError(
            'missing is "error" or a mapping of branches to defaults, such as {"Jet_btag": -1.0}, '
            f"not {missing!r}"
        )
    defaults = []
    for name, value in missing.items():
        if not isinstance(name, str):
            raise QueryError(f"the names in missing are strings, not {name!r}")
        defaults.append((name, _default(name, value)))
    return MissingDefaults(tuple(defaults))


def _default(name: str, value: object) -> Default:
    if not isinstance(value, (list, tuple)):
        return _scalar(name, value)
    items = tuple(_scalar(name, each) for each in value)
    if any(each is None or isinstance(each, str) for each in items):
        raise QueryError(f"the default of {name} is a list, whose items must be numbers")
    return items


def _scalar(name: str, value: object) -> Scalar:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a number of NumPy's
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise QueryError(f"the default of {name} is no text that can be written: {value!r}")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise QueryError(
        f"the default of {name} is a number, a bool, a string, a list of numbers or None, "
        f"not {type(value).__name__}"
    )


def column(
    name: str,
    value: Default,
    kind: Kind | None,
    length: int,
    counts: NDArray[np.generic] | None = None,
) -> Column:
    """A column of `length` times the default.

    `kind`: the kind of the branch in a file that has it. None: no file has it, and the value says
    the kind (float64 for None and an empty list). `counts`: one integer per entry, if the file has
    the branch that counts the list's items; a number is repeated that many times. Raises QueryError
    if the default does not fit the kind.
    """
    import numpy as np

    from .columns import empty, made, picked  # heavy: numpy

    kind = (_kind_of(value) if kind is None else kind).given()
    items: list[Scalar]
    if value is None:
        return picked(made(empty(kind)), np.full(length, -1))
    if kind.form == "list":
        return _lists(name, value, kind, length, counts)
    if kind.form == "array":
        items = [value] * kind.size if not isinstance(value, tuple) else list(value)
        if len(items) != kind.size:
            raise QueryError(f"the default of {name} needs {kind.size} items", branch=name)
        flat = _exactly(name, items * length, kind.item)
        return made(("regular", kind.size, length, flat))
    return picked(made(_exactly(name, [value], kind)), np.zeros(length, np.int64))


def one_entry(
    name: str, value: Default, kind: Kind | None, counter: str | None
) -> tuple[Column, str | None] | None:
    """The default of one entry, as the core repeats it: with a counter a list of one item, and the
    counter. `kind`, `counter`: those of the branch in a file that has it. None if the core cannot
    make the column by itself, or if the default does not fit, which making the column raises."""
    import numpy as np

    if value is None or isinstance(value, tuple):
        counter = None
    if counter is not None and (kind is None or kind.form != "list"):
        return None
    counts = None if counter is None else np.ones(1, np.int64)
    try:
        return column(name, value, kind, 1, counts), counter
    except QueryError:
        return None


def _lists(
    name: str, value: Default, kind: Kind, length: int, counts: NDArray[np.generic] | None
) -> Column:
    import numpy as np

    from .columns import made, picked  # heavy: numpy

    if isinstance(value, str) or (not isinstance(value, tuple) and counts is None):
        raise QueryError(
            f"{name} is a list ({kind}) with no counter in this file, so its default is a list, "
            f"such as [], not {value!r}",
            branch=name,
        )
    if isinstance(value, tuple):
        items = list(value)
        sizes, places = np.full(length, len(items)), np.tile(np.arange(len(items)), length)
    else:
        items, sizes = [value], np.asarray(counts, np.int64)
        places = np.zeros(int(sizes.sum()), np.int64)
    flat = picked(made(_exactly(name, items, kind.item)), places)
    offsets = np.zeros(length + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return made(("list", offsets, flat.nodes()))


def _exactly(name: str, values: Sequence[object], kind: Kind) -> Node:
    """A node of the values in this kind. Raises QueryError if it does not hold one exactly."""
    import numpy as np

    if not values:
        from .columns import empty  # heavy: numpy

        return empty(kind.given())
    fits = _FITS.get(kind.form if kind.form != "number" else kind.dtype.rstrip("123468"))
    for each in values:
        if fits is None or not fits(each, kind):
            raise QueryError(
                f"the default of {name}, {each!r}, is no value of its type {kind}", branch=name
            )
    if kind.form == "number":
        return np.array(values, kind.dtype)
    texts = [str(text).encode() for text in values]
    offsets = np.cumsum([0, *map(len, texts)])
    return "string", offsets, np.frombuffer(b"".join(texts), np.uint8)


def _is_float(value: object, kind: Kind) -> bool:
    # A default such as -99.9 stands for the nearest float32; 1e300 stands for none.
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return not math.isfinite(value) or abs(value) <= _LARGEST[kind.bits]


def _is_integer(value: object, kind: Kind) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    low = -(1 << (kind.bits - 1)) if kind.is_signed else 0
    return low <= value < low + (1 << kind.bits)


_LARGEST = {16: 65504.0, 32: 3.4028234663852886e38, 64: math.inf}
_FITS: dict[str, Callable[[object, Kind], bool]] = {
    "float": _is_float,
    "int": _is_integer,
    "uint": _is_integer,
    "bool": lambda value, kind: isinstance(value, bool),
    "string": lambda value, kind: isinstance(value, str),
}


def _kind_of(value: Default) -> Kind:
    if isinstance(value, tuple):
        kinds = {_kind_of(each).dtype for each in value}
        return Kind("list", parts=(number(kinds.pop() if len(kinds) == 1 else "float64"),))
    if isinstance(value, str):
        return STRING
    return number(_TYPES[type(value)])


_TYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64", type(None): "float64"}


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[")
