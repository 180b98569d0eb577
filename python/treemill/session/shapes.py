"""Values in dicts, lists and tuples, in one another: the values alone, and the same shape with
other values. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

__all__ = ["is_shape", "leaves", "mapped"]


def is_shape(value: object) -> bool:
    """True if it is a dict, a list or a tuple."""
    return isinstance(value, Mapping | list | tuple)


def leaves(value: object) -> Iterator[object]:
    """Everything in `value` that is no dict, list or tuple, in order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def mapped(value: object, change: Callable[[object], object]) -> object:
    """Dicts, lists and tuples as they are in `value`, with what `change` makes of each leaf."""
    if isinstance(value, Mapping):
        return {key: mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        changed = [mapped(each, change) for each in value]
        return changed if isinstance(value, list) else tuple(changed)
    return change(value)
