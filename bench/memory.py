"""The memory measurement: the peak of a fresh process that fills a histogram from most branches
over a dataset of 10 GB, which is one file listed as many times as it takes.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from .protocol import RivalError, Worker
from .queries import SWEEP
from .rivals import Rival
from .warm import WrongBinsError


@dataclass(frozen=True)
class Sweep:
    """What one rival's sweep took."""

    rival: str
    files: int
    gigabytes: float
    peak_megabytes: float
    idle_megabytes: float
    seconds: float
    total: float

    def as_dict(self) -> dict[str, object]:
        """For the file of raw numbers."""
        return asdict(self)


def measure(
    rivals: list[Rival], path: Path, gigabytes: float, say: Callable[[str], None]
) -> list[Sweep]:
    """One sweep a rival, each in a process of its own."""
    files = max(1, round(gigabytes * 1e9 / path.stat().st_size))
    done = []
    for rival in rivals:
        try:
            done.append(_sweep(rival, path, files))
        except RivalError as error:
            say(f"memory: {error}")
            continue
        say(f"memory: {rival.title} {done[-1].peak_megabytes:.0f} MB")
        if done[-1].total != done[0].total:
            raise WrongBinsError(f"memory: {done[-1].total} and {done[0].total} values were filled")
    return done


def _sweep(rival: Rival, path: Path, files: int) -> Sweep:
    worker = Worker(rival)
    try:
        measured = worker.sweep([path] * files, SWEEP)
    finally:
        worker.close()
    return Sweep(
        rival.key,
        files,
        files * path.stat().st_size / 1e9,
        measured["peak"] / 1e6,
        worker.idle_memory / 1e6,
        measured["seconds"],
        measured["total"],
    )
