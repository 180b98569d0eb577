"""`python examples/agc/generate.py FOLDER`: the files of the example, made up, as NanoAOD has them;
`fileset.json`, which names them with their cross sections and numbers of events, in coffea's form;
and `corrections.json`, the variations of weights and of jets' energies, in correctionlib's.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import uproot
from events import PROCESSES, made_up

CLUSTER = 25_000
"""Events in a basket."""


def corrections() -> dict[str, object]:
    """b tags vary with a jet's pT; W + jets by 3 %; a jet's energy by 5 %, as a random number that
    its momentum alone decides on."""

    def real(name: str) -> dict[str, str]:
        return {"name": name, "type": "real"}

    def formula(sign: str) -> dict[str, object]:
        text = f"1.0 {sign} (x*0.075 / 50)"
        known = {"nodetype": "formula", "parser": "TFormula", "variables": ["pt"]}
        return known | {"expression": text}

    def by(name: str, **content: object) -> dict[str, object]:
        listed = [{"key": key, "value": value} for key, value in content.items()]
        return {"nodetype": "category", "input": name, "content": listed}

    weights = by(
        "systematic",
        btag_var=by("direction", up=formula("+"), down=formula("-")),
        scale_var=by("direction", up=1.03, down=0.97),
    )
    words = [{"name": name, "type": "string"} for name in ("systematic", "direction")]
    resolution = {
        "nodetype": "hashprng",
        "inputs": ["pt", "phi"],
        "distribution": "stdnormal",
    }
    made = [
        {"name": "event_systematics", "inputs": [*words, real("pt")], "data": weights},
        {"name": "jet_resolution", "inputs": [real("pt"), real("phi")], "data": resolution},
    ]
    return {
        "schema_version": 2,
        "corrections": [{"version": 1, "output": real("value")} | each for each in made],
    }


def write(path: Path, name: str, seed: int, events: int, compression: object) -> None:
    """One file with a tree `Events`."""
    with uproot.recreate(path, compression=compression) as file:
        tree = None
        for start in range(0, events, CLUSTER):
            columns = made_up(name, seed, start, min(CLUSTER, events - start))
            if tree is None:
                types = {
                    key: c.dtype if isinstance(c, np.ndarray) else c.type.content
                    for key, c in columns.items()
                }
                tree = file.mktree("Events", types, counter_name=lambda key: f"n{key}")
            tree.extend(columns)


def generate(
    folder: Path, events: int, files: int = 1, codec: str = "ZSTD", level: int = 5
) -> Path:
    """Writes what is not there yet; gives the path of the fileset."""
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    fileset = {}
    for name, process in PROCESSES.items():
        paths = [folder / f"{name}_{i}.root" for i in range(files)]
        for seed, path in enumerate(paths):
            if not path.exists():
                part = path.with_suffix(".part")
                write(part, name, seed, events, getattr(uproot, codec)(level))
                part.rename(path)
        of, variation = name.split("__")
        known = {"process": of, "variation": variation, "xsec": process.xsec}
        fileset[name] = {
            "files": {str(path): "Events" for path in paths},
            "metadata": known | {"nevts": events * files},
        }
    (folder / "corrections.json").write_text(json.dumps(corrections(), indent=1) + "\n")
    described = folder / "fileset.json"
    described.write_text(json.dumps(fileset, indent=1) + "\n")
    return described


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--events", type=int, default=50_000, help="in each file")
    parser.add_argument("--files", type=int, default=1, help="of each sample")
    chosen = parser.parse_args()
    print(generate(chosen.folder, chosen.events, chosen.files))
