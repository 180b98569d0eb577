"""`frozen`: classes of named fields that do not change, as `dataclass(frozen=True, slots=True)`
makes them, but defined in a tenth of the time and made in a third. A process that is to work
defines more than a hundred of them before it begins, and each packet makes some.

A dataclass compiles six methods when it is defined. Here one is compiled, `__init__`; the others
are the same for all classes. Knows nothing of treemill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform

__all__ = ["frozen", "replaced"]

_Made = TypeVar("_Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Made]) -> type[_Made]:
    """Makes a class of its annotated names. Its instances are equal if their fields are, can be
    hashed and pickled, and match patterns by position. Defaults may be `dataclasses.field` with
    `default`, `default_factory` and `compare`. Classes are not derived from one another."""
    names = tuple(cls.__annotations__)
    body = {name: what for name, what in cls.__dict__.items() if name not in _OWN_DICT}
    fields = {name: _described(body.pop(name)) for name in names if name in body}
    body["__slots__"] = body["__match_args__"] = names
    kept = [name for name in names if name not in fields or fields[name].compare]
    # What a class says itself, such as its own words for `repr`, goes before what all have.
    new_class = type(cls.__name__, cls.__bases__, _SAME | body)
    new_class._values = _getter(names)  # type: ignore[attr-defined]
    new_class._compared = _getter(tuple(kept))  # type: ignore[attr-defined]
    new_class.__init__ = _init(new_class, names, fields)  # type: ignore[misc]
    return cast("type[_Made]", new_class)


if TYPE_CHECKING:
    from dataclasses import replace as replaced  # type checkers know the names of fields by it
else:

    def replaced(value, **changes):
        """A copy of an instance with these fields changed, as `dataclasses.replace` makes it."""
        kept = dict(zip(value.__match_args__, value._values(value), strict=True))
        return type(value)(**kept | changes)


_OWN_DICT = frozenset(("__dict__", "__weakref__"))
"""Attributes of a class without slots, which one with slots has not."""


def _described(default: object) -> Field[Any]:
    new_field: Field[Any] = field(default=default)  # type: ignore[arg-type]  # of any type
    return default if isinstance(default, Field) else new_field


def _init(cls: type, names: tuple[str, ...], fields: dict[str, Field[Any]]) -> Callable[..., None]:
    """Compiles the method that sets the fields, which their own descriptors do: `setattr` is
    refused."""
    known: dict[str, object] = {"MISSING": MISSING}
    head, lines = ["self"], []
    for name in names:
        known[f"set_{name}"] = cls.__dict__[name].__set__
        given = fields.get(name)
        value = name
        if given is None:
            head.append(name)
        elif given.default_factory is MISSING:
            known[f"default_{name}"] = given.default
            head.append(f"{name}=default_{name}")
        else:
            known[f"make_{name}"] = given.default_factory
            head.append(f"{name}=MISSING")
            value = f"make_{name}() if {name} is MISSING else {name}"
        lines.append(f" set_{name}(self, {value})")
    namespace: dict[str, Callable[..., None]] = {}
    exec(f"def __init__({', '.join(head)}):\n" + ("\n".join(lines) or " pass"), known, namespace)
    return namespace["__init__"]


def _getter(names: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    """What gives the values of these fields."""
    if len(names) > 1:
        return staticmethod(attrgetter(*names))
    return staticmethod(lambda made: tuple([getattr(made, name) for name in names]))


# What all classes have.


def _equal(self: Any, other: object) -> bool:
    values: Callable[[object], object] = self._compared
    if type(other) is not type(self):
        return NotImplemented  # type: ignore[no-any-return]  # as `__eq__` may
    return values(self) == values(other)


def _hashed(self: Any) -> int:
    return hash(self._compared(self))


def _shown(self: Any) -> str:
    fields = zip(self.__match_args__, self._values(self), strict=True)
    inside = [f"{name}={value!r}" for name, value in fields]
    return f"{type(self).__qualname__}({', '.join(inside)})"


def _refused(self: object, name: str, *value: object) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} does not change")


def _pickled(self: Any) -> tuple[type, tuple[object, ...]]:
    return type(self), self._values(self)


_SAME = {
    "__eq__": _equal,
    "__hash__": _hashed,
    "__repr__": _shown,
    "__setattr__": _refused,
    "__delattr__": _refused,
    "__reduce__": _pickled,
}
