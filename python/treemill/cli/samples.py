"""`treemill samples`: writes the data of the tutorials."""

from __future__ import annotations

from pathlib import Path

import click

from ..facility.options import NewFolder

__all__ = ["command"]


@click.command("samples")
@click.argument("folder", type=NewFolder(), default=Path("samples"))
@click.option(
    "--scale",
    type=click.FloatRange(0, 100, min_open=True),
    default=1.0,
    show_default=True,
    help="Multiplies the number of events, and the luminosity of the data.",
)
@click.option("--seed", type=int, default=1, show_default=True)
def command(folder: Path, scale: float, seed: int) -> None:
    """Write made-up samples of a small analysis: simulated processes, data, a fileset with their
    cross sections, scale factors, and a list of certified luminosity sections.

    The folder is "samples" if it is not given. The events have branches as NanoAOD's.
    """
    from ..facility.samples import write_samples  # heavy: numpy

    for line in write_samples(folder, scale, seed):
        click.echo(line)
