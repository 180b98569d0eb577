"""Specifications that are kept in the core's form: equal ones once, different ones never as one."""

from __future__ import annotations

import pytest
from treemill.errors import QueryError
from treemill.query.dependencies import restricted
from treemill.query.planning import Specification
from treemill.workers.file_query import KEPT, _kept, compiled


def _of(expression: str, stop: float | int = 8.0, bins: int = 4) -> Specification:
    tree = {"kind": "name", "id": expression, "at": [0, len(expression)]}
    axis = {"kind": "regular", "bins": bins, "start": 0.0, "stop": stop}
    axis |= {"underflow": True, "overflow": True, "circular": False}
    axes = [{"axis": axis, "expr": {"text": expression, "tree": tree}}]
    return Specification((), [{"at": None, "result": {"kind": "hist", "axes": axes}}])


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    _kept.clear()


def test_an_equal_specification_is_compiled_once() -> None:
    assert compiled(_of("MET_pt")) is compiled(_of("MET_pt"))


@pytest.mark.parametrize("other", [_of("MET_phi"), _of("MET_pt", 9.0), _of("MET_pt", bins=5)])
def test_a_different_specification_is_another(other: Specification) -> None:
    assert compiled(other) is not compiled(_of("MET_pt"))


def test_values_of_types_of_other_libraries_are_told_apart() -> None:
    numpy = pytest.importorskip("numpy")
    made = [compiled(_of("MET_pt", numpy.float64(stop))) for stop in (8.0, 9.0, 8.0)]
    assert made[0] is made[2]
    assert made[0] is not made[1]


def test_a_specification_that_marshal_does_not_take_is_told_apart_by_its_text() -> None:
    class Name(str):
        """Not quite a str."""

    assert compiled(_of(Name("MET_pt"))) is compiled(_of(Name("MET_pt")))
    assert compiled(_of(Name("MET_pt"))) is not compiled(_of(Name("MET_phi")))


def test_few_are_kept() -> None:
    first = compiled(_of("x", bins=1))
    for bins in range(2, KEPT + 2):
        compiled(_of("x", bins=bins))
    assert len(_kept) == KEPT
    assert compiled(_of("x", bins=1)) is not first


def test_an_error_is_raised_each_time() -> None:
    wrong = Specification((), [{"at": None, "result": {"kind": "nothing"}}])
    for _ in range(2):
        with pytest.raises((QueryError, ValueError)):
            compiled(wrong)


def test_the_specification_of_all_bookings_is_not_made_again() -> None:
    steps = [{"parent": None, "action": {"kind": "filter", "expr": {"text": "x", "tree": {}}}}]
    booked = [{"at": 0, "result": {"kind": "count"}}, {"at": None, "result": {"kind": "count"}}]
    whole = Specification(steps, booked)
    assert restricted(whole, (0, 1)) is whole
    swapped = restricted(whole, (1, 0))
    assert [each["at"] for each in swapped.bookings] == [None, 0]
    one = restricted(whole, (1,))
    assert (one.steps, [*one.bookings]) == ((), booked[1:])
