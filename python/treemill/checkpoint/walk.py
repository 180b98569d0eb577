"""A walk through one Python value that makes its digest, the same in every process: of data, of a
user's functions and classes with all that they use, of objects by what they would be pickled as.

Pickles themselves differ from process to process: sets have no order, and classes of `__main__` get
random names. Knows nothing of what the values are for. Reads the sources of loaded modules; runs
nothing of them.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Protocol, TypeAlias, TypeGuard

from ..errors import UnsupportedError

__all__ = [
    "Walk",
    "all_names",
    "attributes_of",
    "codes",
    "hashed",
    "is_importable",
    "is_own",
    "place_of",
]

# Which code a name stands for: digests of the user's own modules with those that they import, and
# the versions of installed packages. A module counts as the user's own if it lies outside of
# Python's and the packages' folders.

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


def is_own(name: str | None) -> bool:
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
_DECORATED: tuple[tuple[type, str], ...] = (
    *((staticmethod, "__func__"), (classmethod, "__func__"), (property, "fget")),
    *((cached_property, "func"), (_CACHED, "__wrapped__")),
)
"""What decorators make, and where it has the function."""
_OF_EVERY_CACHE = {*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "cache_parameters"}
_OF_EVERY_CLASS = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("_abc_impl", "__abstractmethods__", "__firstlineno__", "__static_attributes__"),
    *("__annotate__", "__annotate_func__", "__annotations_cache__", "__orig_bases__"),
    *("__parameters__", "__slotnames__", "__dataclass_fields__", "__dataclass_params__"),
}


class Walk:
    """Walks through one value."""

    def __init__(self, before: Walk | None = None) -> None:
        """`before`: a walk, of another kind, that knows sources and arrays."""
        # The objects stay alive: their ids are their own.
        self._known: dict[int, tuple[object, bytes]] = {}
        self._arrays: dict[int, tuple[object, bytes]] = before._arrays if before else {}
        self._source: Callable[[str], bytes] = before._source if before else cache(source_digest)
        self._open: dict[int, int] = {}  # values that are being walked through: their depth

    def of(self, value: object) -> bytes:
        """The digest of a value. Raises UnsupportedError, which names it, if it has none."""
        if type(value) in _SCALARS:
            return hashed(type(value).__name__, [repr(value).encode()])
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        depth = self._open.get(id(value))
        if depth is not None:
            return hashed("again", [str(depth).encode()])
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
        """The digest of values that together are `what`."""
        return hashed(what, map(self.of, values))

    def _sequence(self, value: list[object] | tuple[object, ...]) -> bytes:
        if type(value) not in (list, tuple):
            return self._reduced(value)
        return self.all(type(value).__name__, value)

    def _mapping(self, value: Mapping[object, object]) -> bytes:
        if type(value) is not dict:
            return self._reduced(value)
        pairs = sorted(self.of(key) + self.of(each) for key, each in value.items())
        return hashed("dict", pairs)

    def _set(self, value: Iterable[object]) -> bytes:
        if type(value) not in (set, frozenset):
            return self._reduced(value)
        return hashed("set", sorted(map(self.of, value)))

    def _code(self, value: types.CodeType) -> bytes:
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

    def _function(self, value: types.FunctionType) -> bytes:
        if is_importable(value):
            return self._imported(value, [value])
        cells = [_content(cell) for cell in value.__closure__ or ()]
        used = {
            name: value.__globals__[name]
            for name in sorted(_names(value.__code__))
            if name in value.__globals__
        }
        defaults = value.__defaults__, value.__kwdefaults__
        held = _held(value)
        return self.all("function", (value.__code__, defaults, cells, used, value.__dict__, held))

    def _kind(self, value: type) -> bytes:
        if not is_importable(value):
            return self._described(value)
        parts = [*value.__bases__, *vars(value).values()]
        parts += [inner for each in parts for inner in _inside(each)]
        return self._imported(value, [each for each in parts if _is_code(each) or _is_held(each)])

    def _imported(self, value: types.FunctionType | _Class, parts: Iterable[object]) -> bytes:
        """The digest of what another process would import, and, in the user's own modules, of what
        its parts find there: a program may have set it to something else than the source says."""
        named = self._by_name(value)
        if not is_own(value.__module__):
            return named
        return self.all("imported", (named, [_held(x) if _is_code(x) else x for x in parts]))

    def _described(self, value: type) -> bytes:
        """The digest of a class by what it has."""
        own = {name: each for name, each in vars(value).items() if name not in _OF_EVERY_CLASS}
        own = {
            name: each
            for name, each in own.items()
            if not isinstance(each, (types.MemberDescriptorType, types.GetSetDescriptorType))
        }
        parts: list[object] = [value.__qualname__, value.__bases__, own]
        return self.all("class", parts if type(value) is type else [*parts, type(value)])

    def _module(self, value: types.ModuleType) -> bytes:
        return hashed("module", [value.__name__.encode(), self._source(value.__name__)])

    def _wrapped(self, value: _Wrapped) -> bytes:
        return self.all(type(value).__name__, (value.__func__, *self._of_subclass(value)))

    def _bound(self, value: types.MethodType) -> bytes:
        return self.all("method", (value.__self__, value.__func__))

    def _property(self, value: property) -> bytes:
        parts = value.fget, value.fset, value.fdel
        return self.all("property", (*parts, *self._of_subclass(value)))

    def _cached(self, value: cached_property[object]) -> bytes:
        return self.all("cached", (value.func, *self._of_subclass(value)))

    def _of_subclass(self, value: object) -> Iterator[object]:
        """What an object of a subclass of one of Python's classes has beside what that has."""
        if type(value) not in (property, staticmethod, classmethod, cached_property):
            known = vars(cached_property(len))
            yield type(value)
            yield sorted(
                (name, each) for name, each in attributes_of(value).items() if name not in known
            )

    def _memoized(self, value: Callable[..., object]) -> bytes:
        """What functools.cache makes, which is pickled as a name."""
        beside = {k: v for k, v in vars(value).items() if k not in _OF_EVERY_CACHE}
        about = vars(value)["cache_parameters"]()
        return self.all("wrapped", (vars(value)["__wrapped__"], about, beside))

    def _builtin(self, value: types.BuiltinFunctionType) -> bytes:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self.all("bound", (owner, value.__name__))
        return self._by_name(value)

    def _by_name(self, value: types.FunctionType | types.BuiltinFunctionType | _Class) -> bytes:
        module, name = getattr(value, "__module__", None) or "builtins", value.__qualname__
        return hashed("name", [f"{module}:{name}".encode(), self._source(module)])

    def _numpy(self, value: object) -> bytes:
        import numpy as np

        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            if id(value) not in self._arrays:
                about = f"{value.dtype.descr} {value.shape}".encode()
                read = hashed("array", [about, np.ascontiguousarray(value).tobytes()])
                self._arrays[id(value)] = value, read
            return self._arrays[id(value)][1]
        if isinstance(value, np.ndarray):
            return self.all("objects", (value.shape, value.tolist()))
        if isinstance(value, np.generic):
            return hashed("scalar", [value.dtype.str.encode(), value.tobytes()])
        if isinstance(value, np.dtype):
            return hashed("dtype", [repr(value).encode()])
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
        module = place_of(value, name)
        if module is None:
            raise UnsupportedError(_no_digest(value, f"{name} is not the name of it"))
        return self._of_module(module, name)

    def _of_module(self, module: str, name: str) -> bytes:
        return hashed("global", [module.encode(), name.encode(), self._source(module)])


