"""Digests of Python values that are the same in every process, by what they promise: that another
process would load the same, that one value may stand for another in this process, or that functions
give equal values for equal arguments. Beside them, what computes results, as a text.

Knows nothing of what the values are for.
"""

from __future__ import annotations

import builtins
import dis
import itertools
import os
import stat
import sys
import types
import weakref
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from functools import cache

from ..errors import UnsupportedError
from .walk import Walk, all_names, attributes_of, codes, hashed, is_importable, is_own, place_of

__all__ = ["by_attribute", "digest", "digest_and_exact", "evaluator", "number_of", "versions"]


def digest(value: object, *, certain: bool = False, exact: bool = False) -> str:
    """The digest of a value. Raises UnsupportedError, which names it, if it has none.

    A function's is that of its code with all that another process would load for it, which tells
    whether a run may go on from what an earlier one has done. `exact`: what is not pickled counts,
    too, and the order of dictionaries, so that one of two equal ones may do the work of both in one
    process: a lock or the like that is not pickled is equal to itself only. `certain`: of what its
    value depends on, so that equal ones have equal values for equal arguments. A function of which
    that is not certain has none, and the error says why."""
    return (_Certain() if certain else _Exact() if exact else Walk()).of(value).hex()


def digest_and_exact(value: object) -> tuple[str, str]:
    """Both digests of a value. What is large in them is read once."""
    walk = Walk()
    return walk.of(value).hex(), _Exact(walk).of(value).hex()


def by_attribute(value: object) -> Mapping[str, str]:
    """The digests of an object's class, under "code", and of its attributes by their names."""
    walk = Walk()
    digests = {"code": walk.of(type(value)).hex()}
    return digests | {
        name: walk.of(each).hex() for name, each in sorted(attributes_of(value).items())
    }


_numbers = itertools.count()
_numbered: dict[int, tuple[object, int]] = {}


def number_of(value: object) -> int:
    """A number that no other object has had in this process. The object keeps it."""
    key, kept = id(value), value
    with suppress(TypeError):  # of others all stay alive: their ids are their own
        kept = weakref.ref(value, lambda _: _numbered.pop(key, None))
    return _numbered.setdefault(key, (kept, next(_numbers)))[1]


class _Exact(Walk):
    """Walks through one value, to what is not pickled, too."""

    def _mapping(self, value: Mapping[object, object]) -> bytes:
        if type(value) is not dict:
            return self._reduced(value)
        return self.all("dict", (part for pair in value.items() for part in pair))

    def _reduced(self, value: object) -> bytes:
        reduced = super()._reduced(value)
        kind = type(value)
        if not is_own(kind.__module__) or not _pickles_itself(kind):
            return reduced
        return self.all(
            "held", (reduced, *map(self._of_held, sorted(attributes_of(value).items())))
        )

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
        *("read_csv", "read_parquet", "read_table", "read_json", "read_hdf", "read_pickle"),
        *("read_feather", "read_excel", "open_file", "open_memmap", "from_file", "load_file"),
        *("load_model", "load_weights", "loadmat", "InferenceSession", "TFile"),
        *("urlopen", "getenv", "environ", "random", "default_rng"),
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
_LOOKING = (
    *("numpy.random", "scipy.stats", "scipy.io", "uproot", "h5py", "fsspec", "requests"),
    *("pyarrow.fs", "pyarrow.dataset", "pyarrow.parquet"),
)
"""Modules of packages of which functions draw random numbers, or read files."""


