"""`treemill demo`: writes a dataset, runs a query of several histograms over it on all cores,
prints the results and draws them. `treemill samples`: writes the data of the tutorials."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._system.files import picture_file
from ..facility.options import NewFolder

if TYPE_CHECKING:
    from hist import Hist

    from ..dataset import Dataset
    from ..monitoring.report import Report
    from ..query.node import Booking

__all__ = ["book", "demo", "samples"]


@click.command("demo")
@click.option(
    "--folder",
    type=NewFolder(),
    default=Path("demo-data"),
    show_default=True,
    help="The folder of the dataset. If it is missing, the command writes it.",
)
@click.option(
    "--files", type=click.IntRange(1), default=4, show_default=True, help="Number of files."
)
@click.option(
    "--events",
    type=click.IntRange(1),
    default=500_000,
    show_default=True,
    help="Events in each file.",
)
@click.option(
    "--workers", type=click.IntRange(1), help="Number of threads; default: one for each core."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file for the picture; default: demo.png in the folder.",
)
def demo(folder: Path, files: int, events: int, workers: int | None, output: Path | None) -> None:
    """Write a dataset, run a query over it on all cores, and draw the results."""
    from ..dataset import dataset  # start-up
    from ..facility.generate import Recipe, paths, write_dataset  # heavy: numpy
    from ..session.api import connect  # heavy: numpy

    recipe = Recipe(files, events)
    for line in write_dataset(folder, recipe):
        click.echo(line)
    data = dataset([str(path) for path in paths(folder, recipe)], tree="Events")
    histograms, numbers = book(data)
    with connect(workers=workers) as session:
        values = session.run(*histograms.values(), *numbers.values(), progress=True)
        report = session.report
    drawn = dict(zip(histograms, values, strict=False))
    counted = dict(zip(numbers, values[len(histograms) :], strict=True))
    _tell(report, counted)
    _draw(drawn, output or folder / "demo.png")


def book(data: Dataset) -> tuple[Mapping[str, Booking], Mapping[str, Booking]]:
    """Books the query: histograms, and numbers, by their titles."""
    import boost_histogram as bh

    jets = data.define("ht", "sum(Jet_pt[(Jet_pt > 30) & (abs(Jet_eta) < 2.4)])")
    good = jets.filter("nMuon >= 2 and sum(Jet_pt > 30) >= 1", name="two muons and a jet")
    good = good.define("mass", "(Muon[0] + Muon[1]).mass")
    pair = good.filter("Muon_charge[0] != Muon_charge[1]", name="opposite charges")
    gev = "[GeV]"
    histograms = {
        "MET, all events": data.hist("MET_pt", bins=(100, 0, 200), label=f"MET {gev}"),
        "Jets, all events": data.hist("Jet_pt", bins=(100, 0, 200), label=f"jet $p_T$ {gev}"),
        "Number of jets": data.hist("nJet", bins=bh.axis.Integer(0, 15), label="jets"),
        "Two muons and a jet: MET, weighted": good.hist(
            "MET_pt", bins=(100, 0, 200), weight="genWeight", label=f"MET {gev}"
        ),
        "Opposite charges: dimuon mass": pair.hist(
            "mass", bins=(120, 30, 150), weight="genWeight", label=f"dimuon mass {gev}"
        ),
        "Two muons and a jet: MET and $H_T$": good.hist(
            "MET_pt",
            "ht",
            bins=[(50, 0, 150), (50, 0, 500)],
            weight="genWeight",
            label=[f"MET {gev}", f"$H_T$ {gev}"],
        ),
    }
    numbers = {
        "events": data.count(),
        "with two muons and a jet": good.count(),
        "of opposite charges": pair.count(),
        "mean H_T of these, GeV": pair.mean("ht"),
    }
    return histograms, numbers


def _tell(report: Report | None, numbers: Mapping[str, float]) -> None:
    click.echo()
    for title, value in numbers.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
        click.echo(f"{shown:>14}  {title}")
    click.echo()
    click.echo(str(report))
    click.echo()


def _draw(histograms: Mapping[str, Hist], path: Path) -> None:
    from ..pictures.pictures import save  # start-up
    from ..pictures.text_histogram import show  # start-up

    title = "Opposite charges: dimuon mass"
    show(histograms[title], title)
    click.echo()
    try:
        with picture_file(path) as (picture, form):
            save(list(histograms.values()), list(histograms), picture, form=form)
    except ImportError as error:
        click.echo(f"no picture: {error} (pip install 'treemill[plot]')", err=True)
        return
    click.echo(f"picture: {path.resolve()}")


@click.command("samples")
@click.argument("folder", type=NewFolder(), default=Path("samples"))
@click.option(
    "--scale",
    type=click.FloatRange(0, 100, min_open=True),
    default=1.0,
    show_default=True,
    help="Multiply the number of events, and the luminosity of the data, by this factor.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Equal seeds give equal events."
)
def samples(folder: Path, scale: float, seed: int) -> None:
    """Write made-up samples of a small analysis: simulated processes, data, a fileset with their
    cross sections, scale factors, and a list of certified luminosity sections.

    The default of FOLDER is "samples". The events have the branches of NanoAOD.
    """
    from ..facility.samples import write_samples  # heavy: numpy

    for line in write_samples(folder, scale, seed):
        click.echo(line)
