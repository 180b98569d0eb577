"""The description of a query: filters and defined columns as a graph of immutable nodes, and
bookings (histograms, counts, sums …) at them. Nothing here reads, computes or draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING

from ..errors import QueryError, quoted, unquoted
from ..language.expression import Expression, Weight, called, constant, parse, provided, weighted
from ..language.function_registry import ExternalFunction
from ..language.tree_node import Tree
from ..migration_hints import ROOT_METHODS, UPROOT_METHODS
from ..public_api import public_class
from .booking import OF_DATASETS, Booking, Origin, Place, named_filters, steps_to
from .quantities import Flow, Known
from .statistics import StatisticsMethods
from .steps import (
    Arguments,
    Define,
    Definition,
    Filter,
    Names,
    Parameter,
    Params,
    Step,
    Variation,
    Vary,
    check_weight,
    vary_step,
)
from .values import Values

if TYPE_CHECKING:
    from ..data.luminosity import LumiMask
    from .cutflow import CutFlow
    from .steps import QueriedBranch

__all__ = ["Bookable", "Booking", "Node", "Origin", "steps_to"]

# User functions as steps of a query: calls on columns, and their named results.


def as_provided(value: object) -> ExternalFunction:
    """A function as expressions take it: as it is, or a callable over batches."""
    if isinstance(value, ExternalFunction):
        return value
    from ..functions.batched import Batched  # start-up

    assert callable(value)
    return Batched(value)


def call(
    function: Callable[..., object],
    columns: Arguments,
    names: Sequence[str] | None = None,
) -> Expression:
    """A function called with expressions, or with records of them; None: with the columns of its
    parameters' names. `names` of what it gives, if that is a tuple."""
    from ..functions.batched import Batched  # start-up

    given = as_provided(function)
    if names is not None:
        if not isinstance(given, Batched):
            raise QueryError("only a Python function that returns a tuple can define several names")
        given = given.named([_member(place) for place in range(len(names))])
    if columns is None:
        columns = _parameters(function)
    listed = [columns] if isinstance(columns, (str, Mapping)) else list(columns)
    if any(isinstance(each, Mapping) for each in listed):
        if not isinstance(given, Batched):
            raise QueryError("records of columns are given to Python callables over batches only")
        given = given.of_records(
            [tuple(each) if isinstance(each, Mapping) else None for each in listed]
        )
    arguments = [
        text for each in listed for text in (each.values() if isinstance(each, Mapping) else [each])
    ]
    name = getattr(function, "__name__", "")
    is_name = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    return called(name if is_name else "function", given, arguments)


def together(names: Sequence[str]) -> str:
    """The column that stands for several which a function gives."""
    if len(set(names)) != len(names) or len(names) < 2:
        raise QueryError(
            "a function that returns a tuple defines two or more columns, all different"
        )
    return ", ".join(names)


def member(whole: str, place: int) -> Expression:
    """One of several columns."""
    text = f"{quoted(whole)}.{_member(place)}"
    end = len(text)
    column: Tree = {"kind": "name", "id": whole, "at": [0, end]}
    tree: Tree = {"kind": "attribute", "value": column, "name": _member(place), "at": [0, end]}
    return Expression(text, tree)


def _member(place: int) -> str:
    return f"part{place}"


