"""A job of an endurance run as a process: started with what it needs, looked at, ended, and its
story told. Decides nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import IO

from .crew import ALONE, Told
from .load_tests.account import JobEnd
from .load_tests.job_types import JobType
from .reader import Job, cause

__all__ = ["JobProcess"]

_LONGEST = 1e6
"""Seconds of a job that reads: it ends when it has read its files, or is ended."""
_LAST_WORDS = 4096
"""Bytes of what a job complains that are looked at."""


class JobProcess:
    """One job that runs. `names`: branches, by what is read. `layout`: how baskets lie."""

    def __init__(
        self,
        kind: JobType,
        files: Sequence[tuple[str, str]],
        names: Mapping[str, Sequence[str]],
        layout: str,
    ) -> None:
        """Raises OSError if there is no such program."""
        self._kind = kind
        self._files = files
        self._began = time.monotonic()
        self._reason: str | None = None
        words, request = _program(kind, files, names, layout)
        # Closed when the job has ended.
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._complaint: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            with tempfile.TemporaryFile() as stdin:
                stdin.write(request.encode())
                stdin.seek(0)
                self._process = subprocess.Popen(
                    words,
                    stdin=stdin,
                    stdout=self._said,
                    stderr=self._complaint,
                    env={**os.environ, **ALONE},
                    start_new_session=True,  # Ctrl-C is the run's, which ends its jobs itself
                )
        except OSError:
            self._close()
            raise

    def look(self) -> JobEnd | None:
        """Returns what came of it; None as long as it runs."""
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if not pid:
            return None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        # A child of the job that it has left behind ends with it.
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        try:
            return self._ended(usage.ru_utime + usage.ru_stime)
        finally:
            self._close()

    def kill(self, reason: str) -> None:
        """Ends it, with all that it has started; `look` tells when that is done."""
        self._reason = reason
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _ended(self, cpu: float) -> JobEnd:
        seconds = time.monotonic() - self._began
        if self._reason is not None:
            return JobEnd(seconds, cpu, cause=f"ended: {self._reason}")
        if self._process.returncode:
            return JobEnd(seconds, cpu, cause=self._last_words())
        if self._kind.command:
            return JobEnd(seconds, cpu)
        self._said.seek(0)
        answer = Told.of(json.loads(self._said.read()))
        (outcome,) = answer.outcomes
        failed = next(iter(outcome.errors), None)
        return JobEnd(
            seconds, cpu, outcome.events, outcome.bytes_wanted, answer.bytes_asked, cause=failed
        )

    def _last_words(self) -> str:
        size = self._complaint.seek(0, os.SEEK_END)
        self._complaint.seek(max(size - _LAST_WORDS, 0))
        lines = self._complaint.read().decode(errors="replace").strip().splitlines()
        words = f"exit status {self._process.returncode}"
        if lines:
            words += f": {lines[-1]}"
        paths = [path for path, _ in self._files]
        return cause(RuntimeError(words), *paths).removeprefix("RuntimeError: ")

    def _close(self) -> None:
        self._said.close()
        self._complaint.close()


def _program(
    kind: JobType,
    files: Sequence[tuple[str, str]],
    names: Mapping[str, Sequence[str]],
    layout: str,
) -> tuple[list[str], str]:
    """The words of the program, and what it is given."""
    python = [sys.executable, "-m"]
    if kind.command:
        words: list[str] = []
        for word in kind.command:
            if word == "{files}":
                words += [path for path, _ in files]
            else:
                words.append(word.replace("{file}", files[0][0]))
        return words, ""
    if kind.read is not None:
        branches = list(names[kind.read])
        job = Job("streams", 1, list(files), branches, kind.window, _LONGEST, True, layout)
        return [*python, f"{__package__}.crew"], json.dumps(asdict(job))
    request = {"files": list(files), "hist": list(kind.hist), "filter": kind.filter}
    return [*python, f"{__package__}.analysis"], json.dumps(request)
