import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.errors import QueryError
from treemill.language.expression import constant, parse
from treemill.language.tokens import DRAW, LANGUAGE

from tests.raising import raises


def strip(tree):
    """The tree without its places."""
    if isinstance(tree, dict):
        return {key: strip(value) for key, value in tree.items() if key != "at"}
    return [strip(item) for item in tree] if isinstance(tree, list) else tree


def nodes(tree):
    if isinstance(tree, dict):
        yield tree
    for item in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(item, (dict, list)):
            yield from nodes(item)


def place(text, error):
    start, stop = error.span
    return text[start:stop]


def name(text, at):
    return {"kind": "name", "id": text, "at": [at, at + len(text)]}


def test_form_is_that_of_the_core():
    assert parse("a.b[1:] + f(x, k=2)").tree == {
        "kind": "binary",
        "op": "+",
        "left": {
            "kind": "index",
            "value": {"kind": "attribute", "value": name("a", 0), "name": "b", "at": [0, 3]},
            "index": {
                "kind": "slice",
                "lower": {"kind": "const", "value": 1, "at": [4, 5]},
                "upper": None,
                "step": None,
                "at": [4, 6],
            },
            "at": [0, 7],
        },
        "right": {
            "kind": "call",
            "function": name("f", 10),
            "args": [name("x", 12)],
            "keywords": [["k", {"kind": "const", "value": 2, "at": [17, 18]}]],
            "at": [10, 19],
        },
        "at": [0, 19],
    }


def test_comprehension_lambda_if_else_sequence():
    tree = strip(parse("[m.pt if c else -1 for m, n in zip(X, Y) if m for k in (1, 2)]").tree)
    assert tree["kind"] == "comprehension"
    assert tree["element"]["kind"] == "if_else"
    first, second = tree["loops"]
    assert first["targets"] == ["m", "n"]
    assert first["conditions"] == [{"kind": "name", "id": "m"}]
    assert second["iter"]["kind"] == "sequence"
    tree = strip(parse("min(X, key=lambda a, b: a)").tree)
    assert tree["keywords"][0][1]["params"] == ["a", "b"]


@pytest.mark.parametrize(
    ("c", "python"),
    [
        ("a && b", "a and b"),
        ("a&&b||c", "a and b or c"),
        ("!a && b", "(not a) and b"),
        ("!a == b", "(not a) == b"),  # C's ! binds tightly, Python's not does not
        ("!f(x)[0]", "not f(x)[0]"),
        ("a != b", "a != b"),
        ("a && true || false", "a and True or False"),
        ("s == '&& || !' && t", "s == '&& || !' and t"),
        ("a\n  && b", "a and b"),
        ("!!a", "not (not a)"),
        ("a ? b : c", "b if a else c"),
        ("a > 1 ? b : c > 2 ? d : e", "b if a > 1 else (d if c > 2 else e)"),
        ("a ? b ? c : d : e", "(c if b else d) if a else e"),
        ("1 + (a && b ? c : d) * 2", "1 + (c if a and b else d) * 2"),
        ("f(a ? b : c, d ? e : g)", "f(b if a else c, e if d else g)"),
        ("Sum$(x) > 2", "sum(flatten(x)) > 2"),
        ("Sum$( a*(b>0) )", "sum(flatten(a*(b>0)))"),
        ("Length$(x)+Length$ (y)", "len(flatten(x))+len(flatten(y))"),
        ("Max$(x)", "fill_missing(max(flatten(x)), 0)"),
        (
            "Min$(x[y > Max$(z)])",
            "fill_missing(min(flatten(x[y > fill_missing(max(flatten(z)), 0)])), 0)",
        ),
        ("MaxIf$(x, y && !z)", "fill_missing(max(flatten(x[(y and (not z)) != 0])), 0)"),
        ("MinIf$(x+1,y)", "fill_missing(min(flatten((x+1)[y != 0])), 0)"),
        ("Alt$(x[0], -1)", "fill_missing(x[0], -1)"),
        ("TMath::Abs(x) < TMath::Pi()/2", "abs(x) < pi/2"),
        ("TMath::Power(x, TMath::Max(y, 2))", "pow(x, max(y, 2))"),
        ("TMath::Gaus(x, 1, 2) + TMath::Gaus(y)", "exp(-0.5*((x - 1)/2)**2) + exp(-0.5*y**2)"),
        ("TMath::Range(0, 9, x) - std::abs(y)", "clip(x, 0, 9) - abs(y)"),
        ("TVector2::Phi_mpi_pi(a - b)", "(a - b) - 2*pi*floor(((a - b) + pi)/(2*pi))"),
        ("@x.size() > 1", "sum(1 for item_ in x) > 1"),
        ("x@.size() + @a.b.GetEntries()", "sum(1 for item_ in x) + sum(1 for item_ in a.b)"),
        ("x[] + 1", "x + 1"),
        ("x in [] or y in[]", "x in [] or y in []"),
        ("2*x[][1] + y[1][]", "2*[item_[1] for item_ in x] + y[1]"),
        ("p.Pt() > q.v->M() && p.DeltaR(q) < 1", "p.pt > q.v.mass and p.deltaR(q) < 1"),
    ],
)
def test_operators_of_c(c, python):
    assert strip(parse(c).tree) == strip(parse(python).tree)


