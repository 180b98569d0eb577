"""The group `treemill bench`: what is measured without any dataset, which is bench/'s, and what
reads datasets or runs sessions, which bench/ does not know.
"""

from __future__ import annotations

from ..bench.commands import bench
from .benchmark import generate, hammer, report, run, scan_storage, storage
from .exerciser import command

__all__ = ["bench"]

for each in (
    command,
    generate.command,
    run.command,
    report.command,
    hammer.command,
    scan_storage.command,
    storage.command,
):
    bench.add_command(each)
