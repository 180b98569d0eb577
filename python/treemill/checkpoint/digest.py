"""Digests of Python values that are the same in every process: of data, of a user's functions and
classes with all that they use, of objects by what they would be pickled as.

Pickles themselves differ from process to process: sets have no order, and classes of `__main__` get
random names. Knows nothing of what the values are for.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import itertools
import os
import sys
import sysconfig
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Protocol, TypeAlias

from ..errors import UnsupportedError

__all__ = ["by_attribute", "digest", "digest_and_exact", "evaluator", "number_of", "versions"]

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
            asked = "__name__" if issubclass(type(value), types.ModuleType) else "__module__"
            with suppress(Exception):  # objects of the user's may raise anything
                owner = getattr(value, asked, None)
                waiting += [owner] if isinstance(owner, str) else []
    return modules


def _is_own(name: str | None) -> bool:
    """Whether a module is the user's own: `__main__`, or one outside of Python's and the packages'
    folders."""
    return name in (None, "__main__") or _own_source(sys.modules.get(name)) is not None


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


_Class: TypeAlias = type


class _Wrapped(Protocol):
    """A class method or a static method."""

    @property
    def __func__(self) -> Callable[..., object]: ...


_SIZE = 16
_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME"}
_SCALARS = (type(None), bool, int, float, complex, str, bytes, bytearray, type(...))
_WITH_UFUNCS = ("numpy", "scipy")
_CACHED: type = type(cache(len))
_OF_EVERY_CACHE = {*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "cache_parameters"}
_OF_EVERY_CLASS = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("_abc_impl", "__abstractmethods__", "__firstlineno__", "__static_attributes__"),
    *("__annotate__", "__annotate_func__", "__annotations_cache__", "__orig_bases__"),
    *("__parameters__", "__slotnames__", "__dataclass_fields__", "__dataclass_params__"),
}


def digest(value: object, *, certain: bool = False, exact: bool = False) -> str:
    """The digest of a value. Raises UnsupportedError, which names it, if it has none.

    A function's is that of its code with all that another process would load for it, which tells
    whether a run may go on from what an earlier one has done. `exact`: what is not pickled counts,
    too, and the order of dictionaries, so that one of two equal ones may do the work of both in one
    process: a lock or the like that is not pickled is equal to itself only. `certain`: of what its
    value depends on, so that equal ones have equal values for equal arguments. A function of which
    that is not certain has none, and the error says why."""
    return (_Certain() if certain else _Exact() if exact else _Digest()).of(value).hex()


def digest_and_exact(value: object) -> tuple[str, str]:
    """Both digests of a value. What is large in them is read once."""
    walk = _Digest()
    return walk.of(value).hex(), _Exact(walk).of(value).hex()


def by_attribute(value: object) -> Mapping[str, str]:
    """The digests of an object's class, under "code", and of its attributes by their names."""
    walk = _Digest()
    digests = {"code": walk.of(type(value)).hex()}
    return digests | {name: walk.of(each).hex() for name, each in sorted(_held(value).items())}


def _held(value: object) -> dict[str, object]:
    """The attributes of an object, those in slots too. It is not asked: its class may answer with
    anything."""
    held: dict[str, object] = {}
    for kind in type(value).__mro__:
        for name, slot in vars(kind).items() if "__slots__" in vars(kind) else ():
            if isinstance(slot, types.MemberDescriptorType):
                with suppress(AttributeError):  # it is empty
                    held[f"{kind.__name__}.{name}" if name in held else name] = slot.__get__(value)
    with suppress(AttributeError):  # it has slots only
        held |= object.__getattribute__(value, "__dict__")
    return held


_numbers = itertools.count()
_numbered: dict[int, tuple[object, int]] = {}


def number_of(value: object) -> int:
    """A number that no other object has had in this process. The object keeps it."""
    key, kept = id(value), value
    with suppress(TypeError):  # of others all stay alive: their ids are their own
        kept = weakref.ref(value, lambda _: _numbered.pop(key, None))
    return _numbered.setdefault(key, (kept, next(_numbers)))[1]


