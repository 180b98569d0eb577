"""What code the documentation's pages have in them, for the tests that run it, and the site."""

import re
import subprocess
import sys
from pathlib import Path

from treemill.facility.generate import Recipe, write_dataset

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


def programs(page):
    """The Python code of a page that is no tutorial, in order."""
    found = _FENCE.findall((DOCS / f"{page}.md").read_text())
    return [code for name, code in found if name == "python"]


def write_demo(folder, files=2, events=2000):
    """The files of the pages' code, with fewer events than `treemill demo` writes."""
    list(write_dataset(folder / "demo-data", Recipe(files=files, events_per_file=events)))


def build_site(folder):
    """Builds the site in a folder, without running its notebooks."""
    command = [sys.executable, "-m", "sphinx", "-Q"]
    command += ["--define", "nb_execution_mode=off", str(DOCS), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
