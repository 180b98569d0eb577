"""numba: a function, with the loop over a batch of rows around it, as code at an address. This
module alone meets numba, which is an extra.

The loop is compiled together with the function, so that a call from the core costs once a batch.
What it takes and gives is said in crates/treemill-native/src/kernels.rs.
"""

from __future__ import annotations

import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from ..errors import MissingPackageError, QueryError
from .own_functions import (
    Given,
    Output,
    of_items,
    parameter_count,
    parameter_names,
    place_of,
    without_colours,
)

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.ccallback import CFunc
    from numba.core.dispatcher import Dispatcher
    from numba.core.typing import Signature
    from numba.types import Type

__all__ = ["Compiled", "check_signature", "compiled"]

_KEPT = 64
"""Functions that stay compiled in a process, in addition to those that queries hold."""
_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": True}
"""How numba compiles a function. Without checks of bounds the first item of an empty list would be
whatever lies in memory."""
_SHOWN = 1500
"""Characters of what numba says."""
_SCALARS = {"bool": "boolean", "int": "int64", "uint": "uint64", "float": "float64"}
"""numba's type for what an expression gives, if the user has named none."""

_kept: OrderedDict[tuple[object, ...], Compiled] = OrderedDict()
_lock = threading.RLock()


@dataclass(frozen=True)
class Compiled:
    """A compiled function."""

    parameters: tuple[tuple[str, str], ...]
    outputs: tuple[Output, ...]
    address: int | None
    one: Callable[..., object]
    """The function for one row."""
    types: tuple[Type, ...]
    """numba's, of its arguments."""
    code: object
    """What the address belongs to: it must live as long as the address is called."""


def check_signature(text: str) -> None:
    """Raises QueryError for what is no signature, MissingPackageError without numba."""
    _signature(text)


def compiled(
    key: str, function: Callable[..., object], signature: str | None, arguments: Sequence[Given]
) -> Compiled:
    """The function for arguments of these types, compiled once in this process. `key`: what tells
    it from others. Raises QueryError if it cannot be compiled for them."""
    whole = (key, signature, tuple(name for name, _ in arguments))
    with _lock:
        code = _kept.get(whole)
        if code is None:
            code = _kept[whole] = _compile(function, signature, arguments)
            while len(_kept) > _KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(whole)
        return code


@cache
def _numba() -> ModuleType:
    try:
        return importlib.import_module("numba")
    except ImportError as error:
        raise MissingPackageError(
            f"kernels need numba, which cannot be imported ({error}): "
            "pip install 'treemill[kernels]'"
        ) from None


def _signature(text: str) -> tuple[tuple[Type, ...], Type | None]:
    """Types of arguments, and of the result or None."""
    numba = _numba()
    try:
        arguments, result = numba.core.sigutils.normalize_signature(text)
    except Exception as error:
        raise QueryError(
            f"{text!r} is no signature of numba's, as float64(float64, int64[:]): {error}"
        ) from None
    return tuple(arguments), result


def _compile(
    function: Callable[..., object], signature: str | None, arguments: Sequence[Given]
) -> Compiled:
    numba = _numba()
    result = None
    if signature is None:
        types = tuple(_type_of(name) for name, _ in arguments)
    else:
        types, result = _signature(signature)
    names = parameter_names(function, len(types))
    wanted = parameter_count(function)
    if wanted not in (None, len(types)):
        takes = "gets" if signature is None else "its signature has"
        raise QueryError(f"takes {wanted}, and {takes} {len(types)}")
    if len(types) != len(arguments):
        raise QueryError(f"takes {len(types)} ({', '.join(names)}), and gets {len(arguments)}")
    columns = [_KernelColumn.of(kind, name) for kind, name in zip(types, names, strict=True)]
    types = tuple(column.kind for column in columns)
    is_numbas = hasattr(function, "py_func")
    one: Dispatcher = (
        numba.njit(**_OPTIONS)(function) if not is_numbas else cast("Dispatcher", function)
    )
    try:
        one.compile(types)
        result_type = one.overloads[types].signature.return_type
        wanted = result_type if result is None else _converted(result_type, result)
        outputs = tuple(_outputs(wanted))
        code = _batch(one, columns, wanted, outputs)
    except QueryError:
        raise
    except Exception as error:
        hint = ""
        if signature is None and any(of_items(name)[1] for name, _ in arguments):
            hint = (
                "\nWithout types it is called with each item of a list. For whole lists name the "
                'types, as @treemill.kernel("float64(float64[:])")'
            )
        raise QueryError(_failed(error, function, types) + hint) from None
    parameters = tuple((column.name, column.handed) for column in columns)
    return Compiled(parameters, outputs, code.address, one, types, code)


def _type_of(name: str) -> Type:
    item, _ = of_items(name)
    if item not in _SCALARS:
        raise QueryError("kernels take no strings")
    return getattr(_numba().types, _SCALARS[item])


def _converted(actual: Type, wanted: Type) -> Type:
    types = _numba().types
    is_number = isinstance(actual, (types.Number, types.Boolean))
    if not is_number or not isinstance(wanted, (types.Number, types.Boolean)):
        if actual != wanted:
            raise QueryError(
                f"its signature says that it returns {wanted}, but it returns {actual}"
            )
    elif isinstance(actual, types.Float) and not isinstance(wanted, (types.Float, types.Complex)):
        raise QueryError(f"its signature says that it returns {wanted}, but it returns {actual}")
    return wanted


