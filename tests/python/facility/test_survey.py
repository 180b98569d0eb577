"""What is concluded from what hosts have of a made-up dataset."""

from treemill.errors import QueryError
from treemill.facility.file_maker import (
    FreeSpace,
    HostFiles,
    Made,
    Survey,
    Sweep,
    check_free,
    kept,
    spread,
    unwanted,
)
from treemill.facility.generate import unique, write
from treemill.facility.recipe import Recipe

from tests.raising import raises


def test_a_survey_knows_the_files_of_the_dataset(tmp_path):
    recipe = Recipe(files=2, events_per_file=3)
    for name, note in (
        (recipe.name(0), recipe.note(0)),
        (recipe.name(1), Recipe(seed=5).note(1)),
        (recipe.name(2), recipe.note(2)),
        ("other.root", recipe.note(0)),
    ):
        write(tmp_path / name, events=3, note=note)
    found = Survey(str(tmp_path), recipe)()
    assert [(made.index, made.events, made.kept) for made in found.made] == [(0, 3, True)]
    assert [path for path, _ in found.others] == [str(tmp_path / recipe.name(1))]
    assert Survey(str(tmp_path / "none"), recipe)().room.free > 0


def test_files_that_are_in_the_way_are_unwanted():
    def found(host, *files, others=()):
        made = tuple(Made(i, f"/d/{i}", host, 5, 10, True, one) for i, one in files)
        return HostFiles(FreeSpace(host, host, 0), made, others)

    own = [found("b", (0, "b0"), (1, "b1")), found("a", (1, "a1")), found("c")]
    assert {made.index: made.host for made in kept(own).values()} == {0: "b", 1: "a"}
    assert unwanted(own, [0, 1]) == {"b1"}
    assert unwanted(own, [0]) == set(), "copies of earlier runs are left alone"
    shared = [found("a", (0, "same")), found("b", (0, "same"))]
    assert unwanted(shared, [0]) == set()
    old = [*own, found("d", others=(("/d/0", "d0"),))]
    assert unwanted(old, [0, 1]) == {"b1"}
    assert unwanted(old, [0, 1], overwritten=True) == {"b1", "d0"}
    with raises(QueryError, said="/d/0 on d is there"):
        check_free(old)
    assert spread([*kept(own).values()], ["a", "c"]) == {"a": 1, "b": 1, "c": 0}


def test_a_sweep_removes_what_is_unwanted_and_no_more(tmp_path):
    files = [tmp_path / f"{index}.root" for index in range(3)]
    for path in files:
        write(path, events=2)
    (tmp_path / "a.1.mine.tmp").touch()
    (tmp_path / "a.1.other.tmp").touch()
    assert Sweep(str(tmp_path), ".mine.tmp")() == 1
    assert Sweep(str(tmp_path), ".mine.tmp", frozenset([unique(files[1])]))() == 1
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.1.other.tmp", files[0].name, files[2].name
    }  # fmt: skip
