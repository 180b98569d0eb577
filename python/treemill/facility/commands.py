"""`treemill bench`: the group of commands, and those that simulate clusters and that draw what was
measured. Parses arguments and prints; imports what a command needs when it is called.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from .._system.files import picture_file, write_text
from .._system.memory import without_collector
from ..errors import SourceError, UnsupportedError
from ..pictures.line_charts import Panel, Series
from .options import Commands
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import load
from .simulation.one_master import SimulationOutcome, simulate
from .simulation.scenario import Scenario

__all__ = ["bench"]

# `treemill bench report`: figures and one page of what `bench run` and `bench scan-storage` have
# measured.


@click.command("report")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page; default: the name of the first FILE with the suffix .html.",
)
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the figures to this folder, as PNG.",
)
def command(files: tuple[Path, ...], output: Path | None, figures: Path | None) -> None:
    """Make one HTML page from results: figures, tables, and the limit of the rates.

    The page needs no internet. If you give several FILEs, it compares the others with the first
    one. The command needs treemill[plot].
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UnsupportedError("figures need matplotlib: pip install 'treemill[plot]'")
    from ..pictures.line_charts import save  # start-up
    from .scaling.charts import figures as drawn  # start-up
    from .scaling.page import page  # start-up

    results = [(path.stem, load(path)) for path in files]
    target = output or files[0].with_suffix(".html")
    try:
        write_text(target, page(results))
        click.echo(f"page: {target}")
        if figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
            for name, each in results:
                for number, (title, rows) in enumerate(drawn(each), 1):
                    path = figures / f"{name}-{number}.png"
                    with picture_file(path) as (picture, form):
                        save(rows, picture, form)
                    click.echo(f"{path}: {title}")
    except OSError as error:
        raise SourceError(f"cannot write the report: {error}") from None
    for name, each in results:
        for line in conclusion(each):
            click.echo(f"{name}: {line}" if len(results) > 1 else line)


# Runs scenarios for `treemill bench simulate`, and makes the lines of tables and the series of
# figures. Neither prints nor draws.

HEADER = (
    f"{'scenario':14} {'workers':>7} {'led by':9} {'seconds':>8} {'ideal':>7} {'idle at end':>16} "
    f"{'wasted':>7} {'last packet':>11} {'packets':>8} {'in vain':>7}"
)
LOADS_HEADER = (
    f"{'scenario':14} {'workers':>7} {'messages/s':>10} {'busy':>6} {'merging':>7} "
    f"{'mean wait':>9} {'longest':>9} {'a decision':>10}"
)


