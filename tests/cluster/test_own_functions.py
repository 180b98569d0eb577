"""Users' own functions on a Dask cluster: kernels, callables over batches, their errors."""

import pytest
import treemill as tm
from treemill.errors import QueryError

from tests.raising import raises


def test_kernels_and_callables(session, events):
    pytest.importorskip("numba")
    least = 30.0

    def scalar_sum(pt):
        found = 0.0
        for x in pt:
            if x > least:
                found += x
        return found

    kernel = tm.kernel("float64(float64[:])")(scalar_sum)
    defined = events.define("ht", kernel, columns="Jet.pt")
    defined = defined.define("hard", lambda pt: pt[pt > least], columns="Jet.pt")
    found = session.run(defined.sum("ht"), defined.sum("sum(hard)"), progress=False)
    expected = events.sum("sum(Jet.pt[Jet.pt > 30])").value
    assert found == (pytest.approx(expected), pytest.approx(expected))


def test_errors(session, events):
    def broken(x):
        raise KeyError("no such bin")

    given = tm.batched(broken, returns="float64")
    booked = events.define("x", given, columns="MET_pt").sum("x")
    with raises(QueryError, said="no such bin"):
        session.run(booked, progress=False)
