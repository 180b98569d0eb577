"""`treemill.batched`: Python's callables of whole columns, for expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, overload

import numpy as np

from ..checkpoint.digest import digest
from ..errors import QueryError
from .own_functions import (
    Given,
    Output,
    UserFunction,
    identity_of,
    of_items,
    parameter_names,
    title_of,
    words,
)

if TYPE_CHECKING:
    import awkward as ak

    from treemill import _core

    from .own_functions import Handed, Values

__all__ = ["Batched", "Returns", "batched", "outputs_of"]

# The core's buffers as the arrays that users' functions take, and what these give as buffers.

_DTYPES = {"bool": np.bool_, "int": np.int64, "uint": np.uint64, "float": np.float64}
_STORED = {"bool": np.uint8, "int": np.int64, "float": np.float64}
_SAMPLES = {"bool": True, "int": 1, "uint": 1, "float": 1.0, "str": ""}
_WORDS = {"bool": "bools", "int": "integers", "float": "floats"}


def column(handed: Handed, kind: str, constant: bool) -> object:
    """An argument as the user's function takes it."""
    item, is_list = of_items(kind)
    if item == "str":
        assert isinstance(handed, list)
        texts = [text.decode(errors="replace") for text in handed]
        return texts[0] if constant else np.array(texts, object)
    if is_list:
        import awkward as ak

        assert isinstance(handed, tuple)
        items, offsets = handed
        content = ak.contents.NumpyArray(_typed(items, item))
        index = ak.index.Index32(np.asarray(offsets))
        return ak.Array(ak.contents.ListOffsetArray(index, content))
    values = _typed(handed, item)
    return values[0].item() if constant else values


def empty(kind: str, constant: bool) -> object:
    """An argument of no entries; of a constant, some value."""
    item, is_list = of_items(kind)
    if constant:
        return _SAMPLES[item]
    if item == "str":
        return np.array([], object)
    values: Values = np.array([], _DTYPES[item])
    if not is_list:
        return values
    import awkward as ak

    index = ak.index.Index32(np.zeros(1, np.int32))
    return ak.Array(ak.contents.ListOffsetArray(index, ak.contents.NumpyArray(values)))


def together(
    columns: Sequence[object], records: Sequence[Sequence[str] | None] | None
) -> list[object]:
    """Arguments, with the columns of records as arrays of records."""
    if records is None:
        return list(columns)
    import awkward as ak

    rest = iter(columns)
    return [
        next(rest) if names is None else ak.zip({name: next(rest) for name in names})
        for names in records
    ]


def _typed(handed: Handed, item: str) -> Values:
    values = np.asarray(handed)
    if item == "uint":
        return values.view(np.uint64)
    return values.astype(np.bool_) if item == "bool" else values


def outputs_in(result: object, names: Sequence[str] | None) -> list[Output]:
    """Returns what a call without entries says of outputs. Raises QueryError if it says nothing."""
    outputs: list[Output] = []
    lists = 0
    for name, each in _parts(result, names):
        for number, (member, layout, is_list) in enumerate(_members(name, each)):
            if number == 0 and is_list:
                lists += 1
            kind = _kind(layout)
            if kind is None:
                raise QueryError(f"the type of {_named(member)} is not known")
            outputs.append((member, kind, lists - 1 if is_list else None))
    if not outputs:
        raise QueryError("it gives nothing")
    return outputs


def nothing(outputs: Sequence[Output]) -> tuple[list[Values], list[Values]]:
    """Returns what is given for no entries."""
    lists = {number for _, _, number in outputs if number is not None}
    values: list[Values] = [np.empty(0, _STORED[kind]) for _, kind, _ in outputs]
    return values, [np.empty(0, np.int64) for _ in lists]


def values_of(
    result: object, rows: int, outputs: Sequence[Output], names: Sequence[str] | None
) -> tuple[list[Values], list[Values]]:
    """Values and lengths of lists, in the order of outputs. Raises QueryError for other things."""
    values: list[Values] = []
    lengths: dict[int, Values] = {}
    parts = {
        member: (layout, is_list, own)
        for name, each in _parts(result, names)
        for member, layout, is_list, own in _measured(name, each, rows)
    }
    for name, kind, number in outputs:
        if name not in parts:
            raise QueryError(
                f"it returned {_listed(parts)}, but returns= says that it returns {_named(name)}"
            )
        layout, is_list, own = parts[name]
        if is_list != (number is not None):
            gave, says = ("a list", "one value") if is_list else ("one value", "a list")
            raise QueryError(
                f"{_named(name)} has {gave} for each entry, but its type says {says}: {_SAY}"
            )
        values.append(_stored(name, layout, kind))
        if number is not None:
            assert own is not None
            known = lengths.setdefault(number, own)
            if known is not own and not np.array_equal(known, own):
                raise QueryError(f"{_named(name)} has lists of other lengths than its neighbours")
    return values, [lengths[number] for number in sorted(lengths)]