_WALKS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    ((list, tuple), "_sequence"),
    (dict, "_mapping"),
    ((set, frozenset), "_set"),
    (types.CodeType, "_code"),
    (types.FunctionType, "_function"),
    (type, "_kind"),
    (types.ModuleType, "_module"),
    ((staticmethod, classmethod), "_wrapped"),
    (types.MethodType, "_bound"),
    (property, "_property"),
    (cached_property, "_cached"),
    (_CACHED, "_memoized"),
    ((types.BuiltinFunctionType, types.MethodDescriptorType), "_builtin"),
    (types.WrapperDescriptorType, "_builtin"),
)


def hashed(what: str, parts: Iterable[bytes]) -> bytes:
    """The digest of these parts, which are `what`."""
    hasher = hashlib.blake2b(what.encode() + b"\0", digest_size=_SIZE)
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.digest()


def is_importable(value: types.FunctionType | type) -> bool:
    """True if another process would import it, instead of getting its code."""
    name = getattr(value, "__module__", None)
    if not name or name == "__main__":
        return False
    imported: object = sys.modules.get(name)
    for part in value.__qualname__.split("."):
        imported = getattr(imported, part, None)
    return imported is value


def place_of(value: object, name: str) -> str | None:
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
    """The names of global variables that code uses, functions inside it included."""
    steps = (step for each in codes(code) for step in dis.get_instructions(each))
    return {step.argval for step in steps if step.opname in _GLOBAL}


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code, and that of the functions and classes inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from codes(each)


