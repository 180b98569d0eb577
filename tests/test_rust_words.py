"""Comments of the crates are whole sentences about things: their words, looked at one by one."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

# A comment that begins with one of these goes on the name below it, and says nothing alone.
FRAGMENTS = {
    "Alone",
    "And",
    "As",
    "At",
    "Between",
    "But",
    "By",
    "For",
    "From",
    "Has",
    "In",
    "Is",
    "May",
    "Not",
    "Of",
    "On",
    "Or",
    "Per",
    "Since",
    "That",
    "Those",
    "Through",
    "To",
    "Who",
    "Whose",
    "With",
    "Without",
}

# A comment that begins so leans on the one above it.
REPEATS = ("The same.", "The same,", "The same of", "The same for", "The same where", "The same as")

# Code has callers, threads and servers.
PERSONS = re.compile(
    r"(?<![a-z])(nobody|somebody|someone|anyone|everyone|whoever)(?![a-z])", re.IGNORECASE
)

# `so many` for a number that the name has, as a comment that repeats its signature.
VAGUE = re.compile(r"\bSo many\b|\b[oi]f so many\b|\bfor so many\b|\bwith so many\b")


def _files():
    for file in sorted((REPOSITORY / "crates").rglob("*.rs")):
        parts = file.relative_to(REPOSITORY / "crates").parts
        if "target" not in parts:
            yield file, parts


def _comments():
    """Each first line of a documenting comment, with its place."""
    for file, parts in _files():
        before = ""
        for number, line in enumerate(file.read_text().splitlines(), 1):
            stripped = line.strip()
            if stripped.startswith("/// ") and not before.startswith("///"):
                yield f"{'/'.join(parts)}:{number}", stripped.removeprefix("/// ")
            before = stripped


def test_comments_are_whole_phrases():
    comments = list(_comments())
    assert len(comments) > 3000
    wrong = [
        f"{place}: {text}"
        for place, text in comments
        if text.split()[0].rstrip(":,.") in FRAGMENTS or text.startswith(REPEATS)
    ]
    assert not wrong


def test_code_has_no_persons_and_says_which_number_it_means():
    wrong = [
        f"{'/'.join(parts)}:{number}: {line.strip()}"
        for file, parts in _files()
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "NOBODY" not in line and "`nobody`" not in line
        if PERSONS.search(line) or ("//" in line and VAGUE.search(line))
    ]
    assert not wrong
