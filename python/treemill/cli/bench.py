"""The group `treemill bench`: its commands, which are those of the folder for facilities."""

from __future__ import annotations

from ..facility import compare_storage, hammer, report, run, scan_storage
from ..facility import generate_command as generate
from ..facility.commands import bench
from .exerciser import command

__all__ = ["bench"]

for each in (
    command,
    generate.command,
    run.command,
    report.command,
    hammer.command,
    scan_storage.command,
    compare_storage.command,
):
    bench.add_command(each)
