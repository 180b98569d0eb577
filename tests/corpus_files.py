"""The corpus of files by others, beside the repository: tests over it skip where it is absent."""

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[2] / "shared"
CORPUS = _SHARED / "corpus"
FILES = sorted(path.name for path in CORPUS.glob("*.root"))


@functools.cache
def corpus(name: str) -> str:
    return _there(CORPUS / name)


@functools.cache
def found(name: str) -> str:
    """A file that something has failed on."""
    return _there(_SHARED / "found" / name)


def _there(path: Path) -> str:
    if not path.exists():
        pytest.skip(f"no {path}: the corpus of test files is not there")
    return str(path)


_SLOW = {
    "coffea-nano_dy.root",
    "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root",
    *(f"uproot-issue{name}.root" for name in ("-123a", "-123b", "-210", "494")),
    *(f"uproot-issue{name}.root" for name in ("-1221", "399", "468")),
    "nanoAOD_2015_CMS_Open_Data_ttbar.root",
    "uproot-physlite-rntuple_v1-0-0-0.root",
    # Byte by byte the same as uproot-issue433-splitlevel4.root.
    *(f"uproot-issue{name}.root" for name in ("-76", "408")),
}
"""Files with more branches than the others together, and copies of others."""


def with_slow_ones(names: Sequence[str | Path]) -> list[object]:
    """The names as parameters of a test; those of the largest files are marked as slow."""
    return [pytest.param(n, marks=pytest.mark.slow) if Path(n).name in _SLOW else n for n in names]
