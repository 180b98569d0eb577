"""python -m tools.release.ready: whether a release can be made of the repository. Builds nothing.

`make release-check` runs it first, since it takes a second and the rest an hour.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["findings", "version"]

REPOSITORY = Path(__file__).parents[2]
CARGO, CHANGES, HOW = "Cargo.toml", "CHANGELOG.md", "docs/release.md"
FRAGMENTS = "changes/"
PLACES = (
    "CITATION.cff",
    "pyproject.toml",
    "packaging/conda/*",
    "python/treemill/__init__.py",
    "docs/conf.py",
)
"""Where a second version could stand; a stale one would be believed there."""
BEFORE_THE_FIRST = re.compile(r"\bnot\s+on\s+PyPI\b")


def version(cargo: str) -> str:
    """The version in the text of Cargo.toml, the one place where it stands."""
    found: str = tomllib.loads(cargo)["workspace"]["package"]["version"]
    return found


def findings(
    files: Mapping[str, str], tags: Mapping[str, str], head: str, changed: str
) -> Iterator[str]:
    """What stands against a release, a line each. `files`: texts by path; `tags`: commits by tag;
    `head`: the commit that is checked out; `changed`: files that are not committed."""
    number = version(files[CARGO])
    literal = re.compile(rf"(?<![\d.]){re.escape(number)}(?![\d.])")
    for path in sorted(files):
        if path in (CARGO, CHANGES, HOW):
            continue
        if not path.endswith(".md") and literal.search(files[path]):
            yield f"{path}: the version stands there, too; Cargo.toml alone has it"
        if BEFORE_THE_FIRST.search(files[path]):
            yield f"{path}: it says that treemill is not on PyPI"
    sections = re.findall(r"^## \[(.*?)\](.*)$", files[CHANGES], re.MULTILINE)
    released = [each for each in sections if each[0] != "Unreleased"]
    if not released or released[0][0] != number:
        yield f"{CHANGES}: the first section that is released is not [{number}]"
    elif not re.fullmatch(r" - \d{4}-\d\d-\d\d", released[0][1]):
        yield f"{CHANGES}: [{number}] has no date, as in `## [{number}] - 2026-12-01`"
    for path in sorted(files):
        if path.startswith(FRAGMENTS) and path != f"{FRAGMENTS}README.md":
            yield f"{path}: `make changelog VERSION={number}` moves it into {CHANGES}"
    tag = f"v{number}"
    if tags.get(tag, head) != head:
        yield f"{tag} is the tag of another commit: set the next version in {CARGO}"
    if changed.split():
        yield f"not committed: {', '.join(changed.split())}"


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def _changed() -> str:
    untracked = _git("ls-files", "--others", "--exclude-standard")
    return f"{_git('diff', '--name-only', 'HEAD')}\n{untracked}"


def read(repository: Path) -> dict[str, str]:
    """The texts that `findings` looks through."""
    patterns = (
        CARGO,
        CHANGES,
        f"{FRAGMENTS}*",
        *PLACES,
        "README.md",
        "docs/**/*.md",
        "docs/llms.txt",
    )
    paths = (path for pattern in patterns for path in repository.glob(pattern) if path.is_file())
    return {path.relative_to(repository).as_posix(): path.read_text() for path in paths}


def main() -> None:
    """Prints what stands against a release; the exit status is 1 if anything does."""
    tags = dict(
        line.split()[::-1]
        for line in _git("tag", "--format=%(objectname) %(refname:short)").splitlines()
    )
    files = read(REPOSITORY)
    found = [*findings(files, tags, _git("rev-parse", "HEAD"), _changed())]
    print("\n".join(found) or f"ready for version {version(files[CARGO])}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
