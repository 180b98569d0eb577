"""The classes that users hold: which names `dir` shows, and how errors leave them.

An error of treemill's says what is wrong in the user's words. The frames within treemill say
nothing more, and are removed from its traceback. Other errors, which should not happen, keep them.

Pure: standard library and errors only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from types import FunctionType
from typing import Generic, ParamSpec, TypeVar, overload

from .errors import TreemillError

__all__ = ["completed", "face", "short_errors"]

_Class = TypeVar("_Class", bound=type)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def short_errors(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Makes the tracebacks of treemill's errors begin at this function."""

    @wraps(function)
    def shortened(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        __tracebackhide__ = True  # for IPython and pytest, which show no such frame
        try:
            return function(*args, **kwargs)
        except TreemillError as error:
            raise error.with_traceback(None) from error.__cause__

    # The one frame that is left has no lines to show.
    made: object = shortened
    assert isinstance(made, FunctionType)
    made.__code__ = made.__code__.replace(co_filename="<treemill>")
    return shortened


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


def face(*internal: str) -> Callable[[_Class], _Class]:
    """Prepares a class for users: the tracebacks of its methods and properties are short, and `dir`
    shows neither names that begin with an underscore nor the names in `internal`, which other
    modules of treemill use."""

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
        return cls

    return made


def _dir(internal: frozenset[str]) -> Callable[[object], Iterable[str]]:
    def seen(self: object) -> Iterable[str]:
        names = object.__dir__(self)
        return [
            name
            for name in names
            if name not in internal and (name.startswith("__") or not name.startswith("_"))
        ]

    return seen
