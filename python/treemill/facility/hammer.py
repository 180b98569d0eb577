"""`treemill hammer --users N`: scripts of many users on one Dask cluster, some of them bad, while
workers are killed. Every result is compared with what is known. load_tests/many_users.py says what
users do, and what came of it; this starts and watches it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import IO, Any

import click

from .._system.files import picture_file, write_text
from ..dataset import dataset
from ..errors import TreemillError, WorkerError, first_line
from ..frozen import replaced
from ..session.api import connect, run
from ..session.run import Query
from ..session.session import Session
from .load_test import Duration
from .load_tests.many_users import (
    Asked,
    Course,
    QueryEnd,
    Sample,
    Script,
    User,
    drawn,
    findings,
    users,
)

__all__ = ["command"]

_USERS_A_PROCESS = 13
_ENTRIES, _FILES, _CLUSTER = 20_000, 20, 1000
_PACE = 1e-5
"""Seconds that a chunk takes for each entry: users' code that waits does not need this machine's
cores."""
_HANG = 30.0
"""Seconds for which code that hangs does not come back."""
_PATIENCE = 5.0
_SAMPLE = 5.0
_LAST = 60.0
"""Seconds that queries may take that were begun before the end."""


@click.command("hammer")
@click.argument("address", required=False)
@click.option(
    "--users",
    "number",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of users.",
)
@click.option(
    "--for",
    "seconds",
    type=Duration(),
    default="5m",
    show_default=True,
    help="Time for which users begin queries: 90s, 30m, 2h.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Number of worker processes, without ADDRESS.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Threads of each worker process, without ADDRESS.",
)
@click.option(
    "--think",
    type=Duration(),
    default="10s",
    show_default=True,
    help="Average time between the end of a query and the same user's next one.",
)
@click.option(
    "--kill",
    type=Duration(),
    default="1m",
    show_default=True,
    help="Time after which the command kills a worker, again and again; 0: never.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed of the queries and of the times between them.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of results, as JSON; default: hammer-users-DATE.json. The picture has the same "
    "name with the suffix .png.",
)
def command(
    address: str | None,
    number: int,
    seconds: float,
    workers: int,
    threads: int,
    think: float,
    kill: float,
    seed: int,
    output: Path | None,
) -> None:
    """Run queries of many users on one cluster, and compare all results.

    ADDRESS is the address of a Dask scheduler. Without ADDRESS, the command starts a scheduler and
    workers on this machine, and ends them afterwards.

    Users run a short, middle or long query, think, and run the next one. Two users run long queries
    all the time, one user runs eight of them at once, and the code of one user hangs. Now and then
    the command kills a worker, whose nanny starts another one. The command compares all results
    with the known ones. The exit status is 1 if a result is wrong or lost.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="treemill-hammer-")))
        files = _write_files(folder)
        there = address or stack.enter_context(_cluster(folder, workers, threads))
        course = _Hammer(there, folder, files, users(number), seed, think).run(seconds, kill)
    date = datetime.now(UTC).isoformat(timespec="seconds")[:19].replace(":", "")
    path = output or Path(f"hammer-users-{date}.json")
    write_text(path, json.dumps({"users": number, **asdict(course)}) + "\n")
    for line in findings(course):
        click.echo(line)
    for _, grid in drawn(course):
        from ..pictures.line_charts import save  # start-up

        with picture_file(path.with_suffix(".png")) as (picture, form):
            save(grid, picture, form)
    click.echo(f"results: {path}, {path.with_suffix('.png')}")
    if not course.well():
        sys.exit(1)


def _write_files(folder: Path) -> list[str]:
    """The files that users read. Each has other events."""
    from .generate import write  # start-up

    paths = [folder / f"events_{number:02}.root" for number in range(_FILES)]
    for number, path in enumerate(paths):
        write(path, events=_ENTRIES, index=number, cluster=_CLUSTER, codec="zstd")
    return [str(path) for path in paths]


