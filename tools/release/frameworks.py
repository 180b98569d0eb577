"""Stand-ins for Apple's SDK, so that wheels for macOS can be linked elsewhere: text files that name
the functions and constants of macOS's frameworks. The names are those that the crates' own sources
declare; nothing of Apple's is read. The libraries of C come with zig.

The format is "text-based dynamic library stubs", version 4, as LLVM's TextAPI documents it. A name
that macOS does not have is found when the wheel is loaded there, and not before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["declared", "write_stubs"]

_FRAMEWORK = re.compile(r'link\(\s*name\s*=\s*"(\w+)",\s*kind\s*=\s*"framework"\s*\)')
_BLOCK = re.compile(r'^( *)(?:unsafe )?extern "C" \{\n(.*?)^\1\}', re.DOTALL | re.MULTILINE)
_NAME = re.compile(r'\bpub (?:safe |unsafe )?(?:fn|static(?: mut)?) (\w+)|link_name = "([^"]+)"')
_CONSTANT = re.compile(r"\bk[A-Z]\w+")
"""What Apple calls its constants. Crates declare some in macros, outside of blocks."""
_FOLDER = "System/Library/Frameworks"


def declared(packages: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """By framework, the names that crates declare of it. `packages` as `notices.crates` has them.
    A framework whose names a function declares for itself, for a feature of its crate, is left
    out.

    Raises ValueError if a crate links to several frameworks, because its sources then do not say
    which one a name belongs to.
    """
    found: dict[str, set[str]] = {}
    for package in packages:
        sources = Path(package["manifest_path"]).parent.joinpath("src").rglob("*.rs")
        text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
        frameworks = set(_FRAMEWORK.findall(text))
        if len(frameworks) > 1:
            raise ValueError(f"{package['name']} links to {', '.join(sorted(frameworks))}")
        names = set(_names(text))
        for framework in frameworks if names else ():
            found.setdefault(framework, set()).update(names, _CONSTANT.findall(text))
    return found


def _names(text: str) -> Iterator[str]:
    for _, block in _BLOCK.findall(text):
        for name, linked in _NAME.findall(block):
            yield name or linked


def write_stubs(names: Mapping[str, Iterable[str]], folder: Path) -> None:
    """Writes a stub for each framework into `folder`, laid out as an SDK is (`SDKROOT`)."""
    for framework, symbols in names.items():
        home = folder / _FOLDER / f"{framework}.framework"
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{framework}.tbd").write_text(_stub(framework, symbols), encoding="utf-8")


def _stub(framework: str, symbols: Iterable[str]) -> str:
    listed = ", ".join(f"'_{symbol}'" for symbol in sorted(symbols))
    return f"""\
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/{_FOLDER}/{framework}.framework/Versions/A/{framework}'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ {listed} ]
...
"""
