"""How Sphinx makes the documentation's site of this folder: `make docs` (decision 0027).

Pages are Markdown (MyST), as on GitHub. Those of tutorials/ are notebooks, whose cells are executed
when the site is built. Nothing is loaded from other servers when a page is read:
tools/check_site.py looks at that.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import treemill
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

HERE = Path(__file__).parent

project = "treemill"
author = "the authors of treemill"
copyright = author  # noqa: A001 - Sphinx's name
release = version = treemill.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = True
# Annotations name types of other packages and private ones; references in texts are checked.
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_title = "treemill"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
# The text around what was found is fetched, which browsers refuse to pages opened as files.
html_show_search_summary = False

# Pages.

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]  # no mathematics: MathJax comes from a server

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
# `!treemill …` in a notebook is the command of this Python.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

# Docstrings are Markdown in NumPy's sections: what stands in backticks is code.
default_role = "literal"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_google_docstring = False
napoleon_use_rtype = False

_PLACED = re.compile(r"^([\w/-]+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[([^]]*)\]\(((?:\.\./)+[^)#]*)\)")
_RELATIVE = re.compile(r"\]\((?!https?:|#)([^)]+)\)")
OTHER_PAGES, OTHER_NAMES = "(other pages)", "(other names)"
"""In the table of contents: all pages of this folder that it does not name; in the API: all public
names that its pages do not have. What is new is there without being told."""


def _other_pages(contents: str) -> str:
    placed = set(_PLACED.findall(contents)) | {"index"}
    return "\n".join(sorted(path.stem for path in HERE.glob("*.md") if path.stem not in placed))


def _directive(name: str) -> str:
    found = getattr(treemill, name)
    kind = "class" if isinstance(found, type) else "function" if callable(found) else "data"
    internal = "\n   :exclude-members: identity, core\n" if kind == "class" else ""
    return f".. auto{kind}:: treemill.{name}{internal}"


def _other_names() -> str:
    text = "".join(path.read_text() for path in (HERE / "api").glob("*.md"))
    told = {*re.findall(r":: treemill\.(\w+)$", text, re.MULTILINE), "__version__"}
    return "\n".join(_directive(name) for name in treemill.__all__ if name not in told)


def _outside(folder: Path, link: re.Match[str]) -> str:
    """A link to a file outside of this folder leads to a copy of it; one to a folder to its README,
    or to the page that has it."""
    words, path = link[1], (folder / link[2]).resolve()
    if path.is_relative_to(HERE):
        return link[0]
    if path.parent == RESULTS and path.suffix == ".md":
        target = os.path.relpath(HERE / "results" / f"{path.stem}.html", folder)
        return f'<a class="reference internal" href="{target}">{words}</a>'
    named = path.parent if path.name == "README.md" else path
    page = HERE / f"{named.relative_to(HERE.parent)}.md"
    if page.is_file():
        return f"[{words}]({os.path.relpath(page, folder)})"
    readme = path / "README.md"
    if path.is_dir() and not readme.is_file():
        return words
    return f"[{words}](path:{os.path.relpath(readme if path.is_dir() else path, folder)})"


def _readme(app: Sphinx, page: str) -> str:
    """An example's README, with its links as from the page."""
    path = HERE.parent / page / "README.md"
    app.env.note_dependency(str(path))
    here = (HERE / page).parent

    def moved(link: re.Match[str]) -> str:
        return f"]({os.path.relpath(path.parent / link[1], here)})"

    return _RELATIVE.sub(moved, path.read_text())


def _prepare(app: Sphinx, page: str, text: list[str]) -> None:
    if page == "index":
        text[0] = text[0].replace(OTHER_PAGES, _other_pages(text[0]))
    if page.startswith("examples/"):
        text[0] = _readme(app, page)
    text[0] = text[0].replace(OTHER_NAMES, _other_names())
    if page.startswith("tutorials/"):
        notebook = f"{Path(page).name}.ipynb"
        text[0] += f"\n\nThis page, with its results, as a notebook: {{nb-download}}`{notebook}`\n"
    text[0] = text[0].replace("[llms.txt](llms.txt)", '<a href="llms.txt">llms.txt</a>')
    folder = (HERE / page).parent
    text[0] = _OUTSIDE.sub(lambda link: _outside(folder, link), text[0])


RESULTS = HERE.parent / "bench" / "results"


def _measurements(_: Sphinx) -> Iterator[tuple[str, dict[str, object], str]]:
    """The published measurements as pages, for links to them; they are not searched."""
    markdown = MarkdownIt("commonmark").enable("table")
    for path in sorted(RESULTS.glob("2*.md")):
        text = path.read_text()
        title = text.partition("\n")[0].lstrip("# ")
        body = markdown.render(text).replace("<table>", '<table class="docutils">')
        page = {"title": title, "body": body, "toc": "", "display_toc": False}
        yield f"results/{path.stem}", page, "page.html"


def _list_of_pages(app: Sphinx, failed: Exception | None) -> None:
    """The list of pages for programs, with the addresses that they have in the site."""
    if failed is None:
        text = (HERE / "llms.txt").read_text()
        (Path(app.outdir) / "llms.txt").write_text(text.replace(".md)", ".html)"))


MADE_BY_USERS = {"treemill.FileOutput", "treemill.LumiSections"}
"""Classes that are called; objects of the others are made by functions."""


def _signature(_: Sphinx, what: str, name: str, *__: object) -> tuple[str, None] | None:
    return ("", None) if what == "class" and name not in MADE_BY_USERS else None


_PAGE = re.compile(r"docs/([\w/-]+)\.md(#[\w-]+)?")


def _docstring(_: Sphinx, what: str, name: str, value: object, __: object, text: list[str]) -> None:
    """Docstrings name pages as a reader of the sources finds them."""
    text[:] = [_PAGE.sub(r":doc:`/\1`", line) for line in text]
    if what in ("attribute", "property", "data"):
        # Napoleon takes what stands before a colon in the first line for a type: that is a comment.
        text[:0] = ["..", ""]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _docstring, priority=400)
    app.connect("source-read", _prepare)
    app.connect("html-collect-pages", _measurements)
    app.connect("autodoc-process-signature", _signature)
    app.connect("build-finished", _list_of_pages)
