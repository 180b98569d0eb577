"""`python -m bench comparison`: treemill's speed beside its rivals', for the README: the picture
`docs/images/comparison.png` and the lines between the README's marks, both from the newest raw
results of `python -m bench` and `python -m bench agc`. Measures nothing.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import publish
from .protocol import REPOSITORY

__all__ = ["Panel", "main", "newest", "panels", "told", "with_lines"]

README = REPOSITORY / "README.md"
PICTURE = REPOSITORY / "docs" / "images" / "comparison.png"
BEGIN, END = "<!-- python -m bench comparison -->\n", "<!-- end -->\n"
CODEC, EVENTS = "zstd", 1_000_000
QUERIES = {
    "treemill": "treemill",
    "RDataFrame in C++": "rdf-c++",
    "uproot and awkward": "uproot",
}
"""Of the measurement of four queries, with one thread each and nothing remembered."""
ANALYSIS = {
    "treemill": "agc-reading",
    "RDataFrame in C++": "agc-rdf",
    "coffea, for speed": "agc-coffea-fast",
    "coffea, as its reference": "agc-coffea",
}
"""Of that of the whole analysis, likewise."""
_OURS, _OTHERS = "#1f6f8b", "#c9c9c9"


@dataclass(frozen=True)
class Panel:
    """Millions of events a second of each program, of one measurement. `source`: its page."""

    title: str
    rates: Mapping[str, float]
    source: Path
    machine: str

    def ratio(self, other: str) -> float:
        """How many times as fast treemill is."""
        return self.rates["treemill"] / self.rates[other]


def newest(folder: Path, what: str) -> Path:
    """The newest raw results of a measurement, whose names begin with the date and end with what
    was measured, or with the machine."""
    found = sorted(folder.glob(f"*-cores{what}.json"))
    if not found:
        raise SystemExit(f"{folder} has no results of `python -m bench{what.replace('-', ' ')}`")
    return found[-1]


def panels(rivals: Path, analysis: Path) -> list[Panel]:
    """Of the two files of raw results. The rate of four queries is that of all four together."""
    four, whole = (json.loads(path.read_text()) for path in (rivals, analysis))
    asked = sorted({cell["query"] for cell in four["warm"]})
    events = EVENTS * len(asked)
    return [
        Panel(
            f"{len(asked)} queries over {EVENTS / 1e6:g} million events",
            {name: events / 1e6 / _seconds(four, key, CODEC) for name, key in QUERIES.items()},
            rivals.with_suffix(".md"),
            _machine(four),
        ),
        Panel(
            "a whole analysis, 122 histograms",
            {
                name: whole["events"] / 1e6 / _seconds(whole, key, "zstd")
                for name, key in ANALYSIS.items()
            },
            analysis.with_suffix(".md"),
            _machine(whole),
        ),
    ]


def _seconds(measured: Mapping[str, Any], rival: str, codec: str) -> float:
    cells = [c for c in measured["warm"] if c["rival"] == rival and c["codec"] == codec]
    return float(sum(cell["wall"]["median"] for cell in cells))


def _machine(measured: Mapping[str, Any]) -> str:
    cpu = measured["machine"]["cpu"].replace("(R)", "").replace(" Processor", "")
    return f"{cpu}, commit {measured['machine']['commit']}"


def told(shown: Sequence[Panel]) -> str:
    """The README's lines."""
    four, whole = shown
    lines = [
        "| treemill is this many times as fast (as the program in brackets), on one thread "
        "| measured |",
        "|---|---|",
    ]
    for panel in (four, whole):
        ratios = ", ".join(
            f"{panel.ratio(other):.1f} ({other})" for other in panel.rates if other != "treemill"
        )
        page = panel.source.relative_to(REPOSITORY).as_posix()
        date = panel.source.name[:10]
        lines.append(f"| {panel.title}: {ratios} | [{date}]({page}), {panel.machine} |")
    return "\n".join(lines) + "\n"


def with_lines(readme: str, lines: str) -> str:
    """The README with other lines between its marks."""
    return re.sub(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: BEGIN + lines + END, readme, flags=re.S
    )


def draw(shown: Sequence[Panel], path: Path) -> None:
    """Draws a panel beside the other."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 2.1), layout="constrained")
        for panel, axis in zip(shown, figure.subplots(1, len(shown)), strict=True):
            names = [*panel.rates][::-1]
            colors = [_OURS if name == "treemill" else _OTHERS for name in names]
            axis.barh(names, [panel.rates[name] for name in names], color=colors)
            for height, name in enumerate(names):
                axis.text(panel.rates[name], height, f" {panel.rates[name]:.3g}", va="center")
            axis.set_xlim(0, 1.15 * max(panel.rates.values()))
            axis.set_title(panel.title, loc="left", fontweight="bold", fontsize=9)
        figure.supxlabel(
            "million events a second on one thread, files in ZSTD, nothing remembered", fontsize=9
        )
        figure.savefig(path, dpi=150)


def main(arguments: list[str]) -> int:
    """Draws the picture and writes the README's lines."""
    parser = argparse.ArgumentParser(prog="python -m bench comparison", description=__doc__)
    parser.parse_args(arguments)
    shown = panels(newest(publish.FOLDER, ""), newest(publish.FOLDER, "-agc"))
    draw(shown, PICTURE)
    README.write_text(with_lines(README.read_text(), told(shown)))
    publish.say(f"written: {PICTURE} and the lines of {README}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
