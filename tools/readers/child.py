"""A process that is asked and answers in lines of JSON, of which each is waited for so long and no
longer. Knows nothing of what is asked.
"""

import contextlib
import json
import os
import selectors
import subprocess
import time
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]


class Child:
    """The process; it says something first, when it is up (`READY`)."""

    def __init__(self, command: list[str], patience: float) -> None:
        """Waits `patience` seconds until it is up. Raises TimeoutError or EOFError if it is not."""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._pending = b""
        try:
            self.receive(patience)
        except BaseException:
            self.close()
            raise

    def send(self, question: Any) -> None:
        """Asks. Of a process that has ended, `receive` tells."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()

    def receive(self, patience: float) -> Any:
        """The next line. Raises TimeoutError after this many seconds without one, EOFError with the
        exit status where the process has ended."""
        until = time.monotonic() + patience
        while b"\n" not in self._pending:
            if not self._selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError(f"nothing for {patience:.0f} s")
            data = os.read(self._output, 1 << 16)
            if not data:
                raise EOFError(f"exit status {self._process.wait()}")
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        """Ends it."""
        self._selector.close()
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process.wait()
