"""Commands that start one of this folder's modules in a fresh interpreter. Knows no module of
them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

__all__ = ["command"]

_START = """
import importlib, json, sys
module, path, arguments = sys.argv[1], *map(json.loads, sys.argv[2:])
sys.path[:] = path
importlib.import_module(module).main(*arguments)
"""


def command(module: str, path: Sequence[str], *arguments: int | str) -> list[str]:
    """The command that calls `main(*arguments)` of a module, with this import path."""
    coded = [json.dumps(path), json.dumps(arguments)]
    return [sys.executable, "-c", _START, f"{__package__}.{module}", *coded]
