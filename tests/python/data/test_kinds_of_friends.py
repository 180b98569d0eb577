"""A friend's files may have a column in different kinds."""

import numpy as np
import pytest
import treemill as tm
from treemill.errors import UnsupportedError

from tests.python.written import write
from tests.raising import raises

N = 40


@pytest.fixture
def friends(core, tmp_path):
    """A dataset, and makes one of two files with columns of these types."""
    main = tm.dataset(write(tmp_path / "main.root", x=np.arange(2 * N)))

    def made(first, second):
        files = [
            write(tmp_path / "a.root", y=np.arange(N).astype(first)),
            write(tmp_path / "b.root", y=np.arange(N, 2 * N).astype(second)),
        ]
        return main.add_friend(tm.dataset(files), alias="f")

    return made


@pytest.mark.parametrize("narrow", ["f4", "i4", "f8"])
def test_values_that_the_first_files_kind_holds(friends, narrow):
    both = friends("f8", narrow)
    assert both.arrays("f.y")["f.y"].to_list() == list(range(2 * N))
    assert both.sum("f.y * 1").value == sum(range(2 * N))


def test_values_that_it_does_not_hold(friends):
    both = friends("f4", "f8")
    for ask in (lambda: both.arrays("f.y"), lambda: both.sum("f.y").value):
        with raises(UnsupportedError, said="y as float32 in a.root float64 in b.root"):
            ask()
