"""The eight ADL tasks by RDataFrame, with the benchmark's C++: `adl.py FILE OUTPUT.json`."""

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from bench.adl import rdataframe
from bench.adl.tasks import TASKS


def main(file: str, output: str) -> None:
    engine = rdataframe.make(1, "native" if shutil.which("c++") else "cling")
    bins = {task: engine.run(task, file) for task in TASKS}
    Path(output).write_text(json.dumps(bins))


if __name__ == "__main__":
    main(*sys.argv[1:])
