"""Memory of freed arrays stays with the process, in a process of its own because that cannot be
taken back."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from treemill._system.memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(1 << 20, np.uint8) for _ in range(16)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

usual = faults()
keep_freed_memory()
faults()
print(usual, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_arrays_after_freed_ones_take_no_new_pages():
    # Dask sets the threshold for its workers, and thereby for what the tests start after them.
    environment = {name: text for name, text in os.environ.items() if "MALLOC" not in name}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    usual, kept = map(int, done.stdout.split())
    assert usual > 1000, "the test needs a process that gives freed memory back"
    assert kept < usual / 20