def outcomes(
    scenario: Scenario, strategies: Sequence[str], nodes: Sequence[int], seeds: int = 1
) -> Iterator[SimulationOutcome]:
    """The outcomes of all strategies at all numbers of nodes; without numbers, at the scenario's
    own. With several seeds, the outcome with the median time."""
    for number in nodes or scenario.sweep or (scenario.nodes,):
        for strategy in strategies:
            with without_collector():
                runs = [
                    simulate(
                        replace(scenario.at(number), seed=scenario.seed + i),
                        strategy,
                        time.thread_time,
                    )
                    for i in range(seeds)
                ]
            yield sorted(runs, key=lambda outcome: outcome.seconds)[seeds // 2]


def row(outcome: SimulationOutcome) -> str:
    """The outcome as a line under HEADER."""
    idle = f"{outcome.idle_at_end:.1f} s ({outcome.idle_at_end / outcome.seconds:6.1%})"
    missing = outcome.expected - outcome.entries
    return (
        f"{outcome.scenario:14} {outcome.workers:7,} {outcome.strategy:9} "
        f"{outcome.seconds:6.1f} s {outcome.ideal:5.1f} s {idle:>16} {outcome.wasted:7.1%} "
        f"{outcome.last_packet:9.1f} s {len(outcome.spans):8,} {len(outcome.thrown_away):7,}"
        + (f"  {outcome.last_merges:.2f} s of merging at the end" if outcome.fetched else "")
        + (f"  {missing:,} events missing!" if missing else "")
    )


def loads_row(outcome: SimulationOutcome) -> str:
    """Returns what the master had to do, as a line under LOADS_HEADER. A decision is measured in
    CPU time on this machine; all else follows from the scenario's costs."""
    load = outcome.load
    return (
        f"{outcome.scenario:14} {outcome.workers:7,} "
        f"{load.messages / outcome.seconds:10,.1f} {load.busy / outcome.seconds:6.1%} "
        f"{load.merging / outcome.seconds:7.2%} "
        f"{1e3 * load.waited / max(load.messages, 1):6.2f} ms {1e3 * load.longest_wait:6.1f} ms "
        f"{1e6 * load.decisions / max(load.messages, 1):7.1f} us"
    )


def panels(title: str, done: Iterable[SimulationOutcome]) -> list[Panel]:
    """Three pictures: the query's time over the number of workers, the last packet's time over the
    number of workers, and the number of busy workers over time in the largest cluster."""
    by_strategy: dict[str, list[SimulationOutcome]] = {}
    for outcome in done:
        by_strategy.setdefault(outcome.strategy, []).append(outcome)
    some = next(iter(by_strategy.values()))
    workers = [o.workers for o in some]
    time = [
        Series(name, [o.workers for o in many], [o.seconds for o in many])
        for name, many in by_strategy.items()
    ]
    time.append(Series("no waiting", workers, [o.ideal for o in some], dashed=True))
    last = [
        Series(name, [o.workers for o in many], [o.last_packet for o in many])
        for name, many in by_strategy.items()
    ]
    active = [Series(name, *many[-1].activity()) for name, many in by_strategy.items()]
    return [
        Panel(title, "workers", "query (s)", time, marked=True),
        Panel("the packet that ends last", "workers", "its time (s)", last, marked=True),
        Panel(f"{max(workers):,} workers", "time (s)", "workers at a packet", active),
    ]


@click.group(cls=Commands)
def bench() -> None:
    """Measure how fast treemill is on this machine or on a cluster."""


@bench.command("simulate")
@click.argument("scenarios", nargs=-1, metavar="SCENARIO…")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice(["treemill", "cold", "adaptive", "base", "static"]),
    help="The strategy that hands out packets; default: all strategies that differ. You may "
    "repeat this option.",
)
@click.option(
    "--nodes",
    multiple=True,
    type=click.IntRange(1),
    help="The number of nodes, instead of the scenario's number. You may repeat this option.",
)
@click.option(
    "--workers",
    multiple=True,
    type=click.IntRange(1),
    help="About this number of workers, instead of a number of nodes. You may repeat this option.",
)
@click.option(
    "--width",
    type=click.IntRange(1),
    help="The number of threads of each worker, which share its packets; default: one.",
)
@click.option(
    "--roots",
    type=click.IntRange(0),
    help="Put a merger on each node. At the end, mergers join until this number is left, and a "
    "client fetches their partials. 0: mergers do not join.",
)
@click.option(
    "--fetch",
    type=click.FloatRange(0),
    help="Seconds to fetch and merge the partial of a merger, instead of the scenario's number.",
)
@click.option("--loads", is_flag=True, help="Print the load of the master.")
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
    help="Also draw the results (.png .pdf .svg).",
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
    """Compare the packetizer with PROOF's packetizers and static shares on a simulated cluster.

    SCENARIO is a TOML file, or the name of a scenario that comes with treemill. Without a SCENARIO,
    the command lists these names.
    """
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
    click.echo(HEADER)
    told = []
    for scenario in loaded:
        done = []
        each = scenario.workers / scenario.nodes
        numbers = (*nodes, *(max(round(number / each), 1) for number in workers))
        # Where files are near, the packetizer promises nothing in any case.
        differ = [name for name in STRATEGIES if name != "cold" or scenario.distance]
        for outcome in outcomes(scenario, strategies or differ, numbers, seeds):
            click.echo(row(outcome))
            done.append(outcome)
            if loads:
                told.append(loads_row(outcome))
        rows.append(panels(f"{scenario.name}: {scenario.title}", done))
    if told:
        click.echo("\n".join(["", LOADS_HEADER, *told]))
    if output is not None:
        from ..pictures.line_charts import save  # start-up

        with picture_file(output) as (picture, form):
            save(rows, picture, form)
        click.echo(output)
