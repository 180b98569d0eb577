"""Models in ONNX, by the official onnxruntime, which is an extra and is met in this module alone.

The runtime is Python's: the core asks for a batch of rows at a time, with the GIL; the runtime lets
go of it while it computes. Each process has one session of a model, with one thread of its own,
because there are as many workers as cores.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError, MissingPackageError, QueryError, UnsupportedError, first_line
from .own_functions import Given, NoList, Output, of_items

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from onnxruntime import NodeArg

    from treemill import _core

    from .own_functions import Handed, Values

__all__ = ["OnnxModel", "onnx"]

_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(uint16)": np.uint16,
    "tensor(uint32)": np.uint32,
    "tensor(bool)": np.bool_,
}
_KEPT = 16
"""Sessions of a process."""
MAX_WIDTH = 4096
"""Numbers of a row, in all inputs or in one output."""

_sessions: OrderedDict[tuple[int, str], _Session] = OrderedDict()
_lock = threading.Lock()


def onnx(content: bytes, name: str) -> OnnxModel:
    """A model in ONNX."""
    return OnnxModel(_OnnxFile(content, name))


@dataclass(frozen=True)
class _Tensor:
    """An input or an output: its name, the type of its numbers, how many each row has."""

    name: str
    dtype: type[np.generic]
    width: int
    is_flat: bool
    """Whether its shape is (rows,)."""

    @property
    def kind(self) -> str:
        """The name of the type for the core's functions."""
        code = np.dtype(self.dtype).kind
        return {"b": "bool", "f": "float"}.get(code, "int")

    def fitting(self, values: Values) -> Values:
        """Returns the values if an input of integers can hold them. Raises QueryError otherwise:
        NumPy would wrap them around."""
        if self.kind != "int" or not len(values):
            return values
        if values.dtype.kind == "f":
            raise QueryError(f"{self.name} takes integers, and gets real numbers: int(…)")
        holds: Any = np.iinfo(self.dtype)
        for each in (values.min(), values.max()):
            if not holds.min <= int(each) <= holds.max:
                raise QueryError(
                    f"{self.name} takes {holds.dtype}, {holds.min} to {holds.max}, and gets {each}"
                )
        return values

    def names(self) -> list[str]:
        """One for each number of a row."""
        if self.width == 1:
            return [self.name]
        return [f"{self.name}_{i}" for i in range(self.width)]


