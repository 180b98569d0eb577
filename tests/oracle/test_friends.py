"""Friends, indices and entry lists that ROOT wrote, against what ROOT itself makes of them."""

import json
import os
import shutil
import warnings

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data import open_tree

from tests.python.open_files import counted, open_below
from tests.python.written import settled
from tests.raising import raises


@pytest.fixture(scope="module")
def folder(root_program, tmp_path_factory):
    made = tmp_path_factory.mktemp("friends")
    root_program("write_friends.py", made)
    return made


@pytest.fixture(scope="module")
def said(folder):
    return json.loads((folder / "said.json").read_text())


@pytest.fixture
def events(folder):
    return tm.dataset(str(folder / "main?.root"))


@pytest.fixture(params=["threads", "processes"])
def session(request, shared_session):
    return shared_session(2, request.param)


def sums(chunk):
    return {name: float(np.sum(chunk[name])) for name in ("side.side_x", "main_x")}


def test_friends_by_entry_over_other_borders(events, folder, said, session):
    both = events.add_friend(str(folder / "side?.root"))
    assert both.arrays("side.side_x")["side.side_x"].to_list() == said["side_x"]
    kept = both.filter("main_x > 100 and side.side_n == main_n")
    total, plain, count = session.run(
        kept.sum("side_items"), kept.sum("sum(side.side_items)"), kept.sum("len(side_items)")
    )
    assert total == plain == pytest.approx(sum(said["side_items"]))
    assert count == len(said["side_items"])
    assert session.run(sums, both)["side.side_x"] == pytest.approx(sum(said["side_x"]))


def test_friends_by_index(events, folder, said, session):
    both = events.add_friend(str(folder / "far.root"))
    assert tm.dataset(str(folder / "far.root")).index == ("run", "event")
    far = tm.dataset(str(folder / "far.root")).arrays(["far_x", "far_items"])
    matches = np.array(said["matches"])
    assert 0 < (matches < 0).sum() < len(matches)
    expected = [None if m < 0 else far.far_x[m] for m in said["matches"]]
    assert both.arrays("far.far_x")["far.far_x"].to_list() == expected
    lists = [None if m < 0 else far.far_items[m].to_list() for m in said["matches"]]
    assert both.arrays("far_items").far_items.to_list() == lists
    found = session.run(
        both.count(),
        both.filter("far.event == event and far.run == run").count(),
        both.filter("is_missing(far.far_x)").count(),
        both.sum("far.far_x"),
        both.sum("sum(far_items)"),
        both.filter("far.far_n >= 0").sum("main_x - far_x"),
    )
    assert found[:3] == (2000, (matches >= 0).sum(), (matches < 0).sum())
    assert found[3] == pytest.approx(sum(x for x in expected if x is not None))
    assert found[4] == pytest.approx(sum(sum(each) for each in lists if each))
    assert found[5] == 0


def test_an_index_by_names_is_the_same_as_the_files_own(events, folder):
    far, plain = (str(folder / f"{name}.root") for name in ("far", "plain"))
    named = events.add_friend(far, index=("run", "event"))
    own = events.add_friend(far)
    assert named.arrays("far.far_x").to_list() == own.arrays("far.far_x").to_list()
    by_number = events.add_friend(plain).arrays("plain_x")
    by_index = events.add_friend(plain, index=("run", "event")).arrays("plain_x")
    assert by_number.to_list() == by_index.to_list()


def test_friends_that_a_file_records(folder, said, session):
    near = tm.dataset(str(folder / "recorded.root"))
    assert near.arrays("near.aside_x")["near.aside_x"].to_list() == said["near"]
    assert session.run(near.sum("aside_x")) == pytest.approx(sum(said["near"]))
    assert "near.aside_x" not in near.arrays().fields
    inner = tm.dataset(str(folder / "inner" / "recorded.root"))
    values = [x for x in inner.arrays("far.far_x")["far.far_x"].to_list() if x is not None]
    assert values == said["inner"]  # ROOT draws the entries with a match only


