"""A Dask cluster whose processes the tests can kill: a scheduler and workers as programs, on ports
that the system chooses."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 60


class Processes:
    """A scheduler and its workers, by process id."""

    def __init__(
        self,
        folder: Path,
        tls: tuple[str, ...] = (),
        host: str = "127.0.0.1",
        settings: dict[str, str] | None = None,
        preload: tuple[object, ...] = (),
    ) -> None:
        """`host`: where the scheduler listens. `settings`: Dask's, as variables. `preload`: more
        words of the scheduler's."""
        self.folder = folder
        self.environment = os.environ | (settings or {})
        self.file = folder / "scheduler.json"
        self.tls = tls
        self.workers: list[subprocess.Popen] = []
        self.log = (folder / "log").open("w")
        where = ("--host", host, "--port", "0", "--scheduler-file", self.file)
        self.scheduler = self._start("dask_scheduler", *where, end=preload)
        deadline = time.monotonic() + SECONDS
        while not self.file.exists() or not self.file.read_text().endswith("}"):
            assert self.scheduler.poll() is None, self.text()
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.02)
        self.address = json.loads(self.file.read_text())["address"]

    def _start(
        self,
        module: str,
        *words: object,
        enter: tuple[str, ...] = (),
        end: tuple[object, ...] = (),
    ) -> subprocess.Popen:
        command = [*enter, sys.executable, "-m", f"distributed.cli.{module}", *map(str, words)]
        return subprocess.Popen(
            [*command, "--no-dashboard", *self.tls, *map(str, end)],
            stdout=self.log,
            stderr=self.log,
            cwd=self.folder,
            env=self.environment,
            start_new_session=True,
        )

    def add(
        self, workers: int = 1, threads: int = 1, *words: str, enter: tuple[str, ...] = ()
    ) -> list[subprocess.Popen]:
        """Starts workers, without waiting for them. `enter`: see Host."""
        words = words or ("--no-nanny",)
        made = [
            self._start("dask_worker", self.address, "--nthreads", threads, *words, enter=enter)
            for _ in range(workers)
        ]
        self.workers += made
        return made

    def text(self) -> str:
        """What the processes have printed."""
        return (self.folder / "log").read_text()

    def close(self) -> None:
        """Ends all of it."""
        for process in [*self.workers, self.scheduler]:
            for kill in (signal.SIGCONT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, kill)
            process.wait()
        self.log.close()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def scheduler_state(client, look):
    """What `look` finds on the scheduler's desk."""

    def see(dask_scheduler):
        return look(dask_scheduler.plugins["treemill"]._scheduler_state)

    return client.run_on_scheduler(see)
