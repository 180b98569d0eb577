"""The licences of the crates that are compiled into the core, and of the C libraries in them, as
one text. Reads what cargo has downloaded already.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["crates", "notices"]

_LICENCE = re.compile(r"(un)?licen[cs]es?|copying|copyrights?|notice", re.IGNORECASE)
_SOURCE = re.compile(r"\.(rs|c|h|py|toml|json|yml|sh)$")
_LEFT_OUT = re.compile(r"COPYING\.L?GPL|liblz4/(contrib|examples|programs|tests)/|zstd/COPYING$")
"""Licences of programs and tests that are not compiled; zstd is BSD or GPL, and BSD is taken."""
_HEAD = """\
treemill's compiled core contains the following works of others, under their own licences.
The texts follow; each is given once, after the names of the works that it came with.
Rust's standard library is in it, too: MIT OR Apache-2.0 <https://github.com/rust-lang/rust>.

"""


def crates(repository: Path, target: str) -> list[dict[str, Any]]:
    """The packages that are compiled into the core for `target`, as `cargo metadata` has them."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", target]
    done = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    packages = {package["id"]: package for package in said["packages"]}
    macros = {i for i, each in packages.items() if "proc-macro" in each["targets"][0]["kind"]}
    edges = {node["id"]: list(_compiled_in(node)) for node in said["resolve"]["nodes"]}
    reached: set[str] = set()
    ahead = [i for i, each in packages.items() if each["name"] == "treemill-py"]
    while ahead:
        one = ahead.pop()
        if one not in reached | macros:
            reached.add(one)
            ahead += edges[one]
    others = [packages[one] for one in reached if packages[one]["source"] is not None]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def _compiled_in(node: Mapping[str, Any]) -> Iterator[str]:
    """What a package needs when it runs: neither in tests nor for building it."""
    for dependency in node["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            yield dependency["pkg"]


def notices(packages: list[dict[str, Any]]) -> str:
    """The text. Raises ValueError for a package that names no licence."""
    texts = defaultdict(list)
    lines = []
    for package in packages:
        title = f"{package['name']} {package['version']}"
        if not package["license"] and not package["license_file"]:
            raise ValueError(f"{title} names no licence")
        where = f" <{package['repository']}>" if package["repository"] else ""
        lines.append(f"{title}: {package['license'] or package['license_file']}{where}")
        folder = Path(package["manifest_path"]).parent
        for file in _files(folder):
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            texts[text].append(f"{title}: {file.relative_to(folder).as_posix()}")
    rule = "=" * 80
    parts = [f"{rule}\n{chr(10).join(names)}\n{rule}\n\n{text}\n" for text, names in texts.items()]
    return _HEAD + "\n".join(lines) + "\n\n" + "\n".join(parts)


def _files(folder: Path) -> Iterator[Path]:
    """Files of licences: a package's own, and those of the sources in C that it brings."""
    for file in sorted(folder.rglob("*")):
        if not _LICENCE.match(file.name) or _SOURCE.search(file.name) or not file.is_file():
            continue
        if not _LEFT_OUT.search(file.relative_to(folder).as_posix()):
            yield file