@pytest.mark.parametrize(
    ("drawn", "python"),
    [
        ("x^2*3", "x**2*3"),
        ("u & 4 == 4", "u & (4 == 4)"),
        ("x > 1 & y > 2 | !z", "((x > 1) & (y > 2)) | (not z)"),
        ("a || x > 1 & b && c", "a or ((x > 1) & b) and c"),
        ("x ? y & 1 == z : w^2", "(y & (1 == z)) if x else w**2"),
        ("Sum$(x > 1 & y)", "sum(flatten((x > 1) & y))"),
        (
            "x % 3",
            "trunc(x) % trunc(3) - trunc(3)"
            " if trunc(x) % trunc(3) != 0 and (trunc(x) < 0) != (trunc(3) < 0)"
            " else trunc(x) % trunc(3)",
        ),
    ],
)
def test_operators_of_draw(drawn, python):
    tree = parse(drawn, DRAW).tree
    for node in nodes(tree):
        if node.get("kind") == "binary":  # a dot: in doubles, as TTreeFormula computes
            node["op"] = node["op"].removesuffix(".")
    assert strip(tree) == strip(parse(python).tree)


def test_functions_whose_arguments_stand_twice_are_bounded():
    """Within itself 60 times, such a function stands for 2**60 of its arguments."""
    for n, dialect in ((60, LANGUAGE), (95, DRAW)):
        with raises(QueryError, said="too large"):
            parse("TVector2::Phi_mpi_pi(" * n + "x" + ")" * n, dialect)


def test_remainders_of_remainders_are_bounded():
    """Each stands for five times what is in it."""
    parse("x%9%8%7", DRAW)
    for text in ("x" + "%3" * 20, "x%(" * 20 + "y" + ")" * 20):
        with raises(QueryError, said="too large levels deep"):
            parse(text, DRAW)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a**b**c", "put parentheses"),
        ("a^b^c", "put parentheses"),
        ("a*b%c", "beside"),
        ("a%b/c", "beside"),
        ("not a & b", "parentheses"),
    ],
)
def test_draw_refuses_what_means_two_things(text, message):
    with pytest.raises(QueryError, match=message):
        parse(text, DRAW)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "aa&&!bb",
            "é && !ü",
            " aa ||\n bb",
            "'é' && aa",
            "(aa)&&bb||cc",
            "é?ü : bb",
            *("@aa.size()", "aa@.size()", "TVector2::Phi_mpi_pi(aa)", "TMath::Odd(aa)", "aa[][1]"),
        ),
        *("aa ? bb: cc[!dd ? 1:2]", "Sum$(aa) + Max$(bb)", "MinIf$(aa , bb?cc:dd)*TMath::Pi()"),
    ],
)
def test_spans_are_places_in_the_users_text(text):
    for node in nodes(parse(text).tree):
        start, stop = node.get("at", (0, 1))
        if node.get("kind") == "name" and len(node["id"]) == 2 and node["id"] != "pi":
            assert text[start:stop] == node["id"]
        assert 0 <= start < stop <= len(text)


