"""Small ROOT files with TTrees, written by uproot."""

import os
import time

import awkward as ak
import numpy as np
import uproot


def branch_type(column):
    if isinstance(column, np.ndarray):
        return np.dtype((column.dtype, column.shape[1:]))
    return str(column.type).split("*", 1)[1].strip()


def write(path, tree="t", *, more=(), compression=None, **columns):
    """A file with one tree of these columns, numpy arrays or awkward ones; `more`: pairs of
    names and columns of other trees. Trees of one name become its cycles."""
    options = {} if compression is None else {"compression": compression}
    with uproot.recreate(path, **options) as file:
        for name, data in ((tree, columns), *more):
            made = file.mktree(name, {key: branch_type(column) for key, column in data.items()})
            if len(next(iter(data.values()))):
                made.extend(data)
    return str(path)


def jagged(*lists, dtype=np.float32):
    return ak.values_astype(ak.Array(list(lists)), dtype)


def settled(*paths):
    """Waits until the files are old enough for their times to tell what they are: the core leaves
    younger ones to be run one by one."""
    while time.time() - max(os.stat(path).st_ctime for path in paths) < 2.1:
        time.sleep(0.05)
