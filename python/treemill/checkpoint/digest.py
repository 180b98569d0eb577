"""Digests of Python values that are the same in every process: of data, of a user's functions and
classes with all that they use, of objects by what they would be pickled as.

Pickles themselves differ from process to process: sets have no order, and classes of `__main__` get
random names. Knows nothing of what the values are for.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from ..errors import UnsupportedError

__all__ = ["by_attribute", "digest"]

# Which code a name stands for: digests of the user's own modules with those that they import, and
# the versions of installed packages. A module counts as the user's own if it lies outside of
# Python's and the packages' folders. Reads the sources of loaded modules; runs nothing.

_PACKAGES = frozenset({"site-packages", "dist-packages"})
"""Names of the folders that packages are installed in."""


def source_digest(name: str) -> bytes:
    """The digest of the code of a loaded module."""
    module = sys.modules.get(name)
    path = _own_source(module)
    if path is None:
        top = sys.modules.get(name.partition(".")[0])
        return str(getattr(top, "__version__", "")).encode()
    hasher = hashlib.blake2b(digest_size=16)
    for each in sorted(_reached(name)):
        hasher.update(each.encode() + _content_of(_own_source(sys.modules.get(each))))
    return hasher.digest()


def _reached(name: str) -> set[str]:
    """The user's own modules that a module reaches by what it imports, itself included."""
    modules, waiting = set(), [name]
    while waiting:
        each = waiting.pop()
        module = sys.modules.get(each)
        if each in modules or module is None or _own_source(module) is None:
            continue
        modules.add(each)
        for value in list(vars(module).values()):
            owner = value.__name__ if isinstance(value, types.ModuleType) else None
            owner = owner or getattr(value, "__module__", None)
            if isinstance(owner, str):
                waiting.append(owner)
    return modules


def _own_source(module: types.ModuleType | None) -> Path | None:
    """The source of a module of the user's; None for others."""
    file = getattr(module, "__file__", None)
    if module is None or not isinstance(file, str) or module.__name__ == "__main__":
        return None
    if module.__name__.partition(".")[0] == "treemill":
        return None
    path = Path(file)
    if not _PACKAGES.isdisjoint(path.parts):
        return None
    return None if any(path.is_relative_to(each) for each in _of_python()) else path


@functools.cache
def _of_python() -> tuple[Path, ...]:
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    return tuple(folders | {folder.resolve() for folder in folders})


def _content_of(path: Path | None) -> bytes:
    try:
        return b"" if path is None else hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
    except OSError:  # it is in an archive, or gone: its name counts
        return b""


_Partial: TypeAlias = partial[object]
_Class: TypeAlias = type


class _Wrapped(Protocol):
    """A class method or a static method."""

    @property
    def __func__(self) -> Callable[..., object]: ...


_SIZE = 16
_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME"}
_SCALARS = (type(None), bool, int, float, complex, str, bytes, bytearray, type(...))
_OF_EVERY_CLASS = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("_abc_impl", "__abstractmethods__", "__firstlineno__", "__static_attributes__"),
    *("__annotate__", "__annotate_func__", "__annotations_cache__", "__orig_bases__"),
    *("__parameters__", "__slotnames__", "__dataclass_fields__", "__dataclass_params__"),
}


def digest(value: object) -> str:
    """The digest of a value. Raises UnsupportedError, which names it, if it has none."""
    return _Digest().of(value).hex()


def by_attribute(value: object) -> Mapping[str, str]:
    """The digests of an object's class, under "code", and of its attributes by their names."""
    walk = _Digest()
    slots = [name for each in type(value).__mro__ for name in _slots(each) if hasattr(value, name)]
    own = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
    digests = {"code": walk.of(type(value)).hex()}
    return digests | {name: walk.of(each).hex() for name, each in sorted(own.items())}


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