_SAY = "name the types of the results, treemill.batched(…, returns=…)"


def _parts(result: object, names: Sequence[str] | None) -> Iterator[tuple[str | None, object]]:
    """Returns what a function gives, by name; None: it is all."""
    if names is not None:
        if isinstance(result, Mapping):
            result = [result[name] for name in names if name in result]
        if not isinstance(result, (tuple, list)) or len(result) != len(names):
            count = len(result) if isinstance(result, (tuple, list)) else "one"
            raise QueryError(
                f"it returned {count} instead of {len(names)} results: {', '.join(names)}"
            )
        yield from zip(names, result, strict=True)
    elif isinstance(result, Mapping):
        yield from ((str(name), each) for name, each in result.items())
    elif isinstance(result, tuple) and hasattr(result, "_fields"):
        yield from zip(result._fields, result, strict=True)
    elif isinstance(result, tuple):
        raise QueryError(
            "it gives a tuple: give a dictionary of names, or define all its columns at once, "
            "define(['a', 'b'], function)"
        )
    elif isinstance(result, np.ndarray) and result.dtype.names:
        yield from ((name, result[name]) for name in result.dtype.names)
    else:
        yield None, result


def _members(name: str | None, each: object) -> Iterator[tuple[str | None, Values | None, bool]]:
    for member, layout, is_list, _ in _measured(name, each, None):
        yield member, layout, is_list


def _measured(
    name: str | None, each: object, rows: int | None
) -> Iterator[tuple[str | None, Values | None, bool, Values | None]]:
    """Names, values as NumPy arrays or None if they have no type, whether they are the items of
    lists, and the lengths of these."""
    if isinstance(each, list):
        import awkward as ak

        each = ak.Array(each)
    if type(each).__module__.partition(".")[0] == "awkward":
        yield from _of_awkward(name, each, rows)
        return
    if np.ma.is_masked(each):
        raise QueryError(f"{_named(name)} has missing values: fill them, numpy.ma.filled(…)")
    values = np.asarray(each)
    if values.ndim == 0 and rows is not None:
        values = np.broadcast_to(values, (rows,))
    _check_length(name, values, rows)
    if values.ndim == 2:
        lengths = np.full(len(values), values.shape[1], np.int64)
        yield name, values.reshape(-1), True, lengths
    elif values.ndim > 2:
        raise QueryError(f"{_named(name)} has {values.ndim} dimensions; numbers and lists have one")
    else:
        yield name, values, False, None


def _of_awkward(
    name: str | None, array: ak.Array, rows: int | None
) -> Iterator[tuple[str | None, Values | None, bool, Values | None]]:
    import awkward as ak

    array = ak.Array(array) if not isinstance(array, ak.Array) else array
    _check_length(name, array, rows)
    if array.ndim == 1 and ak.fields(array):
        for field in ak.fields(array):
            member = field if name is None else f"{name}_{field}"
            yield from _of_awkward(member, array[field], rows)
        return
    is_list = array.ndim > 1
    _check_not_missing(name, array)
    if array.ndim > 2:
        raise QueryError(f"{_named(name)} has lists in lists, which expressions cannot take back")
    lengths = np.asarray(ak.num(array, axis=1), np.int64) if is_list else None
    flat = ak.flatten(array, axis=1) if is_list else array
    fields = ak.fields(flat)
    if not fields:
        yield name, _plain(name, flat), is_list, lengths
    for field in fields:
        member = field if name is None else f"{name}_{field}"
        yield member, _plain(member, flat[field]), is_list, lengths


def _plain(name: str | None, array: ak.Array) -> Values | None:
    import awkward as ak

    if str(ak.type(array)).endswith("unknown"):
        return None
    if "?" in str(ak.type(array)) or "option" in str(ak.type(array)):
        _check_not_missing(name, array)
        array = ak.fill_none(array, 0)
    try:
        values: Values = ak.to_numpy(array)
        return values
    except ValueError as error:
        message = f"{_named(name)} has no numbers but {ak.type(array)}: {error}"
        raise QueryError(message) from None


def _check_not_missing(name: str | None, array: ak.Array) -> None:
    import awkward as ak

    if ak.any(ak.is_none(array)):
        raise QueryError(f"{_named(name)} has missing values: fill them, ak.fill_none(…)")


