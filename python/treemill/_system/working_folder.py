"""The folder where this process's relative paths begin."""

from __future__ import annotations

import os

__all__ = ["working_folder"]


def working_folder() -> str | None:
    """Its path; None if it has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
