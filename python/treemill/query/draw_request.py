"""What `draw` is asked for, as the user writes it. Pure: standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Drawing"]


@dataclass(frozen=True)
class Drawing:
    """What `draw` was given."""

    expr: str | Sequence[str]
    where: str | None = None
    option: str = ""
    bins: object = None
    range: object = None
    weight: str | None = None
    profile: bool = False
    log: bool = False