class _Certain(_Exact):
    """Walks through one value."""

    def __init__(self, before: _Certain | None = None) -> None:
        """`before`: the walk that has met the value."""
        super().__init__(before)
        self._measured: set[object] = before._measured if before else set()
        """Functions that numba compiles that were met, each measured by itself once."""

    def of(self, value: object) -> bytes:
        """See Walk. A text that names a file is its name for functions of packages, maybe, which
        read it: the file counts, too."""
        walked = super().of(value)
        state = _state_of(value) if isinstance(value, str) else None
        return walked if state is None else hashed("file", [walked, state.encode()])

    def _of_held(self, attribute: tuple[str, object]) -> object:
        return attribute

    def _compiled(self, value: object) -> bytes:
        """See Walk. What such a function uses is in its code since it was compiled."""
        walked = super()._compiled(value)
        if value in self._measured or not hasattr(value, "py_func"):
            return walked
        self._measured.add(value)
        own = _Certain(self)._compiled(value)  # however deep in another function it is met here
        is_compiled = bool(getattr(value, "overloads", None))
        if is_compiled and _compiled_as.setdefault(value, own) != own:
            raise UnsupportedError(f"what {value!r} uses has changed since numba compiled it")
        _compiled_as[value] = own
        return walked

    def _function(self, value: types.FunctionType) -> bytes:
        if is_importable(value) and not is_own(value.__module__):
            return self._of_package(value.__module__, value.__qualname__)
        code = value.__code__
        _check(code, value)
        used = dict(self._used(code, value))
        cells = [
            _Named(_certain_content(each, value), _paths(code, name, _CELLS))
            for name, each in zip(code.co_freevars, value.__closure__ or (), strict=True)
        ]
        defaults = value.__defaults__, value.__kwdefaults__
        attributes = {k: v for k, v in value.__dict__.items() if k != "__wrapped__"}
        wrapped = value.__dict__.get("__wrapped__")
        return self.all("function", (code, defaults, cells, used, attributes, wrapped))

    def _used(
        self, code: types.CodeType, value: types.FunctionType
    ) -> Iterator[tuple[str, object]]:
        """What the code, and code inside it, finds by its names."""
        for name in sorted(_global_names(code)):
            if name in value.__globals__:
                yield name, _Named(value.__globals__[name], _paths(code, name, _GLOBALS))
            elif not hasattr(builtins, name):
                raise UnsupportedError(f"{_title(value)} uses {name}, which does not exist")
            elif not _is_of_python(found := getattr(builtins, name)):
                yield name, found
        names = frozenset((each,) for each in all_names(code))
        for name in sorted(_imported(code)):
            if name not in sys.modules:
                raise UnsupportedError(f"{_title(value)} imports {name}, which is not loaded")
            for each in sorted({name, name.partition(".")[0]}):  # `import a.b` gives a
                yield f"import {each}", _Imported(sys.modules[each], names)

    def _kind(self, value: type) -> bytes:
        if is_importable(value) and not is_own(value.__module__):
            return self._of_package(value.__module__, value.__qualname__)
        return self._described(value)

    def _module(self, value: types.ModuleType) -> bytes:
        if is_own(value.__name__):
            raise UnsupportedError(f"the module {value.__name__} may be used for any of its names")
        return self._of_package(value.__name__, "")

    def _builtin(self, value: types.BuiltinFunctionType) -> bytes:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self.all("bound", (owner, value.__name__))
        return self._of_package(getattr(value, "__module__", None) or "builtins", value.__name__)

    def named(self, value: _Named) -> bytes:
        """Something that code finds by a name."""
        module = value.value
        if not isinstance(module, types.ModuleType):
            return self.of(module)
        is_mine = is_own(module.__name__)
        if is_mine and value.is_whole:
            return self._module(module)
        held = {}
        for name, paths in value.taken().items():
            if name in vars(module):
                each = vars(module)[name]
                if is_mine or _may_be_set(each):
                    held[name] = type(value)(each, paths)
            elif is_mine and value.is_exact:
                raise UnsupportedError(f"{module.__name__} makes {name} when it is asked for it")
        about = module.__name__ if is_mine else self._of_package(module.__name__, "")
        return self.all("names of a module", (about, held))

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
        module = place_of(value, name)
        if module is not None and not is_own(module):
            return self._of_module(module, name)
        raise UnsupportedError(f"it uses {name}, of which only the name is known")

    def _of_module(self, module: str, name: str) -> bytes:
        return self._of_package(module, name)

    def _of_package(self, module: str, name: str) -> bytes:
        if _is_outside(module):
            raise UnsupportedError(f"it uses {module}, whose values may be others each time")
        return hashed("package", [f"{module}:{name} {_version(module)}".encode()])


Path = tuple[str, ...]
"""Attributes that code takes, each of the one before it."""


_compiled_as: weakref.WeakKeyDictionary[object, bytes] = weakref.WeakKeyDictionary()
"""What functions that numba compiles were when they were met last, without those that had been
compiled before."""


