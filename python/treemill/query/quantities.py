"""What can be booked, as data: histograms, numbers and cut flows (rows.py has values themselves);
and how the core is asked for each. Pure: standard library and the query's data only.

Bookings are not compared. Their classes say so (`eq=False`), here and in rows.py, because the code
for it would be made at each start of the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..errors import QueryError, unquoted, warn
from ..language.expression import Expression, column, is_product, may_be_product, parse
from ..language.tree_node import Tree
from .axes import Axis, FixedAxis

if TYPE_CHECKING:
    from .steps import QueriedBranch

__all__ = [
    "Flow",
    "Hist",
    "Known",
    "Moments",
    "Quantiles",
    "Quantity",
    "Scalar",
    "Sections",
    "Unique",
    "named_columns",
    "usable",
]

Known: TypeAlias = "Mapping[str, QueriedBranch | None]"
"""Columns by name; those whose values expressions cannot use have their branch."""

MOST_SECTIONS = 10_000_000
"""Luminosity sections that `lumi_sections` gives if no other limit is given: experiments have a
hundredth of that in a year."""
MOST_UNIQUE = 100_000
"""Different values that `unique` gives if no other limit is given."""


class Quantity(Protocol):
    """A booking's description."""

    @property
    def title(self) -> str:
        """What it is, in a few words, for displays."""

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that the quantity depends on."""

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads (spec.rs, `Wanted`)."""


def _json(expr: Expression | None) -> Tree | None:
    return None if expr is None else expr.to_json()


def _some(*exprs: Expression | None) -> tuple[Expression, ...]:
    return tuple([expr for expr in exprs if expr is not None])


@dataclass(frozen=True, eq=False)
class Hist:
    """A histogram, or with a sample a profile. A list fills once per item; one value per event
    beside it fills once per item too."""

    exprs: tuple[Expression, ...]
    axes: tuple[Axis, ...]
    weight: Expression | None = None
    name: str | None = None
    labels: tuple[str | None, ...] = ()
    sample: Expression | None = None
    storage: str = "Double"
    stack: str | None = None
    """The item of the metadata by which the samples of a fileset are stacked in one histogram;
    None: there is a histogram for each."""
    varied: bool = False
    """Whether variations are stacked in one histogram."""

    @property
    def title(self) -> str:
        """The histogram's name, or else its expressions."""
        exprs = [expr.text for expr in (*_some(self.sample), *self.exprs)]
        return self.name or " : ".join(exprs)

    def expressions(self) -> tuple[Expression, ...]:
        """Values, sample, weight."""
        return self.exprs + _some(self.sample, self.weight)

    def to_json(self, axes: Sequence[FixedAxis] = ()) -> dict[str, object]:
        """Gives the form that the core reads, with these axes."""
        fills = [
            {"axis": axis.spec, "expr": expr.to_json()}
            for axis, expr in zip(axes, self.exprs, strict=True)
        ]
        if self.sample is None:
            weight = _json(self.weight)
            asked: dict[str, object] = {"kind": "hist", "axes": fills, "weight": weight}
            has_squares = self.weight is None or self.storage == "Weight"
            return asked if has_squares else {**asked, "squares": False}
        sample, weight = self.sample.to_json(), _json(self.weight)
        return {"kind": "profile", "axes": fills, "sample": sample, "weight": weight}


@dataclass(frozen=True, eq=False)
class Scalar:
    """One number: `count`, or `sum`, `mean`, `min`, `max`, `extent` of an expression; or `weights`,
    the sums of the entries' weights and of their squares."""

    kind: str
    expr: Expression | None = None

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return self.kind if self.expr is None else f"{self.kind}({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """The expression, if any."""
        return _some(self.expr)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        if self.expr is None:
            return {"kind": self.kind}
        return {"kind": self.kind, "expr": self.expr.to_json()}


@dataclass(frozen=True, eq=False)
class Moments:
    """`mean`, `var` or `std` of all values, each with its weight if there is one."""

    kind: str
    expr: Expression
    weight: Expression | None = None
    ddof: int = 0

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return f"{self.kind}({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """Value and weight."""
        return _some(self.expr, self.weight)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        return {"kind": "moments", "expr": self.expr.to_json(), "weight": _json(self.weight)}


@dataclass(frozen=True, eq=False)
class Unique:
    """The different values, ascending, of entries and items for which no value of `beside` is
    missing."""

    expr: Expression
    limit: int = MOST_UNIQUE
    beside: tuple[Expression, ...] = ()

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return f"unique({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """The expression, and those beside it."""
        return (self.expr, *self.beside)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        beside = [expr.to_json() for expr in self.beside]
        asked = {"kind": "unique", "expr": self.expr.to_json(), "limit": self.limit}
        return {**asked, "beside": beside} if beside else asked


@dataclass(frozen=True, eq=False)
class Sections:
    """The luminosity sections of the entries. `number`: the run and the section as one integer."""

    number: Expression
    limit: int

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return "lumi_sections()"

    def expressions(self) -> tuple[Expression, ...]:
        """The number."""
        return (self.number,)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        return Unique(self.number, self.limit).to_json()


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Approximate quantiles. `single`: the value is one number, not a list. `bounded`: tiny values
    count as one value and huge values as another, so that the memory is bounded."""

    expr: Expression
    probabilities: tuple[float, ...]
    single: bool = False
    bounded: bool = False

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return f"approx_quantiles({self.expr.text})"

    def expressions(self) -> tuple[Expression, ...]:
        """The expression."""
        return (self.expr,)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        asked = {"probabilities": list(self.probabilities), "bounded": self.bounded}
        return {"kind": "quantiles", "expr": self.expr.to_json(), **asked}


