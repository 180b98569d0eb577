"""The arguments of `draw`, as the user writes them. Pure: standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Drawing"]


@dataclass(frozen=True)
class Drawing:
    """The arguments of `draw`."""

    expr: str | Sequence[str]
    where: str | None = None
    option: str = ""
    bins: object = None
    range: object = None
    weight: str | None = None
    profile: bool = False
    log: bool = False