class _Named:
    """A value that code finds by a name."""

    is_exact = True
    """Whether code takes all that `paths` says."""

    def __init__(self, value: object, paths: frozenset[Path]) -> None:
        """`paths`: what the code takes of it; an empty one: the value as it is."""
        self.value = value
        self.paths = paths

    @property
    def is_whole(self) -> bool:
        """Whether the value goes to where the code does not say what is taken of it."""
        return () in self.paths

    def taken(self) -> dict[str, frozenset[Path]]:
        """What is taken of it, and of that, by its names."""
        names = sorted({path[0] for path in self.paths if path})
        return {n: frozenset(path[1:] for path in self.paths if path[:1] == (n,)) for n in names}


class _Imported(_Named):
    """A module that code imports where it runs, which may take anything of it by its names."""

    is_exact = False

    def taken(self) -> dict[str, frozenset[Path]]:
        """See _Named."""
        return {path[0]: self.paths - {path} for path in sorted(self.paths)}


_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_CELLS = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


def _paths(code: types.CodeType, name: str, loads: Set[str]) -> frozenset[Path]:
    """What code, and code inside it, takes of what these instructions find by a name."""
    found = set()
    for each in codes(code):
        path: list[str] | None = None
        for step in dis.get_instructions(each):
            if path is not None and step.opname in _ATTRIBUTES:
                path.append(str(step.argval))
                continue
            if step.opname == "EXTENDED_ARG":  # of the next one, in code of many names
                continue
            if path is not None:
                found.add(tuple(path))
            path = [] if step.opname in loads and step.argval == name else None
    return frozenset(found)


_DATA = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)


def _may_be_set(value: object) -> bool:
    """Whether programs set values like this one in modules of packages, as they do with options:
    data, modules with such, and functions of the user's in place of the package's."""
    if isinstance(value, types.FunctionType):
        return is_own(value.__module__)
    return type(value) in _DATA or isinstance(value, types.ModuleType)


def _is_of_python(builtin: object) -> bool:
    """Whether a name that all code has is Python's: programs may add some."""
    if isinstance(builtin, types.BuiltinFunctionType | type):
        return builtin.__module__ == "builtins"
    return any(builtin is each for each in (NotImplemented, ..., __debug__))


_LONGEST, _MOST = 1024, 1000
"""Letters of the name of a file; files in a folder, of which more are not looked at."""


def _state_of(text: str) -> str | None:
    """The state of the file that a text names, or of those in the folder; None: it names none."""
    if len(text) > _LONGEST or not {".", "/"}.intersection(text) or not text.strip("./"):
        return None
    try:
        about = os.stat(text)
        if not stat.S_ISDIR(about.st_mode):
            return _state(about)
        if "/" not in text:
            return None
        with os.scandir(text) as entries:
            each = [(e.name, _state(e.stat())) for e in itertools.islice(entries, _MOST)]
        return f"{_state(about)} {sorted(each)}"
    except (OSError, ValueError):
        return None


def _state(about: os.stat_result) -> str:
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns} {about.st_ino}"


def _is_outside(module: str) -> bool:
    """Whether what is in a module may look at more than its arguments."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return top not in _PURE
    return module.startswith(_LOOKING)


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
            return f"{version(name)} {hashed('files', [files.encode()]).hex()}"
        except PackageNotFoundError:
            continue
    raise UnsupportedError(f"it uses {module}, whose version is not known")


@cache
def _distributions() -> Mapping[str, list[str]]:
    from importlib.metadata import packages_distributions  # start-up

    return packages_distributions()


def _check(code: types.CodeType, value: types.FunctionType) -> None:
    """Raises UnsupportedError if code changes what outlives its call, or looks outside."""
    for each in codes(code):
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


def _global_names(code: types.CodeType) -> set[str]:
    return {
        str(step.argval)
        for each in codes(code)
        for step in dis.get_instructions(each)
        if step.opname in _GLOBALS and step.argval not in _OF_CLASSES
    }


_OF_CLASSES = frozenset({"__name__", "__qualname__", "__module__"})


def _imported(code: types.CodeType) -> set[str]:
    return {
        str(step.argval)
        for each in codes(code)
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
