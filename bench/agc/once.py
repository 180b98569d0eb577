"""`python -m bench.agc.once MODULE FOLDER OUTPUT`: a program once, in a process of its own: all
histograms of a folder, written as JSON, and the seconds that a compiler took of it.
"""

import json
import sys
import time
from pathlib import Path

from .programs import make


def main(module: str, folder: str, output: str) -> None:
    program = make(1, module)
    began = time.perf_counter()
    program.compile()
    compiled = time.perf_counter() - began
    found = program.filled(folder)
    bins = {name: [float(x) for x in values] for name, values in found.items()}
    Path(output).write_text(json.dumps({"compiled": compiled, "bins": bins}))


if __name__ == "__main__":
    main(*sys.argv[1:])