class _Digest:
    """Walks through one value."""

    def __init__(self, before: _Digest | None = None) -> None:
        """`before`: a walk, of another kind, that knows sources and arrays."""
        # The objects stay alive: their ids are their own.
        self._known: dict[int, tuple[object, bytes]] = {}
        self._arrays: dict[int, tuple[object, bytes]] = before._arrays if before else {}
        self._source: Callable[[str], bytes] = before._source if before else cache(source_digest)
        self._open: dict[int, int] = {}  # values that are being walked through: their depth

    def of(self, value: object) -> bytes:
        if type(value) in _SCALARS:
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
        except UnsupportedError:
            raise
        except RecursionError:
            raise UnsupportedError(_no_digest(value, "it is nested too deeply")) from None
        except Exception as error:  # classes of the user's may raise anything where they are asked
            said = str(error) or type(error).__name__
            raise UnsupportedError(_no_digest(value, said)) from None
        finally:
            del self._open[id(value)]
        self._known[id(value)] = value, walked
        return walked

    def _walk(self, value: object) -> bytes:
        for kind, walk in _WALKS:
            if issubclass(type(value), kind):  # isinstance asks the value, which may be a proxy
                walked: bytes = getattr(self, walk)(value)
                return walked
        module = type(value).__module__
        package = module.partition(".")[0]
        if package in _WITH_UFUNCS and (place := _ufunc_place(value)):
            return self._of_module(*place)
        if module == "numpy":
            return self._numpy(value)
        return self._compiled(value) if package == "numba" else self._reduced(value)

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
        if type(value) not in (set, frozenset):
            return self._reduced(value)
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
            value.co_exceptiontable,
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

    def kind(self, value: type) -> bytes:
        return self._by_name(value) if _is_importable(value) else self.described(value)

    def described(self, value: type) -> bytes:
        """The digest of a class by what it has."""
        own = {name: each for name, each in vars(value).items() if name not in _OF_EVERY_CLASS}
        own = {
            name: each
            for name, each in own.items()
            if not isinstance(each, (types.MemberDescriptorType, types.GetSetDescriptorType))
        }
        parts: list[object] = [value.__qualname__, value.__bases__, own]
        return self.all("class", parts if type(value) is type else [*parts, type(value)])

    def module(self, value: types.ModuleType) -> bytes:
        return _hash("module", [value.__name__.encode(), self._source(value.__name__)])

    def wrapped(self, value: _Wrapped) -> bytes:
        return self.all(type(value).__name__, (value.__func__, *self._of_subclass(value)))

    def bound(self, value: types.MethodType) -> bytes:
        return self.all("method", (value.__self__, value.__func__))

    def property(self, value: property) -> bytes:
        parts = value.fget, value.fset, value.fdel
        return self.all("property", (*parts, *self._of_subclass(value)))

    def cached(self, value: cached_property[object]) -> bytes:
        return self.all("cached", (value.func, *self._of_subclass(value)))

    def _of_subclass(self, value: object) -> Iterator[object]:
        """What an object of a subclass of one of Python's classes has beside what that has."""
        if type(value) not in (property, staticmethod, classmethod, cached_property):
            known = vars(cached_property(len))
            yield type(value)
            yield sorted((name, each) for name, each in _held(value).items() if name not in known)

    def memoized(self, value: Callable[..., object]) -> bytes:
        """What functools.cache makes, which is pickled as a name."""
        beside = {k: v for k, v in vars(value).items() if k not in _OF_EVERY_CACHE}
        about = vars(value)["cache_parameters"]()
        return self.all("wrapped", (vars(value)["__wrapped__"], about, beside))

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
            if id(value) not in self._arrays:
                about = f"{value.dtype.descr} {value.shape}".encode()
                read = _hash("array", [about, np.ascontiguousarray(value).tobytes()])
                self._arrays[id(value)] = value, read
            return self._arrays[id(value)][1]
        if isinstance(value, np.ndarray):
            return self.all("objects", (value.shape, value.tolist()))
        if isinstance(value, np.generic):
            return _hash("scalar", [value.dtype.str.encode(), value.tobytes()])
        if isinstance(value, np.dtype):
            return _hash("dtype", [repr(value).encode()])
        if isinstance(value, np.ufunc):
            raise UnsupportedError(_no_digest(value, "it may be made of any function"))
        if isinstance(value, np.vectorize):  # it keeps what it has called the function by
            held = {name: each for name, each in vars(value).items() if name != "_ufunc"}
            return self.all("vectorized", (type(value), held))
        return self._reduced(value)

    def _compiled(self, value: object) -> bytes:
        """The digest of a function that numba has compiled."""
        plain = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
        if not isinstance(plain, types.FunctionType):
            return self._reduced(value)
        about = [getattr(value, name, None) for name in ("targetoptions", "_sig")]
        if not getattr(value, "_can_compile", True):  # for the types that it was given only
            about.append(getattr(value, "nopython_signatures", None))
        return self.all("compiled", (type(value), plain, repr(about)))

    def _reduced(self, value: object) -> bytes:
        """The digest of what the value would be pickled as."""
        state = value.__reduce_ex__(4)
        if isinstance(state, str):
            return self._by_global_name(value, state)
        make, arguments, *rest = state
        if isinstance(value, (set, frozenset)):  # of a subclass: their order is not theirs
            arguments = [frozenset(x) if isinstance(x, list) else x for x in arguments]
        parts: list[object] = [make, arguments]
        parts += [
            list(each) if each is not None and i > 0 else each for i, each in enumerate(rest[:3])
        ]
        return self.all("object", parts)

    def _by_global_name(self, value: object, name: str) -> bytes:
        """The digest of what would be pickled as a name, by which others must find it."""
        module = _place_of(value, name)
        if module is None:
            raise UnsupportedError(_no_digest(value, f"{name} is not the name of it"))
        return self._of_module(module, name)

    def _of_module(self, module: str, name: str) -> bytes:
        return _hash("global", [module.encode(), name.encode(), self._source(module)])


