"""The query language against a slow evaluator: random expressions over random jagged data, event by
event."""

import pytest
import treemill as tm
from hypothesis import given
from hypothesis import strategies as st

from tests.random_queries import ENTRIES, Sample, check, several, thorough
from tests.reference import data, deep, nested
from tests.reference.expressions import conditions, lists, numbers

FILES = 3
SAMPLES = FILES + 2
"""Files of one collection each, one whose lists have counters of their own, and two that differ."""


@pytest.fixture(scope="module")
def samples(core, tmp_path_factory):
    folder = tmp_path_factory.mktemp("language")
    made = []
    for seed in range(FILES):
        path = folder / f"random_{seed}.root"
        data.write(path, seed, ENTRIES)
        made.append(Sample(path, data.events, {}))
    apart, first, second = (folder / f"{name}.root" for name in ("apart", "first", "second"))
    data.write(apart, FILES, ENTRIES, apart=True)
    data.write(first, FILES + 1, ENTRIES // 2)
    data.write(second, FILES + 2, ENTRIES // 2, first=ENTRIES // 2, apart=True)
    made.append(Sample(apart, data.events, {}))
    made.append(Sample([first, second], lambda paths: data.events(*paths), {}))
    return made


@pytest.fixture(scope="module")
def deep_samples(core, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nested")
    made = []
    for seed in range(FILES):
        path = folder / f"nested_{seed}.root"
        nested.write(path, seed, ENTRIES)
        made.append(Sample(path, nested.events, nested.PARAMS))
    return made


@pytest.fixture(scope="module")
def session(core):
    with tm.connect(workers=1, mode="threads") as session:
        yield session


sample_numbers = st.integers(0, FILES - 1)
any_sample = st.integers(0, SAMPLES - 1)


@thorough
@given(any_sample, several(numbers()))
def test_numbers(samples, session, which, texts):
    check(session, samples[which], texts, None)


@thorough
@given(any_sample, several(conditions().map("({}) * 1".format)))
def test_conditions(samples, session, which, texts):
    check(session, samples[which], texts, None)


@thorough
@given(any_sample, several(lists()), conditions(2))
def test_lists_under_filters(samples, session, which, texts, where):
    check(session, samples[which], texts, where)


@thorough
@given(sample_numbers, several(nested.numbers()), nested.conditions())
def test_strings_and_lists_of_lists(deep_samples, session, which, texts, where):
    check(session, deep_samples[which], texts, where)


@thorough
@given(sample_numbers, several(nested.lists()), st.none() | nested.conditions())
def test_lists_of_strings_and_of_large_numbers(deep_samples, session, which, texts, where):
    check(session, deep_samples[which], texts, where)


@thorough
@given(sample_numbers, several(deep.numbers()), st.none() | nested.conditions())
@pytest.mark.slow
def test_loops_within_loops_over_lists_of_lists(deep_samples, session, which, texts, where):
    check(session, deep_samples[which], texts, where)


@thorough
@given(sample_numbers, several(deep.lists()), st.none() | deep.conditions())
def test_lists_of_lists_as_elements(deep_samples, session, which, texts, where):
    check(session, deep_samples[which], texts, where)
