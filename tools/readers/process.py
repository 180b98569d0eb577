"""Compares files in a process of their own, so that a crash or a hang is seen and survived.

The process (`python -m tools.readers.process`) takes one file after another. It writes a line of
JSON before treemill reads a branch, one when it is done with it, and one for the outcome; who asked
watches the lines. It starts once for many files, and its start is no part of anyone's time.
"""

import gc
import json
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .child import Child
from .compare import Outcome, Verdict, compare_branches

MEMORY = 6 << 30
"""Bytes of address space: uproot takes all that there is for some files."""

USED_UP = 1 << 20
"""KiB of memory that a process may have used; then the next file gets a new one."""

UPROOT_PATIENCE = 120.0
"""Seconds that uproot may take for a branch, or for opening a file."""

START_PATIENCE = 600.0
"""Seconds for a process to start: it imports much, and the machine may be busy."""

_NOWHERE = ("", "")


class Reader:
    """A process for as many files as one likes."""

    def __init__(self) -> None:
        self._child: Child | None = None

    def close(self) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def outcomes(self, path: Path, patience: float) -> Iterator[Outcome]:
        """The outcomes of a file; where treemill crashes, or takes more than `patience` seconds for
        a branch, that is the branch's outcome."""
        done = 0
        while True:
            answer = _Answer(path, done, patience)
            for outcome in answer.lines(self._running()):
                done += 1
                yield outcome
            if answer.is_used_up or answer.end:
                self.close()
            if answer.end is None:
                return
            tree, branch = answer.place
            yield Outcome(path.name, tree, branch, *answer.end)
            if not branch:
                return
            done += 1  # Go on behind the branch that it failed at.

    def _running(self) -> Child:
        if self._child is None:
            self._child = Child([sys.executable, "-m", __name__], START_PATIENCE)
        return self._child


class _Answer:
    """What the process says of a file: outcomes, and afterwards how it ended."""

    def __init__(self, path: Path, skip: int, patience: float) -> None:
        self._question = [str(path), skip]
        self._patience = patience
        self.is_used_up = False
        self.place = _NOWHERE
        """Tree and branch that were read last."""
        self.end: tuple[Verdict, str] | None = None
        """How it failed, if it did."""

    def lines(self, child: Child) -> Iterator[Outcome]:
        child.send(self._question)
        is_ours = False
        try:
            while True:
                line = child.receive(self._patience if is_ours else UPROOT_PATIENCE)
                if "reading" in line:
                    place = tuple(line["reading"])
                    is_ours = place != _NOWHERE
                    self.place = place if is_ours else self.place
                elif "verdict" in line:
                    self.place = _NOWHERE
                    yield Outcome(**{**line, "verdict": Verdict(line["verdict"])})
                else:
                    self.is_used_up = line["used"] > USED_UP
                    return
        except (TimeoutError, EOFError) as error:
            # Outside of any branch files and trees are opened: not to be passed over.
            is_wrong = is_ours or self.place == _NOWHERE
            wrong = Verdict.HUNG if isinstance(error, TimeoutError) else Verdict.CRASHED
            self.end = wrong if is_wrong else Verdict.UNCHECKED, str(error)


def main() -> None:
    """The process."""
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    gc.disable()  # it would look through uproot's thousands of branches again and again

    def write(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)

    write({"ready": True})
    for question in sys.stdin:
        path, skip = json.loads(question)
        for outcome in compare_branches(Path(path), skip, lambda *at: write({"reading": at})):
            write({**vars(outcome), "verdict": outcome.verdict.value})
        gc.collect()
        write({"used": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})


if __name__ == "__main__":
    main()
