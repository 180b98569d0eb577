"""Where the oracles' files come from: the corpus beside the repository, and real ROOT."""

import hashlib
import importlib.metadata
import importlib.util
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


MEMORY = 8 << 30
"""Bytes of address space. uproot asks for 13 GB of objects at some branches of the corpus, and is
to be told at once that there are none."""


@pytest.fixture(scope="module")
def bounded_memory():
    """For modules that have uproot read whatever there is."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(scope="session")
def root_program():
    """Runs a program of `root/` in a process of its own, where ROOT keeps its global state."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT is not installed (dependency group `oracle`)")

    def run(name, *arguments, check=True):
        command = [sys.executable, "-W", "ignore", str(HERE / "root" / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if check:
            assert done.returncode == 0, f"{name}:\n{done.stdout}\n{done.stderr}"
        return done.returncode

    return run


MADE = {".root", ".json", ".jsonl"}
"""What the programs make, without what the compiler leaves beside it."""


@pytest.fixture(scope="session")
def made_by_root(root_program, request, tmp_path_factory):
    """Gives a folder of files that programs of `root/` make, each started with the folder and its
    own arguments.

    They need nothing else, so that the same programs and the same ROOT make the same files: these
    are kept in pytest's cache (`pytest --cache-clear` removes them), for ROOT and the compiler take
    minutes. Tests get a copy.
    """
    cache = getattr(request.config, "cache", None)

    def made(*commands):
        folder = tmp_path_factory.mktemp("root")
        kept = None if cache is None else cache.mkdir("root") / _name(commands)
        if kept is not None and kept.is_dir():
            return shutil.copytree(kept, folder, dirs_exist_ok=True)
        for program, *arguments in commands:
            is_compiled = "compile_macro" in (HERE / "root" / program).read_text()
            if is_compiled and shutil.which("c++") is None:
                pytest.skip("ROOT needs a C++ compiler for the dictionaries")
            root_program(program, folder, *arguments)
        if kept is not None:
            _keep(folder, kept)
        return folder

    return made


def _name(commands):
    """The first program's name, and a hash of all that the files depend on."""
    digest = hashlib.sha256(repr((commands, importlib.metadata.version("ROOT"))).encode())
    for source in sorted((HERE / "root").glob("*.*")):
        digest.update(f"{source.name} {source.stat().st_size} ".encode() + source.read_bytes())
    return f"{Path(commands[0][0]).stem}-{digest.hexdigest()[:16]}"


def _keep(folder, kept):
    """Other processes see the kept folder whole or not at all. Older ones are removed."""
    for older in kept.parent.glob(f"{kept.name.rpartition('-')[0]}-*"):
        shutil.rmtree(older, ignore_errors=True)
    part = kept.with_name(f"part-{os.getpid()}-{kept.name}")
    part.mkdir()
    for path in folder.iterdir():
        if path.suffix in MADE:
            shutil.copy(path, part)
    try:
        part.rename(kept)
    except OSError:  # another process was faster
        shutil.rmtree(part)


@pytest.fixture(scope="session")
def root_files(root_program, tmp_path_factory):
    """Folder of files that ROOT wrote, each with a `.dump` of what ROOT reads from it. Not kept:
    one of them has a hole of 3 GB, which a copy would fill."""
    folder = tmp_path_factory.mktemp("root")
    root_program("write_trees.py", folder)
    root_program("dump.py", folder)
    return folder
