"""Runs treemill's own commands, as measurements that publish what they write do."""

import subprocess
import sys

from tools.link.host import HERE, Host

from . import publish
from .protocol import REPOSITORY

__all__ = ["treemill"]


def treemill(*arguments: object, host: Host = HERE) -> list[str]:
    """Runs a command of treemill, whose lines are shown and given back."""
    command = host.command([sys.executable, "-m", "treemill", *map(str, arguments)])
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=REPOSITORY
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            lines.append(line.rstrip())
            publish.say(lines[-1])
    if running.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {running.returncode}")
    return lines