class _Session:
    """The runtime's session of a model, and what it takes and gives."""

    def __init__(self, content: bytes, name: str) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingPackageError(
                f"{name} is a model in ONNX, for which onnxruntime is needed, and it cannot be "
                f"imported ({error}): pip install 'treemill[onnx]'"
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(
                content, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise FormatError(f"{name}: onnxruntime refuses it: {first_line(error)}") from None
        self.inputs = [_tensor(each, name, None) for each in self.session.get_inputs()]
        if sum(each.width for each in self.inputs) > MAX_WIDTH:
            raise UnsupportedError(f"{name} takes more than {MAX_WIDTH} numbers for each row")
        some = self.run([np.zeros(1, each.dtype) for each in self.columns()], 1, None)
        outputs = zip(self.session.get_outputs(), some, strict=True)
        self.outputs = [_tensor(each, name, values) for each, values in outputs]
        numbered = [output for each in self.outputs for output in each.names()]
        if len(set(numbered)) < len(numbered):
            raise UnsupportedError(
                f"{name} has two outputs of one name, when those of several numbers are numbered "
                f"({', '.join(numbered[:20])}): rename one of them"
            )

    def columns(self) -> list[_Tensor]:
        """The inputs, once for each number of a row."""
        return [each for each in self.inputs for _ in range(each.width)]

    def run(
        self, columns: Sequence[Values], rows: int, outputs: Sequence[str] | None
    ) -> list[Values]:
        """Returns what the runtime gives for columns, in the order of the inputs."""
        feed, rest = {}, list(columns)
        for each in self.inputs:
            own, rest = rest[: each.width], rest[each.width :]
            table = np.empty((rows, each.width), each.dtype)
            for i, values in enumerate(own):
                table[:, i] = each.fitting(values)
            feed[each.name] = table[:, 0] if each.is_flat else table
        try:
            results: list[Values] = self.session.run(outputs, feed)
        except Exception as error:
            raise QueryError(f"onnxruntime: {first_line(error)}") from None
        return results


def _tensor(described: NodeArg, name: str, values: Any) -> _Tensor:
    """An input, or an output with what it has given for one row."""
    what = f"{name}: {described.name}"
    dtype = _DTYPES.get(described.type)
    if dtype is None:
        hint = ": convert without ZipMap" if described.type.startswith("seq") else ""
        known = [each.removeprefix("tensor(").rstrip(")") for each in _DTYPES]
        raise UnsupportedError(
            f"{what} is {described.type}; tensors of {', '.join(known)} are read{hint}"
        )
    shape = list(described.shape) if values is None else list(values.shape)
    if values is None:
        if not shape or isinstance(shape[0], int):
            raise UnsupportedError(
                f"{what} has the shape {shape}: its first dimension must be the batch's, of any "
                "length (export it with a dynamic axis)"
            )
    elif not shape or shape[0] != 1:
        raise UnsupportedError(f"{what} gives no value for each row, but the shape {shape}")
    width = 1
    for length in shape[1:]:
        if not isinstance(length, int):
            raise UnsupportedError(f"{what} has rows of no certain length: {shape}")
        width *= length
    if len(shape) > 2 and values is None:
        raise UnsupportedError(f"{what} has the shape {shape}; rows of one dimension are given")
    if not 1 <= width <= MAX_WIDTH:
        raise UnsupportedError(f"{what} has {width} numbers for each row, not 1 to {MAX_WIDTH}")
    return _Tensor(described.name, dtype, width, len(shape) == 1)


class _OnnxFile:
    """The content of a model's file."""

    def __init__(self, content: bytes, name: str) -> None:
        self.content = content
        self.name = name
        self.session  # noqa: B018  (errors of the file are raised here)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def session(self) -> _Session:
        """This process's."""
        key = os.getpid(), self.digest
        with _lock:
            running = _sessions.get(key)
            if running is None:
                running = _sessions[key] = _Session(self.content, self.name)
                while len(_sessions) > _KEPT:
                    _sessions.popitem(last=False)
            _sessions.move_to_end(key)
            return running

    def __reduce__(self) -> tuple[object, ...]:
        return _unpacked, (zlib.compress(self.content, 1), self.name)


def _unpacked(content: bytes, name: str) -> _OnnxFile:
    return _OnnxFile(zlib.decompress(content), name)


class OnnxModel(NoList):
    """An ONNX model that you can call in expressions or with arrays.

    `model(…)` takes one number for each input. If an input has several numbers for each row, give
    as many numbers in their order. If the model has one number as output, this is the value. If it
    has several outputs, they are members of the value by their names, and `model["name"](…)` gives
    one of them. If an output has several numbers for each row, their names are numbered:
    `probabilities_0`, `probabilities_1`.
    """

    library = "ONNX"

    def __init__(self, file: _OnnxFile, wanted: str | None = None) -> None:
        self._file = file
        self._wanted = wanted

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, in order."""
        return [name for each in self._file.session.inputs for name in each.names()]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        if self._wanted is not None:
            return [self._wanted]
        return [name for each in self._file.session.outputs for name in each.names()]

    def __getitem__(self, name: str | int) -> OnnxModel:
        """One of several outputs, by its name or number."""
        known = self.outputs
        if isinstance(name, int):
            if not 0 <= name < len(known):
                raise IndexError(f"the model has {len(known)} outputs, numbered from 0")
            name = known[name]
        if name not in known:
            raise KeyError(f"the model has no output {name}: {', '.join(known[:20])}")
        return OnnxModel(self._file, name)

    @property
    def source(self) -> str:
        """The file that it is of."""
        return self._file.name

    @property
    def identity(self) -> str:
        """A digest that identifies it."""
        return f"model ONNX {self._file.digest} {self._wanted or 'all'}"

    def core(self) -> _core.Functions:
        """Returns what the core's queries take."""
        from treemill import _core  # heavy: core

        known = self.outputs
        parts = {name: OnnxModel(self._file, name) for name in known} if len(known) > 1 else {}
        numbers = {str(i): part for i, part in enumerate(parts.values())}
        return _core.Functions.own(self, {**parts, **numbers})

    def fitted(self, kinds: Sequence[Given]) -> _FittedNetwork:
        """The model for arguments of these types (kernels.function_protocols.OwnFunction)."""
        inputs = self.inputs
        if len(inputs) != len(kinds):
            names = ", ".join(inputs[:20]) + (", …" if len(inputs) > 20 else "")
            raise QueryError(f"takes {len(inputs)} ({names}), and gets {len(kinds)}")
        if any(of_items(kind)[0] == "str" for kind, _ in kinds):
            raise QueryError("models take no strings")
        return _FittedNetwork(self._file.session, inputs, self._wanted)

    def evaluate(self, *arguments: ArrayLike) -> Any:
        """Evaluate it outside of expressions.

        Parameters
        ----------
        *arguments
            One argument for each input: numbers or NumPy arrays, which are broadcast.

        Returns
        -------
        float, numpy.ndarray or dict
            The output: a number if all arguments are numbers, and otherwise an array. If the model
            has several outputs, a dictionary of them.

        Raises
        ------
        QueryError
            If the model takes other inputs.
        """
        arrays = np.broadcast_arrays(*arguments)
        shape = np.shape(arrays[0]) if arrays else ()
        fitted = self.fitted([("float", False)] * len(arguments))
        rows = int(np.prod(shape))
        values, _ = fitted.call(rows, [each.reshape(-1) for each in arrays])
        names = [name for name, _, _ in fitted.outputs]
        results = [
            each.reshape(shape) if shape else each[0].item()
            for each in (np.asarray(each) for each in values)
        ]
        return results[0] if len(results) == 1 else dict(zip(names, results, strict=True))

    __call__ = evaluate

    def __reduce__(self) -> tuple[object, ...]:
        return OnnxModel, (self._file, self._wanted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OnnxModel) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        takes, gives = ", ".join(self.inputs[:8]), ", ".join(self.outputs[:8])
        return f"<model of {self._file.name}: ONNX, ({takes}) to {gives}>"


class _FittedNetwork:
    """A model as the core calls it (kernels.function_protocols.FittedFunction)."""

    address: int | None = None

    def __init__(self, session: _Session, inputs: Sequence[str], wanted: str | None) -> None:
        self._session = session
        self._columns = session.columns()
        kinds = ("float" if each.kind == "float" else "int" for each in self._columns)
        self.parameters = list(zip(inputs, kinds, strict=True))
        gives = [
            (each, number, name)
            for each in session.outputs
            for number, name in enumerate(each.names())
            if wanted in (None, name)
        ]
        self._gives = gives
        alone = len(gives) == 1
        self.outputs: Sequence[Output] = [
            (None if alone else name, each.kind, None) for each, _, name in gives
        ]
        self._asked = list(dict.fromkeys(each.name for each, _, _ in gives))

    def call(self, rows: int, arguments: Sequence[Handed]) -> tuple[list[Values], list[Values]]:
        """Runs the session for a batch of rows."""
        if rows == 0:
            return [np.empty(0, _STORED[kind]) for _, kind, _ in self.outputs], []
        results = self._session.run([np.asarray(each) for each in arguments], rows, self._asked)
        tables = {}
        for name, values in zip(self._asked, map(np.asarray, results), strict=True):
            if values.shape[:1] != (rows,):
                raise QueryError(
                    f"{name} has the shape {values.shape} for {rows} rows: the model mixes the "
                    "rows of a batch, and so has no value for an entry"
                )
            tables[name] = values.reshape(rows, -1)
        columns = []
        for each, number, _ in self._gives:
            table = tables[each.name]
            if table.shape[1] != each.width:
                raise QueryError(f"{each.name} has {table.shape[1]} numbers, not {each.width}")
            columns.append(np.ascontiguousarray(table[:, number], _STORED[each.kind]))
        return columns, []

    def why(self, rows: int, arguments: Sequence[Handed]) -> str:
        """Not asked: there is no address."""
        return "it has failed"


_STORED = {"bool": np.uint8, "int": np.int64, "float": np.float64}
