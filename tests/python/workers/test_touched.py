"""Which columns a selector is expected to touch, and what is remembered of selectors."""

import pytest
import treemill as tm
from hypothesis import given
from hypothesis import strategies as st
from treemill.workers import chunk_source
from treemill.workers.chunk import ColumnUse
from treemill.workers.chunk_source import _known, key_of, recall, remember


def test_a_column_that_looks_do_not_touch_is_dropped_and_comes_back():
    touched = ColumnUse({"a", "b"})
    for _ in range(4):  # looks are the chunks 1, 2, 4, 8, …
        touched.begin()
        touched.add("a")
    assert touched == {"a", "b"}  # the third look is not over
    touched.begin()
    assert touched == {"a"}
    touched.add("b")
    assert touched == {"a", "b"}


@given(st.lists(st.sets(st.sampled_from("abcd")), max_size=200))
def test_what_every_chunk_touches_is_always_expected(chunks):
    touched = ColumnUse()
    looks = 0
    for number, names in enumerate(chunks, 1):
        is_look = touched.begin()
        looks += is_look
        if number > 1:
            assert "z" in touched
        for name in names | {"z"}:
            # A chunk that is no look is given what is expected, and tells the rest.
            if is_look or name not in touched:
                touched.add(name)
    assert looks <= 8 + len(chunks) // 64


def test_looks_become_rare():
    touched = ColumnUse()
    looks = [chunk for chunk in range(1, 400) if touched.begin()]
    assert looks == [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 320, 384]


def test_a_selector_is_known_by_its_code():
    class One(tm.Selector):
        def process(self, events):
            return {"n": len(events)}

    class Other(tm.Selector):
        def process(self, events):
            return {"n": len(events) + 1}

    assert key_of(One()) == key_of(One())
    Other.__qualname__ = One.__qualname__
    assert key_of(One()) != key_of(Other())


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(chunk_source, "_known", type(_known)())
    monkeypatch.setattr(chunk_source, "_MOST", 2)
    for key in "abc":
        remember(key, {key})
    assert [recall(key) for key in "abc"] == [frozenset(), {"b"}, {"c"}]
    remember("b", {"x"})
    assert recall("b") == {"x"}


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_local_files_teach_nothing(events, mode):
    class Local(tm.Selector):
        def process(self, events):
            return {"sum": float(sum(events.MET_pt))}

    with tm.connect(workers=1, mode=mode) as session:
        session.run(Local(), events, progress=False)
    assert not recall(key_of(Local()))
