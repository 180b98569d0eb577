"""The archives of files by real ROOT are those of the programs as they are, and of the ROOT that is
pinned."""

import pytest

from . import archives


@pytest.mark.parametrize("name", archives.COMMANDS)
def test_every_archive_is_up_to_date(name):
    there = [path.name for path in archives.ARCHIVES.glob(f"{name}-*")]
    wanted = archives.archive(name).name
    assert there == [wanted], "make it anew: python -m tests.oracle.archives"


@pytest.mark.slow
@pytest.mark.parametrize("name", archives.COMMANDS)
def test_real_root_makes_the_same_files(name, root_program, tmp_path):
    """ROOT files have the time and an identity of their own in them; their sizes are equal, and so
    is what ROOT read from them."""
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
            assert again.stat().st_size == path.stat().st_size, path.name
        else:
            assert again.read_bytes() == path.read_bytes(), path.name
