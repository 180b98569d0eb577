"""Whether a text with stars, such as `Jet_*` or `MET_pt*2`, is a glob or a product."""

from __future__ import annotations

import re
from collections.abc import Container

__all__ = ["is_product"]

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE]\d+)?")


def is_product(text: str, names: Container[str]) -> bool:
    """True for a product, whose factors are numbers and names that there are.

    >>> is_product("MET_pt*1.5", {"MET_pt"}), is_product("MET_*", {"MET_pt"})
    (True, False)
    """
    factors = re.split(r"[*]+", text)
    return all(factor in names or _NUMBER.fullmatch(factor) is not None for factor in factors)
