"""Puts treemill on a scheduler at its start, if `dask scheduler` has this module as `--preload`;
else the first session that connects does it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click
from distributed.protocol.pickle import dumps

from ...errors import TreemillError
from .rules import VARIABLE
from .scheduler_plugin import TreemillSchedulerPlugin
from .worker_plugin import NAME

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = ["dask_setup"]


@click.command()
@click.option("--rules", metavar="FILE", help="What users may have, as treemill.toml says it.")
async def dask_setup(scheduler: Scheduler, rules: str | None) -> None:
    """Puts treemill on the scheduler. Rules that make no sense end it."""
    if rules is not None:
        os.environ[VARIABLE] = rules
    plugin = dumps(TreemillSchedulerPlugin())
    try:
        await scheduler.register_scheduler_plugin(plugin=plugin, name=NAME, idempotent=True)
    except TreemillError as error:  # Dask would go on without
        sys.exit(f"treemill: {error}")
