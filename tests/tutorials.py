"""What the documentation's tutorials have in them, for the tests that run them."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md"))

_CELL = re.compile(
    r"^```\{code-cell\}\n((?::[\w-]+:[^\n]*\n+)*)(.*?)^```$", re.DOTALL | re.MULTILINE
)
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def text(page):
    return (DOCS / "tutorials" / f"{page}.md").read_text()


def cells(page):
    """The code of the cells that are executed, in order."""
    return [code for _, code in _CELL.findall(text(page))]


def shown(page, language):
    """The code that is only shown, of one language."""
    return [code for name, code in _FENCE.findall(text(page)) if name == language]
