"""The group of commands, and the options, that commands of the shell share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from .._system.cache import size_of
from ..errors import QueryError, local_path

__all__ = ["Commands", "NewFolder", "Numbers", "SizeList", "Some"]

_WHOLE = 200
"""Letters of a command's first sentence, at most."""


class Commands(click.Group):
    """A group whose help has the whole first sentence of each command: click would cut it."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(_WHOLE)) for name, each in commands if each]
            )


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
            self.fail(f"{value!r} is not a list of numbers: write 1,2,4", param, ctx)
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


class NewFolder(click.Path):
    """A folder of this machine, which need not be there yet. An address on a server is an error: a
    Path makes another one of it."""

    def __init__(self) -> None:
        super().__init__(file_okay=False)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """See click.ParamType."""
        path = os.fspath(super().convert(value, param, ctx))
        return Path(local_path(os.fsdecode(path)))