_WALKS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    ((list, tuple), "sequence"),
    (dict, "mapping"),
    ((set, frozenset), "set"),
    (types.CodeType, "code"),
    (types.FunctionType, "function"),
    (type, "kind"),
    (types.ModuleType, "module"),
    ((staticmethod, classmethod), "wrapped"),
    (types.MethodType, "bound"),
    (property, "property"),
    (cached_property, "cached"),
    (_CACHED, "memoized"),
    ((types.BuiltinFunctionType, types.MethodDescriptorType), "builtin"),
    (types.WrapperDescriptorType, "builtin"),
)


def _hash(what: str, parts: Iterable[bytes]) -> bytes:
    """The digest of these parts, which are `what`."""
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


def _place_of(value: object, name: str) -> str | None:
    """The module that has the value by this name: the one that the value names; else None."""
    module = getattr(value, "__module__", "builtins")
    found: object = sys.modules.get(module) if isinstance(module, str) else None
    for part in name.split("."):
        found = getattr(found, part, None)
    return module if found is value else None


def _ufunc_place(value: object) -> tuple[str, str] | None:
    """The module that has this ufunc by its name, and the name; None: no module has it."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or not callable(value):
        return None
    places = [
        module
        for module, loaded in list(sys.modules.items())
        if module.startswith(_WITH_UFUNCS) and getattr(loaded, "__dict__", {}).get(name) is value
    ]
    # The outermost, whichever others are loaded.
    return (min(places, key=lambda place: (place.count("."), place)), name) if places else None


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


class _Exact(_Digest):
    """Walks through one value, to what is not pickled, too."""

    def mapping(self, value: Mapping[object, object]) -> bytes:
        if type(value) is not dict:
            return self._reduced(value)
        return self.all("dict", (part for pair in value.items() for part in pair))

    def _reduced(self, value: object) -> bytes:
        reduced = super()._reduced(value)
        kind = type(value)
        if not _is_own(kind.__module__) or not _pickles_itself(kind):
            return reduced
        return self.all("held", (reduced, *map(self._of_held, sorted(_held(value).items()))))

    def _of_held(self, attribute: tuple[str, object]) -> object:
        """What counts of an attribute: of a lock or an open file, which object it is."""
        name, value = attribute
        try:
            return name, self.of(value)
        except UnsupportedError:
            return name, os.getpid(), number_of(value)


def _pickles_itself(kind: type) -> bool:
    """Whether a class says itself what its objects are pickled as."""
    return any(
        name in vars(each)
        for name in ("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__")
        for each in kind.__mro__
        if each is not object
    )


# Digests that are certain, for results that are remembered. Others go by the source of a module
# that another process would import. Here what the module holds now counts, and a function that may
# look at anything else, such as a file or a clock, has no digest.

_LOOKS = frozenset(
    {
        *("open", "exec", "eval", "compile", "globals", "locals", "vars", "input", "breakpoint"),
        *("getattr", "setattr", "delattr", "__import__", "id", "hash", "__dict__"),
        *("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_text", "read_bytes"),
        *("read_csv", "read_parquet", "urlopen", "getenv", "environ", "random", "default_rng"),
        *("rand", "randn", "rvs", "now", "today", "time", "time_ns", "perf_counter", "monotonic"),
    }
)
"""Names by which code looks at what no digest has: files, clocks, the environment, other names."""
_PURE = frozenset(
    {
        *("math", "cmath", "operator", "_operator", "itertools", "functools", "_functools"),
        *("collections", "_collections", "_collections_abc", "typing", "dataclasses", "enum"),
        *("numbers", "fractions", "decimal", "_decimal", "statistics", "copy", "copyreg", "abc"),
        *("_abc", "types", "re", "string", "json", "bisect", "_bisect", "heapq", "_heapq", "array"),
        *("struct", "_struct", "builtins", "contextlib", "textwrap"),
    }
)
"""Modules of Python's library whose functions depend on their arguments only."""
_RANDOM = ("numpy.random", "scipy.stats")
"""Modules of packages of which functions draw random numbers."""


