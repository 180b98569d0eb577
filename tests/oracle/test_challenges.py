"""examples/challenges: treemill and coffea fill the same bins and keep the same events, on small
files of the challenges' shape.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW = {
    "atlas": ({"SAMPLES": ("ttbar", "data")}, {"events": 300, "share": 0.02}),
    "cms": (
        {"SAMPLES": ("signal", "data"), "YEARS": ("2017",)},
        {"events": 2000, "share": 0.04},
    ),
}
"""Of what the files are made, and how large."""
HISTOGRAMS = {
    # Of two regions: the simulation with 7 sources, up and down, and data.
    "atlas": 2 * (1 + 2 * 7 + 1),
    # The same with 13 sources.
    "cms": 2 * (1 + 2 * 13 + 1),
}


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path.parent))
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def side_by_side():
    return module(EXAMPLES / "side_by_side.py")


@pytest.fixture(scope="module", params=FEW)
def challenge(request):
    return request.param


def program(challenge, name, *arguments):
    command = [sys.executable, "-W", "ignore", EXAMPLES / "challenges" / challenge / name]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(challenge, tmp_path_factory):
    """What both programs have made of the files."""
    for package in ("coffea", "correctionlib"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    folder = tmp_path_factory.mktemp(challenge)
    generate = module(EXAMPLES / "challenges" / challenge / "generate.py")
    names, size = FEW[challenge]
    for name, kept in names.items():
        known = getattr(generate, name)
        setattr(generate, name, {x: known[x] for x in kept} if isinstance(known, dict) else kept)
    generate.generate(folder, **size)
    program(challenge, "analysis.py", folder)
    program(challenge, "coffea_analysis.py", folder)
    return folder


def test_the_same_bins(side_by_side, challenge, folder):
    ours, theirs = (side_by_side.contents(folder / f"{x}.root") for x in ("treemill", "coffea"))
    assert len(ours) == HISTOGRAMS[challenge]
    text, agree = side_by_side.compared(ours, theirs)
    assert agree, text
    filled = [name for name, bins in ours.items() if bins.any()]
    assert len(filled) > 0.7 * len(ours)
    assert any((ours[name] != ours[name.removesuffix("up") + "down"]).any()
               for name in ours if name.endswith("up"))  # fmt: skip


def test_the_same_skims(challenge, folder):
    ours, theirs = (
        sorted(
            (entry["run"], entry["event"], *entry["Jet_pt"])
            for path in folder.glob(pattern)
            for entry in uproot.open(path)["Events"].arrays(["run", "event", "Jet_pt"]).tolist()
        )
        for pattern in ("skim_*.root", "coffea_skim_*.root")
    )
    assert bool(ours) == (challenge == "cms")
    assert ours == theirs
