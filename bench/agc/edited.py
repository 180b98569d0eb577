"""Ten edits of the tt̄ analysis, as people make them, in the sources of all of its programs. Each
comes on top of those before. Knows how sources are changed; runs nothing.
"""

import importlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .programs import EXAMPLE

TREEMILL, FAST, REFERENCE = "treemill_ttbar.py", "coffea_fast.py", "coffea_ttbar.py"
CPP, ROOT = "rdataframe_ttbar.cpp", "rdataframe_ttbar.py"
CORRECTIONS, FILESET = "corrections.json", "fileset.json"

Replaced = tuple[tuple[str, str], ...]


def _nothing(data: Path, events: int) -> None:
    """Most edits leave the data as they are."""


@dataclass(frozen=True)
class Edit:
    """What is changed between two runs."""

    title: str
    texts: Mapping[str, Replaced] = field(default_factory=dict)
    """What stands in sources, or in files beside the data, and what comes in its place."""
    data: Callable[[Path, int], None] = _nothing
    """Changes the data of a folder, whose samples have so many events."""


def _file_more(data: Path, events: int) -> None:
    import uproot

    described = data / FILESET
    fileset = json.loads(described.read_text())
    sample = fileset["ttbar__nominal"]
    (first,) = sample["files"]
    more = Path(first).with_name("ttbar__nominal_more.root")
    if not more.exists():
        part, write = more.with_suffix(".part"), importlib.import_module("generate").write
        write(part, "ttbar__nominal", 1, events, uproot.ZSTD(5))
        part.rename(more)
    sample["files"][str(more)] = "Events"
    sample["metadata"]["nevts"] += events
    described.write_text(json.dumps(fileset))


_TAGS = dict.fromkeys((TREEMILL, FAST, REFERENCE), (("tags >= 2", "tags >= 3"),))
_EMPTY = (
    "{region: empty() for region in REGIONS}",
    '{each: empty((25 if each == "4j2b" else 50, 50, 550)) for each in REGIONS}',
)
_MODEL = '.Histo1D<double, double>(ROOT::RDF::TH1DModel("", "", 50, 50, 550), "ht", "weight")'
_MORE = f"""
    book(set, "2bht",
         df.Filter([](int n) {{ return n >= 2; }}, {{"tags"}})
             .Define("ht", ht, {{"pt", "good"}})
             {_MODEL});
    book(set, "4j2b","""

EDITS = (
    Edit("the colour of a picture: nothing that is computed"),
    Edit(
        "twice as many bins in one region",
        {
            TREEMILL: (("HT = hist.axis.Regular(25,", "HT = hist.axis.Regular(50,"),),
            FAST: (_EMPTY,),
            REFERENCE: (_EMPTY,),
            CPP: (('.Histo1D<double, double>(model, "ht", "weight")', _MODEL),),
        },
    ),
    Edit(
        "one histogram more",
        {
            TREEMILL: (
                (
                    '"4j2b": top.hist(',
                    '"2bht": top.hist("sum(jets.pt)", bins=HT, weight="weight"),\n'
                    '        "4j2b": top.hist(',
                ),
            ),
            FAST: (('("4j2b", tags >= 2))', '("4j2b", tags >= 2), ("2bht", tags >= 2))'),),
            REFERENCE: (
                ('REGIONS = ("4j1b", "4j2b")', 'REGIONS = ("4j1b", "4j2b", "2bht")'),
                ('if region == "4j1b"', 'if region != "4j2b"'),
                (
                    'selection.add("4j2b", tags >= 2)',
                    'selection.add("4j2b", tags >= 2)\n'
                    '            selection.add("2bht", tags >= 2)',
                ),
            ),
            CPP: (('\n    book(set, "4j2b",', _MORE),),
        },
    ),
    Edit(
        "the jets' energy varies by 2 % instead of 3 %",
        dict.fromkeys((TREEMILL, FAST, REFERENCE, CPP), (("pt * 1.03", "pt * 1.02"),)),
    ),
    Edit(
        "the jets' resolution varies by 6 % instead of 5 %",
        dict.fromkeys((TREEMILL, FAST, REFERENCE, CPP), (("1 + 0.05 *", "1 + 0.06 *"),)),
    ),
    Edit(
        "new corrections of b tags",
        {CORRECTIONS: (("x*0.075", "x*0.08"),), CPP: (("0.075 / 50", "0.08 / 50"),)},
    ),
    Edit("three b tags instead of two in one region", _TAGS | {CPP: (("n >= 2", "n >= 3"),)}),
    Edit(
        "leptons with 32 GeV instead of 30",
        {
            TREEMILL: (("l.pt > 30", "l.pt > 32"),),
            FAST: (("electrons.pt > 30", "electrons.pt > 32"), ("muons.pt > 30", "muons.pt > 32")),
            REFERENCE: (
                ("electrons.pt > 30", "electrons.pt > 32"),
                ("muons.pt > 30", "muons.pt > 32"),
            ),
            CPP: (("e_pt[i] > 30", "e_pt[i] > 32"), ("m_pt[i] > 30", "m_pt[i] > 32")),
        },
    ),
    Edit(
        "another luminosity",
        dict.fromkeys((TREEMILL, FAST, REFERENCE, ROOT), (("* 3378 /", "* 3400 /"),)),
    ),
    Edit("one file more of one sample", data=_file_more),
)


class Sources:
    """A copy of the analysis: its programs, and what stands beside its data."""

    def __init__(self, folder: Path, data: Path, events: int) -> None:
        """`data`: the folder of the files, which stay where they are."""
        self.programs, self.data = folder / "agc", folder / "data"
        self._events = events
        shutil.copytree(EXAMPLE, self.programs, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(EXAMPLE.parent / "side_by_side.py", folder)
        self.data.mkdir()
        for name in (CORRECTIONS, FILESET):
            shutil.copy(data / name, self.data)

    def change(self, edit: Edit) -> None:
        """Makes an edit. Raises ValueError if a program is not what the edit was written for."""
        for name, replaced in edit.texts.items():
            folder = self.data if name in (CORRECTIONS, FILESET) else self.programs
            text = (folder / name).read_text()
            for old, new in replaced:
                if old not in text:
                    raise ValueError(f"{edit.title}: {name} has no {old!r}")
                text = text.replace(old, new)
            (folder / name).write_text(text)
        edit.data(self.data, self._events)