@pytest.mark.parametrize(
    ("text", "bad", "words"),
    [
        ("a + x._y", "x._y", "underscore"),
        ("a.__class__", "a.__class__", "underscore"),
        ("1 + f'{x}'", "f'{x}'", "f-strings"),
        ("(y := 3)", "y := 3", "define"),
        ("f(*x)", "*x", "*"),
        ("f(**x)", "**x", "**"),
        ("a = 3", "=", "=="),
        ("a && {1, 2}", "{1, 2}", "sets"),
        ("a || None", "None", "None"),
        ("x is y", "x is y", "=="),
        ("1j", "1j", "complex"),
        ("b'a'", "b'a'", "bytes"),
        ("a @ b", "@", "@"),
        ("a ? b", "?", "lacks its ':'"),
        ("a ? b :", "?", "lacks a part"),
        ("[a ? b : c for a in d]", "?", "parentheses"),
        ("Iteration$ < 2", "Iteration$", "enumerate"),
        ("Entries$ % 2", "Entries$", "num_entries"),
        ("Jet_pt * Length$", "Length$", "len(x)"),
        ("Foo$(x)", "Foo$", "Sum$, "),
        ("MaxIf$(x)", "MaxIf$", "2 arguments"),
        ("Alt$(x, 0)", "Alt$", "one item"),
        ("TMath::Prob(x, 3)", "TMath::Prob", "does not know TMath::Prob"),
        ("My::f(x)", "My::f", "does not know My::f"),
        ("strstr(name, 'e') > 0", "strstr", "compare with =="),
        ("1 + (x+y)[]", "[", "after a branch's name"),
        ("x.size()", ".size", "len(x)"),
        ("x$ + 1", "x$", "does not know"),
        ("$", "$", "sum(x)"),
        ("f(a)(b)", "f(a)", "called"),
        ("f(a=1, a=2)", "a=2", "twice"),
        ("[x for x.y in z]", "x.y", "name"),
        ("lambda *a: 1", "lambda *a: 1", "plain names"),
        ("99999999999999999999", "99999999999999999999", "64 bits"),
        ("1e999", "1e999", "double"),
        ("a > 1 & b > 2", "1 & b", "parentheses"),
        ("a && b c", "c", "invalid syntax"),
        ("a && (b", "(", "never closed"),
    ],
)
def test_refused_with_the_place(text, bad, words):
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert words in caught.value.message
    assert caught.value.text == text
    assert place(text, caught.value) == bad


def test_meant_bitwise_is_accepted():
    parse("(a > 1) & (b > 2)")
    parse("a > (1 & b) > 2")
    parse("flags & 4 == 4")


# From 3.14 on Python's parser takes rows of any length, which are no deeper than one operator.
REFUSED_BELOW_3_14 = pytest.mark.skipif(sys.version_info >= (3, 14), reason="parsed and evaluated")


