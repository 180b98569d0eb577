"""The type of a command's argument that is a folder to be written to."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..errors import local_path

__all__ = ["NewFolder"]


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