def named_columns(
    columns: str | Iterable[str] | Mapping[str, str],
    known: Callable[[], Known],
    whole: Mapping[str, Mapping[str, Expression]] = MappingProxyType({}),
) -> tuple[tuple[str, Expression], ...]:
    """Makes names and expressions of what a user gives: an expression, a list of them, or a mapping
    of names to them. An expression is its own name. A glob ("Jet_*") stands for all columns of
    `known` whose names fit, in their order, without those that are listed themselves, and with a
    warning without those that expressions cannot use. A text of `whole` stands for its columns in
    the same way."""
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, Mapping):
        pairs = [(name, parse(text)) for name, text in columns.items()]
    elif isinstance(columns, Iterable):
        pairs = _listed(list(columns), known, whole)
    else:
        raise QueryError(
            "columns are an expression, a list of expressions and globs, or a mapping of names to "
            f"expressions, not {columns!r:.60}"
        )
    if not pairs:
        raise QueryError("name at least one column")
    names = [name for name, _ in pairs]
    if not all(isinstance(name, str) and name for name in names):
        raise QueryError("the names of columns are strings, and not empty")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise QueryError(f"the column {twice!r} is listed twice")
    return tuple(pairs)


def _listed(
    texts: list[str],
    known: Callable[[], Known],
    whole: Mapping[str, Mapping[str, Expression]],
) -> list[tuple[str, Expression]]:
    several: dict[str, Mapping[str, Expression] | None] = {
        text: _fitting(text, known) for text in texts if may_be_glob(text)
    }
    several.update(whole)
    named = [(_name_of(text), parse(text)) for text in texts if several.get(text) is None]
    written = dict.fromkeys(name for name, _ in named)
    rest, pairs = iter(named), []
    for text in texts:
        fitting = several.get(text)
        if fitting is None:
            pairs.append(next(rest))
            continue
        # A column that is listed itself has its place there.
        new = {name: expr for name, expr in fitting.items() if name not in written}
        pairs += new.items()
        written.update(dict.fromkeys(new))
    return pairs


def _name_of(text: str) -> str:
    """The name of a column that is listed so, without backticks."""
    name = unquoted(text) if isinstance(text, str) else None
    return text if name is None else name


def may_be_glob(text: object) -> bool:
    return isinstance(text, str) and bool(re.fullmatch(r"[\w.#:]*[*?][\w.*?#:]*", text))


def _fitting(glob: str, known: Callable[[], Known]) -> dict[str, Expression] | None:
    """The columns that fit; None for a product of columns. Raises QueryError if no name fits."""
    names = known()
    if is_product(glob, names):
        return None
    matches = {name: branch for name, branch in names.items() if fnmatchcase(name, glob)}
    if not matches and may_be_product(glob, names):
        return None
    columns = usable(glob, matches)
    if not columns:
        raise QueryError(f"no column's name fits {glob!r}", text=glob, span=(0, len(glob)))
    return columns


def usable(text: str, matches: Known) -> dict[str, Expression]:
    """The columns that a text stands for, with a warning without those that expressions cannot
    use."""
    left = [_left(name, branch) for name, branch in matches.items() if branch is not None]
    if left:
        message = f"{text!r} leaves out what expressions cannot use: {', '.join(left)}"
        warn(message)
    return {name: column(name, found=True) for name, branch in matches.items() if branch is None}


def _left(name: str, branch: QueriedBranch) -> str:
    is_member = name != branch.name
    return f"{name} ({f'a member of {branch.cpp_type}' if is_member else branch.reads_as})"


@dataclass(frozen=True, eq=False)
class Flow:
    """How many entries each named filter lets through. planning.py asks the core for each
    filter."""

    weight: Expression | None = None
    first: int = 0
    """The named filters before it that are left out."""

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return "report"

    def expressions(self) -> tuple[Expression, ...]:
        """The weight, if any."""
        return _some(self.weight)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads, for one filter."""
        if self.weight is None:
            return {"kind": "count"}
        return {"kind": "weights", "expr": self.weight.to_json()}
