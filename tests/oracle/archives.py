"""Archives in `made/` of the files that programs of `root/` made with real ROOT.

To compile the classes of a program and their dictionaries takes ROOT minutes, and to start at all
seconds, so the tests take the files from archives; a platform without ROOT has them, too. An
archive's name ends with a hash of all that its files depend on: the commands, the sources, and the
version of ROOT. If a source is changed, `python -m tests.oracle.archives` makes the archives anew
that are out of date. Slow tests have ROOT make all of them once more and compare.
"""

import hashlib
import io
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "root"
ARCHIVES = HERE / "made"
PINNED = HERE.parents[1] / "requirements" / "oracle.txt"

COMMANDS = {
    "aliases": (("write_aliases.py",),),
    "all": (("write_all.py",),),
    "arrays": (("write_arrays.py",),),
    "deep": (("write_deep.py",),),
    "drawn": (("write_drawn.py",),),
    "kinds": (("write_kinds.py",),),
    "marked": (("write_marked.py",),),
    "ntuples": (("write_ntuples.py",),),
    "objects": (("write_objects.py",),),
    "rare": (("write_rare.py",),),
    "twins": (("write_twins.py",),),
    "vector": (("write_vector.py",),),
    "versions": tuple(("write_versions.py", what) for what in ("1", "2", "merge")),
}
"""Name → the commands that make its files, one after the other in one folder."""

KEPT = {".root", ".json", ".jsonl"}
"""What the programs make, without what the compiler leaves beside it."""


def run(program: str, *arguments: object, check: bool = True) -> int:
    """Runs a program of `root/` in a process of its own, where ROOT keeps its global state. Returns
    its exit status, which is 0 if that is checked."""
    with started(program, *arguments) as process:
        said = process.communicate()
    assert not check or process.returncode == 0, f"{program}:\n{said[0]}\n{said[1]}"
    return process.returncode


@contextmanager
def started(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A program of `root/` that runs until its input ends."""
    command = [sys.executable, "-W", "ignore", str(PROGRAMS / program), *map(str, arguments)]
    # What ROOT compiles runs once, over few events: it is not worth being optimised.
    environment = os.environ | {"EXTRA_CLING_ARGS": "-O0"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        yield process


def make(commands: Sequence[Sequence[str]], folder: Path) -> None:
    """Has real ROOT make the files, in a folder that is there."""
    for program, *arguments in commands:
        run(program, folder, *arguments)


def archive(name: str) -> Path:
    """Where the archive of a name of `COMMANDS` is, if it is up to date."""
    return ARCHIVES / f"{name}-{_digest(COMMANDS[name])}.tar.xz"


def unpack(name: str, folder: Path) -> None:
    """Writes the files of an archive to a folder that is there."""
    with tarfile.open(archive(name)) as packed:
        packed.extractall(folder, filter="data")


def pack(name: str, folder: Path) -> None:
    """Makes the archive of a folder's files; older ones of the name are removed."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as packed:
        for path in sorted(folder.iterdir()):
            if path.suffix in KEPT:
                member = tarfile.TarInfo(path.name)
                member.size = path.stat().st_size
                packed.addfile(member, io.BytesIO(path.read_bytes()))
    ARCHIVES.mkdir(exist_ok=True)
    for older in ARCHIVES.glob(f"{name}-*"):
        older.unlink()
    archive(name).write_bytes(lzma.compress(plain.getvalue(), preset=9))


def _digest(commands: Sequence[Sequence[str]]) -> str:
    version = re.findall(r"^root==\S+", PINNED.read_text(), re.MULTILINE)
    digest = hashlib.sha256(repr((commands, version)).encode())
    for source in sorted(_sources({program for program, *_ in commands})):
        text = (PROGRAMS / source).read_bytes()
        digest.update(f"{source} {len(text)} ".encode() + text)
    return digest.hexdigest()[:16]


def _sources(names: set[str]) -> set[str]:
    """Files of `root/`: the named ones, and those that they include or import."""
    there = {path.name for path in PROGRAMS.iterdir() if path.is_file()}
    found: set[str] = set()
    new = set(names)
    while new:
        found |= new
        text = "\n".join((PROGRAMS / name).read_text() for name in new)
        modules = {f"{module}.py" for module in re.findall(r"(?:from|import) (\w+)", text)}
        new = there & (modules | set(re.findall(r"\w+\.[Ch]\b", text))) - found
    return found


def main() -> None:
    """Make the archives that are missing or out of date."""
    for name, commands in COMMANDS.items():
        if archive(name).exists():
            continue
        folder = Path(tempfile.mkdtemp())
        make(commands, folder)
        pack(name, folder)
        shutil.rmtree(folder)
        print(archive(name).relative_to(Path.cwd()))


if __name__ == "__main__":
    main()