def _parameters(function: Callable[..., object]) -> list[str]:
    import inspect  # start-up

    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise QueryError(
            "treemill cannot tell its parameters: name its arguments, columns=[…]"
        ) from None
    names = [
        each.name
        for each in known
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if not names:
        raise QueryError("the function has no parameters: name its arguments, columns=[…]")
    return names


def _column_name(name: object) -> str:
    """The column's name that a user has written. Raises QueryError for other texts."""
    column = unquoted(name) if isinstance(name, str) else None
    if column is None:
        raise QueryError(
            f"{name!r} is not a name for a column: write letters, digits and _ (and dots between "
            "words), or put the name in backticks, as in `x-y`"
        )
    return column


def _check_no_array(expr: object) -> None:
    if not isinstance(expr, (str, Booking)) and hasattr(expr, "__len__"):
        raise QueryError(
            "an array has a value for each entry of the dataset: define it there, before filters "
            "and other definitions"
        )


def _expression(given: Definition | LumiMask, columns: Arguments) -> Expression:
    """What a user has given for a condition or a column, as an expression."""
    if not isinstance(given, str):
        from ..data.luminosity import LumiMask  # start-up

        if isinstance(given, LumiMask):
            return given.expression
    if callable(given):
        return call(given, columns)
    if columns is not None:
        raise QueryError("columns= are the arguments of a function; an expression names its own")
    return parse(given)


@public_class("node", habits=UPROOT_METHODS | ROOT_METHODS)
class Bookable(StatisticsMethods, Values):
    """An object with the methods that filter, define columns and book: a node, or a dataset, whose
    methods are those of its root."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """The place of the query to which all methods refer."""
        raise NotImplementedError

    def _with(self, params: Params) -> Node:
        return self.node if params is None else self.with_params(params)

    def filter(
        self,
        expr: Definition | LumiMask,
        name: str | None = None,
        params: Params = None,
        *,
        columns: Arguments = None,
    ) -> Node:
        """Keep the entries for which an expression is true.

        Parameters
        ----------
        expr
            One bool per entry; or a mask of certified luminosity sections, `treemill.lumi_mask(…)`;
            or a function that returns one bool per entry, as for `define`.
        name
            The name of the filter in cut flows: see `report`.
        params
            Constants by name, as for `with_params`.
        columns
            Expressions for the arguments of a function. None: the columns of its parameters' names.

        Returns
        -------
        Node
            The entries that pass.

        Raises
        ------
        QueryError
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

        Examples
        --------
        >>> good = events.filter("nMuon >= 2 and MET_pt > cut", params={"cut": 20}, name="good")
        """
        if name is not None and not isinstance(name, str):
            raise QueryError(
                f"the name of a filter is a text, not {name!r:.60}: a second condition is another "
                "filter, events.filter(…).filter(…)"
            )
        return self._with(params).below(Filter(_expression(expr, columns), name))

    def define(
        self,
        name: Names,
        expr: Definition | LumiMask | float,
        params: Params = None,
        *,
        columns: Arguments = None,
    ) -> Node:
        """Add a column.

        Parameters
        ----------
        name
            An identifier, with or without dots, or any name in backticks. If a column has this
            name, the new one replaces it from here on. For a function that returns a tuple, give a
            list of names.
        expr
            An expression with one value or one list per entry, or a number for all entries. Or a
            function of columns: a `kernel`, or any callable over batches of entries (see
            `batched`). Or a mask, `treemill.lumi_mask(…)`, which has one bool per entry. For an
            array in memory see `Dataset.define`.
        params
            Constants by name, as for `with_params`.
        columns
            Expressions for the arguments of a function. A mapping from names to expressions becomes
            an array of records. None: the columns that have the names of the function's parameters.

        Returns
        -------
        Node
            The same entries, with one more column.

        Raises
        ------
        QueryError
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

        Examples
        --------
        >>> events.define("ht", "sum(Jet_pt[Jet_pt > 30])").mean("ht").value > 0
        True
        >>> import numpy as np
        >>> events.define("log_met", np.log1p, columns="MET_pt").mean("log_met").value > 0
        True
        """
        node = self._with(params)
        is_one = isinstance(name, str) or not isinstance(name, Sequence)
        if not callable(expr):
            _check_no_array(expr)
            if not is_one:
                raise QueryError("only a function that returns a tuple can define several names")
        if is_one:
            if isinstance(expr, (bool, int, float)):
                value = constant(expr)
            else:
                value = _expression(expr, columns)
            return node.below(Define(_column_name(name), value))
        names = [_column_name(each) for each in name]
        whole = together(names)
        assert callable(expr)
        node = node.below(Define(whole, call(expr, columns, names), is_param=True))
        for place, each in enumerate(names):
            node = node.below(Define(each, member(whole, place)))
        return node

    def with_params(self, params: Mapping[str, Parameter]) -> Node:
        """Give names to constants and to functions, for all later expressions.

        Parameters
        ----------
        params
            A mapping from names to numbers, bools, strings or lists of these, or to functions:
            `corrections`, a `model`, a `kernel`, or any callable over batches of entries (see
            `batched`). The name of a branch is an error: use `define` to replace columns.

        Returns
        -------
        Node
            The same entries.

        Raises
        ------
        QueryError
            If a name is not valid, or if a value is not a constant.

        Examples
        --------
        >>> hard = events.with_params({"cut": 30, "ids": [1, 2]}).filter("MET_pt > cut")
        """
        node = self.node
        if not isinstance(params, Mapping):
            raise QueryError(f'params are a mapping of names: {{"cut": 30}}, not {params!r:.60}')
        for name, value in params.items():
            if isinstance(value, ExternalFunction) or callable(value):
                named = provided(name, as_provided(value))
            else:
                named = constant(value)
            node = node.below(Define(_column_name(name), named, is_param=True))
        return node

    def vary(
        self,
        columns: str | Sequence[str],
        variations: Mapping[str, Variation],
        name: str | None = None,
        params: Params = None,
    ) -> Node:
        """Vary columns: the same pass also computes all bookings after this with the varied
        columns.

        Parameters
        ----------
        columns
            A column, or a list of columns that vary together.
        variations
            A mapping from tags to expressions. For several columns, a mapping from tags to mappings
            from columns to expressions, or to lists of expressions.
        name
            The name before the colon; None: the columns' names, joined by `_`.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Node
            The value of a later booking is a `Variations`, which maps "nominal", "Jet_pt:up" … to
            the value in this variation, for variations that can change the value. If you call
            `vary` several times, each variation is applied alone, as in RDataFrame; variations with
            equal names and tags are applied together.

        Raises
        ------
        QueryError
            When the query is run, for a column that does not exist.

        Examples
        --------
        >>> jets = events.vary("Jet_pt", {"up": "Jet_pt * 1.02", "down": "Jet_pt * 0.98"})
        >>> list(jets.sum("Jet_pt").value)
        ['nominal', 'Jet_pt:up', 'Jet_pt:down']
        """
        return self._with(params).below(vary_step(columns, variations, name))

    def report(self, weight: Weight = None) -> Booking[CutFlow]:
        """Book a cut flow: the number of entries that pass each named filter down to here.

        Parameters
        ----------
        weight
            One number per event, with which each entry counts. It must be known at the first of
            these filters: define and vary its columns before. If it is known only after an entry
            list of the dataset, the list is no part of the cut flow.

        Returns
        -------
        Booking
            Its value is a `CutFlow`.

        Raises
        ------
        QueryError
            If no filter down to here has a name, or if the weight is not known at the first one.

        Examples
        --------
        >>> flow = events.filter("nMuon >= 2", name="two muons").report()
        >>> [cut.name for cut in flow.value]
        ['two muons']
        """
        steps = [each.step for each in steps_to(self.node)]
        by = weighted(weight)
        first = 0 if by is None else check_weight(by, steps, self.node.origin.chain.referred)
        if not named_filters(self.node)[first:]:
            raise QueryError('no filter down to here has a name: filter(expr, name="two muons")')
        return Booking(self.node, Flow(by, first))

    def _names(self) -> Known:
        """The names of all columns here; of those whose values expressions cannot use, the branch.
        The dataset's columns are those of its first file."""
        branches = self.node.origin.chain.branches.values()
        # Counters of collections whose members are columns themselves.
        counts = {b.counter for b in branches if b.counter and b.name.startswith(f"{b.counter}.")}
        names: dict[str, QueriedBranch | None] = {}
        for branch in branches:
            own = branch.name.rstrip(".")
            for known, ends in ((None, branch.usable), (branch, branch.unusable)):
                whole = ((f"{own}{end}" if end else branch.name, known) for end in ends)
                names.update((name, known) for name, known in whole if name not in counts)
        steps = [place.step for place in steps_to(self.node)]
        names.update(
            (step.name, None) for step in steps if isinstance(step, Define) and not step.is_param
        )
        return names

    def explain(self) -> str:
        """Explain in words the pass for all bookings that have no value yet. If none is left,
        explain the pass that would count the entries here.

        Returns
        -------
        str
            The columns that the pass reads, filters, lists, values that it computes once for
            several uses, the corrections and models that it calls, and the programs: the fused
            steps that run over chunks of entries or items. This reads no entry.

        Raises
        ------
        QueryError
            If something is wrong with the query.

        Examples
        --------
        >>> print(events.filter("nMuon >= 2").explain())
        filters:
          1. (nMuon >= 2)
        reads for filters:
          nMuon
        programs:
          entries: r0
            r0 = (nMuon >= 2)
        books:
          count
        """
        origin = self.node.origin
        return origin.explain(None if origin.companions() else self.count())


@public_class("below", "node", "origin", "parent", "step", habits=OF_DATASETS)
class Node(Place, Bookable):
    """The entries of a dataset that passed the filters above, with the columns defined above.
    Immutable: every method gives a new node or a booking."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """The node itself."""
        return self

    def below(self, step: Step) -> Node:
        """The node after one more step."""
        return Node(self.origin, self, step)

    def __repr__(self) -> str:
        steps = [repr(self.origin.chain)]
        for node in steps_to(self):
            step = node.step
            if isinstance(step, Filter):
                steps.append(f".filter({step.expr.text!r})")
            elif isinstance(step, Define):
                steps.append(f".define({step.name!r}, {step.expr.text!r})")
            elif isinstance(step, Vary):
                steps.append(f".vary({', '.join(step.variation_names())})")
        return "".join(steps)
