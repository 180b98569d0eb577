"""Counts the Python package at some revisions of the repository: files, folders, lines, kinds of
Dask's messages, modules that one other module imports, and the files that each walk of
ARCHITECTURE.md names. It reads git, and runs none of the code.

    python -m tools.package_size 9402f9f6 HEAD
"""

import ast
import re
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping
from pathlib import PurePosixPath

Trees = Mapping[PurePosixPath, ast.Module]

PACKAGE = "python/treemill"
SHORT = 100
"""A module with one importer should join it if it has fewer lines."""


def git(*arguments: str) -> bytes:
    """What git says."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


def texts(revision: str) -> dict[PurePosixPath, str]:
    """The package's modules by path below the package."""
    names = git("ls-tree", "-r", "--name-only", revision, PACKAGE).decode().splitlines()
    paths = [name for name in names if name.endswith(".py")]
    asked = "".join(f"{revision}:{path}\n" for path in paths).encode()
    command = ["git", "cat-file", "--batch"]
    data = subprocess.run(command, check=True, capture_output=True, input=asked).stdout
    found = {}
    for path in paths:
        head, _, data = data.partition(b"\n")
        size = int(head.split()[2])
        found[PurePosixPath(path).relative_to(PACKAGE)] = data[:size].decode()
        data = data[size + 1 :]
    return found


def dotted(path: PurePosixPath) -> str:
    """A module's name, from its path below the package."""
    parts = ["treemill", *path.with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: PurePosixPath, tree: ast.Module, modules: Container[str]) -> Iterator[str]:
    """The modules that a module imports, inside of functions and for type checkers too."""
    here = ["treemill", *path.with_suffix("").parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            inner = [f"{module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else module for name in inner)


def importers(trees: Trees) -> dict[PurePosixPath, set[PurePosixPath]]:
    """By module: the others that import it."""
    modules = {dotted(path): path for path in trees}
    found: dict[PurePosixPath, set[PurePosixPath]] = {path: set() for path in trees}
    for path, tree in trees.items():
        for name in imported(path, tree, modules):
            if name in modules and modules[name] != path:
                found[modules[name]].add(path)
    return found


def messages(trees: Trees) -> int:
    """The classes of the modules of Dask's messages."""
    modules = [p for p in trees if p.parent.name == "dask" and p.stem.endswith("messages")]
    return sum(isinstance(node, ast.ClassDef) for path in modules for node in trees[path].body)


def walks(revision: str) -> dict[str, int]:
    """By walk: how many files ARCHITECTURE.md names on it."""
    text = git("show", f"{revision}:ARCHITECTURE.md").decode()
    chapter = re.search(r"\n## \w+ walks\n(.*?)\n## ", text, re.S)
    paragraphs = re.split(r"\n\n(?=\*\*)", chapter[1].strip()) if chapter else []
    return {
        each.removeprefix("**").partition(".**")[0]: len(
            set(re.findall(r"[\w/]+\.(?:py|rs)\b", each))
        )
        for each in paragraphs
    }


def counts(revision: str) -> dict[str, int]:
    """What is counted at a revision, by name."""
    found = texts(revision)
    trees = {path: ast.parse(text) for path, text in found.items()}
    lines = {path: len(text.splitlines()) for path, text in found.items()}
    single = [
        path
        for path, others in importers(trees).items()
        if len(others) == 1 and path.stem != "__init__"
    ]
    everything = git("ls-tree", "-r", "--name-only", revision, PACKAGE).decode().splitlines()
    return {
        "modules": len(found),
        "folders, those of data included": len({PurePosixPath(each).parent for each in everything}),
        "lines": sum(lines.values()),
        "kinds of Dask's messages": messages(trees),
        "modules with one importer": len(single),
        f"of these, with fewer than {SHORT} lines": sum(lines[each] < SHORT for each in single),
        **{f"files named on the walk: {walk}": n for walk, n in walks(revision).items()},
    }


def main() -> None:
    """Prints a table with a column for each revision that the command names."""
    revisions = sys.argv[1:] or ["HEAD"]
    tables = [counts(each) for each in revisions]
    rows = list(dict.fromkeys(name for table in tables for name in table))
    print("| |", " | ".join(revisions), "|")
    print("|---|" + "--:|" * len(revisions))
    for name in rows:
        numbers = [f"{table[name]:,}" if name in table else "" for table in tables]
        print(f"| {name} |", " | ".join(numbers), "|")


if __name__ == "__main__":
    main()
