"""`treemill.batched`: Python's callables of whole columns, for expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, overload

from ..errors import QueryError
from .failures import parameter_names, title_of, words
from .function_protocols import Given, Output, UserFunction, of_items
from .identity import identity_of

if TYPE_CHECKING:
    from treemill import _core

    from .function_protocols import Handed, Values

__all__ = ["Batched", "Returns", "batched", "outputs_of"]

Returns = str | Mapping[str, str] | None
"""The type of what a callable gives, or types by name; None: those of a call without entries."""

_TYPES = {
    **dict.fromkeys(("bool", "bool_"), "bool"),
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64"), "int"),
    **dict.fromkeys(("uint8", "uint16", "uint32"), "int"),
    **dict.fromkeys(("float", "float16", "float32", "float64"), "float"),
}
_LIST = "[:]"


@overload
def batched(function: UserFunction, /, *, returns: Returns = None) -> Batched: ...
@overload
def batched(*, returns: Returns = None) -> Callable[[UserFunction], Batched]: ...
def batched(function: UserFunction | None = None, /, *, returns: Returns = None) -> object:
    """Make a Python function of columns one that expressions call, a batch of entries at a time.

    Parameters
    ----------
    function
        A callable. An argument with one value per entry arrives as a NumPy array of one
        dimension, a list per entry as an awkward array, a constant as Python's number or string.
        Floats are float64, integers int64 (or uint64) in whatever type they are stored. It gives
        one number, bool or list of them for each entry, as NumPy or awkward array; or several of
        these by name: a dictionary, a namedtuple or an array of records, whose fields are the
        members of what the call gives.
    returns
        The type of the result: `"float64"`, `"int64"`, `"bool"`, with `[:]` for a list of these; or
        a mapping of names to types. None: the function is called once without entries, and the
        types of that result count.

    Returns
    -------
    Batched
        It is given to expressions by a name, with `params=` or `with_params`, where any callable
        counts as such, and can be called from Python as the function itself.

    Raises
    ------
    QueryError
        For a type that is none. When the query is run: for the function's own exceptions, and for
        results of another type or length.

    Notes
    -----
    It should depend on its arguments only: it may be called for any entries, in any order, and
    more than once. Threads call it one at a time, because of the GIL: use processes if it is slow.

    Examples
    --------
    >>> import awkward as ak
    >>> @tm.batched(returns="float64")
    ... def spread(pt):
    ...     return ak.fill_none(ak.max(pt, axis=1) - ak.min(pt, axis=1), 0.0)
    >>> events.define("spread", "spread(Jet.pt)", {"spread": spread}).mean("spread").value > 0
    True
    """
    if function is None:
        return lambda function: Batched(function, returns)
    return Batched(function, returns)


class Batched:
    """A Python function of columns, for expressions. Calling it calls the function."""

    def __init__(
        self,
        function: UserFunction,
        returns: Returns = None,
        names: Sequence[str] | None = None,
        records: Sequence[Sequence[str] | None] | None = None,
    ) -> None:
        """`names` of what it gives, if that is a tuple. `records`: for each parameter the names of
        the columns that it is a record of, or None."""
        if not callable(function) or isinstance(function, type):
            raise QueryError(f"what is called is a function, not {type(function).__name__}")
        self._function: UserFunction = (
            function._function if isinstance(function, Batched) else function
        )
        self._returns = returns
        self._names = None if names is None else tuple(names)
        self._records = None if records is None else tuple(records)
        if returns is not None:
            outputs_of(returns)
        update_wrapper(self, self._function, updated=())

    def named(self, names: Sequence[str]) -> Batched:
        """Returns this function as one that returns a tuple with these names."""
        return Batched(self._function, self._returns, names, self._records)

    def of_records(self, records: Sequence[Sequence[str] | None]) -> Batched:
        """Returns this function as one that gets records of columns of these names for some
        parameters."""
        return Batched(self._function, self._returns, self._names, records)

    @cached_property
    def identity(self) -> str:
        """A digest that identifies it."""
        about = self._returns, self._names, self._records
        return identity_of("callable", self._function, about)

    def core(self) -> _core.Functions:
        """Returns what the core's queries take."""
        from treemill import _core  # heavy: core

        return _core.Functions.own(self)

    def fitted(self, kinds: Sequence[Given]) -> _FittedBatched:
        """The function for arguments of these types (function_protocols.OwnFunction)."""
        names = parameter_names(self._function, len(kinds))
        function = _FittedBatched(self._function, names, kinds, self._names, self._records)
        if self._returns is None:
            function.try_without_entries()
        else:
            function.outputs = outputs_of(self._returns)
        return function

    def __call__(self, *arguments: object, **keywords: object) -> object:
        """Calls the function."""
        return self._function(*arguments, **keywords)

    def __reduce__(self) -> tuple[object, ...]:
        return Batched, (self._function, self._returns, self._names, self._records)

    def __repr__(self) -> str:
        return f"<callable {title_of(self._function)}>"


