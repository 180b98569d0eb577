"""The files of `kinds.C`, which ROOT writes where they are not there."""

import subprocess
import sys
from pathlib import Path

from ..protocol import REPOSITORY
from ..publish import say

__all__ = ["make"]


def make(folder: Path, codecs: list[str], scale: float) -> dict[str, Path]:
    """The files of these codecs."""
    folder = folder / f"types-{scale:g}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = {codec: folder / f"{codec}.root" for codec in codecs}
    missing = [codec for codec, path in paths.items() if not path.exists()]
    if missing:
        say(f"ROOT writes {', '.join(missing)} to {folder}")
        command = [sys.executable, "-W", "ignore", "-m", "bench.types.write", str(folder)]
        subprocess.run([*command, str(scale), *missing], cwd=REPOSITORY, check=True, stdout=2)
    return paths
