"""The options that measurements share: how large a run is, where its files lie, by which clock."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import data, publish


class Options:
    """A measurement's command line. `add` is argparse's `add_argument`."""

    def __init__(self, command: str, about: str | None, *, clock: bool = True) -> None:
        self._parser = argparse.ArgumentParser(prog=f"python -m bench {command}", description=about)
        self._sizes: dict[str, tuple[float, float]] = {}
        self.add: Callable[..., Any] = self._parser.add_argument
        if clock:
            words = "cpu: for a machine that is busy"
            self.add("--clock", choices=("wall", "cpu"), default="wall", help=words)
        self.add("--data", type=Path, default=data.FOLDER, help="folder of the files that are read")
        self.add("--output", type=Path, default=publish.FOLDER, help="folder of the results")

    def size(self, name: str, usual: float, quick: float, about: str) -> None:
        """An option of the type of `usual`, which is taken where it is not given; with --quick,
        `quick` is."""
        self._sizes[name] = (usual, quick)
        self.add(f"--{name}", type=type(usual), help=f"{about} ({usual:,})")

    def choice(self, name: str, among: Sequence[str], usual: Sequence[str], about: str) -> None:
        """An option that takes some of `among`."""
        words = f"{about}: {' '.join(among)}"
        self.add(f"--{name}", nargs="+", metavar="X", choices=among, default=usual, help=words)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """What was chosen, no size left open."""
        small = ", ".join(f"{quick:,} {name}" for name, (_, quick) in self._sizes.items())
        self.add("--quick", action="store_true", help=f"{small}: does it run?")
        chosen = self._parser.parse_args(arguments)
        for name, (usual, quick) in self._sizes.items():
            if getattr(chosen, name) is None:
                setattr(chosen, name, quick if chosen.quick else usual)
        return chosen
