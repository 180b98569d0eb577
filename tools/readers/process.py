"""Compares one file in a process of its own, so that a crash or a hang is seen and survived.

The process (`python -m tools.readers.process FILE SKIP`) writes a line of JSON before it reads a
branch, one when treemill is done with it, and one for its outcome; the parent watches the lines.
"""

import json
import os
import resource
import selectors
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .compare import Outcome, Verdict, compare_branches

MEMORY = 6 << 30
"""Bytes of address space: uproot takes all that there is for some files."""

UPROOT_PATIENCE = 20
"""uproot may take so many times longer than treemill before its process is ended."""


def outcomes(path: Path, patience: float) -> Iterator[Outcome]:
    """The outcomes of a file, crashes and hangs (of more than `patience` seconds) among them."""
    done = 0
    while True:
        lines = _Lines(path, done, patience)
        for line in lines:
            if "verdict" in line:
                done += 1
                yield Outcome(**{**line, "verdict": Verdict(line["verdict"])})
        if lines.end is None:
            return
        verdict, detail = lines.end
        tree, branch = lines.reading
        yield Outcome(path.name, tree, branch, verdict, detail)
        if not tree:
            return
        done += 1  # Go on behind the branch that it failed at.


class _Lines:
    """What a child writes; afterwards `end` says how it failed, and `reading` where."""

    def __init__(self, path: Path, skip: int, patience: float):
        self.command = [sys.executable, "-m", "tools.readers.process", str(path), str(skip)]
        self.patience = patience
        self.reading = ("", "")
        self.end: tuple[Verdict, str] | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        root = Path(__file__).parents[2]
        with subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root
        ) as child:
            try:
                yield from self._lines(child)
            finally:
                child.kill()

    def _lines(self, child: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
        assert child.stdout is not None
        selector = selectors.DefaultSelector()
        selector.register(child.stdout, selectors.EVENT_READ)
        pending = b""
        ours = True
        last = time.monotonic()
        while True:
            limit = self.patience * (1 if ours else UPROOT_PATIENCE)
            if not selector.select(max(0.0, last + limit - time.monotonic())):
                who = Verdict.HUNG if ours else Verdict.UNCHECKED
                self.end = who, f"nothing for {limit:.0f} s"
                return
            data = os.read(child.stdout.fileno(), 1 << 16)
            if not data:
                break
            last = time.monotonic()
            *whole, pending = (pending + data).split(b"\n")
            for text in whole:
                line = json.loads(text)
                if "reading" in line:
                    ours = line["reading"] != ["", ""]
                    self.reading = tuple(line["reading"]) if ours else self.reading
                else:
                    ours = True
                    yield line
        if (status := child.wait()) != 0:
            verdict = Verdict.CRASHED if ours else Verdict.UNCHECKED
            self.end = verdict, f"exit status {status}"


def main(path: Path, skip: int) -> None:
    """The child: writes lines about a file."""
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def write(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)

    for outcome in compare_branches(path, skip, lambda *at: write({"reading": at})):
        write({**vars(outcome), "verdict": outcome.verdict.value})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
