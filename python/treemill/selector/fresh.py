"""An object as it was given, as often as it is wanted: what was done with one copy is not in the
next. Pickles, and knows nothing of what is pickled but where it is needless.
"""

from __future__ import annotations

import io
import pickle
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

__all__ = ["Fresh"]

_CODE = (type, FunctionType, BuiltinFunctionType, ModuleType)
_ANSWERING = (
    *("correctionlib", "coffea.lookup_tools", "coffea.jetmet_tools", "coffea.btag_tools"),
    *("coffea.ml_tools", "numba", "onnxruntime", "tensorflow", "torch", "xgboost", "lightgbm"),
)
"""Modules whose objects are asked, and stay as they are. Some take seconds to be made again."""


class Fresh:
    """Makes the copies. They share code, and objects that only answer questions."""

    def __init__(self, given: Any) -> None:
        """Raises what pickle raises where `given` cannot be copied."""
        self._shared: list[Any] = []
        data = io.BytesIO()
        _Pickler(data, self._shared).dump(given)
        self._data = data.getvalue()

    def copy(self) -> Any:
        """One more."""
        return _Unpickler(io.BytesIO(self._data), self._shared).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: list[Any]) -> None:
        super().__init__(file, protocol=5)
        self._shared = shared

    def persistent_id(self, obj: Any) -> int | None:
        if not isinstance(obj, _CODE) and not _within(type(obj).__module__, _ANSWERING):
            return None
        self._shared.append(obj)
        return len(self._shared) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: list[Any]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, pid: int) -> Any:
        return self._shared[pid]


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
