"""ARCHITECTURE.md names what there is: its files exist, and its walks find names where they say."""

import re
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "python" / "treemill"
TEXT = (REPOSITORY / "ARCHITECTURE.md").read_text()
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", TEXT)))
WALKS = TEXT.partition("## Five walks")[2].partition("\n## ")[0]
STEPS = re.findall(r"`([\w.]+)`\s+\(`([\w/]+\.py)`", WALKS)
FOLDERS = ("python", "crates", "tests", "tools", "docs", "bench", "examples", "fuzz")
MADE = {"target", "corpus", "__pycache__"}


@cache
def paths():
    """All files and folders, from the repository's top."""
    found = [
        each for name in FOLDERS for each in [REPOSITORY / name, *(REPOSITORY / name).rglob("*")]
    ]
    places = [each.relative_to(REPOSITORY) for each in found]
    return {f"/{place.as_posix()}" for place in places if not MADE & set(place.parts)}


def is_path(quoted):
    return quoted.endswith("/") or re.fullmatch(r"[\w./-]+\.(py|rs|md)", quoted)


def test_files_and_folders_exist():
    named = [f"/{each.rstrip('/')}" for each in QUOTED if is_path(each)]
    assert len(named) > 100, "the test finds what it looks for"
    assert not [each for each in named if not any(path.endswith(each) for path in paths())]


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)", TEXT)
    assert links
    assert not [each for each in links if not (REPOSITORY / each).exists()]


def test_the_walks_find_each_name_in_its_file():
    assert len(STEPS) > 20
    for name, path in STEPS:
        text = (PACKAGE / path).read_text()
        for part in name.split("."):
            assert re.search(rf"^ *(class|def) {part}\b", text, re.M), f"{name} in {path}"