@contextlib.contextmanager
def _cluster(folder: Path, workers: int, threads: int) -> Iterator[str]:
    """A scheduler and workers on this machine, with nannies that start lost ones again."""
    told = folder / "scheduler.json"
    log = (folder / "log").open("w")
    python = [sys.executable, "-m"]
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)]
    running = [_program([*python, "distributed.cli.dask_scheduler", *words], folder, log)]
    try:
        while not told.exists() or not told.read_text().endswith("}"):
            if running[0].poll() is not None:
                raise WorkerError(f"no scheduler: {(folder / 'log').read_text()[-2000:]}")
            time.sleep(0.1)
        address = str(json.loads(told.read_text())["address"])
        each = ["--nworkers", str(workers), "--nthreads", str(threads), "--no-dashboard"]
        each += ["--memory-limit", "0", "--local-directory", str(folder / "dask")]
        running.append(
            _program([*python, "distributed.cli.dask_worker", address, *each], folder, log)
        )
        yield address
    finally:
        for process in reversed(running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def _program(words: list[str], folder: Path, log: IO[str]) -> subprocess.Popen[Any]:
    return subprocess.Popen(words, stdout=log, stderr=log, cwd=folder, start_new_session=True)


class _Hammer:
    """A run: processes of users, and looks at the cluster."""

    def __init__(
        self,
        address: str,
        folder: Path,
        files: Sequence[str],
        people: Sequence[User],
        seed: int,
        think: float,
    ) -> None:
        self._address, self._folder, self._files = address, folder, files
        self._people, self._seed, self._think = people, seed, think
        self._lock = threading.Lock()
        self._entries: dict[str, int] = {}

    def run(self, seconds: float, kill: float) -> Course:
        """All of it. Ctrl-C ends it early."""
        known = [
            int(run(dataset(each, "Events").sum("nMuon"), progress=False)) for each in self._files
        ]
        course = Course(seconds)
        with connect(self._address) as session, contextlib.ExitStack() as stack:
            client: Any = session._pool._client  # type: ignore[attr-defined]
            client.wait_for_workers(1, timeout=60)
            began = time.time() + 5.0 + 0.3 * len(self._people)
            readers = [
                stack.enter_context(self._users(part, known, began, seconds, course))
                for part in _parts(self._people)
            ]
            self._watch(client, session, began, seconds, kill, course)
            for reader in readers:
                reader.join(2 * _LAST)
        return course

    @contextlib.contextmanager
    def _users(
        self, part: Sequence[User], known: list[int], began: float, seconds: float, course: Course
    ) -> Iterator[threading.Thread]:
        """A process with some of the users, and the thread that hears what they tell."""
        about = {
            "address": self._address,
            "files": list(self._files),
            "known": known,
            "began": began,
            "seconds": seconds,
            "seed": self._seed,
            "think": self._think,
            "users": [asdict(each) for each in part],
        }
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

        def hear() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                told = json.loads(line)
                with self._lock:
                    if "entries_by_user" in told:
                        self._entries |= told["entries_by_user"]
                    else:
                        course.queries.append(QueryEnd(**told))

        reader = threading.Thread(target=hear, daemon=True)
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(about))
            process.stdin.close()
            reader.start()
            yield reader
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _watch(
        self,
        client: Any,  # noqa: ANN401 - distributed's
        session: Session,
        began: float,
        seconds: float,
        kill: float,
        course: Course,
    ) -> None:
        chance, next_kill = Random(self._seed), began + kill
        time.sleep(max(began - time.time(), 0.0))
        said = time.monotonic()
        with contextlib.suppress(KeyboardInterrupt):
            while time.time() < began + seconds:
                time.sleep(_SAMPLE)
                now = time.time()
                workers = client.scheduler_info(n_workers=-1)["workers"]
                with self._lock:
                    entries, ended = dict(self._entries), len(course.queries)
                    wrong = sum(each.problem is not None for each in course.queries)
                sample = Sample(
                    now - began,
                    int(client.run_on_scheduler(_running)),
                    int(client.run_on_scheduler(_resident)),
                    sum(int(each["metrics"].get("memory", 0)) for each in workers.values()),
                    len(workers),
                    entries,
                )
                course.samples.append(sample)
                if kill and now >= next_kill and workers:
                    next_kill += kill
                    course.kills.append(now - began)
                    client.run(_die, workers=[chance.choice(sorted(workers))], on_error="ignore")
                if time.monotonic() - said > 10.0:
                    said = time.monotonic()
                    click.echo(
                        f"{sample.at:6.0f} s  {sample.running:3} running {ended:6,} ended "
                        f"{wrong:4,} lost or wrong  {sample.workers:3} workers  "
                        f"{sample.worker_bytes / 1e6:8,.0f} MB"
                    )


