"""Where the oracles' files come from: the corpus beside the repository, and real ROOT."""

import importlib.util
import resource

import psutil
import pytest

from . import archives

MEMORY = 8 << 30
"""Bytes of address space that a module may add. uproot asks for 13 GB of objects at some branches
of the corpus, and is to be told at once that there are none."""


@pytest.fixture(scope="module")
def bounded_memory():
    """For modules that have uproot read whatever there is.

    What tests before took counts as well: allocators keep the address space that they have
    reserved, and Python ends by a segmentation fault when none is left for a call's frame.
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(scope="session")
def root_program():
    """Runs a program of `root/`: see `archives.run`."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT is not installed (dependency group `oracle`)")
    return archives.run


@pytest.fixture(scope="module")
def made_by_root(tmp_path_factory):
    """Gives a folder of the files of an archive, by its name."""

    def made(name):
        folder = tmp_path_factory.mktemp(name)
        archives.unpack(name, folder)
        return folder

    return made


@pytest.fixture(scope="session")
def root_files(root_program, tmp_path_factory):
    """Folder of files that ROOT wrote, each with a `.dump` of what ROOT reads from it. Not in
    an archive: one of them has a hole of 3 GB."""
    folder = tmp_path_factory.mktemp("root")
    root_program("write_trees.py", folder)
    root_program("dump.py", folder, *folder.glob("*.root"))
    return folder
