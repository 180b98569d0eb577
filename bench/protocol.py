"""The rivals' processes: JSON lines over a pipe. Each rival lives in a process of its own that
stays up for the whole run, is told `run query q on file f`, and takes the time inside itself.

Both ends are here: `Worker` for the benchmark, `main` for the process. Neither knows the queries.
"""

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TextIO, cast

from .rivals import RIVALS, Engine, Rival
from .rivals.adl import ADL_RIVALS
from .rivals.agc import AGC_RIVALS, TREE_RIVALS
from .rivals.earlier import EARLIER_RIVALS
from .rivals.growth import GROWTH_RIVALS

REPOSITORY = Path(__file__).resolve().parent.parent
_TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
EXAMPLES = _TARGET / "release" / "examples"
"""Native programs of treemill-read; `make bench` builds them."""


class RivalError(Exception):
    """The rival is not there, or failed."""


class Worker:
    """A rival's process, seen from the benchmark. Its modules are looked for in the folder `code`
    first, if one is given."""

    def __init__(self, rival: Rival, code: Path | None = None) -> None:
        self.rival = rival
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "bench.protocol", rival.key],
            cwd=REPOSITORY,
            env=os.environ if code is None else os.environ | {"PYTHONPATH": str(code)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        hello = self._answer()
        self.versions: dict[str, str] = hello["versions"]
        self.idle_memory: int = hello["peak"]

    def run(self, query: str, path: Path) -> dict[str, Any]:
        """`seconds` (wall), `cpu` (seconds, of all threads) and `bins` of one run."""
        return self._ask(command="run", query=query, path=str(path))

    def sweep(self, paths: list[Path], branches: tuple[str, ...]) -> dict[str, Any]:
        """`seconds`, `total` (sum of all bins) and the process's `peak` of memory in bytes."""
        return self._ask(command="sweep", paths=[str(p) for p in paths], branches=branches)

    def close(self) -> None:
        """End the process by ending its input."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def _ask(self, **message: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RivalError(f"{self.rival.title}: the process has ended") from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RivalError(f"{self.rival.title}: the process ended ({self._process.wait()})")
        answer = cast(dict[str, Any], json.loads(line))
        if "error" in answer:
            raise RivalError(f"{self.rival.title}: {answer['error']}")
        return answer


def peak_memory() -> int:
    """The largest resident size of this process so far, in bytes."""
    try:
        # ru_maxrss of Linux survives exec: it would be the parent's. VmHWM is this program's own.
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _handle(engine: Engine, message: dict[str, Any]) -> dict[str, Any]:
    cpu, start = time.process_time(), time.perf_counter()
    if message["command"] == "run":
        answer: dict[str, Any] = {"bins": engine.run(message["query"], message["path"])}
    else:
        answer = {"total": engine.sweep(message["paths"], message["branches"])}
    answer["seconds"] = time.perf_counter() - start
    answer["cpu"] = time.process_time() - cpu
    # An engine that runs a program of its own takes the time there.
    answer |= getattr(engine, "measured", {})
    answer["peak"] = peak_memory()
    return answer


def _serve(rival: Rival, out: TextIO) -> None:
    def reply(answer: dict[str, Any]) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    try:
        module = importlib.import_module(f"bench.{rival.module}")
        engine: Engine = module.make(rival.threads, rival.variant)
        reply({"versions": engine.versions(), "peak": peak_memory()})
    except Exception as error:
        reply({"error": f"{type(error).__name__}: {error}"})
        return
    for line in sys.stdin:
        try:
            reply(_handle(engine, json.loads(line)))
        except Exception as error:
            reply({"error": f"{type(error).__name__}: {error}"})


def main() -> None:
    """Serve the rival named on the command line until the input ends."""
    # Whatever a library prints must not come between the answers: it goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    others = (*AGC_RIVALS, *TREE_RIVALS, *EARLIER_RIVALS, *GROWTH_RIVALS)
    known = (*RIVALS, *ADL_RIVALS, *others)
    _serve(next(r for r in known if r.key == sys.argv[1]), answers)


if __name__ == "__main__":
    main()
