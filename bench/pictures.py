"""`python -m bench pictures [RESULTS.json …]`: bars of seconds of all contestants, a panel for each
link, from what `python -m bench io` has written; without files, from all of its newest day. One
picture for each part, in `docs/images/`. Measures nothing.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import publish
from .protocol import REPOSITORY

__all__ = ["Bar", "bars", "draw", "main"]

_FOLDER = REPOSITORY / "docs" / "images"
_ENDED = re.compile(r" \(ended after .*\)$")
_OURS, _OTHERS = "#1f6f8b", "#c9c9c9"


@dataclass(frozen=True)
class Bar:
    """Seconds of one contestant. `panel`: the link, and what else comes before the contestant."""

    part: str
    panel: str
    contestant: str
    values: tuple[float, ...]
    median: float
    ended: bool = False
    """Whether it was ended before it was done: it takes at least so long."""


def bars(rows: Sequence[dict[str, Any]]) -> Iterator[Bar]:
    """Of the rows of a file of results: those of seconds, `PART, LINK: CONTESTANT`."""
    for row in rows:
        head, colon, contestant = row["what"].partition(": ")
        part, comma, panel = head.partition(", ")
        if row["unit"] != "s" or not colon or not comma or row["goal"]:
            continue
        ended = _ENDED.search(contestant) is not None
        name = _ENDED.sub("", contestant)
        yield Bar(part, panel, name, tuple(row["values"]), row["median"], ended)


def draw(drawn: Sequence[Bar], path: Path) -> None:
    """Draws the bars of one part."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(bar.panel for bar in drawn))
    most = max(sum(bar.panel == panel for bar in drawn) for panel in panels)
    columns = min(len(panels), 2)
    lines = -(-len(panels) // columns)
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(4.5 * columns, lines * (0.7 + 0.2 * most)), layout="constrained")
        axes = list(figure.subplots(lines, columns, squeeze=False).flat)
        for panel, axis in zip(panels, axes, strict=False):
            shown = [bar for bar in drawn if bar.panel == panel][::-1]
            _panel(axis, shown)
            axis.set_ylim(len(shown) - most - 0.6, len(shown) - 0.4)  # bars of one width
            axis.set_title(panel, loc="left", fontweight="bold")
        for axis in axes[len(panels) :]:
            axis.set_visible(False)
        figure.suptitle(f"{drawn[0].part}: seconds, median and all rounds")
        figure.savefig(path, dpi=150)


def _panel(axis: Any, shown: Sequence[Bar]) -> None:
    for height, bar in enumerate(shown):
        color = _OURS if bar.contestant.startswith("treemill") else _OTHERS
        axis.barh(height, bar.median, color=color, hatch="//" if bar.ended else None)
        axis.plot(bar.values, [height] * len(bar.values), ".", color="black", markersize=2)
        text = f" {'> ' * bar.ended}{bar.median:.3g}"
        axis.text(max(bar.values), height, text, va="center")
    axis.set_yticks(range(len(shown)), [bar.contestant for bar in shown])
    axis.set_xlim(0, 1.15 * max(max(bar.values) for bar in shown))


def _newest() -> list[Path]:
    found = [*publish.FOLDER.glob("*-io.json"), *publish.FOLDER.glob("*-io-*.json")]
    found = sorted(path for path in found if not path.stem.endswith("-quick"))
    # Their names begin with the date.
    return [path for path in found if path.name[:10] == found[-1].name[:10]]


def main(arguments: list[str]) -> int:
    """Draws; 1 if there is nothing to draw."""
    parser = argparse.ArgumentParser(prog="python -m bench pictures", description=__doc__)
    parser.add_argument("results", type=Path, nargs="*", help="files that it has written")
    parser.add_argument("--output", type=Path, default=_FOLDER, help="folder of the pictures")
    chosen = parser.parse_args(arguments)
    results = chosen.results or _newest()
    if not results:
        publish.say(f"there are no results of `python -m bench io` in {publish.FOLDER}")
        return 1
    found = [bar for path in results for bar in bars(json.loads(path.read_text())["rows"])]
    chosen.output.mkdir(parents=True, exist_ok=True)
    for part in dict.fromkeys(bar.part for bar in found):
        path = chosen.output / f"io-{re.sub(r'[^a-z0-9]+', '-', part.lower())}.png"
        draw([bar for bar in found if bar.part == part], path)
        publish.say(f"written: {path}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
