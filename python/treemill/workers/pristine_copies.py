"""Makes copies of an object as it was given: changes to one copy are not in the next. Uses pickle,
and knows which objects need not be copied.
"""

from __future__ import annotations

import io
import pickle
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Generic, TypeVar

__all__ = ["PristineCopies"]

T = TypeVar("T")

_CODE = (type, FunctionType, BuiltinFunctionType, ModuleType)
_STATELESS = (
    *("correctionlib", "coffea.lookup_tools", "coffea.jetmet_tools", "coffea.btag_tools"),
    *("coffea.ml_tools", "numba", "onnxruntime", "tensorflow", "torch", "xgboost", "lightgbm"),
)
"""Modules whose objects do not change when they are used. Some take seconds to be made again."""


class PristineCopies(Generic[T]):
    """Makes the copies. They share code, and objects that do not change when they are used."""

    def __init__(self, given: T) -> None:
        """Raises what pickle raises if `given` cannot be copied."""
        self._shared: list[object] = []
        data = io.BytesIO()
        _Pickler(data, self._shared).dump(given)
        self._data = data.getvalue()

    def copy(self) -> T:
        """Makes another copy of the object as it was given."""
        copy: T = _Unpickler(io.BytesIO(self._data), self._shared).load()
        return copy


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file, protocol=5)
        self._shared = shared

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, _CODE) and not _within(type(obj).__module__, _STATELESS):
            return None
        self._shared.append(obj)
        return len(self._shared) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, pid: int) -> object:
        return self._shared[pid]


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
