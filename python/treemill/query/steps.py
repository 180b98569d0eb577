"""The steps from a dataset to a booking: filters, defined columns, variations of columns; and which
bookings a variation changes.

Pure: standard library, errors and expressions only. The members of collections are not known here.
So a mention of `Jet` counts as one of each column that begins with `Jet_`, and a mention of
`Jet_pt` as one of `Jet`; a member that may refer to jets (`Muon.jet`) is a mention of `Jet`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from ..data.entry_list import SELECTED
from ..errors import QueryError, unquoted
from ..frozen import frozen
from ..language.expression import Constant, Expression, column, parse
from ..language.function_registry import ExternalFunction

__all__ = [
    "Arguments",
    "Define",
    "Defined",
    "Definition",
    "Filter",
    "Names",
    "Parameter",
    "Params",
    "QueriedBranch",
    "Relations",
    "Step",
    "Vary",
    "affects",
    "changed_after",
    "changed_by",
    "check_weight",
    "mention",
    "vary_step",
]

# What a query asks of a branch: data.branch.Branch has all of it, and much more.


class QueriedBranch(Protocol):
    """A branch of the first file."""

    @property
    def name(self) -> str:
        """The name in expressions."""

    @property
    def kind(self) -> str:
        """ "list" if it holds lists."""

    @property
    def title(self) -> str:
        """The title in the file."""

    @property
    def counter(self) -> str | None:
        """The branch that counts its items, if there is one."""

    @property
    def cpp_type(self) -> str:
        """The type in the file."""

    @property
    def reads_as(self) -> str:
        """The type of its values, or why it cannot be read."""

    @property
    def usable(self) -> Sequence[str]:
        """What expressions can use, as its name goes on: nothing for itself, or `.member`."""

    @property
    def unusable(self) -> Sequence[str]:
        """What they cannot use, in the same form."""


Parameter = Constant | Sequence[Constant] | ExternalFunction | Callable[..., object]
"""What a name in expressions may stand for, other than columns."""
Names = str | Sequence[str]
"""What a definition is called; several names of what a function gives together."""
Definition = str | Callable[..., object]
"""An expression, or a function that is called with expressions."""
Defined = Definition | float
"""What a column is defined by, if not by an array."""
Argument = str | Mapping[str, str]
"""What a function is called with: an expression, or a record of expressions by name."""
Arguments = Argument | Sequence[Argument] | None
"""All that a function is called with; None: the columns of its parameters' names."""
Params = Mapping[str, Parameter] | None
"""Constants, lists of them or functions, by name, for the expressions of one call (see
`Node.with_params`)."""


@frozen
class Filter:
    """Keeps the entries for which the expression is true."""

    expr: Expression
    name: str | None = None

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        return {"kind": "filter", "expr": self.expr.to_json(), "name": self.name}


@frozen
class Define:
    """A new column for the steps after it."""

    name: str
    expr: Expression
    is_param: bool = False
    """Whether it is a constant for expressions, which patterns do not find."""

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        return {"kind": "define", "name": self.name, "expr": self.expr.to_json()}


@frozen
class Vary:
    """Other values of columns, one set of them for each tag. Nominal results do not depend on
    it."""

    columns: tuple[str, ...]
    by_tag: Mapping[str, tuple[Expression, ...]]
    """Tags, each with one expression per column."""
    name: str

    def variation_names(self) -> list[str]:
        """`name:tag`, as RDataFrame's VariationsFor gives them."""
        return [f"{self.name}:{tag}" for tag in self.by_tag]

    def exprs(self, variation: str) -> tuple[Expression, ...] | None:
        """The columns' expressions in a variation; None if the variation is not its own."""
        prefix, _, tag = variation.rpartition(":")
        return self.by_tag.get(tag) if prefix == self.name else None

    def defines(self, variation: str) -> list[Define]:
        """The steps that stand for this one in a variation; none if the variation is not its own.
        All expressions see the columns as they were before any of them changes."""
        exprs = self.exprs(variation)
        if exprs is None:
            return []
        varied = [f"{name}@{variation}" for name in self.columns]
        values = [Define(new, expr) for new, expr in zip(varied, exprs, strict=True)]
        named = zip(self.columns, varied, strict=True)
        return values + [Define(name, column(new)) for name, new in named]

    def required(self, defined: Callable[[], AbstractSet[str]]) -> list[Define]:
        """Steps that fail if this one varies members that there are not, of what was defined under
        these names: no other step need mention them."""
        dotted = [name for name in self.columns if "." in name]
        known = defined() if dotted else frozenset()
        members = [name for name in dotted if name.partition(".")[0] in known]
        return [Define(f"{name}@", parse(name)) for name in members]


Step = Filter | Define | Vary


Variation = str | Sequence[str] | Mapping[str, str]
"""What `vary` takes for one tag: an expression, or one for each column."""


def vary_step(
    columns: str | Sequence[str], variations: Mapping[str, Variation], name: str | None
) -> Vary:
    """Makes the step of `Node.vary`."""
    alone = isinstance(columns, str)
    listed = (columns,) if isinstance(columns, str) else columns
    if not isinstance(listed, (list, tuple)) or not all(isinstance(each, str) for each in listed):
        raise QueryError(f"vary() takes a column's name, or a list of them, not {columns!r:.60}")
    if not isinstance(name, str | None):
        raise QueryError(f"the name of variations is a text, not {name!r:.60}")
    names = tuple(unquoted(each) or each for each in listed)
    if not names or len(set(names)) != len(names):
        raise QueryError("vary() takes a column's name, or a list of different ones")
    if not isinstance(variations, Mapping) or not variations:
        raise QueryError('variations are a mapping of tags to expressions: {"up": …, "down": …}')
    by_tag = {}
    for tag, variation in variations.items():
        if not isinstance(tag, str) or not tag or ":" in tag:
            raise QueryError(f"a variation's tag is a word without a colon, not {tag!r}")
        by_tag[tag] = tuple(_expressions(names, alone, tag, variation))
    return Vary(names, by_tag, name or "_".join(names))


