"""`show()` of a tree with more branches than a terminal has lines."""

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")

PROGRAM = """
from types import SimpleNamespace
from treemill.pictures.tables import print_branches

def branch(n):
    return SimpleNamespace(name=f"branch_{n}", cpp_type="int", reads_as="int32", how="core",
                           kind="number", readable=True, total_bytes=4, zip_bytes=4, title="")

print_branches("<dataset>", [branch(n) for n in range(%d)])
"""


def shown(tmp_path, branches):
    """What the pager got of this many branches, on a terminal."""
    paged = tmp_path / "paged"
    here, there = pty.openpty()
    variables = os.environ | {"PAGER": f"cat > {paged}", "TERM": "xterm", "LINES": "50"}
    try:
        subprocess.run(
            [sys.executable, "-c", PROGRAM % branches],
            stdin=there,
            stdout=there,
            env=variables,
            check=True,
            timeout=120,
        )
    finally:
        os.close(here)
        os.close(there)
    return paged.read_text() if paged.exists() else None


def test_many_are_paged(tmp_path):
    assert shown(tmp_path, 10_000).count("branch_") == 10_000


def test_few_are_not(tmp_path):
    assert shown(tmp_path, 10) is None
