"""`treemill bench hammer`: a steady mix of analysis jobs against storages, for hours."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import click

from .._system.processor import available_cores
from ..errors import FormatError, SourceError
from .compare_storage import targets
from .load_test_board import LoadTestBoard, LoadTestState
from .load_tests.job_scheduler import Bounds, JobScheduler, JobType, KillJob, Start, job_types
from .load_tests.run_summary import JobEnd, LoadTestSummary, line_of
from .reader_pool import ALONE, Job, ReaderReport, cause
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import ResultsFile, save
from .storage.matrix import Target
from .systems import describe

__all__ = ["LoadTest", "command"]

# A job of an endurance run as a process: started with what it needs, looked at, ended, and its
# story told. Decides nothing.

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
        answer = ReaderReport.of(json.loads(self._said.read()))
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
        return [*python, f"{__package__}.reader_pool"], json.dumps(asdict(job))
    request = {"files": list(files), "hist": list(kind.hist), "filter": kind.filter}
    return [*python, f"{__package__}.analysis"], json.dumps(request)


_LOOK = 0.1
"""Seconds between looks at the jobs."""
_SAY = 10.0
"""Seconds between lines on the terminal."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Duration(click.ParamType[float]):
    """90, 90s, 30m, 2h, 1d: in seconds."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The seconds."""
        match = _DURATION.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no time: write 90s, 30m or 2h", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