def _check_length(name: str | None, values: Sized, rows: int | None) -> None:
    if rows is not None and len(values) != rows:
        raise QueryError(
            f"{_named(name)} has {len(values)} values for {rows} entries: a function returns one "
            "value or one list for each entry"
        )


def _kind(values: Values | None) -> str | None:
    if values is None:
        return None
    by_kind = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    return by_kind.get(values.dtype.kind)


def _stored(name: str | None, values: Values | None, kind: str) -> Values:
    """Values as the core takes them. Raises QueryError for those that do not fit."""
    if values is None:
        return np.array([], _STORED[kind])
    own = _kind(values)
    if own is None:
        raise QueryError(f"{_named(name)} has values of type {values.dtype}")
    order = ["bool", "int", "float"]
    if order.index(own) > order.index(kind):
        gave, says = _WORDS[own], _WORDS[kind]
        raise QueryError(f"{_named(name)} has {gave}, but its type says {says}: {_SAY}")
    if values.dtype.itemsize > 8:
        raise QueryError(
            f"{_named(name)} has values of type {values.dtype}, which has more than 64 bits: "
            "convert them to float64"
        )
    if (
        kind == "int"
        and values.dtype == np.uint64
        and values.astype(np.uint64).max(initial=0) > np.iinfo(np.int64).max
    ):
        raise QueryError(f"{_named(name)} has integers above 2^63")
    return np.ascontiguousarray(values, dtype=_STORED[kind])


def _named(name: str | None) -> str:
    return "the result" if name is None else f"{name} of the result"


def _listed(names: Mapping[str | None, object]) -> str:
    return ", ".join("one thing" if name is None else name for name in names)


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
    """Let expressions call a Python function of columns, for a batch of entries at a time.

    Parameters
    ----------
    function
        A callable. An argument with one value per entry arrives as a NumPy array of one dimension,
        a list per entry as an awkward array, a constant as Python's number or string. Floats are
        float64 and integers int64 (or uint64), independent of the stored types. The function
        returns one number, bool or list of them for each entry, as a NumPy or awkward array. To
        return several of these by name, it returns a dictionary, a namedtuple or an array of
        records, whose fields become the members of the result.
    returns
        The type of the result: `"float64"`, `"int64"`, `"bool"`, with `[:]` for a list of these; or
        a mapping of names to types. None: treemill calls the function once without entries, and
        takes the types of this result.

    Returns
    -------
    Batched
        `params=` or `with_params` gives it to expressions by a name. Both also take any other
        callable in its place. In Python you can call it like the function itself.

    Raises
    ------
    QueryError
        If a type is not valid. When the query runs: if the function raises an exception, or if its
        results have another type or length.

    Notes
    -----
    The function must depend only on its arguments, because treemill may call it for any entries, in
    any order, and more than once. Because of the GIL, threads call it one at a time: if it is slow,
    use processes.

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
    """A Python function of columns that expressions can call. If you call the object, it calls the
    function."""

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
            raise QueryError(f"batched() takes a function, not {type(function).__name__}")
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

    def depends_on(self) -> str:
        """See function_registry.Dependent."""
        return digest((self._function, self._returns, self._names, self._records), certain=True)

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

        columns = [empty(kind, constant) for kind, constant in self._given]
        try:
            result = self._function(*together(columns, self._records))
        except Exception as error:
            instead = "name the type of the result: treemill.batched(…, returns='float64')"
            if isinstance(error, AttributeError):  # as of an event's columns
                instead = (
                    "treemill calls it with one array for each parameter, the column of that name, "
                    f"and not with events. If it is right, {instead}"
                )
            raise QueryError(
                "treemill cannot tell what it returns, because a call without entries raised "
                f"{words(error, self._function)}; {instead}"
            ) from None
        try:
            self.outputs = outputs_in(result, self._tuple_names)
        except QueryError as error:
            instead = "name the type of the result: treemill.batched(…, returns='float64')"
            raise QueryError(f"{error.message}; {instead}") from None

    def call(self, rows: int, arguments: Sequence[Handed]) -> tuple[list[Values], list[Values]]:
        """Calls it with arrays."""

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
    if not isinstance(returns, Mapping):
        raise QueryError(f"returns= is a type, or a mapping of names to types, not {returns!r:.60}")
    for name, kind in returns.items():
        outputs.append(_output(str(name), kind, lists))
        lists += outputs[-1][2] is not None
    if not outputs:
        raise QueryError("returns= is empty: name the type of the result")
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
