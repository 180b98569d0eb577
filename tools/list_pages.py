"""python -m tools.list_pages: writes docs/llms.txt, the list of the documentation's pages with a
sentence each, for programs that look for one (https://llmstxt.org). The order is that of the table
of contents in docs/index.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["LIST", "listed"]

DOCS = Path(__file__).parents[1] / "docs"
LIST = DOCS / "llms.txt"
_CONTENTS = re.compile(r"^```\{toctree\}\n(?::hidden:\n):caption: (.*?)\n\n(.*?)\n```", re.S | re.M)
_OTHERS = "(other pages)"
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def listed(docs: Path = DOCS) -> str:
    """The text of the list."""
    index = (docs / "index.md").read_text()
    about = " ".join(index.split("\n\n")[2].split())
    chapters = [(caption, names.split("\n")) for caption, names in _CONTENTS.findall(index)]
    named = {name for _, names in chapters for name in names}
    others = sorted(path.stem for path in docs.glob("*.md") if path.stem not in {*named, "index"})
    lines = ["# treemill", "", f"> {about}", ""]
    for caption, names in chapters:
        lines += [f"## {caption}", ""]
        for name in names:
            for page in others if name == _OTHERS else [name]:
                lines += _entry(docs, page)
        lines += [""]
    return "\n".join(lines)


def _entry(docs: Path, page: str) -> Iterator[str]:
    path = docs / f"{page}.md"
    source = docs.parent / page / "README.md" if page.startswith("examples/") else path
    text = re.sub(r"\A---\n.*?\n---\n", "", source.read_text(), flags=re.S)
    text = re.sub(r"^( *```|:::).*?^ *(```|:::)$", "", text, flags=re.S | re.M)
    heading = re.search(r"^# (.*)$", text, re.M)
    assert heading is not None, page
    paragraphs = [" ".join(each.split()) for each in text[heading.end() :].split("\n\n")]
    first = next(each for each in paragraphs if each and not each.startswith(("#", "|", "!")))
    sentence = re.split(r"(?<=[.!?])\s", _LINK.sub(r"\1", first))[0].rstrip(":")
    yield f"- [{heading[1]}]({page}.md): {sentence}"


def main() -> None:
    """Writes the list."""
    LIST.write_text(listed())


if __name__ == "__main__":
    main()
