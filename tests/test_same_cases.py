"""Random tests try the same cases in each run, whatever a process has done before."""

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.random_search import SOAK


def cases():
    tried = []

    @given(st.integers(), st.text())
    def note(number, text):
        tried.append((number, text))

    note()
    return tried


@pytest.mark.skipif(SOAK, reason="fresh cases are wanted")
def test_cases_do_not_depend_on_the_modules_that_are_imported(tmp_path, monkeypatch):
    before = cases()
    module = tmp_path / "with_constants.py"
    module.write_text("\n".join(f"NAME_{i} = {i} + {10**9 + i}, 'word{i}'" for i in range(200)))
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("with_constants")
    assert cases() == before