@click.command("hammer")
@click.argument("jobs", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option(
    "--at-once",
    type=click.IntRange(1),
    help="Number of jobs that run at the same time; default: one for each core.",
)
@click.option("--for", "seconds", type=Duration(), help="Start jobs for this time: 90s, 30m, 2h.")
@click.option("--jobs", "number", type=click.IntRange(1), help="Start at most this number of jobs.")
@click.option(
    "--ramp-up",
    "ramp",
    type=Duration(),
    default="0s",
    help="Time in which the number of jobs rises from one to --at-once.",
)
@click.option(
    "--longest",
    type=Duration(),
    default="1h",
    show_default=True,
    help="End a job that takes longer than this.",
)
@click.option(
    "--grace",
    type=Duration(),
    default="30s",
    show_default=True,
    help="Time for which running jobs may go on after the end of the run.",
)
@click.option("--live", is_flag=True, help="Show the run on a page that this machine serves.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of results; default: hammer-DATE.json.",
)
def command(
    jobs: Path,
    urls: tuple[str, ...],
    at_once: int | None,
    seconds: float | None,
    number: int | None,
    ramp: float,
    longest: float,
    grace: float,
    live: bool,
    output: Path | None,
) -> None:
    """Run the jobs of a file (TOML or JSON) against storages again and again, each as a process.

    Each URL is a file, a glob, or the description of a dataset; the files of one server are one
    storage. Ctrl-C stops the run: running jobs may end, and the command reports the results so far.
    A second Ctrl-C ends the jobs at once.
    """
    kinds = job_types(_read(jobs))
    bounds = Bounds(at_once or available_cores(), ramp, seconds, number, longest, grace)
    storages = targets(urls)
    hammer = LoadTest(kinds, storages, bounds)
    about = describe()
    with _page(hammer) if live else contextlib.nullcontext():
        hammer.run()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    results = ResultsFile(
        date,
        about,
        {
            "jobs": [f"{kind.name} ({kind.share:g})" for kind in kinds],
            "at once": bounds.most,
            "ramp-up": f"{ramp:g} s",
            "ended": hammer.why or "its time or its jobs were over",
        },
        {"files": sum(len(each.files) for each in storages), "storages": hammer.storages},
        jobs=hammer.account.tallies(),
        course=hammer.account.course,
    )
    path = output or Path(f"hammer-{date[:19].replace(':', '')}.json")
    save(results, path)
    click.echo()
    for line in conclusion(results):
        click.echo(line)
    click.echo(f"results: {path}; figures: treemill bench report {path}")


class LoadTest:
    """A run: its jobs as processes, as the scheduler of jobs says."""

    def __init__(
        self, kinds: Sequence[JobType], storages: Sequence[Target], bounds: Bounds
    ) -> None:
        self._kinds, self._targets, self._bounds = kinds, storages, bounds
        names = [each.storage for each in storages]
        self.storages = [
            name if names.count(name) == 1 else f"{name} ({target.layout})"
            for name, target in zip(names, storages, strict=True)
        ]
        self._scheduler = JobScheduler([kind.share for kind in kinds], len(storages), bounds)
        self.account = LoadTestSummary([kind.name for kind in kinds], self.storages)
        self._running: dict[int, tuple[Start, JobProcess]] = {}
        self._wanted: str | None = None  # "stop" or "abort", by any thread
        self._asked = threading.Lock()
        self.why: str | None = None
        """Why it ended before its time."""
        self.board = LoadTestBoard("endurance run", self.storages, self.end)

    def end(self, how: str, why: str = "stopped on the page") -> None:
        """Ends the run soon: "stop" or "abort". All threads may call it."""
        with self._asked:
            if self._wanted != "abort":
                self._wanted = how
            self.why = self.why or why

    def run(self) -> None:
        """Returns when the last job has ended. KeyboardInterrupt stops it, a second one ends all
        jobs."""
        self._began = time.monotonic()
        self._said = 0.0
        try:
            while not self._scheduler.is_done(self._now):
                try:
                    self._step()
                    time.sleep(_LOOK)
                except KeyboardInterrupt:
                    self.end("stop" if self._wanted is None else "abort", "interrupted")
                    click.echo("stopping: jobs that run may end; Ctrl-C again ends them")
        finally:
            # Nothing is left behind, whatever has happened.
            for _, process in self._running.values():
                process.kill("the run has failed")
            self._note(done=True)

    @property
    def _now(self) -> float:
        return time.monotonic() - self._began

    def _step(self) -> None:
        for job, (start, process) in list(self._running.items()):
            ended = process.look()
            if ended is not None:
                del self._running[job]
                self._ended(start, ended)
        with self._asked:
            wanted = self._wanted
        if wanted == "stop":
            self._scheduler.stop(self._now)
        elif wanted == "abort":
            self._scheduler.abort()
        for action in self._scheduler.tick(self._now):
            if isinstance(action, KillJob):
                self._running[action.job][1].kill(action.reason)
            else:
                self._start(action)
        self._note(done=False)

    def _start(self, start: Start) -> None:
        kind, target = self._kinds[start.kind], self._targets[start.storage]
        count = min(kind.files, len(target.files))
        first = start.turn * count
        files = [target.files[(first + i) % len(target.files)] for i in range(count)]
        try:
            process = JobProcess(kind, files, target.names, target.layout)
            self._running[start.job] = (start, process)
        except OSError as error:
            said = f"cannot be started: {error.strerror}"
            self._ended(start, JobEnd(0.0, 0.0, cause=said))

    def _ended(self, start: Start, ended: JobEnd) -> None:
        self.account.add(self._kinds[start.kind].name, self.storages[start.storage], ended)
        self._scheduler.ended(start.job, self._now, ended.cause is None)

    def _note(self, *, done: bool) -> None:
        now = self._now
        self.account.look(now, len(self._running))
        moment = self.account.moment(now, len(self._running))
        running = Counter(self.storages[start.storage] for start, _ in self._running.values())
        share, stopping = self._share(now), self.why is not None
        tallies = self.account.tallies()
        self.board.put(LoadTestState(moment, running, tallies, share, done, stopping))
        if now - self._said >= _SAY or done:
            self._said = now
            click.echo(line_of(moment))

    def _share(self, now: float) -> float:
        if self.why is not None:  # none of its time is left
            return 1.0
        shares = [0.0]
        if self._bounds.seconds:
            shares.append(now / self._bounds.seconds)
        if self._bounds.jobs:
            shares.append(self._scheduler.started / self._bounds.jobs)
        return min(max(shares), 1.0)


@contextlib.contextmanager
def _page(hammer: LoadTest) -> Iterator[None]:
    from ..monitoring.server import Dashboard  # start-up

    with Dashboard(hammer.board) as page:
        click.echo(f"page: {page.url}")
        yield


def _read(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}", file=str(path)) from None
    try:
        return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise FormatError(f"{path}: {error}", file=str(path)) from None
