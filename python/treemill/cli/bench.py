"""The group `treemill bench`: what is measured without any dataset, which is bench/'s, and what
reads datasets, which bench/ does not know.
"""

from __future__ import annotations

from ..bench.commands import bench
from .exerciser import command

__all__ = ["bench"]

bench.add_command(command)