class _Digest:
    """Walks through one value."""

    def __init__(self) -> None:
        self._known: dict[
            int, tuple[object, bytes]
        ] = {}  # the object stays alive: its id is its own
        self._source = cache(source_digest)
        self._open: dict[int, int] = {}  # values that are being walked through: their depth

    def of(self, value: object) -> bytes:
        if isinstance(value, _SCALARS) and type(value) in _SCALARS:
            return _hash(type(value).__name__, [repr(value).encode()])
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        depth = self._open.get(id(value))
        if depth is not None:
            return _hash("again", [str(depth).encode()])
        self._open[id(value)] = len(self._open)
        try:
            walked = self._walk(value)
        except RecursionError:
            raise UnsupportedError(_no_digest(value, "it is nested too deeply")) from None
        finally:
            del self._open[id(value)]
        self._known[id(value)] = value, walked
        return walked

    def _walk(self, value: object) -> bytes:
        for kind, walk in _WALKS:
            if isinstance(value, kind):
                return walk(self, value)
        if type(value).__module__ == "numpy":
            return self._numpy(value)
        return self._reduced(value)

    def all(self, what: str, values: Iterable[object]) -> bytes:
        return _hash(what, map(self.of, values))

    def sequence(self, value: list[object] | tuple[object, ...]) -> bytes:
        if type(value) not in (list, tuple):
            return self._reduced(value)
        return self.all(type(value).__name__, value)

    def mapping(self, value: Mapping[object, object]) -> bytes:
        if type(value) is not dict:
            return self._reduced(value)
        pairs = sorted(self.of(key) + self.of(each) for key, each in value.items())
        return _hash("dict", pairs)

    def set(self, value: Iterable[object]) -> bytes:
        return _hash("set", sorted(map(self.of, value)))

    def code(self, value: types.CodeType) -> bytes:
        parts = (
            value.co_code,
            value.co_consts,
            value.co_names,
            value.co_varnames[: value.co_argcount + value.co_kwonlyargcount],
            value.co_freevars,
            value.co_argcount,
            value.co_kwonlyargcount,
            value.co_flags,
        )
        return self.all("code", parts)

    def function(self, value: types.FunctionType) -> bytes:
        if _is_importable(value):
            return self._by_name(value)
        cells = [_content(cell) for cell in value.__closure__ or ()]
        used = {
            name: value.__globals__[name]
            for name in sorted(_names(value.__code__))
            if name in value.__globals__
        }
        defaults = value.__defaults__, value.__kwdefaults__
        return self.all("function", (value.__code__, defaults, cells, used, value.__dict__))

    def type(self, value: type) -> bytes:
        if _is_importable(value):
            return self._by_name(value)
        own = {name: each for name, each in vars(value).items() if name not in _OF_EVERY_CLASS}
        own = {
            name: each
            for name, each in own.items()
            if not isinstance(each, (types.MemberDescriptorType, types.GetSetDescriptorType))
        }
        return self.all("class", (value.__qualname__, value.__bases__, own))

    def module(self, value: types.ModuleType) -> bytes:
        return _hash("module", [value.__name__.encode(), self._source(value.__name__)])

    def wrapped(self, value: _Wrapped) -> bytes:
        return self.all(type(value).__name__, (value.__func__,))

    def bound(self, value: types.MethodType) -> bytes:
        return self.all("method", (value.__self__, value.__func__))

    def property(self, value: property) -> bytes:
        return self.all("property", (value.fget, value.fset, value.fdel))

    def partial(self, value: _Partial) -> bytes:
        return self.all("partial", (value.func, value.args, value.keywords))

    def cached(self, value: cached_property[object]) -> bytes:
        return self.all("cached", (value.func,))

    def builtin(self, value: types.BuiltinFunctionType) -> bytes:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self.all("bound", (owner, value.__name__))
        return self._by_name(value)

    def _by_name(self, value: types.FunctionType | types.BuiltinFunctionType | _Class) -> bytes:
        module, name = getattr(value, "__module__", None) or "builtins", value.__qualname__
        return _hash("name", [f"{module}:{name}".encode(), self._source(module)])

    def _numpy(self, value: object) -> bytes:
        import numpy as np

        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            about = f"{value.dtype.descr} {value.shape}".encode()
            return _hash("array", [about, np.ascontiguousarray(value).tobytes()])
        if isinstance(value, np.ndarray):
            return self.all("objects", (value.shape, value.tolist()))
        if isinstance(value, np.generic):
            return _hash("scalar", [value.dtype.str.encode(), value.tobytes()])
        if isinstance(value, np.dtype):
            return _hash("dtype", [repr(value).encode()])
        if isinstance(value, np.ufunc):
            return _hash("ufunc", [value.__name__.encode()])
        return self._reduced(value)

    def _reduced(self, value: object) -> bytes:
        """The digest of what the value would be pickled as."""
        try:
            state = value.__reduce_ex__(4)
        except Exception as error:
            raise UnsupportedError(_no_digest(value, str(error))) from None
        if isinstance(state, str):
            return _hash("global", [type(value).__module__.encode(), state.encode()])
        make, arguments, *rest = state
        parts: list[object] = [make, arguments]
        parts += [
            list(each) if each is not None and i > 0 else each for i, each in enumerate(rest[:3])
        ]
        return self.all("object", parts)


_WALKS: tuple[tuple[type | tuple[type, ...], Callable[[_Digest, Any], bytes]], ...] = (
    ((list, tuple), _Digest.sequence),
    (dict, _Digest.mapping),
    ((set, frozenset), _Digest.set),
    (types.CodeType, _Digest.code),
    (types.FunctionType, _Digest.function),
    (type, _Digest.type),
    (types.ModuleType, _Digest.module),
    ((staticmethod, classmethod), _Digest.wrapped),
    (types.MethodType, _Digest.bound),
    (property, _Digest.property),
    (partial, _Digest.partial),
    (cached_property, _Digest.cached),
    ((types.BuiltinFunctionType, types.MethodDescriptorType), _Digest.builtin),
    (types.WrapperDescriptorType, _Digest.builtin),
)


def _hash(what: str, parts: Iterable[bytes]) -> bytes:
    hasher = hashlib.blake2b(what.encode() + b"\0", digest_size=_SIZE)
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.digest()


def _is_importable(value: types.FunctionType | type) -> bool:
    """True if another process would import it, instead of getting its code."""
    name = getattr(value, "__module__", None)
    if not name or name == "__main__":
        return False
    imported: object = sys.modules.get(name)
    for part in value.__qualname__.split("."):
        imported = getattr(imported, part, None)
    return imported is value


def _names(code: types.CodeType) -> set[str]:
    """The global names that code uses, functions inside it included."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    used = {each.argval for each in dis.get_instructions(code) if each.opname in _GLOBAL}
    return used.union(*map(_names, inner))


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _no_digest(value: object, reason: str) -> str:
    return (
        f"checkpoint= cannot tell whether a later run has the same {type(value).__name__}: {reason}"
    )
