"""What can be booked, as data: histograms, numbers, values themselves, cut flows; and how the core
is asked for each. Pure: standard library, errors, expression, axes and steps only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Protocol

from ..errors import QueryError
from ..language.expression import Expression, column, parse
from ..quoting import unquoted
from .axes import Axis, FixedAxis
from .snapshot_target import Target

__all__ = [
    "Flow",
    "Hist",
    "Moments",
    "Quantiles",
    "Rows",
    "Scalar",
    "Unique",
    "Wanted",
    "named_columns",
]

MOST_UNIQUE = 100_000
"""Different values that `unique` gives where no other limit is set."""
MOST_BYTES = 4 << 30
"""Bytes that `arrays` and `take` keep where no other limit is set."""


class Wanted(Protocol):
    """A booking's description."""

    @property
    def title(self) -> str:
        """What it is, in a few words, for displays."""

    def expressions(self) -> tuple[Expression, ...]:
        """All that it looks at."""

    def to_json(self) -> dict[str, Any]:
        """As the core reads it (spec.rs, `Wanted`)."""


def _json(expr: Expression | None) -> dict[str, Any] | None:
    return None if expr is None else expr.to_json()


def _some(*exprs: Expression | None) -> tuple[Expression, ...]:
    return tuple(expr for expr in exprs if expr is not None)


@dataclass(frozen=True)
class Hist:
    """A histogram, or with a sample a profile. Jagged values fill once per item, the event's own
    once per item beside them."""

    exprs: tuple[Expression, ...]
    axes: tuple[Axis, ...]
    weight: Expression | None = None
    name: str | None = None
    labels: tuple[str | None, ...] = ()
    sample: Expression | None = None
    storage: str = "Double"

    @property
    def title(self) -> str:
        """Its name, or what it is filled with."""
        exprs = [expr.text for expr in (*_some(self.sample), *self.exprs)]
        return self.name or " : ".join(exprs)

    def expressions(self) -> tuple[Expression, ...]:
        """Values, sample, weight."""
        return self.exprs + _some(self.sample, self.weight)

    def to_json(self, axes: Sequence[FixedAxis] = ()) -> dict[str, Any]:
        """As the core reads it, with these axes."""
        fills = [
            {"axis": axis.spec, "expr": expr.to_json()}
            for axis, expr in zip(axes, self.exprs, strict=True)
        ]
        if self.sample is None:
            return {"kind": "hist", "axes": fills, "weight": _json(self.weight)}
        sample, weight = self.sample.to_json(), _json(self.weight)
        return {"kind": "profile", "axes": fills, "sample": sample, "weight": weight}


