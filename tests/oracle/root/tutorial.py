"""The code for ROOT in a tutorial of the documentation: `tutorial.py PAGE OUTPUT.json`. Writes the
contents of every histogram that it makes, by the names of its variables, or of the histograms."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import ROOT

from tests.tutorials import shown


def filled(histogram):
    """All bins, those of overflow included."""
    return [histogram.GetBinContent(number) for number in range(histogram.GetNcells())]


def main(page: str, output: str) -> None:
    names: dict[str, object] = {}
    exec("\n".join(shown(page, "python")), names)
    for line in "".join(shown(page, "cpp")).splitlines():
        ROOT.gInterpreter.ProcessLine(line)
    found = {each.GetName(): each for each in ROOT.gDirectory.GetList()}
    for name, value in {**found, **names}.items():
        held = value.GetValue() if hasattr(value, "GetValue") else value
        if isinstance(held, ROOT.TH1):
            found[name] = held
    bins = {name: filled(each) for name, each in found.items() if isinstance(each, ROOT.TH1)}
    Path(output).write_text(json.dumps(bins))


if __name__ == "__main__":
    main(*sys.argv[1:])