def test_a_recorded_friend_has_no_names_of_the_first_files_columns(folder, tmp_path, session):
    first = tmp_path / "first.root"
    with uproot.recreate(first) as file:
        file["main"] = {"aside_x": np.ones(3)}
    events = tm.dataset([str(first), str(folder / "recorded.root")], "main")
    with raises(tm.QueryError, about=["recorded.root", "aside_x"]):
        session.run(events.sum("aside_x"))


@pytest.fixture
def with_own(folder, tmp_path):
    """A file with a branch of its own for what the other one has by the friend that it records; and
    that one."""
    own = tmp_path / "own.root"
    with uproot.recreate(own) as file:
        file["main"] = {"aside_x": np.ones(3), "main_x": np.ones(3)}
    return str(own), str(folder / "recorded.root")


def test_a_name_of_a_recorded_friend_is_never_another_files_branch(with_own, said, session):
    own, records = with_own
    events = tm.dataset([records, own], "main")
    total = sum(said["near"])
    for text in ("aside_x", "2 * aside_x"):
        with raises(tm.QueryError, about=[own, "aside_x", "near"]):
            session.run(events.sum(text))
    with raises(tm.QueryError, about=[own, "aside_x"]):
        events.arrays(["aside_x"])
    with raises(tm.QueryError, about=[own, "aside_x"]):
        session.run(lambda chunk: {"sum": float(np.sum(chunk["aside_x"]))}, events)
    twice = tm.dataset([records, records], "main")
    assert session.run(twice.sum("aside_x")) == pytest.approx(2 * total)
    assert (
        session.run(events.sum("main_x"))
        == session.run(tm.dataset(records, "main").sum("main_x")) + 3
    )
    defaults = tm.dataset([records, own], "main", missing={"aside_x": -1.0})
    assert session.run(defaults.sum("aside_x")) == 3 - len(said["near"])


def test_an_array_hides_what_a_name_of_a_recorded_friend_means(with_own, session):
    own, records = with_own
    events = tm.dataset([records, own], "main").define("aside_x", np.arange(703.0))
    assert session.run(events.sum("aside_x")) == sum(range(703))
    assert events.arrays(["aside_x"])["aside_x"].to_list() == [*range(703)]


def test_a_recorded_friend_may_change_between_runs(folder, tmp_path, session):
    events = tm.dataset(shutil.copy(folder / "recorded.root", tmp_path))
    for name in ("one", "two", "three"):
        with uproot.recreate(tmp_path / "new.root") as file:
            file["aside"] = {name: np.ones(700)}
        os.replace(tmp_path / "new.root", tmp_path / "aside.root")
        assert session.run(events.sum(name)) == 700
        assert events.arrays([name], stop=2)[name].to_list() == [1, 1]


def test_a_checkpoint_is_of_the_recorded_friends_as_they_are(folder, tmp_path, session):
    path = shutil.copy(folder / "recorded.root", tmp_path)
    shutil.copy(folder / "aside.root", tmp_path)
    for number, what in enumerate(([], [sum_aside])):
        kept = tmp_path / f"kept {number}"

        def run(kept=kept, what=what):
            events = tm.dataset(path)
            asked = [*what, events] if what else [events.sum("aside_x")]
            return session.run(*asked, checkpoint=kept, progress=False)

        first = run()
        assert run() == first
        with uproot.recreate(tmp_path / "new.root") as file:
            file["aside"] = {"aside_x": np.full(700, 1.0 + number)}
        os.replace(tmp_path / "new.root", tmp_path / "aside.root")
        with raises(tm.QueryError, about=["checkpoint", "friends"]):
            run()


def sum_aside(chunk):
    return {"sum": float(np.sum(chunk["aside_x"]))}


@counted
def test_friends_that_many_files_record_stay_open_as_few(folder, tmp_path, said, monkeypatch):
    monkeypatch.setattr(open_tree, "_most_kept", lambda: 5)
    for number in range(20):
        (tmp_path / str(number)).mkdir()
        for name in ("recorded.root", "aside.root"):
            shutil.copy(folder / name, tmp_path / str(number))
    events = tm.dataset([str(tmp_path / str(n) / "recorded.root") for n in range(20)], "main")
    with tm.connect(workers=1) as session:
        for _ in range(2):
            total = session.run(events.sum("aside_x"))
            assert total == pytest.approx(20 * sum(said["near"]))
            assert open_below(tmp_path) <= 5 + 2, "a worker has a file and its friend in hand"


