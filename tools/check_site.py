"""Looks at the documentation's site as a reader without a network meets it: whether every link
within it leads somewhere, and whether a page loads anything from another server.

    python -m tools.check_site target/docs/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Page", "faults", "read_page"]

_LOADS = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
    ("link", "href"),
    ("use", "href"),
}
"""Tags and attributes whose addresses browsers load without being asked."""
_NOT_LOADED = {"index", "search", "next", "prev", "canonical", "author", "license"}
"""Relations of `<link>` that only say where something is."""
_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page(HTMLParser):
    """The names in a page that links may lead to, and its links."""

    names: set[str] = field(default_factory=set)
    loads: list[str] = field(default_factory=list)
    """What the browser loads with it."""
    links: list[str] = field(default_factory=list)
    """What readers may click."""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser."""
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        for name, value in given.items():
            is_loaded = (tag, name) in _LOADS and given.get("rel") not in _NOT_LOADED
            if is_loaded:
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loads += _of_style(value)


def read_page(text: str) -> Page:
    """A page of HTML."""
    page = Page()
    page.feed(text)
    return page


def _of_style(text: str) -> list[str]:
    return [one or other for one, other in _STYLE.findall(text)]


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp")


def faults(folder: Path) -> Iterator[str]:
    """What is wrong with the site in a folder, line by line."""
    pages = {path: read_page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder}: there is no page"
    for path, page in pages.items():
        here = path.relative_to(folder)
        for address in page.loads:
            if _is_elsewhere(address):
                yield f"{here}: loads {address}"
        for address in [*page.loads, *page.links]:
            wrong = _wrong(address, path, pages)
            if wrong:
                yield f"{here}: {wrong}"
    for path in sorted(folder.rglob("*.css")):
        for address in _of_style(path.read_text()):
            if _is_elsewhere(address):
                yield f"{path.relative_to(folder)}: loads {address}"


def _wrong(address: str, path: Path, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if not target.exists():
        return f"no such file: {address}"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
        return f"no such place: {address}"
    return None


def main() -> None:
    """Prints what is wrong; the exit status is 1 if anything is."""
    found = [*faults(Path(sys.argv[1]).resolve())]
    print(
        "\n".join(found)
        or "every link within the site leads somewhere; nothing is loaded from outside"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