def _expressions(
    names: Sequence[str], alone: bool, tag: str, variation: Variation
) -> list[Expression]:
    if alone:
        if not isinstance(variation, str):
            raise QueryError(f"an expression is a string, not {type(variation).__name__}")
        return [parse(variation)]
    if isinstance(variation, Mapping):
        if not all(isinstance(each, str) for each in variation):
            raise QueryError(f"{tag!r} needs a mapping of columns' names to expressions")
        texts = {unquoted(each) or each: text for each, text in variation.items()}
        unknown = set(texts) - set(names)
        if unknown:
            raise QueryError(f"{tag!r} varies {', '.join(sorted(unknown))}, which is not listed")
        return [parse(texts[name]) if name in texts else column(name) for name in names]
    if isinstance(variation, (list, tuple)) and len(variation) == len(names):
        return [parse(text) for text in variation]
    raise QueryError(f"{tag!r} needs {len(names)} expressions: a list, or a mapping by column")


@frozen
class Relations:
    """How the columns of the data belong together."""

    counters: Callable[[str], Collection[str]]
    """The columns that count the items of a collection of this name."""
    referred: Callable[[frozenset[str]], Collection[str]]
    """The collections that members of these names may refer to."""
    called: Callable[[str], Collection[str]]
    """The names that expressions may give to a column's collection, if the format shortens them."""


def check_weight(
    weight: Expression,
    steps: Sequence[Step | None],
    referred: Callable[[frozenset[str]], Collection[str]],
) -> int:
    """Raises QueryError if the weight of a report has a column that is defined or varied after the
    first filter with a name: there entries are counted before it is known, or with another weight.
    Returns how many such filters come before it is known. Only the data's own can, which is left
    out of the report then: nothing is defined before the data. `referred`: see `Relations`."""
    first: str | None = None
    selected, left_out = False, 0
    # Only members refer to other objects.
    heads = weight.names.union(referred(weight.words) if weight.members else ())
    for step in steps:
        if isinstance(step, Filter):
            if SELECTED in step.expr.names:
                selected = True
            else:
                first = first or step.name
        elif (first or selected) and step is not None:
            columns = (step.name,) if isinstance(step, Define) else step.columns
            changed = next((each for each in columns if _weighs(weight, each, heads)), None)
            if changed is not None and first is None:
                left_out = 1
            elif changed is not None:
                done, do = ("defined", "define") if isinstance(step, Define) else ("varied", "vary")
                raise QueryError(
                    f"the weight of a report is known at the first filter with a name, {first!r}, "
                    f"and {changed} is {done} after it: {do} it before the filter",
                    text=weight.text,
                )
    return left_out


def _weighs(weight: Expression, column: str, heads: frozenset[str]) -> bool:
    """Whether a weight means a column, by its name or as a member of one of `heads`."""
    return column in weight.names or any(
        column[sign.end() :] in weight.members
        and (column[: sign.start()] in heads or _weighs(weight, column[: sign.start()], heads))
        for sign in re.finditer(r"[._]", column)
    )


def affects(
    steps: Sequence[Step], exprs: Iterable[Expression], variation: str, known: Relations
) -> bool:
    """True if a booking of these expressions, after these steps, can change in the variation."""
    return mention(exprs, changed_by(steps, variation, known), known)


def changed_by(steps: Sequence[Step], variation: str, known: Relations) -> frozenset[str] | None:
    """The columns that are others after these steps in the variation. None: other entries are
    left, so that all can be others."""
    changed: frozenset[str] | None = frozenset()
    for step in steps:
        changed = changed_after(changed, step, variation, known)
    return changed


def changed_after(
    changed: frozenset[str] | None, step: Step, variation: str, known: Relations
) -> frozenset[str] | None:
    """The columns that are others after one more step in the variation, if these were before."""
    if changed is None:
        return None
    if isinstance(step, Vary):
        return changed if step.exprs(variation) is None else changed.union(step.columns)
    is_other = _mentions(step.expr, changed, known)
    if isinstance(step, Filter):
        return None if is_other else changed
    if is_other == (step.name in changed):
        return changed
    return changed | {step.name} if is_other else changed - {step.name}


def mention(exprs: Iterable[Expression], changed: frozenset[str] | None, known: Relations) -> bool:
    """True if the values of some of these expressions can be others, after such steps."""
    return changed is None or any(_mentions(expr, changed, known) for expr in exprs)


def _mentions(expr: Expression, columns: AbstractSet[str], known: Relations) -> bool:
    if not columns:
        return False
    return any(
        name == column
        or _is_part(column, name)
        or _is_part(name, column)
        or name in known.counters(column)
        or name in known.called(column)
        for name in (*expr.names, *known.referred(expr.words))
        for column in columns
    )


def _is_part(name: str, of: str) -> bool:
    """True if it is `of_…` or `of.…`."""
    return name.startswith((f"{of}_", f"{of}."))
