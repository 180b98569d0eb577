"""`treemill bench`: the group of commands, and the one that simulates clusters. Parses arguments
and prints; imports what a command needs when it is called."""

from __future__ import annotations

from dataclasses import replace

import click

from .._system.written_files import picture_file

__all__ = ["bench"]


@click.group()
def bench() -> None:
    """Measure this machine and treemill on it."""


@bench.command("simulate")
@click.argument("scenarios", nargs=-1, metavar="SCENARIO…")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice(["treemill", "cold", "adaptive", "base", "static"]),
    help="The strategy that leads; default: all that differ. May be given several times.",
)
@click.option(
    "--nodes",
    multiple=True,
    type=click.IntRange(1),
    help="The number of nodes, instead of the scenario's own. May be given several times.",
)
@click.option(
    "--workers",
    multiple=True,
    type=click.IntRange(1),
    help="About this many workers, instead of a number of nodes. May be given several times.",
)
@click.option(
    "--width",
    type=click.IntRange(1),
    help="The threads of each worker, which share its packets; default: one.",
)
@click.option(
    "--roots",
    type=click.IntRange(0),
    help="A merger on each node, which join at the end until this many are left; a client fetches "
    "what these have. 0: they do not join.",
)
@click.option(
    "--fetch",
    type=click.FloatRange(0),
    help="Seconds to fetch and merge what a merger has, instead of the scenario's own.",
)
@click.option("--loads", is_flag=True, help="Say what the master had to do.")
@click.option(
    "--seeds",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Simulate each query with this many seeds, and show the one with the median time.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FIGURE",
    help="Draw the results too (.png .pdf .svg).",
)
def simulate_command(
    scenarios: tuple[str, ...],
    strategies: tuple[str, ...],
    nodes: tuple[int, ...],
    workers: tuple[int, ...],
    width: int | None,
    roots: int | None,
    fetch: float | None,
    loads: bool,
    seeds: int,
    output: str | None,
) -> None:
    """Try the packetizer on a simulated cluster, and PROOF's packetizers and static shares with it.

    SCENARIO is a TOML file, or the name of one that comes with treemill. Without a SCENARIO the
    command lists these names.
    """
    from . import simulations  # start-up
    from .simulation.scenario import load, shipped  # start-up
    from .simulation.strategies import STRATEGIES  # start-up

    if not scenarios:
        for name in shipped():
            click.echo(f"{name:14} {load(name).title}")
        return
    rows = []
    try:
        loaded = [load(name) for name in scenarios]
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from error
    if width is not None:
        loaded = [replace(scenario, width=width) for scenario in loaded]
        strategies = strategies or ("treemill",)
        if strategies != ("treemill",):
            raise click.UsageError("only treemill's workers have several threads")
    if roots is not None:
        loaded = [replace(scenario, roots=roots) for scenario in loaded]
        strategies = strategies or ("treemill",)
    if fetch is not None:
        loaded = [
            replace(scenario, master=replace(scenario.master, fetch=fetch)) for scenario in loaded
        ]
    click.echo(simulations.HEADER)
    told = []
    for scenario in loaded:
        done = []
        each = scenario.workers / scenario.nodes
        numbers = (*nodes, *(max(round(number / each), 1) for number in workers))
        # Where files are near, the packetizer promises nothing in any case.
        differ = [name for name in STRATEGIES if name != "cold" or scenario.distance]
        for outcome in simulations.outcomes(scenario, strategies or differ, numbers, seeds):
            click.echo(simulations.row(outcome))
            done.append(outcome)
            if loads:
                told.append(simulations.loads_row(outcome))
        rows.append(simulations.panels(f"{scenario.name}: {scenario.title}", done))
    if told:
        click.echo("\n".join(["", simulations.LOADS_HEADER, *told]))
    if output is not None:
        from ..pictures.line_charts import save  # start-up

        with picture_file(output) as (picture, form):
            save(rows, picture, form)
        click.echo(output)
