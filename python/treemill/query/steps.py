"""The steps from a dataset to a booking: filters, defined columns, variations of columns; which of
them a dataset's columns allow; and which bookings a variation changes.

Pure: standard library, errors, expressions and the names of columns only. The members of
collections are not known here. So a mention of `Jet` counts as one of each column that begins with
`Jet_`, and a mention of `Jet_pt` as one of `Jet`; a member that may refer to jets (`Muon.jet`) is a
mention of `Jet`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ..data.entry_list import SELECTED
from ..errors import QueryError, near, unquoted
from ..frozen import frozen
from ..language.expression import Constant, Expression, column, parse
from ..language.function_registry import ExternalFunction

if TYPE_CHECKING:
    from ..data.chain import Chain

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
    "check_step",
    "check_weight",
    "mention",
    "relations_in",
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


def relations_in(chain: Chain) -> Relations:
    """How the columns of a dataset belong together, by its first file."""

    @cache
    def counters(collection: str) -> frozenset[str]:
        starts = (f"{collection}_", f"{collection}.")
        branches = chain.branches.values()
        named = (each.counter for each in branches if each.name.startswith(starts))
        return frozenset(counter for counter in named if counter is not None)

    return Relations(counters, cache(chain.referred), cache(chain.called))


def check_step(step: Step, chain: Chain, defined: Callable[[], Iterable[str]]) -> None:
    """Raises QueryError for a constant or varied column that cannot be: a reader could not tell
    whether a constant or a branch of its name is meant, and to vary a column that does not exist
    would change nothing. It looks at the columns of the first file. `defined`: the names of those
    that were defined before, the nearest first."""
    if isinstance(step, Vary):
        _check_varied(step, chain, defined)
    elif isinstance(step, Define) and step.is_param:
        name = step.name
        if name in chain.branches or name in chain.constant_names:
            kind = "branch" if name in chain.branches else "item of the metadata"
            message = f"the constant {name} hides the {kind} of this name: give it another name, "
            raise QueryError(f"{message}or redefine the column by define()")


def _check_varied(step: Vary, chain: Chain, before: Callable[[], Iterable[str]]) -> None:
    stored = (chain.branches, chain.aliases, chain.constant_names)
    for name in step.columns:
        if any(name in names for names in stored) or name in before():
            continue
        defined = set(before())
        known = {name for names in stored for name in names} | defined
        starts = (f"{name}_", f"{name}.")
        is_known = any(column.startswith(starts) for column in known)
        # Whether what was defined has such a member, the core knows: see Vary.required.
        is_known = is_known or _owner(name, ".") in defined
        if not is_known and not chain.has_default(name) and name not in _shortened(chain):
            hint = chain.hint(name)
            if (owner := _owner(name, "_")) in defined:
                hint = f": write {owner}.{name[len(owner) + 1 :]}"
            raise QueryError(
                f"there is no column {name} that vary() could change{hint}",
                suggestions=() if hint else near(name, known),
                column=name,
                file=chain.files[chain.first],
            )


def _owner(name: str, sign: str) -> str:
    """The collection or record that a name is a member of."""
    return name.partition(sign)[0]


def _shortened(chain: Chain) -> set[str]:
    """The collections and members by the names that their format shortens."""
    short: set[str] = set()
    for branch in chain.branches:
        for each in (called := chain.called(branch)):
            short |= {each, f"{each}.{branch[len(called[0]) + 1 :]}"}
    return short


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
