"""What the documentation's tutorials have in them, for the tests that run them, and the site."""

import re
import subprocess
import sys
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


def build_site(folder):
    """Builds the site in a folder, without running its notebooks."""
    command = [sys.executable, "-m", "sphinx", "-Q"]
    command += ["--define", "nb_execution_mode=off", str(DOCS), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
