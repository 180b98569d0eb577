"""What strangers read first names what there is; workflows are pinned, and may do no more than
they must."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tutorials import DOCS, cells, programs
from tests.tutorials import PAGES as TUTORIALS

REPOSITORY = Path(__file__).parents[1]
PAGES = ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "docs/operators.md", "README.md"]
PAGES += [".github/pull_request_template.md", "docs/release.md"]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
WITH_CODE = [page for page in sorted(each.stem for each in DOCS.glob("*.md")) if programs(page)]
TARGETS = set(re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


def text(page):
    return (REPOSITORY / page).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page):
    named = re.findall(
        r"[ `](?:tests|crates|fuzz|tools|packaging|\.github)/[\w/.-]*[\w/]", text(page)
    )
    paths = {each.strip(" `") for each in named if "FOLDER" not in each}
    assert not [each for each in paths if not (REPOSITORY / each).exists()]
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text(page))
    folder = (REPOSITORY / page).parent
    assert not [each for each in links if not (folder / each).exists()]


def sources_that_pages_name():
    """Of pages that describe the present: by path, the pages with it in backticks."""
    found = {}
    for page in [*DOCS.glob("*.md"), *DOCS.glob("decisions/*.md")]:
        words = page.read_text()
        if "**Status: superseded" in words:  # tells of files that were
            continue
        for path in re.findall(r"`([a-z][\w/-]*\.(?:py|rs))`", words):
            found.setdefault(path, []).append(page.name)
    return found


def test_sources_that_a_page_of_the_docs_names_exist():
    listed = ["git", "ls-files", "*.py", "*.rs"]
    done = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    there = ["/" + path for path in done.stdout.splitlines()]
    named = sources_that_pages_name()
    assert named
    gone = {path: pages for path, pages in named.items() if not ends_one("/" + path, there)}
    assert not gone


def ends_one(path, there):
    return any(each.endswith(path) for each in there)


@pytest.mark.parametrize("page", [*PAGES, *(f".github/workflows/{w.name}" for w in WORKFLOWS)])
def test_targets_that_a_page_names_exist(page):
    lines = re.findall(r"(?:^|`|run: )make ([a-z].*?)(?:  |`|$)", text(page), re.MULTILINE)
    words = {word for line in lines for word in line.split()}
    targets = {word for word in words if re.fullmatch(r"[a-z-]*[a-z]", word)}
    assert not targets - TARGETS


@pytest.mark.parametrize("page", [*WITH_CODE, *TUTORIALS])
def test_a_page_defines_the_names_that_its_code_uses(page):
    """Whoever pastes a page's code from its beginning needs nothing that the page leaves out."""
    found = cells(page) if page in TUTORIALS else programs(page)
    code = "\n".join(each for each in found if not each.startswith("!"))
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "-"]
    done = subprocess.run(ruff, input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_is_pinned_and_may_only_read(path):
    workflow = path.read_text()
    used = re.findall(r"uses: (.*)", workflow)
    assert used
    assert not [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", each)]
    assert re.search(r"^permissions:\n  contents: read\n(?! )", workflow, re.MULTILINE)
    checkouts = workflow.count("actions/checkout@")
    assert workflow.count("persist-credentials: false") == checkouts


def test_only_the_job_that_publishes_may_write():
    writing = {
        path.name: re.findall(r"^ +(.*): write", path.read_text(), re.M) for path in WORKFLOWS
    }
    assert writing == {"ci.yml": [], "release.yml": ["id-token", "attestations"]}