@dataclass(frozen=True)
class Scalar:
    """One number: `count`, or `sum`, `mean`, `min`, `max` of an expression; `weights`: the sums of
    the entries' weights and of their squares."""

    kind: str
    expr: Expression | None = None

    @property
    def title(self) -> str:
        """As it is called."""
        return self.kind if self.expr is None else f"{self.kind}({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """The one, if any."""
        return _some(self.expr)

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        if self.expr is None:
            return {"kind": self.kind}
        return {"kind": self.kind, "expr": self.expr.to_json()}


@dataclass(frozen=True)
class Moments:
    """`mean`, `var` or `std` of all values, each with its weight if there is one."""

    kind: str
    expr: Expression
    weight: Expression | None = None
    ddof: int = 0

    @property
    def title(self) -> str:
        """As it is called."""
        return f"{self.kind}({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """Value and weight."""
        return _some(self.expr, self.weight)

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"kind": "moments", "expr": self.expr.to_json(), "weight": _json(self.weight)}


@dataclass(frozen=True)
class Unique:
    """The different values, ascending. Only those beside which none of `beside` is missing."""

    expr: Expression
    limit: int = MOST_UNIQUE
    beside: tuple[Expression, ...] = ()

    @property
    def title(self) -> str:
        """As it is called."""
        return f"unique({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """The one, and those beside it."""
        return (self.expr, *self.beside)

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        beside = [expr.to_json() for expr in self.beside]
        asked = {"kind": "unique", "expr": self.expr.to_json(), "limit": self.limit}
        return {**asked, "beside": beside} if beside else asked


@dataclass(frozen=True)
class Quantiles:
    """Approximate quantiles; `single`: one number is wanted, not a list; `bounded`: of
    values however far apart, those next to nothing and beyond all measure each as one."""

    expr: Expression
    probabilities: tuple[float, ...]
    single: bool = False
    bounded: bool = False

    @property
    def title(self) -> str:
        """As it is called."""
        return f"approx_quantiles({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """The one."""
        return (self.expr,)

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        asked = {"probabilities": list(self.probabilities), "bounded": self.bounded}
        return {"kind": "quantiles", "expr": self.expr.to_json(), **asked}


@dataclass(frozen=True)
class Rows:
    """Values themselves, in the order of entries. `form`: `arrays` (records), `take` (the only
    column), `snapshot` (the `target`)."""

    form: str
    columns: tuple[tuple[str, Expression], ...]
    limit: int = MOST_BYTES
    target: Target | None = None

    @property
    def title(self) -> str:
        """As it is called."""
        if self.target is not None:
            return f"snapshot({self.target.path})"
        return f"{self.form}({', '.join(name for name, _ in self.columns)})"

    def expressions(self) -> tuple[Expression, ...]:
        """Of all columns."""
        return tuple(expr for _, expr in self.columns)

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        columns = [
            {"name": name, "expr": expr.to_json(), **({"found": True} if expr.found else {})}
            for name, expr in self.columns
        ]
        return {"kind": "rows", "columns": columns}


def named_columns(
    columns: Any, known: Callable[[], Iterable[str]]
) -> tuple[tuple[str, Expression], ...]:
    """Names and expressions from what a user gives: an expression, a list of them, or a mapping of
    names to them. An expression is its own name. A glob ("Jet_*") is all columns whose names it
    fits of those that `known` gives, in their order; what is listed besides is not listed again."""
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, Mapping):
        pairs = [(name, parse(text)) for name, text in columns.items()]
    else:
        pairs = _listed(list(columns), known)
    if not pairs:
        raise QueryError("name at least one column")
    names = [name for name, _ in pairs]
    if not all(isinstance(name, str) and name for name in names):
        raise QueryError("columns have names")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise QueryError(f"the column {twice!r} is listed twice")
    return tuple(pairs)


def _listed(texts: list[Any], known: Callable[[], Iterable[str]]) -> list[tuple[str, Expression]]:
    globs = {text: _fitting(text, known) for text in texts if _may_be_glob(text)}
    named = [(_name_of(text), parse(text)) for text in texts if globs.get(text) is None]
    written = dict.fromkeys(name for name, _ in named)
    rest, pairs = iter(named), []
    for text in texts:
        fitting = globs.get(text)
        if fitting is None:
            pairs.append(next(rest))
            continue
        # What is written itself is so where it is written.
        new = [name for name in fitting if name not in written]
        pairs += [(name, column(name, found=True)) for name in new]
        written.update(dict.fromkeys(new))
    return pairs


def _name_of(text: Any) -> Any:
    """What a column is called that is listed so: the name, where it is one in backticks."""
    name = unquoted(text) if isinstance(text, str) else None
    return text if name is None else name


def _may_be_glob(text: object) -> bool:
    return isinstance(text, str) and bool(re.fullmatch(r"[\w.#:]*[*?][\w.*?#:]*", text))


def _fitting(glob: str, known: Callable[[], Iterable[str]]) -> list[str] | None:
    """The names that fit; None where it is a product of columns. Raises QueryError without any."""
    names = list(known())
    factors = re.split(r"[*?]+", glob)
    if "?" not in glob and all(word in names or word.isdigit() for word in factors):
        return None
    found = [name for name in names if fnmatchcase(name, glob)]
    if not found:
        raise QueryError(f"no column's name fits {glob!r}", text=glob, span=(0, len(glob)))
    return found


@dataclass(frozen=True)
class Flow:
    """How many entries each named filter lets through. What it asks of the core depends on the
    filters above: see planning.py."""

    weight: Expression | None = None

    @property
    def title(self) -> str:
        """As it is called."""
        return "report"

    def expressions(self) -> tuple[Expression, ...]:
        """The weight, if any."""
        return _some(self.weight)

    def to_json(self) -> dict[str, Any]:
        """As the core reads the question for one place in the flow."""
        if self.weight is None:
            return {"kind": "count"}
        return {"kind": "weights", "expr": self.weight.to_json()}