class _Certain(_Exact):
    """Walks through one value."""

    def _of_held(self, attribute: tuple[str, object]) -> object:
        return attribute

    def function(self, value: types.FunctionType) -> bytes:
        if _is_importable(value) and not _is_own(value.__module__):
            return self._of_package(value.__module__, value.__qualname__)
        code = value.__code__
        _check(code, value)
        used = dict(self._used(code, value))
        names = _all_names(code)
        cells = [_Named(_certain_content(each, value), names) for each in value.__closure__ or ()]
        defaults = value.__defaults__, value.__kwdefaults__
        attributes = {k: v for k, v in value.__dict__.items() if k != "__wrapped__"}
        wrapped = value.__dict__.get("__wrapped__")
        return self.all("function", (code, defaults, cells, used, attributes, wrapped))

    def _used(
        self, code: types.CodeType, value: types.FunctionType
    ) -> Iterator[tuple[str, object]]:
        """What the code, and code inside it, finds by its names."""
        names = _all_names(code)
        for name in sorted(_global_names(code)):
            if name in value.__globals__:
                yield name, _Named(value.__globals__[name], names)
            elif not hasattr(builtins, name):
                raise UnsupportedError(f"{_title(value)} uses {name}, which does not exist")
        for name in sorted(_imported(code)):
            module = sys.modules.get(name)
            if module is None:
                raise UnsupportedError(f"{_title(value)} imports {name}, which is not loaded")
            yield f"import {name}", _Named(module, names)

    def kind(self, value: type) -> bytes:
        if _is_importable(value) and not _is_own(value.__module__):
            return self._of_package(value.__module__, value.__qualname__)
        return self.described(value)

    def module(self, value: types.ModuleType) -> bytes:
        if _is_own(value.__name__):
            raise UnsupportedError(f"the module {value.__name__} may be used for any of its names")
        return self._of_package(value.__name__, "")

    def builtin(self, value: types.BuiltinFunctionType) -> bytes:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self.all("bound", (owner, value.__name__))
        return self._of_package(getattr(value, "__module__", None) or "builtins", value.__name__)

    def named(self, value: _Named) -> bytes:
        """Something that code finds by a name, of which it may take attributes by `names`."""
        module = value.value
        if not isinstance(module, types.ModuleType):
            return self.of(module)
        if not _is_own(module.__name__):
            inner = [
                each.__name__
                for name in value.names
                if isinstance(each := vars(module).get(name), types.ModuleType)
            ]
            parts = [self._of_package(name, "") for name in sorted({module.__name__, *inner})]
            return _hash("modules", parts)
        held = {
            name: _Named(vars(module)[name], value.names - {name})
            for name in sorted(value.names)
            if name in vars(module)
        }
        return self.all("names of a module", (module.__name__, held))

    def _reduced(self, value: object) -> bytes:
        if isinstance(value, _Named):
            return self.named(value)
        module = type(value).__module__
        if _is_outside(module):
            raise UnsupportedError(
                f"it uses a value of {module}, which may be another one each time"
            )
        return super()._reduced(value)

    def _by_global_name(self, value: object, name: str) -> bytes:
        module = _place_of(value, name)
        if module is not None and not _is_own(module):
            return self._of_module(module, name)
        raise UnsupportedError(f"it uses {name}, of which only the name is known")

    def _of_module(self, module: str, name: str) -> bytes:
        return self._of_package(module, name)

    def _of_package(self, module: str, name: str) -> bytes:
        if _is_outside(module):
            raise UnsupportedError(f"it uses {module}, whose values may be others each time")
        return _hash("package", [f"{module}:{name} {_version(module)}".encode()])


