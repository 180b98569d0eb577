"""Aliases of trees: TTreeFormula's words, and which definitions a query needs."""

import json

import pytest
from treemill import QueryError
from treemill.language.expression import mentions, parse, words
from treemill.language.tokens import ALIAS
from treemill.query.planning import Specification
from treemill.workers.file_query import needed

from tests.raising import raises


def names(aliases, branches, expression):
    return [d.name for d in needed(aliases, branches, words(parse(expression).tree))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TMath::Sqrt(x^2 + y^2)", "sqrt(x**2 + y**2)"),
        ("Sum$(v > 3) && Length$(v) == 2", "sum(flatten(v > 3)) && len(flatten(v)) == 2"),
        ("fabs(x)*TMath::Pi()", "fabs(x)*pi"),
        ("name == 'a^b$'", "name == 'a^b$'"),
        ("(n & 1) == 1", "(n & 1) == 1"),
        ("n & n == 2", "n & (n == 2)"),
        ("x > 1 & y > 2", "(x > 1) & (y > 2)"),
        ("-x^2 + sq(y)", "-x**2 + square(y)"),
        ("std::pow(x, 2) + std::fabs(y)", "x**2 + fabs(y)"),
        ("(x > 1) == (y > 2)", "(x > 1) == (y > 2)"),
    ],
)
def test_translation(text, expected):
    ours, theirs = parse(text, ALIAS).tree, parse(expected).tree

    def part(found):
        # TTreeFormula's arithmetic is in doubles, which a dot says.
        op = {"op": found["op"].removesuffix(".")} if "op" in found else {}
        return {**found, **op, "at": None}

    def plain(tree):
        return json.loads(json.dumps(tree), object_hook=part)

    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    "text",
    ["2*x%3", "a^b^c", "1 < x < 3", "x == 1 == 1", "(1 < x < 3) + 1", "Entries$", "Foo::Bar(x)"],
)
def test_what_would_be_read_otherwise_is_refused(text):
    with pytest.raises(QueryError):
        parse(text, ALIAS)


def test_only_what_is_mentioned_is_needed_each_after_those_it_uses():
    aliases = {"c": "b + a", "b": "a * 2", "a": "x", "broken": ") (", "x": "1"}
    assert names(aliases, {"x"}, "x") == []
    assert names(aliases, {"x"}, "c > 1") == ["a", "b", "c"]
    with raises(QueryError, about="broken"):
        names(aliases, {"x"}, "broken")


def test_circles_are_refused():
    with raises(QueryError, said="a → b → a"):
        names({"a": "b", "b": "a"}, set(), "a")
    with raises(QueryError, said="s → s"):
        names({"s": "s + 1"}, set(), "s")
    assert names({"s": "s + 1"}, {"s"}, "s") == []


@pytest.mark.parametrize(
    ("expression", "column", "is_meant"),
    [
        ("Jet_pt > 1", "Jet_pt", True),
        ("Jet.pt > 1", "Jet_pt", True),
        ("any(j.btag_score > 1 for j in Jet)", "Jet_btag_score", True),
        ("a.b.c", "a.b.c", True),
        ("Jet_pt > 1", "Jet", False),
        ("Jet.pt > 1", "Jet_eta", False),
        ("pt > 1", "Jet_pt", False),
    ],
)
def test_what_an_expression_can_mean(expression, column, is_meant):
    assert mentions(words(parse(expression).tree), column) is is_meant


def test_definitions_come_before_all_else():
    specification = Specification(
        [{"parent": None, "action": 1}, {"parent": 0, "action": 2}],
        [{"at": None, "result": 3}, {"at": 1, "result": 4}],
    )
    made = specification.after(needed({"a": "b", "b": "x"}, {"x"}, {"a"}))
    assert [step["parent"] for step in made.steps] == [None, 0, 1, 2]
    assert [booking["at"] for booking in made.bookings] == [1, 3]
    assert specification.after([]) is specification
