"""The archives of files by real ROOT are those of the programs as they are, and of the ROOT that is
pinned."""

import pytest
import treemill._core as core
from treemill.errors import UnsupportedError

from tools.readers.compare import read, readable_branches

from . import archives


@pytest.mark.parametrize("name", archives.COMMANDS)
def test_every_archive_is_up_to_date(name):
    there = [path.name for path in archives.ARCHIVES.glob(f"{name}-*")]
    wanted = archives.archive(name).name
    assert there == [wanted], "make it anew: python -m tests.oracle.archives"


def values(path):
    """Every branch that can be read; of RNTuples there is what ROOT read."""
    file = core.File(str(path))
    found = {}
    for each in file.trees():
        if each["class"].endswith("RNTuple"):
            continue
        tree = file.tree(f"{each['path']};{each['cycle']}")
        for branch in readable_branches(tree):
            name = each["path"], each["cycle"], branch["path"]
            try:
                found[name] = repr(read(tree, branch["path"]).to_list())
            except UnsupportedError:  # some of its objects
                found[name] = "unsupported"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", archives.COMMANDS)
def test_real_root_makes_the_same_files(name, root_program, tmp_path):
    """ROOT files have the time, their folder and an identity of their own in them."""
    packed, made = tmp_path / "packed", tmp_path / "made"
    for folder in (packed, made):
        folder.mkdir()
    archives.unpack(name, packed)
    archives.make(archives.COMMANDS[name], made)
    kept = {path.name for path in made.iterdir() if path.suffix in archives.KEPT}
    assert kept == {path.name for path in packed.iterdir()}
    for path in packed.iterdir():
        again = made / path.name
        if path.suffix == ".root":
            assert values(again) == values(path), path.name
        else:
            assert again.read_bytes() == path.read_bytes(), path.name