class _Named:
    """A value that code finds by a name, and all names in the code."""

    def __init__(self, value: object, names: frozenset[str]) -> None:
        self.value = value
        self.names = names


def _is_outside(module: str) -> bool:
    """Whether what is in a module may look at more than its arguments."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return top not in _PURE
    return module.startswith(_RANDOM)


@cache
def _version(module: str) -> str:
    """The version of what a module is of. Raises UnsupportedError if it has none."""
    from importlib.metadata import PackageNotFoundError, distribution, version  # start-up

    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return sys.version
    if top == "treemill":
        return "treemill"  # what computes results counts anyway
    for name in _distributions().get(top, (top,)):
        try:
            # The list of its files has their checksums: a version may be installed again.
            files = distribution(name).read_text("RECORD") or ""
            return f"{version(name)} {_hash('files', [files.encode()]).hex()}"
        except PackageNotFoundError:
            continue
    raise UnsupportedError(f"it uses {module}, whose version is not known")


@cache
def _distributions() -> Mapping[str, list[str]]:
    from importlib.metadata import packages_distributions  # start-up

    return packages_distributions()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _check(code: types.CodeType, value: types.FunctionType) -> None:
    """Raises UnsupportedError if code changes what outlives its call, or looks outside."""
    for each in _codes(code):
        looks = _LOOKS.intersection(each.co_names)
        if looks:
            raise UnsupportedError(f"{_title(value)} uses {min(looks)}, which looks outside of it")
        for step in dis.get_instructions(each):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
                each is code
                and step.opname in ("STORE_DEREF", "DELETE_DEREF")
                and step.argval in code.co_freevars
            ):
                raise UnsupportedError(f"{_title(value)} changes {step.argval}, which outlives it")


def _all_names(code: types.CodeType) -> frozenset[str]:
    return frozenset(name for each in _codes(code) for name in each.co_names)


def _global_names(code: types.CodeType) -> set[str]:
    return {
        str(step.argval)
        for each in _codes(code)
        for step in dis.get_instructions(each)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in _OF_CLASSES
    }


_OF_CLASSES = frozenset({"__name__", "__qualname__", "__module__"})


def _imported(code: types.CodeType) -> set[str]:
    return {
        str(step.argval)
        for each in _codes(code)
        for step in dis.get_instructions(each)
        if step.opname == "IMPORT_NAME"
    }


def _certain_content(cell: types.CellType, value: types.FunctionType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        raise UnsupportedError(f"{_title(value)} uses a name that has no value yet") from None


def _title(value: types.FunctionType) -> str:
    return "a lambda" if value.__name__ == "<lambda>" else value.__name__


# What computes results, as a text: what is remembered of another one is not taken. Versions of
# treemill, of its core as it is on this machine, and of the packages that read columns or run
# models for it.

_COMPUTING = ("numpy", "awkward", "uproot", "numba", "onnxruntime")


def versions() -> dict[str, str]:
    """Those of treemill and Python, by their names."""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return {"treemill": _installed("treemill") or "of the sources", "Python": python}


@cache
def evaluator() -> str:
    """The text. It is equal for equal installations."""
    from .. import _core  # heavy: core

    core = os.stat(str(_core.__file__))
    known = versions() | {name: _installed(name) or "none" for name in _COMPUTING}
    parts = [f"{name} {version}" for name, version in known.items()]
    return " ".join([*parts, str(core.st_size), str(core.st_mtime_ns), _sources()])


def _installed(package: str) -> str | None:
    """The version of an installed package; None: it is not there, or runs from its sources."""
    from importlib.metadata import PackageNotFoundError, version  # start-up

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _sources() -> str:
    """What the Python part is, where it is not as its version says: a checkout is edited."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if {"site-packages", "dist-packages"} & set(package.split(os.sep)):
        return ""
    newest = 0
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(".py"):
                newest = max(newest, os.stat(os.path.join(folder, name)).st_mtime_ns)
    return f"sources {newest}"