class _FittedBatched:
    """A callable for arguments of certain types (function_protocols.FittedFunction)."""

    address: int | None = None

    def __init__(
        self,
        function: UserFunction,
        names: Sequence[str],
        given: Sequence[Given],
        tuple_names: Sequence[str] | None,
        records: Sequence[Sequence[str] | None] | None,
    ) -> None:
        self._function = function
        self._given = given
        self._tuple_names = tuple_names
        self._records = records
        self.parameters = [
            (name, _handed(kind)) for name, (kind, _) in zip(names, given, strict=True)
        ]
        self.outputs: Sequence[Output] = ()

    def try_without_entries(self) -> None:
        """Learns what it gives from a call with no entries."""
        from .columns import empty, outputs_in, together  # heavy: numpy

        columns = [empty(kind, constant) for kind, constant in self._given]
        try:
            result = self._function(*together(columns, self._records))
        except Exception as error:
            instead = "say it: treemill.batched(…, returns='float64')"
            if isinstance(error, AttributeError):  # as of an event's columns
                instead = (
                    "it is called with one array for each parameter, the column of that name, and "
                    f"not with events. If it is right, {instead}"
                )
            raise QueryError(
                "what it gives is not known, because a call without entries raised "
                f"{words(error, self._function)}; {instead}"
            ) from None
        try:
            self.outputs = outputs_in(result, self._tuple_names)
        except QueryError as error:
            message = f"{error.message}; say it: treemill.batched(…, returns='float64')"
            raise QueryError(message) from None

    def call(self, rows: int, arguments: Sequence[Handed]) -> tuple[list[Values], list[Values]]:
        """Calls it with arrays."""
        from .columns import column, nothing, together, values_of  # heavy: numpy

        if rows == 0:  # many functions cannot be called so
            return nothing(self.outputs)
        columns = [
            column(argument, kind, constant)
            for argument, (kind, constant) in zip(arguments, self._given, strict=True)
        ]
        try:
            result = self._function(*together(columns, self._records))
        except Exception as error:
            raise QueryError(words(error, self._function)) from None
        return values_of(result, rows, self.outputs, self._tuple_names)

    def why(self, rows: int, arguments: Sequence[Handed]) -> str:
        """Not asked: there is no address."""
        return "it has failed"


def outputs_of(returns: Returns) -> Sequence[Output]:
    """Outputs of these types. Raises QueryError for what is no type."""
    assert returns is not None
    if isinstance(returns, str):
        return [_output(None, returns, 0)]
    outputs: list[Output] = []
    lists = 0
    for name, kind in returns.items():
        outputs.append(_output(str(name), kind, lists))
        lists += outputs[-1][2] is not None
    if not outputs:
        raise QueryError("a function gives something: returns= is empty")
    return outputs


def _output(name: str | None, text: str, lists: int) -> Output:
    is_list = isinstance(text, str) and text.endswith(_LIST)
    kind = _TYPES.get(text.removesuffix(_LIST)) if isinstance(text, str) else None
    if kind is None:
        raise QueryError(
            f"returns= says float64, int64 or bool, with [:] for a list of these, not {text!r}"
        )
    return name, kind, lists if is_list else None


def _handed(kind: str) -> str:
    item, is_list = of_items(kind)
    if item == "str":
        if is_list:
            raise QueryError("lists of strings are not given to functions")
        return "str"
    item = "float" if item == "float" else "int"
    return f"{item}s" if is_list else item
