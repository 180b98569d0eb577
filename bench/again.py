"""`python -m bench.again FILE.json`: the table anew from a run's raw numbers; measures nothing.

For when the words of a verdict change, not the numbers.
"""

import json
import sys
from pathlib import Path
from typing import Any

from . import goals, machine, report, tables
from .memory import Sweep
from .rivals import RIVALS
from .times import Times
from .warm import Cell


def page(raw: dict[str, Any], date: str) -> tuple[str, list[goals.Verdict]]:
    """Markdown and verdicts of what `python -m bench` wrote."""

    clock = str(raw.get("clock", "wall"))  # the first results do not say; they are wall time

    def times(entry: Any) -> Times:
        return Times(tuple(entry["seconds"]))

    cells = [
        Cell(c["rival"], c["query"], c["codec"], times(c["wall"]), times(c["cpu"]), clock)
        for c in raw["warm"]
    ]
    shells = {name: times(entry) for name, entry in raw["cold"].items()}
    sweeps = [Sweep(**sweep) for sweep in raw["memory"]]
    verdicts = [
        *goals.warm(goals.medians(cells, RIVALS)),
        *goals.cold(shells),
        *goals.memory(sweeps),
    ]
    facts = machine.about(raw["machine"], tables.sizes(raw["files"]), raw["rounds"], clock)
    title = f"treemill and its rivals, {date}"
    return report.markdown(title, facts, cells, shells, sweeps, verdicts), verdicts


def main() -> None:
    """Rewrite the page beside each file named, and the verdicts in the file."""
    for name in sys.argv[1:]:
        path = Path(name)
        raw = json.loads(path.read_text())
        text, verdicts = page(raw, path.stem[:10])
        raw["goals"] = [verdict.as_dict() for verdict in verdicts]
        path.write_text(json.dumps(raw, indent=1) + "\n")
        path.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
