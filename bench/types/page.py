"""The table of kinds: Markdown from what was measured. Measures nothing.

`python -m bench.types.page FILE.json` writes the page anew from a run's raw numbers.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..tables import facts as lines
from ..tables import table
from ..times import Times
from .cells import FAST, SLOW, Cell, cell

_LEGEND = f"""\
Each branch is read whole into an awkward array, the file being open, by `dataset(…).arrays` and by
uproot's `array`, in turn in one process on one thread; the arrays are equal bit by bit, but where
it is said. Files are written by ROOT itself (`bench/types/kinds.C`). *limit*: the same baskets read
and decompressed with the same libraries into one buffer (`examples/unpack.rs`), which no reader can
do without. Promised: {FAST:g} times uproot's speed where uproot has a fast path, {SLOW:g} times
where it goes through AsObjects. ✓ reached, ✗ not.
"""


def markdown(title: str, facts: Mapping[str, object], cells: Sequence[Cell]) -> str:
    """The whole page."""
    promised = [c for c in cells if c.ratio is not None]
    reached = sum(c.reached for c in promised)
    parts = [
        f"# {title}\n",
        lines(facts),
        _LEGEND,
        f"{reached} of {len(promised)} promises kept.\n",
    ]
    for codec in dict.fromkeys(c.codec for c in cells):
        parts += [
            f"## {codec}: medians in milliseconds\n",
            _times([c for c in cells if c.codec == codec]),
        ]
    missed = [c for c in promised if not c.reached]
    if missed:
        rows = [
            [f"{_code(c.kind)}, {c.codec}", f"{c.ratio:.2f}", f"{c.wanted:g}", c.reason]
            for c in missed
        ]
        head = ["not reached", "measured", "wanted", "what the limit says"]
        parts += ["## Not reached\n", table(head, rows)]
    other = {c.kind: c.difference for c in cells if c.difference}
    if other:
        rows = [[_code(kind), text.replace("|", "\\|")] for kind, text in other.items()]
        parts += ["## Where uproot's array is another one\n", table(["", "difference"], rows)]
    return "\n".join(parts)


def _code(kind: str) -> str:
    return f"`{kind}`"


def _times(cells: Sequence[Cell]) -> str:
    head = [
        "",
        "uproot's way",
        "MB",
        "treemill",
        "uproot",
        "uproot / treemill",
        "limit",
        "treemill / limit",
    ]

    def row(c: Cell) -> list[str]:
        ratio = "-"
        if c.ratio is not None:
            ratio = f"{c.ratio:.1f} {'✓' if c.reached else '✗'} (≥ {c.wanted:g})"
        return [
            _code(c.kind),
            c.interpretation,
            f"{c.bytes / 1e6:.1f}",
            f"**{_milliseconds(c.treemill)}**",
            "-" if c.uproot is None else _milliseconds(c.uproot),
            ratio,
            _milliseconds(c.limit),
            f"{c.over_limit:.1f}",
        ]

    return table(head, map(row, cells))


def _milliseconds(times: Times) -> str:
    return f"{times.median * 1e3:.3g}"


def main() -> None:
    """Rewrite the page beside each file named."""
    for name in sys.argv[1:]:
        path = Path(name)
        raw = json.loads(path.read_text())
        path.with_suffix(".md").write_text(
            markdown(raw["title"], raw["facts"], [cell(c) for c in raw["cells"]])
        )


if __name__ == "__main__":
    main()
