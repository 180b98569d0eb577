"""The corpus of files by others, beside the repository: tests over it skip where it is absent."""

import functools
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


@functools.cache
def corpus(name: str) -> str:
    path = CORPUS / name
    if not path.exists():
        pytest.skip(f"no {path}: the corpus of test files is not there")
    return str(path)