@dataclass(frozen=True)
class _KernelColumn:
    """An argument: numba's type, and what the core hands over."""

    name: str
    kind: Type
    handed: str

    @classmethod
    def of(cls, kind: Type, name: str) -> _KernelColumn:
        types = _numba().types
        if isinstance(kind, types.Array):
            if kind.ndim != 1:
                raise QueryError(f"a list is an array of one dimension, {kind.dtype}[:]")
            item = cls.of(kind.dtype, name)
            # The core's columns are not for writing.
            array = types.Array(kind.dtype, 1, "C", readonly=True)
            return cls(name, array, f"{item.handed}s")
        if isinstance(kind, types.Float):
            return cls(name, kind, "float")
        if isinstance(kind, (types.Integer, types.Boolean)):
            return cls(name, kind, "int")
        raise QueryError(f"{name} is {kind}: kernels take numbers, bools and arrays of them")

    @property
    def is_list(self) -> bool:
        return isinstance(self.kind, _numba().types.Array)


def _outputs(kind: Type) -> list[Output]:
    types = _numba().types
    if isinstance(kind, types.BaseNamedTuple):
        return [(name, _number(each), None) for name, each in zip(kind.fields, kind, strict=True)]
    return [(None, _number(kind), None)]


def _number(kind: Type) -> str:
    types = _numba().types
    if isinstance(kind, types.Boolean):
        return "bool"
    if isinstance(kind, types.Integer) and (kind.signed or kind.bitwidth < 64):
        return "int"
    if isinstance(kind, types.Integer):
        raise QueryError(
            f"a kernel returns integers of up to 64 bits with a sign, but this one returns {kind}: "
            "convert it, np.int64(x) or float(x)"
        )
    if isinstance(kind, types.Float):
        return "float"
    if isinstance(kind, types.Optional) or kind == types.none:
        raise QueryError(
            "a kernel returns a number for each row, but this one returns None: return nan"
        )
    if isinstance(kind, (types.Array, types.List, types.ListType)):
        raise QueryError(
            f"a kernel returns numbers, but this one returns a list ({kind}): a Python callable "
            "over batches can return lists, treemill.batched"
        )
    raise QueryError(f"a kernel returns a number, a bool or a namedtuple of them, not {kind}")


_LOOP = """
def batch(rows, arguments, results):
{opened}
    try:
        for i in range(rows):
            found = one({called})
{stored}
    except Exception:
        return 1
    return 0
"""


def _batch(
    one: Dispatcher, columns: Sequence[_KernelColumn], result: Type, outputs: Sequence[Output]
) -> CFunc:
    """The loop over rows around the function, as a function of C's."""
    numba = _numba()
    types = numba.types
    pointers = {name: _pointer(getattr(types, name)) for name in _STORED.values()}
    names: dict[str, object] = {"one": one, "carray": numba.carray, "np": _numpy(), **pointers}
    opened, called, stored = [], [], []
    place = 0
    for i, column in enumerate(columns):
        item = column.kind.dtype if column.is_list else column.kind
        storage = _STORED[column.handed.removesuffix("s")]
        names[f"T{i}"] = item
        if column.is_list:
            opened.append(f"e{i} = carray(int32(arguments[{place + 1}]), rows + 1)")
            opened.append(f"c{i} = carray({storage}(arguments[{place}]), e{i}[rows])")
            if str(item) != storage:
                opened.append(f"c{i} = c{i}.astype(np.{_numpy_name(item)})")
            called.append(f"c{i}[e{i}[i]:e{i}[i + 1]]")
            place += 2
        else:
            opened.append(f"c{i} = carray({storage}(arguments[{place}]), rows)")
            called.append(f"T{i}(c{i}[i])" if str(item) != storage else f"c{i}[i]")
            place += 1
    for k, (name, kind, _) in enumerate(outputs):
        storage = _STORED[kind]
        # If all that a function returns is written in it, its type is that of the constant.
        each = types.unliteral(result if name is None else list(result)[k])
        names[f"R{k}"], names[f"S{k}"] = each, getattr(types, storage)
        opened.append(f"r{k} = carray({storage}(results[{k}]), rows)")
        stored.append(f"r{k}[i] = S{k}(R{k}({'found' if name is None else f'found[{k}]'}))")
    source = _LOOP.format(
        opened="\n".join(f"    {line}" for line in opened),
        called=", ".join(called),
        stored="\n".join(f"            {line}" for line in stored),
    )
    exec(compile(source, "<the loop over a batch>", "exec"), names)
    table = types.CPointer(types.intp)
    signature = types.int64(types.int64, table, table)
    loop: CFunc = numba.cfunc(signature, error_model="numpy")(names["batch"])
    return loop


_STORED = {"float": "float64", "int": "int64", "bool": "uint8", "ends": "int32"}
"""What lies in memory."""


@cache
def _pointer(kind: Type) -> Callable[..., object]:
    """A function of numba's that makes a pointer to numbers of an address."""
    from numba.core import cgutils  # noqa: F401  # numba's intrinsics want its code generator
    from numba.extending import intrinsic

    numba = _numba()

    @intrinsic  # type: ignore[untyped-decorator]
    def pointer(typing: object, address: Type) -> tuple[Signature, Callable[..., object]]:
        pointer_type = numba.types.CPointer(kind)

        def code(
            context: BaseContext,
            builder: Any,
            signature: Signature,
            arguments: Sequence[object],
        ) -> object:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return pointer_type(numba.types.intp), code

    function: Callable[..., object] = pointer
    return function


def _numpy() -> ModuleType:
    import numpy as np

    return np


def _numpy_name(kind: Type) -> str:
    return "bool_" if isinstance(kind, _numba().types.Boolean) else str(kind)


def _failed(error: Exception, function: Callable[..., object], types: Sequence[Type]) -> str:
    said = without_colours(str(error)).strip()
    place = place_of(getattr(function, "py_func", function))
    if len(said) > _SHOWN:
        said = f"{said[:_SHOWN]} …"
    return f"numba cannot compile it ({place}) for ({', '.join(map(str, types))}): {said}"
