"""Things in dicts, lists and tuples, in one another: what is in them, and the same shape with other
things in it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["is_shape", "leaves", "mapped"]


def is_shape(value: Any) -> bool:
    """Whether it is one of these, and no thing itself."""
    return isinstance(value, Mapping | list | tuple)


def leaves(value: Any) -> Iterator[Any]:
    """The things, in order."""
    if not is_shape(value):
        yield value
        return
    for each in value.values() if isinstance(value, Mapping) else value:
        yield from leaves(each)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Dicts, lists and tuples as they are in `value`, with what `change` makes of each thing."""
    if isinstance(value, Mapping):
        return {key: mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        changed = [mapped(each, change) for each in value]
        return changed if isinstance(value, list) else tuple(changed)
    return change(value)