def test_many_files_beside_one_that_records_a_friend(with_own, session):
    own, records = with_own
    with raises(tm.QueryError, about=[own, "aside_x"]):
        session.run(tm.dataset([records, *[own] * 40], "main").sum("aside_x"))
    with raises(tm.QueryError, about=[records, "aside_x"]):
        session.run(tm.dataset([*[own] * 40, records], "main").sum("aside_x"))


def test_names_of_a_recorded_friend_beside_an_array(with_own, session):
    own, records = with_own
    events = tm.dataset([records, own], "main").add_friend(
        {"other": np.arange(703.0)}, alias="arrays"
    )
    assert session.run(events.sum("other")) == sum(range(703))
    with raises(tm.QueryError, about=[own, "aside_x"]):
        session.run(events.sum("aside_x"))


def test_what_is_remembered_of_a_file_is_not_taken_beside_a_recorded_friend(
    with_own, tmp_path, session
):
    own, records = with_own
    settled(own)
    tm.remember(tmp_path / "results")
    try:
        for _ in range(2):
            assert session.run(tm.dataset(own, "main").sum("aside_x")) == 3
        with raises(tm.QueryError, about=[own, "aside_x"]):
            session.run(tm.dataset([records, own], "main").sum("aside_x"))
    finally:
        tm.remember(None)


@pytest.fixture
def recording(folder, tmp_path):
    """Two files that record one friend, and what runs of both give and compute."""
    for name in ("recorded.root", "aside.root"):
        shutil.copy(folder / name, tmp_path / name)
    shutil.copy(folder / "recorded.root", tmp_path / "again.root")
    settled(*tmp_path.glob("*.root"))
    tm.remember(tmp_path / "results")
    yield tmp_path
    tm.remember(None)


def with_parts(session, folder, *names):
    """Sums over these files, equal to those of a run that remembers nothing; and the number of
    results of single files that were computed."""
    paths = [str(folder / name) for name in names]

    def run(**options):
        events = tm.dataset(paths, "main")
        return session.run(events.sum("aside_x"), events.sum("main_x"), **options)

    found = run()
    parts = session.report.remembered.parts
    assert found == pytest.approx(run(remember=False))
    return found, parts


def test_results_beside_recorded_friends_are_remembered(recording, session):
    names = "recorded.root", "again.root"
    (first, _), parts = with_parts(session, recording, *names)
    assert parts == 4
    assert with_parts(session, recording, *names)[1] == 0
    assert with_parts(session, recording, "again.root")[1] == 0
    with uproot.recreate(recording / "aside.root") as file:
        file["aside"] = {"aside_x": np.full(700, 2.0)}
    settled(recording / "aside.root")
    (second, _), parts = with_parts(session, recording, *names)
    assert (second, parts) == (2 * 2.0 * 700, 2), "of the friend's columns alone"
    assert second != first
    assert with_parts(session, recording, *names)[1] == 0


def test_what_a_first_file_says_of_recorded_friends_counts(recording, session):
    with uproot.recreate(recording / "first.root") as file:
        file["main"] = {"aside_x": np.ones(3), "main_x": np.ones(3)}
    settled(recording / "first.root")
    assert with_parts(session, recording, "recorded.root")[1] == 2
    with raises(tm.QueryError, about=["recorded.root", "aside_x"]):
        with_parts(session, recording, "first.root", "recorded.root")
    with raises(tm.QueryError, about=["first.root", "aside_x"]):
        with_parts(session, recording, "recorded.root", "first.root")


def test_nothing_is_remembered_beside_a_recorded_friend_that_has_just_been_written(
    recording, session
):
    for value in (2.0, 3.0):
        with uproot.recreate(recording / "aside.root") as file:
            file["aside"] = {"aside_x": np.full(700, value)}
        (found, _), _ = with_parts(session, recording, "recorded.root")
        assert found == 700 * value