def _parts(people: Sequence[User]) -> list[Sequence[User]]:
    number = -(-len(people) // _USERS_A_PROCESS)
    return [people[each::number] for each in range(number)]


def _running(dask_scheduler: Any) -> int:  # noqa: ANN401 - distributed's
    state = dask_scheduler.plugins["treemill"]._scheduler_state
    return sum(not each.done for each in state.listed())


def _resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# The users themselves, in a process of their own: `python -m treemill.facility.hammer`.


def _summed(pace: float, hang: float) -> Any:  # noqa: ANN401 - a function for workers, by value
    """Counts entries and muons, and takes a while."""

    def summed(chunk: Any) -> dict[str, int]:  # noqa: ANN401
        import time

        import numpy

        time.sleep(hang or len(chunk) * pace)
        return {"n": len(chunk), "muons": int(numpy.asarray(chunk["nMuon"]).sum())}

    return summed


class _Users:
    """Some users of one process, a thread each."""

    def __init__(self, about: dict[str, Any]) -> None:
        self._address, self._files, self._known = about["address"], about["files"], about["known"]
        self._began, self._seconds = about["began"], about["seconds"]
        self._seed, self._think = about["seed"], about["think"]
        self._people = [User(**each) for each in about["users"]]
        self._lock = threading.Lock()
        self._done = {each.name: 0 for each in self._people if each.always_wants}
        self._there: dict[str, list[Query]] = {each: [] for each in self._done}

    def run(self) -> None:
        """Returns when the last query has ended."""
        threads = [
            threading.Thread(target=self._user, args=(each,), daemon=True) for each in self._people
        ]
        for each in threads:
            each.start()
        end = self._began + self._seconds + _LAST
        while any(each.is_alive() for each in threads) and time.time() < end:
            time.sleep(_SAMPLE / 2)
            self._say({"entries_by_user": self._entries()})

    def _entries(self) -> dict[str, int]:
        with self._lock:
            return {
                name: done + sum(each.progress.entries for each in self._there[name])
                for name, done in self._done.items()
            }

    def _say(self, told: dict[str, object]) -> None:
        with self._lock:
            print(json.dumps(told), flush=True)

    def _user(self, user: User) -> None:
        with connect(self._address, patience=_PATIENCE) as session:
            client: Any = session._pool.scheduler_client  # type: ignore[attr-defined]
            owner = replaced(client.caller.owner, user=user.name)
            client.caller = replaced(client.caller, owner=owner, keys=(secrets.token_hex(16),))
            time.sleep(max(self._began - time.time(), 0.0))
            hands = [
                threading.Thread(target=self._asks, args=(user, session, number), daemon=True)
                for number in range(user.at_once)
            ]
            for each in hands:
                each.start()
            for each in hands:
                each.join()

    def _asks(self, user: User, session: Session, number: int) -> None:
        script = Script(user, len(self._files), 100 * self._seed + number, self._think)
        while True:
            asked = script.next()
            time.sleep(asked.pause)
            at = time.time() - self._began
            if at >= self._seconds:
                return
            try:
                entries, problem = self._asked(user, session, asked), None
            except Exception as error:
                entries, problem = 0, f"{type(error).__name__}: {first_line(error)}"
            took = time.time() - self._began - at
            ended = QueryEnd(user.name, user.kind, asked.size, at, took, entries, problem)
            self._say(asdict(ended))

    def _asked(self, user: User, session: Session, asked: Asked) -> int:
        """Makes a query. Gives its entries. Raises what is wrong."""
        events = dataset([self._files[each] for each in asked.files], tree="Events")
        hangs = user.kind == "hangs"
        query = session.submit(_summed(_PACE, _HANG if hangs else 0.0), events, chunksize=5000)
        if hangs:
            with contextlib.suppress(TimeoutError):
                query.result(10.0)
            query.abort("it hangs")
            with contextlib.suppress(TreemillError):
                query.result(_LAST)
            return 0
        with self._lock:
            self._there.get(user.name, []).append(query)
        try:
            found: Any = query.result(3600.0)
        finally:
            with self._lock:
                if user.name in self._there:
                    self._there[user.name].remove(query)
        entries = _ENTRIES * len(asked.files)
        right = {"n": entries, "muons": sum(self._known[each] for each in asked.files)}
        if dict(found) != right:
            raise ArithmeticError(f"the result is {found}, and right is {right}")
        with self._lock:
            if user.name in self._done:
                self._done[user.name] += entries
        return entries


if __name__ == "__main__":
    _Users(json.load(sys.stdin)).run()
