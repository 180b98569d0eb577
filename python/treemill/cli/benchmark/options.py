"""Options that the benchmark's commands share."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ...errors import QueryError
from ...machine.cache import size_of

__all__ = ["Numbers", "SizeList", "Some"]


class Numbers(click.ParamType[tuple[int, ...]]):
    """1,2,4: rising, each once."""

    name = "N,N,…"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The numbers."""
        try:
            numbers = tuple(sorted({int(part) for part in str(value).split(",")}))
        except ValueError:
            numbers = ()
        if not numbers or numbers[0] < 1:
            self.fail(f"{value!r} is no list of numbers: 1,2,4", param, ctx)
        return numbers


class SizeList(click.ParamType[tuple[int, ...]]):
    """0,60 MB: rising, each once."""

    name = "SIZE,SIZE,…"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The sizes in bytes."""
        try:
            return tuple(sorted({size_of(part.strip()) for part in str(value).split(",")}))
        except QueryError as error:
            self.fail(f"{value!r}: {error}", param, ctx)


class Some(click.ParamType[tuple[str, ...]]):
    """a,b: some of a few names."""

    name = "NAME,NAME,…"

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names that were given."""
        words = tuple(part.strip() for part in str(value).split(","))
        for name in words:
            if name not in self._names:
                self.fail(f"{name!r} is none of {', '.join(self._names)}", param, ctx)
        return words