def test_nothing_is_remembered_beside_a_recorded_friend_that_records_one(
    folder, recording, session
):
    shutil.copy(folder / "outer.root", recording)
    settled(recording / "outer.root")

    def run(**options):
        events = tm.dataset(str(recording / "outer.root"))
        return session.run(events.sum("main_x"), events.sum("outer_x"), **options)

    assert run() == run()
    assert session.report.remembered.parts == 1
    assert "records friends with friends of their own" in str(session.report)
    with uproot.recreate(recording / "recorded.root") as file:
        file["main"] = {"main_x": np.full(700, 2.0)}
    settled(recording / "recorded.root")
    assert run()[0] == 2 * 700.0


def test_nothing_is_remembered_beside_a_recorded_pattern_of_names(folder, recording, session):
    shutil.copy(folder / "pattern.root", recording)
    settled(recording / "pattern.root", folder / "part0.root")
    for value in (2.0, 3.0):
        with uproot.recreate(folder / "part1.root") as file:
            file["aside"] = {"aside_x": np.full(350, value)}
        settled(folder / "part1.root")
        (found, _), _ = with_parts(session, recording, "pattern.root")
        assert found == pytest.approx(sum(0.5 * n for n in range(350)) + 350 * value)


def test_what_needs_no_recorded_friend_is_remembered_without_it(recording, session):
    os.remove(recording / "aside.root")
    for parts in (1, 0):
        with pytest.warns(UserWarning, match="its friend near is left out"):
            session.run(tm.dataset(str(recording / "recorded.root")).sum("main_x"))
        assert session.report.remembered.parts == parts


def test_a_recorded_friend_that_is_lost_is_left_out(folder, tmp_path):
    lost = tmp_path / "lost.root"
    lost.write_bytes((folder / "lost.root").read_bytes())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        events = tm.dataset(str(lost))
        assert tm.run(events.count()) == 700
    assert "its friend aside is left out" in str(caught[0].message)


@pytest.mark.parametrize("name", ["few", "most", "none", "events"])
def test_entry_lists(events, folder, said, session, name):
    some = events.select_entries(f"{folder}/lists.root:{name}")
    name = "few" if name == "events" else name
    assert some.num_entries == said[name]
    assert some.arrays("main_x").main_x.to_list() == said[f"{name}_x"]
    count, total = session.run(some.count(), some.sum("main_x"))
    assert (count, total) == (said[name], pytest.approx(sum(said[f"{name}_x"])))
    output = session.run(lambda chunk: {"x": chunk.main_x}, some)
    assert sorted(output.get("x", [])) == sorted(said[f"{name}_x"])


def test_a_list_of_one_file_of_several(events, folder):
    some = events.select_entries(f"{folder}/lists.root:one")
    assert some.arrays("main_x").main_x.to_list() == [0.5 * e for e in range(1801, 2000)]


def test_friends_of_selected_entries(events, folder, session):
    both = events.add_friend(str(folder / "side?.root"))
    some = both.select_entries(f"{folder}/lists.root:few")
    expected = sum(some.arrays("main_x").main_x.to_list())
    assert session.run(some.sum("side_x")) == expected
    assert session.run(sums, some)["side.side_x"] == expected


@pytest.mark.parametrize("how", ["query", "selector"])
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_recorded_friend_is_of_one_state(folder, tmp_path, mode, how):
    """It changes when the entries of the first file have been joined with it."""
    for name in ("a.root", "b.root"):
        shutil.copyfile(folder / "recorded.root", tmp_path / name)
    shutil.copyfile(folder / "aside.root", tmp_path / "aside.root")
    new, old = str(tmp_path / "new.root"), str(tmp_path / "aside.root")
    with uproot.recreate(new) as file:
        file["aside"] = {"run": np.ones(700, "i4"), "aside_x": np.full(700, -1.0)}

    def passed(x):
        if os.path.exists(new):
            os.replace(new, old)
        return x

    def process(chunk):
        return {"sum": float(np.sum(passed(np.asarray(chunk["near.aside_x"]))))}

    events = tm.dataset([str(tmp_path / name) for name in ("a.root", "b.root")])
    slow = tm.batched(lambda x: passed(x), returns="float64")
    sums = events.define("y", "passed(near.aside_x)", {"passed": slow}).sum("y")
    with (
        tm.connect(workers=1, mode=mode) as session,
        pytest.raises(tm.errors.ChangedError) as raised,
    ):
        session.run(sums if how == "query" else process, *[events] * (how == "selector"))
    assert raised.value.file == old