@pytest.mark.parametrize(
    "text",
    [
        "-" * 5000 + "x",
        "not " * 20000 + "x",
        "lambda: " * 12000 + "x",
        pytest.param("+".join("a" * 40000), marks=REFUSED_BELOW_3_14),
        "a" + ".b" * 40000,
        "a**" * 30000 + "b",
        "(" * 101 + "x" + ")" * 101,
        "[" * 50000,
        "f(" * 99 + "x" + ")" * 99,
        "x" * 100_001,
        "x" * 90_000 + " +",
        "µ" * 90_000 + "#",
        "`x` " * 20_000,
        "a::" * 30_000,
        "Muon" + ".x" * 20_000,
        "",
        "  # only this",
        "x\0y",
        "\ud800",
        "a if b else " * 8000 + "c",
        "a?b:" * 20000 + "c",
        "Max$(" * 90 + "x" + ")" * 90,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_texts_are_refused(text):
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert len(str(caught.value)) < 1000


def test_limits_are_not_in_the_way():
    assert parse("(" * 100 + "x" + ")" * 100).tree["kind"] == "name"
    assert parse("-" * 99 + "x")
    assert parse(" || ".join(f"trigger_{i}" for i in range(3000)))
    assert parse("x" * 90_000 + "+[]", DRAW), "each letter of a long name is looked at once"
    with pytest.raises(QueryError):
        parse("-" * 100 + "x")


def test_names_in_backticks():
    def named(text):
        tree = parse(text).tree
        return tree["id"] if tree["kind"] == "name" else tree["name"]

    for name in ("Muon#0.index", "x-y", "x[3]", "a b", "for", "true", "_x", "µ_pt", "7", "a'b"):
        assert named(f"`{name}`") == named(f" `{name}` ") == name
        assert named(f"j.`{name}`") == name
        place = parse(f"1 + `{name}` * 2").tree["right"]["left"]["at"]
        assert place == [4, 6 + len(name)]
        assert parse(f"sum(`{name}`[`{name}` > 2]) + `x` ? 1 : 2", DRAW)
    assert parse("'`x-y`'").tree["value"] == "`x-y`", "strings are left alone"
    assert parse("`x` + quoted0").tree["right"]["id"] == "quoted0"
    # Python spells these otherwise; a file may not.
    assert parse("µ_pt").tree["id"] == "µ_pt"
    tree = parse("[µ.ﬁ for µ in X]").tree
    assert tree["element"]["value"]["id"] == tree["loops"][0]["targets"][0] == "\u03bc"
    assert tree["element"]["name"] == "ﬁ"
    for text, message in {
        "Muon#0.index > 2": "in backticks: `Muon#0.index`",
        "a #why": "stands in names only",
        "`x-y": "no other ` ends it",
        "[`a b` for `a b` in X]": "no variables'",
        "``": "no other",
    }.items():
        with pytest.raises(QueryError, match=re.escape(message)):
            parse(text)


@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("correctionlib.highlevel", r"treemill\.corrections"),
        ("xgboost.core", r"treemill\.model"),
        ("lightgbm.basic", r"treemill\.model"),
        ("numba.core.registry", r"treemill\.kernel"),
        ("builtins", r"treemill\.kernel.*or treemill\.batched"),
    ],
)
def test_objects_of_other_libraries_are_wrapped(library, said):
    theirs = type("Theirs", (), {"__module__": library, "__call__": lambda self, x: x})()
    with pytest.raises(QueryError, match=said):
        constant(theirs)
    with raises(QueryError, said="not None"):
        constant(None)


def test_only_text():
    with raises(QueryError, about="int"):
        parse(3)


pieces = st.sampled_from(
    [
        *("a", "b_c", "Muon.pt", "1", "2.5", "'x'", "(", ")", "[", "]", ",", "+", "-", "*", "/"),
        *("**", "%", "&", "|", "&&", "||", "!", "!=", "==", "<", ">", "not", "and", "or", "in"),
        *(
            "for",
            "if",
            "else",
            "lambda",
            ":",
            "?",
            "Max$(",
            "MinIf$(",
            "Alt$(",
            "TMath::Abs(",
            "TMath::Pi()",
            "@x.size()",
            "=",
            "sum(",
            "None",
            "True",
            "é",
            "#",
            "\n",
            "~",
            ".",
        ),
    ]
)


@given(st.lists(pieces, max_size=25).map(" ".join) | st.text(max_size=40))
def test_any_text_is_a_tree_or_a_query_error(text):
    try:
        tree = parse(text).tree
    except QueryError as caught:
        error = caught
    else:
        error = None
    if error is not None:
        assert str(error)
        start, stop = error.span or (0, 1)
        assert 0 <= start < stop <= len(text) + 1
        return
    json.dumps(tree, allow_nan=False)
    for node in nodes(tree):
        start, stop = node.get("at", [0, 1])
        assert 0 <= start < stop <= len(text)
