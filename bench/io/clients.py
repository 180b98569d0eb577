"""treemill's XRootD client beside the official one: all of a large file, and scattered ranges."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tools.link.host import HERE
from tools.link.link import Wire
from tools.servers.xrootd import XRootD

from .. import data
from ..measured import Row, ratios
from ..protocol import EXAMPLES, REPOSITORY
from . import floor, goals
from .field import Field, own_modules
from .findings import Findings

LEGEND = """\
clients: no ROOT file, only bytes, which are compared by a checksum (but xrdcp's, which go to
/dev/null). All of the file: whole processes; treemill keeps 128 MiB in flight, xrdcp what it keeps
by itself. Scattered: 512 ranges of 64 KiB, by one vector read of the official client in Python;
cold is from before the file is opened on new connections, warm the third time on the same ones. The
least: what no reader can be faster than over this link, with 8 connections; computed.
"""
_LINKS = {"loopback": None, "2 ms": 1.0, "137 ms": 68.5}
"""Delays of one way; None: this machine's own network."""
_SIZES = {False: 512 << 20, True: 48 << 20}
"""Bytes of the file, by whether it is a quick run."""
_PIECE = 4 << 20
"""Of what is read by treemill as a whole."""
_SCATTERED, _EACH = 512, 64 << 10
_WARM = 3
"""The read on one connection that counts as warm."""

Ranges = Sequence[tuple[int, int]]
"""Starts and lengths."""
_OURS = EXAMPLES / "read_ranges"
_OFFICIAL = (sys.executable, "-W", "ignore", "-m", "bench.io.official")


@dataclass(frozen=True)
class _Read:
    """What one process has read. `seconds` of the whole process."""

    seconds: float
    cold: float
    warm: float
    checksum: str


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """Both kinds of reading by both clients on all links."""
    if reason := _missing():
        findings.notes.append(f"{part}: {reason}")
        return
    path = _file(_SIZES[options.quick], options.data)
    data.warm_up(path)
    place.put(path, path.name)
    findings.files[part] = f"{path.stat().st_size / 1e6:.1f} MB"
    with XRootD(HERE) as near:
        near.put(path, path.name)
        for link, delay in _LINKS.items():
            wire = None if delay is None else Wire(delay_ms=delay)
            url = near.url(path.name) if wire is None else place.url("root", path.name)
            if wire is not None:
                place.set(wire)
            what = f"{part}, {link}"
            try:
                yield from _Link(what, place, wire, url, path, findings).rows(options)
            except subprocess.SubprocessError as error:
                findings.notes.append(f"{what}: no figures: {_why(error)}")


def _why(error: subprocess.SubprocessError) -> str:
    """The program that failed, and its last words, without its hundreds of ranges."""
    if isinstance(error, subprocess.CalledProcessError):
        program = next((word for word in error.cmd if "bench.io" in word), error.cmd[0])
        words = str(error.stderr or "").strip().splitlines()
        return f"{program} ended with status {error.returncode}: {words[-1] if words else ''}"
    return type(error).__name__


class _Link:
    """Measures on one link."""

    def __init__(
        self, what: str, place: Field, wire: Wire | None, url: str, path: Path, findings: Findings
    ) -> None:
        self._what, self._place, self._wire = what, place, wire
        self._url, self._path, self._findings = url, path, findings

    def rows(self, options: argparse.Namespace) -> Iterator[Row]:
        """All in every round."""
        size = self._path.stat().st_size
        whole = [(start, min(_PIECE, size - start)) for start in range(0, size, _PIECE)]
        step = size // _SCATTERED
        scattered = [(number * step, _EACH) for number in range(_SCATTERED)]
        expected = {"whole": self._checksum(whole), "scattered": self._checksum(scattered)}
        times: dict[str, list[float]] = {}

        def note(case: str, contestant: str, seconds: float) -> None:
            times.setdefault(f"{case}, {contestant}", []).append(seconds)

        def check(case: str, contestant: str, read: _Read) -> None:
            if read.checksum != expected[case]:
                name = f"{self._what}: {case}, {contestant}"
                self._findings.differ(name, read.checksum, expected[case])

        for _ in range(options.rounds):
            all_of_it = self._read((str(_OURS),), whole, 1, options.patience)
            check("whole", "treemill", all_of_it)
            note("all of the file", "treemill", all_of_it.seconds)
            note("all of the file", "xrdcp", self._copied(options.patience))
            for contestant, program in (("treemill", (str(_OURS),)), ("pyxrootd", _OFFICIAL)):
                read = self._read(program, scattered, _WARM, options.patience)
                check("scattered", contestant, read)
                note("scattered, cold", contestant, read.cold)
                note("scattered, warm", contestant, read.warm)
        rows = {name: Row(f"{self._what}: {name}", tuple(s), "s") for name, s in times.items()}
        yield from rows.values()
        for case, other, goal in (
            ("all of the file", "xrdcp", "whole"),
            ("scattered, cold", "pyxrootd", "scattered"),
            ("scattered, warm", "pyxrootd", "scattered"),
        ):
            one, two = rows[f"{case}, {other}"], rows[f"{case}, treemill"]
            title = f"{self._what}: {case}, {other} / treemill"
            yield ratios(title, one, two, **goals.PROMISED[goal])
        if self._wire is not None:
            size = _SCATTERED * _EACH
            for case, least in (("cold", floor.cold), ("warm", floor.warm)):
                one = rows[f"scattered, {case}, pyxrootd"]
                values = tuple(seconds / least(size, self._wire) for seconds in one.values)
                title = f"{self._what}: scattered, {case}, pyxrootd / the least"
                yield Row(title, values, "x")

    def _command(self, words: Sequence[str]) -> list[str]:
        return list(words) if self._wire is None else self._place.command(words)

    def _read(self, program: Sequence[str], ranges: Ranges, repeat: int, patience: float) -> _Read:
        words = [f"{start}:{length}" for start, length in ranges]
        command = self._command([*program, self._url, str(repeat), *words])
        start = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env=os.environ | own_modules(),
            capture_output=True,
            text=True,
            timeout=patience,
            check=True,
        )
        seconds = time.perf_counter() - start
        said = json.loads(done.stdout)
        cold = said["open"] + said["reads"][0]
        return _Read(seconds, cold, said["reads"][-1], said["checksum"])

    def _copied(self, patience: float) -> float:
        command = self._command(["xrdcp", "--force", "--nopbar", self._url, "/dev/null"])
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, timeout=patience)
        return time.perf_counter() - start

    def _checksum(self, ranges: Ranges) -> str:
        import xxhash

        digest = xxhash.xxh3_64()
        with self._path.open("rb") as file:
            for start, length in ranges:
                file.seek(start)
                digest.update(file.read(length))
        return str(digest.hexdigest())


def _missing() -> str | None:
    """What must be there for this part and is not."""
    if find_spec("XRootD") is None or find_spec("xxhash") is None:
        return "the official client is missing: pip install -r requirements/remote.txt"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--examples"]
    done = subprocess.run([*command, "--package", "treemill-remote"], cwd=REPOSITORY)
    return None if done.returncode == 0 else "cargo cannot build the example read_ranges"


def _file(size: int, folder: Path) -> Path:
    """A file in which no two pieces are equal; made once and kept."""
    path = folder / f"io-bytes-{size}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.arange(size // 4, dtype="<u4").tofile(path)
    return path