def all_names(code: types.CodeType) -> frozenset[str]:
    """All names in code, functions inside it included."""
    return frozenset(name for each in codes(code) for name in each.co_names)


def _is_code(value: object) -> TypeGuard[types.FunctionType]:
    return type(value) is types.FunctionType


def _held(function: types.FunctionType) -> dict[str, object]:
    """What a function finds in the user's own modules, itself or by the functions and classes that
    it uses: numbers and texts, and lists and dictionaries of these."""
    held, waiting, seen = dict[str, object](), [function], set[int]()
    while waiting:  # what refers to itself has a digest by where the walk began
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        module, code, found = each.__globals__.get("__name__"), each.__code__, dict[str, object]()
        for name in sorted(_names(code)) if isinstance(module, str) and is_own(module) else ():
            value = each.__globals__.get(name)
            if isinstance(value, types.ModuleType):
                found.update(_found(value, all_names(code), set()))
            elif module != "__main__":
                found[f"{module}.{name}"] = value
        held |= found
        kept = [*map(_content, each.__closure__ or ()), *found.values()]
        waiting += [inner for value in kept for inner in _inside(value)]
    return {name: value for name, value in held.items() if _is_held(value)}


def _inside(value: object) -> list[types.FunctionType]:
    """The functions that are not imported themselves, in what decorators have made of them: methods
    of classes, those that remember results, numba's, and functions with others in their cells."""
    kind = type(value)
    inner: object = None if _is_held(value) else value
    for made, name in _DECORATED:
        if issubclass(kind, made):
            inner = getattr(value, name)
    if kind.__module__.partition(".")[0] == "numba":
        inner = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
    return [inner] if _is_code(inner) else []


def _found(
    module: types.ModuleType, names: Set[str], seen: set[str]
) -> Iterator[tuple[str, object]]:
    """What one of the user's own modules, and modules in it, have by these names."""
    if module.__name__ in seen or not is_own(module.__name__):
        return
    seen.add(module.__name__)
    for name in sorted(names):
        value = vars(module).get(name)
        if isinstance(value, types.ModuleType):
            yield from _found(value, names, seen)
        else:
            yield f"{module.__name__}.{name}", value


def _is_held(value: object, within: frozenset[int] = frozenset()) -> bool:
    """Whether it counts what a module holds, beside its source. Of other objects, such as what is
    remembered or counted, nobody knows whether results depend on them. `within`: the ids of the
    lists and dictionaries that it is in; one that holds itself is none of numbers and texts."""
    if isinstance(value, types.FunctionType | type):
        return is_own(value.__module__) and is_importable(value)
    if isinstance(value, list | tuple | dict):
        if id(value) in within:
            return False
        items, within = value.values() if isinstance(value, dict) else value, within | {id(value)}
        return bool(value) and all(_is_held(each, within) for each in items)
    return type(value) in _SCALARS


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _no_digest(value: object, reason: str) -> str:
    return (
        f"checkpoint= cannot tell whether a later run has the same {type(value).__name__}: {reason}"
    )


def attributes_of(value: object) -> dict[str, object]:
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
