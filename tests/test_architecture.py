"""ARCHITECTURE.md names what there is: its files exist, its walks find names where they say, and
its lists of what to touch name whole paths."""

import re
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "python" / "treemill"
TEXT = (REPOSITORY / "ARCHITECTURE.md").read_text()
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", TEXT)))
CRATES = REPOSITORY / "crates"


def chapter(title):
    return re.search(rf"\n## {title}\n(.*?)(\n## |\Z)", TEXT, re.S)[1]


STEPS = re.findall(r"`([\w.]+)`\s+\(`([\w/]+\.(?:py|rs))`", chapter(r"\w+ walks"))
BEGINNINGS = re.findall(r"`([\w.]+)`\s+\(`([\w/-]+\.(?:py|rs))`", chapter("Where to begin"))
LISTS = re.findall(r"^\| (an? [\w ]+) \| (.*) \|$", chapter("To add …"), re.M)
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
    assert len(STEPS) > 60
    assert {path.rpartition(".")[2] for _, path in STEPS} == {"py", "rs"}
    assert not [f"{name} in {path}" for name, path in STEPS if not is_in(name, path)]


def test_where_to_begin_finds_each_name_in_its_file():
    assert len(BEGINNINGS) > 30
    assert not [f"{name} in {path}" for name, path in BEGINNINGS if not is_in(name, path)]


def is_in(name, path):
    """Whether this file makes what has this name, and its parts."""
    files = [PACKAGE / path] if path.endswith(".py") else sources(path)
    if (REPOSITORY / path).is_file():
        files = [REPOSITORY / path]
    texts = [each.read_text() for each in files]
    words = r"(pub(\([^)]+\))? )?(class|(async )?def|fn|struct|enum)"
    return all(
        any(re.search(rf"^ *{words} {part}\b|^ *{part}\b *[:=]", each, re.M) for each in texts)
        for part in name.split(".")
    )


def sources(path):
    """The files of crates with this path below their sources."""
    return [each for each in CRATES.glob(f"*/src/{path}") if each.is_file()]


def test_lists_of_what_to_touch_name_whole_paths():
    assert [what for what, _ in LISTS] == [
        "a booking",
        "a function of the language",
        "a codec",
        "a protocol",
        "a backend",
    ]
    for what, words in LISTS:
        named = [each for each in re.findall(r"`([^`]+)`", words) if "/" in each]
        assert len(named) >= 5, what
        assert not [each for each in named if not (REPOSITORY / each).exists()], what


DECISIONS = REPOSITORY / "docs" / "decisions"


def test_each_decision_has_a_status_and_each_gap_is_named():
    pages = {int(path.name[:4]): path.read_text() for path in DECISIONS.glob("0*.md")}
    for number, text in pages.items():
        status = re.match(r"# .*\n\n\*\*Status: (accepted|superseded by \[\d+\]\((.*)\))\.", text)
        assert status, number
        assert not status[2] or (DECISIONS / status[2]).exists()
    told = re.search(r"no page has ever had them: (.*)\.", (DECISIONS / "index.md").read_text())[1]
    gaps = set()
    for part in told.split(", "):
        first, _, last = part.partition(" to ")
        gaps |= set(range(int(first), int(last or first) + 1))
    assert gaps == set(range(1, max(pages))) - set(pages)
