"""Documents of corrections that others publish, beside correctionlib: each correction, at random
values and at its edges, bit by bit, and errors by their words.

A small one is in tests/files. CMS's JSON-POG is not part of the repository: TREEMILL_JSONPOG names
a folder of documents, all of which are compared then, in folders below it as well.
"""

import os
from pathlib import Path

import pytest

pytest.importorskip("correctionlib", reason="correctionlib is not installed")
compare_corrections = pytest.importorskip("tools.compare_corrections")

OWN = Path(__file__).parents[1] / "files" / "jet_jerc.json.gz"
PLACE = os.environ.get("TREEMILL_JSONPOG")
PATTERNS = ("*.json", "*.json.gz")
PUBLISHED = sorted(path for each in PATTERNS for path in Path(PLACE).rglob(each)) if PLACE else []


def compared(path):
    """The numbers of corrections and of values, all of which are equal."""
    found = list(compare_corrections.compare(path.read_bytes(), rows=500, words=20, seed=1))
    assert {name: differ[:3] for name, _, differ in found if differ} == {}
    return len(found), sum(count for _, count, _ in found)


def test_a_document_of_jets():
    assert compared(OWN)[0] == 9


@pytest.mark.slow
@pytest.mark.skipif(PLACE is None, reason="TREEMILL_JSONPOG names no folder of documents")
def test_there_are_documents():
    assert PUBLISHED


@pytest.mark.slow
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.name)
def test_published_documents(path):
    corrections, values = compared(path)
    assert values > corrections > 0
