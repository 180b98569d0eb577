"""Texts that have no sign to be rewritten are Python's as they are: no token is looked for."""

import re

import pytest
from treemill.language import clike
from treemill.language.tokens import DRAW, LANGUAGE

PLAIN = [
    "w * 1.5",
    "x+0.25",
    " MET_pt > 20 ",
    "a if b else c",
    "x == -1",
    "a <= b",
    "1.",
    "a - b",
    "x. from",
]
OTHERS = [
    "a->b()",
    "x.pt",
    "x.from",
    "1.e5",
    "a && b",
    "!a",
    "a\nb",
    "strstr(a, b)",
    "x[0]",
    "a ? b : c",
    "a^2",
    "é + 1",
    "`a b` + 1",
    "a#b",
    "$x",
    "'a'",
    "a@.size()",
]


@pytest.mark.parametrize("dialect", [LANGUAGE, DRAW])
@pytest.mark.parametrize("text", [*PLAIN, *OTHERS])
def test_a_text_without_such_signs_is_rewritten_as_itself(monkeypatch, text, dialect):
    def rewritten():
        try:
            return clike.rewrite(text, dialect)
        except Exception as error:
            return str(error)

    short = rewritten()
    assert (clike._PYTHON.fullmatch(text) is not None) == (text in PLAIN)
    monkeypatch.setattr(clike, "_PYTHON", re.compile("(?!)"))
    assert rewritten() == short
