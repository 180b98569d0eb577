"""The classes that users hold: which names `dir` shows, and how errors leave them.

An error of treemill's says what is wrong in the user's words. The frames within treemill say
nothing more, and are removed from its traceback, but where `TREEMILL_TRACEBACK=full` asks for them.
Other errors, which should not happen, keep them.

What users of uproot and ROOT write by habit gets an error that says what to write here.

Pure: standard library, errors and words only.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import FrameType, FunctionType
from typing import Generic, ParamSpec, TypeVar, overload

from .errors import QueryError, TreemillError, near, outside
from .migration_hints import UPROOT_KEYWORDS

__all__ = ["ShownText", "completed", "missing_attribute", "public_class", "short_errors"]

_Class = TypeVar("_Class", bound=type)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_DEEPEST = 300
"""So deep arguments are not: Python's own limit is some thousand calls, several for each level."""
_FULL = "(TREEMILL_TRACEBACK=full in the environment shows the whole traceback)"


def short_errors(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Makes the tracebacks of treemill's errors begin at this function."""

    @wraps(function)
    def shortened(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        __tracebackhide__ = True  # for IPython and pytest, which show no such frame
        try:
            return function(*args, **kwargs)
        except TreemillError as error:
            _name_variable(error)
            if os.environ.get("TREEMILL_TRACEBACK") == "full":
                raise
            if _FULL not in getattr(error, "__notes__", ()):
                error.add_note(_FULL)
            raise error.with_traceback(None) from error.__cause__
        except TypeError as error:
            unknown = _unknown_option(error, function)
            if unknown is None:
                raise
            raise unknown from None
        except RecursionError:
            if not _is_endless((args, kwargs)):
                raise
            raise QueryError(
                f"an argument of {function.__name__}() has lists or mappings that are in one "
                "another too deeply, or in themselves"
            ) from None

    # The one frame that is left has no lines to show.
    wrapper: object = shortened
    assert isinstance(wrapper, FunctionType)
    wrapper.__code__ = wrapper.__code__.replace(co_filename="<treemill>")
    return shortened


def _is_endless(container: Iterable[object]) -> bool:
    """True if lists, tuples and mappings are in one another more than some hundred times."""
    level: list[Iterable[object]] = [container]
    for _ in range(_DEEPEST):
        items = (list(each.values()) if isinstance(each, Mapping) else each for each in level)
        inner = {id(item): item for each in items for item in each}  # each once: of one it is many
        level = [item for item in inner.values() if isinstance(item, (list, tuple, Mapping))]
        if not level:
            return False
    return True


def _name_variable(error: TreemillError) -> None:
    """Says what to write for a variable of the user's program that an expression names."""
    if not isinstance(error, QueryError) or error.column is None or error.suggestions:
        return
    name = error.column
    if not _is_variable(name):
        return
    hint = f': the variable {name} of your program is named by params={{"{name}": {name}}}'
    if hint not in error.message:
        error.message += hint


def _is_variable(name: str) -> bool:
    """True if the user's function that has called treemill, or one of the same module that has
    called this one, has a variable of this name."""
    frame: FrameType | None = sys._getframe(outside() - 1)
    assert frame is not None
    own = frame.f_globals
    while frame is not None and frame.f_globals is own:
        if name in frame.f_locals:
            return True
        frame = frame.f_back
    return name in own


_UNEXPECTED = re.compile(r"(.+)\(\) got an unexpected keyword argument '(\w+)'")


def _unknown_option(error: TypeError, function: Callable[..., object]) -> QueryError | None:
    """The error about a keyword that this function does not have, as there is one about a value
    that an option does not have: it says what to write instead. None for other errors."""
    match = _UNEXPECTED.match(str(error))
    if match is None or match[1] != function.__qualname__:
        return None
    hint = UPROOT_KEYWORDS.get(match[2])
    if hint is not None:
        return QueryError(f"{function.__name__}() has no option {match[2]}: {hint}")
    options = near(match[2], inspect.signature(function).parameters)[:1]
    return QueryError(f"{function.__name__}() has no option {match[2]}", suggestions=options)


class ShownText(str):
    """A text of several lines, which consoles and notebooks show as it is printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class completed(Generic[_Result]):  # noqa: N801 - used as `property` is
    """A property that IPython evaluates to complete `events.branches["Mu`. IPython does not
    evaluate an ordinary `property`, which may take long, but it does evaluate other descriptors."""

    def __init__(self, getter: Callable[..., _Result]) -> None:
        self._getter = short_errors(getter)
        self.__doc__ = getter.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> completed[_Result]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Result: ...

    def __get__(self, instance: object | None, owner: type) -> completed[_Result] | _Result:
        return self if instance is None else self._getter(instance)


def public_class(
    *internal: str, habits: Mapping[str, str] | None = None
) -> Callable[[_Class], _Class]:
    """Prepares a class for users: the tracebacks of its methods and properties are short, and `dir`
    shows neither names that begin with an underscore nor the names in `internal`, which other
    modules of treemill use. `habits` are those of `missing_attribute`."""

    def made(cls: _Class) -> _Class:
        for name, member in list(vars(cls).items()):
            if name.startswith("_") or name in internal:
                continue
            if isinstance(member, FunctionType):
                setattr(cls, name, short_errors(member))
            elif isinstance(member, property) and member.fget is not None:
                getter = short_errors(member.fget)
                setattr(cls, name, property(getter, member.fset, member.fdel, member.__doc__))
        cls.__dir__ = _dir(frozenset(internal))  # type: ignore[assignment]
        return cls if habits is None else missing_attribute(habits)(cls)

    return made


def missing_attribute(habits: Mapping[str, str]) -> Callable[[_Class], _Class]:
    """Says for attributes that the class does not have what to write instead; for `[]`, what to
    write instead of a subscript, and for operators such as `+`, `bool()` and `in`. `dir` does not
    show them."""

    def made(cls: _Class) -> _Class:
        for name, hint in habits.items():
            # Not in the class itself: type checkers would take it for an attribute.
            if name == "[]":
                setattr(cls, "__getitem__", _no_item(hint))  # noqa: B010
                if "iteration" not in habits:  # else __getitem__ would serve
                    setattr(cls, "__iter__", None)  # noqa: B010
            elif name in _OPERATORS:
                for method in _OPERATORS[name]:
                    setattr(cls, method, _no_operator(name, hint))
            else:
                setattr(cls, name, _Absent(name, hint))
        if not any("__dir__" in vars(kind) for kind in cls.__mro__[:-1]):
            cls.__dir__ = _dir(frozenset())  # type: ignore[assignment]
        return cls

    return made


_OPERATORS = {
    "bool": ("__bool__",),
    "in": ("__contains__",),
    "np.asarray()": ("__array__",),
    "iteration": ("__iter__",),
    **{
        f"{word}()": (f"__{word}__",) for word in ("float", "int", "complex", "len", "round", "abs")
    },
    "- before it": ("__neg__",),
    "//": ("__floordiv__", "__rfloordiv__"),
    "%": ("__mod__", "__rmod__"),
    "**": ("__pow__", "__rpow__"),
    **{
        sign: (f"__{word}__", f"__r{word}__")
        for sign, word in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "truediv"))
    },
    **{sign: (f"__{word}__",) for sign, word in (("<", "lt"), ("<=", "le"), (">", "gt"))},
    ">=": ("__ge__",),
}


def _no_operator(name: str, hint: str) -> Callable[..., object]:
    def refused(self: object, *_: object) -> object:
        what = "has no truth value" if name == "bool" else f"does not support {name}"
        raise TypeError(f"{type(self).__name__!r} object {what}: {hint}")

    return refused


def _no_item(hint: str) -> Callable[[object, object], object]:
    def refused(self: object, key: object) -> object:
        raise TypeError(f"{type(self).__name__!r} object is not subscriptable: {hint}")

    return refused


class _Absent:
    """An attribute that there is not. With `__getattr__` IPython would complete nothing."""

    def __init__(self, name: str, hint: str) -> None:
        self._name = name
        self._hint = hint

    def __get__(self, instance: object, owner: type) -> object:
        message = f"{owner.__name__!r} object has no attribute {self._name!r}: {self._hint}"
        raise AttributeError(message, name=self._name, obj=instance)


def _dir(internal: frozenset[str]) -> Callable[[object], Iterable[str]]:
    def seen(self: object) -> Iterable[str]:
        absent = {
            name
            for kind in type(self).__mro__
            for name, member in vars(kind).items()
            if isinstance(member, _Absent)
        }
        hidden = internal | absent
        return [
            name
            for name in object.__dir__(self)
            if name not in hidden and (name.startswith("__") or not name.startswith("_"))
        ]

    return seen
