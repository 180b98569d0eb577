"""The files that this process has open."""

import os
from pathlib import Path

import pytest

counted = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts in /proc")
"""For tests that count."""


def open_below(folder):
    """How many files in this folder, and below it, are open."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{number}").startswith(f"{folder}/")
        except OSError:  # that of the listing itself
            continue
    return found
