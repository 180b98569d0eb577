"""The limit: one thread of tight native code (`crates/treemill-read/examples/limit`) that
decompresses just the baskets needed with the same codec library, swaps their bytes and fills a
plain array of bins. It takes its own time, once the metadata is read and after a run that does not
count, and gives the bins without underflow and overflow.
"""

import json
import subprocess

from ..protocol import EXAMPLES
from ..queries import BINS, HIGH, LOW, QUERIES, TREE

_PROGRAM = EXAMPLES / "limit"
_BRANCHES = {query.key: ",".join(query.branches) for query in QUERIES}


class _Limit:
    def __init__(self) -> None:
        if not _PROGRAM.exists():
            raise FileNotFoundError(f"{_PROGRAM}: build treemill-read's examples")
        self.measured: dict[str, float] = {}

    def run(self, query: str, path: str) -> list[float]:
        command = [str(_PROGRAM), path, TREE, _BRANCHES[query], str(BINS), str(LOW), str(HIGH)]
        done = subprocess.run(
            [*command, "--query", query, "--repeat", "1"], capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        answer = json.loads(done.stdout)
        self.measured = {"seconds": answer["seconds"], "cpu": answer["seconds"]}
        return [float(x) for x in answer["bins"]]

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("the limit answers the four queries only")

    def versions(self) -> dict[str, str]:
        return {}


def make(threads: int, variant: str) -> _Limit:
    """The limit, which uses one thread."""
    return _Limit()
