"""Whether the user sees what this process shows: in a notebook, on a terminal, or not at all."""

from __future__ import annotations

import os
import sys

__all__ = ["in_notebook", "wants_bar"]


def in_notebook() -> bool:
    """True if a notebook draws values by itself. Libraries import ipykernel outside of notebooks
    too: only a running kernel counts."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def wants_bar() -> bool:
    """True if a progress bar can be seen: on a terminal that can draw one, or in a notebook."""
    if os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty() or in_notebook()
