"""Many small files of which some lack columns that have defaults, and many with friends: the core
runs them by itself, with the same results as one by one."""

import os
import shutil
import threading

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.scheduling import small_files
from treemill.workers.file_query import PerFile
from treemill.workers.plain_files import PlainFiles

from tests.python.written import settled, write
from tests.raising import raises

FILES = 40
EACH = 10


def jagged(seed, counts, dtype="f4"):
    values = np.random.default_rng(seed).integers(0, 100, sum(counts))
    return ak.unflatten(values.astype(dtype), counts)


@pytest.fixture
def bound(monkeypatch):
    """The numbers of the files that were bound one by one."""
    found, bind = [], PerFile.bind

    def noted(self, chain, file, *rest):
        found.append(file)
        return bind(self, chain, file, *rest)

    monkeypatch.setattr(PerFile, "bind", noted)
    return found


@pytest.fixture(autouse=True)
def several(monkeypatch):
    """A worker gets several files in one order, however long one takes on a busy machine."""
    monkeypatch.setattr(small_files, "TURN_SECONDS", 1e4)


def run(book, monkeypatch=None, workers=2, **options):
    """The results of what `book` books; with `monkeypatch` each file is run by a call of its
    own."""
    with tm.connect(workers=workers) as session:
        if monkeypatch is None:
            return [*session.run(*book(), **options)]
        with monkeypatch.context() as patched:
            patched.setattr(PlainFiles, "parts", lambda *_: None)
            return [*session.run(*book(), **options)]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        if hasattr(one, "axes"):
            assert np.array_equal(one.values(flow=True), other.values(flow=True))
        else:
            assert ak.to_list(ak.Array([one])) == ak.to_list(ak.Array([other]))


# Defaults.


@pytest.fixture(scope="module")
def many_lacking(tmp_path_factory):
    """Files of four forms in turns: with all columns; without some; without the counter, too; an
    RNTuple without them."""
    where = tmp_path_factory.mktemp("lacking")
    counts = np.arange(EACH) % 4
    x = np.arange(EACH, dtype="f4")
    jets = {"pt": jagged(1, counts), "tag": jagged(2, counts, "i4")}
    some = {"x": x, "k": np.arange(EACH)}
    forms = [
        write(where / "all.root", **some, y=x / 2, Jet=ak.zip(jets), v=jagged(3, counts), b=x > 5),
        write(where / "some.root", **some, Jet=ak.zip({"pt": jets["pt"]})),
        write(where / "few.root", **some),
        where / "ntuple.root",
    ]
    with uproot.recreate(forms[-1]) as file:
        file["t"] = some
    files = []
    for number in range(3 * FILES):
        files.append(where / f"f{number:03}.root")
        shutil.copy2(forms[(number + 1) % 4], files[-1])
    settled(*files)
    return [str(path) for path in files]


@pytest.fixture(scope="module")
def lacking(many_lacking):
    """As many of them as friends have files."""
    return many_lacking[:FILES]


DEFAULTS = [
    ({"y": -1.5}, "y"),
    ({"y": None}, "y"),
    ({"*": -1}, "y"),
    ({"y": -1.5, "b": True}, "b ? y : 2 * y"),
    ({"v": [1, 2.5]}, "sum(v)"),
    ({"v": []}, "len(v)"),
    ({"v": None}, "sum(v)"),
    ({"nowhere": 2}, "nowhere * x"),
    ({"nowhere": [2, 3]}, "nowhere[1] + x"),
]


@pytest.mark.parametrize(("missing", "text"), DEFAULTS)
@pytest.mark.parametrize("turned", [0, 1, 2, 3])
def test_defaults_are_those_of_files_one_by_one(
    core, lacking, missing, text, turned, monkeypatch, bound
):
    files = lacking[turned:]
    events = tm.dataset(files, tree="t", missing=missing)

    def book():
        return [
            events.hist(text, bins=(40, -20, 20)),
            events.sum(text),
            events.filter(f"{text} > 1").count(),
            # Rows that may be missing have a type of their own, file by file.
            events.count() if missing.get("y", 0) is None else events.take(text),
        ]

    # Two workers share the last files out one by one if the machine is busy.
    found = run(book, workers=1)
    assert len(bound) < FILES // 2
    assert_same(found, run(book))
    bound.clear()
    assert_same(found, run(book, monkeypatch))
    assert len(set(bound)) == len(files)


def test_defaults_are_the_numbers_that_files_lack(core, lacking, bound):
    events = tm.dataset(lacking, tree="t", missing={"y": -1.5})
    values, _ = run(lambda: [events.take("y"), events.count()])
    own = np.arange(EACH) / 2
    for number in range(FILES):
        expected = own if (number + 1) % 4 == 0 else np.full(EACH, -1.5)
        assert np.array_equal(values[EACH * number :][:EACH], expected)


def test_a_default_is_repeated_as_a_counter_says(core, many_lacking, monkeypatch, bound):
    files = [path for number, path in enumerate(many_lacking) if (number + 1) % 4 < 2]
    events = tm.dataset(files, tree="t", missing={"Jet_tag": 7})

    def book():
        return [
            events.sum("sum(j.pt for j in Jet if j.tag == 7)"),
            events.hist("Jet_tag[Jet_pt > 35]", bins=(100, 0, 100)),
            events.take("Jet_tag"),
        ]

    found = run(book, workers=1)
    assert len(bound) < len(files) // 2
    tags = ak.to_list(found[2])
    counts = np.arange(EACH) % 4
    assert tags[EACH * 2 : EACH * 3] == [[7] * n for n in counts] or files[2] == many_lacking[3]
    assert_same(found, run(book, monkeypatch))


def test_a_number_for_a_list_without_a_counter_is_an_error_that_names_the_file(core, lacking):
    events = tm.dataset(lacking, tree="t", missing={"Jet_tag": 7})
    with raises(tm.QueryError, about="Jet_tag"):
        run(lambda: [events.sum("sum(Jet_tag)"), events.count()])


# Friends.


def friend_of(folder, sizes, **columns):
    """A friend whose files have these numbers of entries."""
    folder.mkdir()
    at, files = 0, []
    for number, size in enumerate(sizes):
        part = {name: values[at : at + size] for name, values in columns.items()}
        files.append(write(folder / f"g{number:03}.root", **part))
        at += size
    settled(*files)
    return tm.dataset([str(path) for path in files], tree="t")


TOTAL = FILES * EACH
SIZES = {
    "as the files": [EACH] * FILES,
    "one": [TOTAL],
    "others": [7] * (TOTAL // 7) + [TOTAL % 7],
    "some empty": [0, 3, 0, EACH - 3] * FILES,
}


@pytest.fixture(scope="module")
def main(tmp_path_factory):
    where = tmp_path_factory.mktemp("main")
    x = np.arange(TOTAL, dtype="i4")
    return friend_of(where / "m", SIZES["as the files"], x=x, y=x % 7)


@pytest.fixture(scope="module", params=SIZES)
def friend(request, tmp_path_factory):
    """A friend in files of other sizes, and two of its columns."""
    z = np.arange(TOTAL, dtype="f8") * 3
    counts = np.arange(TOTAL) % 3
    jets = ak.zip({"pt": jagged(4, counts), "n": jagged(5, counts, "i4")})
    columns = {"z": z, "y": z + 1, "flag": z % 2 == 0, "Jet": jets}
    folder = tmp_path_factory.mktemp("friend") / "f"
    return friend_of(folder, SIZES[request.param], **columns), z, jets


@pytest.mark.parametrize("entries", [None, (33, TOTAL - 55)])
def test_friends_are_those_of_files_one_by_one(core, main, friend, entries, monkeypatch, bound):
    other, z, jets = friend
    events = main.add_friend(other, alias="o")

    def book():
        return [
            events.sum("z - 3 * x"),
            events.sum("o.z"),
            events.sum("y"),  # the file's own
            events.hist("o.y", bins=(50, 0, 4000), weight="flag ? 1 : 2"),
            events.filter("sum(o.Jet_pt[o.Jet_n > 30]) > 60").take("x"),
            events.take("sum(Jet_pt)"),
        ]

    options = {} if entries is None else {"entries": entries}
    found = run(book, workers=1, **options)
    assert len(bound) < FILES // 2
    start, stop = entries or (0, TOTAL)
    assert found[0] == 0
    assert found[1] == z[start:stop].sum()
    assert found[2] == (np.arange(TOTAL) % 7)[start:stop].sum()
    assert ak.to_list(found[5]) == ak.to_list(ak.sum(jets.pt, axis=1))[start:stop]
    assert_same(found, run(book, monkeypatch, **options))


def test_two_friends_and_constants_of_files(core, main, tmp_path, monkeypatch, bound):
    z = np.arange(TOTAL)
    one = friend_of(tmp_path / "1", SIZES["others"], z=z, u=z)
    two = friend_of(tmp_path / "2", SIZES["one"], z=2 * z, w=z)
    events = main.add_friend(one, alias="a").add_friend(two, alias="b")
    events = events.define_per_file("number", lambda file: int(file.path[-8:-5]))

    def book():
        return [events.sum("(b.z - a.z) * number"), events.sum("u + w - 2 * x")]

    found = run(book, workers=1)
    assert found == [(z * (z // EACH)).sum(), 0]
    assert len(bound) < FILES // 2
    with raises(tm.QueryError, about="z"):
        run(lambda: [events.sum("z"), events.count()])


def test_a_friends_file_of_another_type_is_as_its_first_one_has_it(
    core, main, tmp_path, monkeypatch
):
    z = np.arange(TOTAL, dtype="f8")
    friend = friend_of(tmp_path / "f", SIZES["as the files"], z=z)
    path = tmp_path / "f" / "g020.root"
    write(path, z=np.arange(20 * EACH, 21 * EACH, dtype="i4"))
    events = main.add_friend(friend, alias="o")
    assert run(lambda: [events.sum("z"), events.take("z")])[0] == z.sum()


def test_a_friends_file_that_lacks_the_column_is_named(core, main, tmp_path):
    friend = friend_of(tmp_path / "f", SIZES["as the files"], z=np.arange(TOTAL))
    write(tmp_path / "f" / "g020.root", u=np.zeros(EACH))
    events = main.add_friend(friend, alias="o")
    with pytest.raises(tm.TreemillError) as caught:
        run(lambda: [events.sum("z"), events.count()])
    assert "g020" in str(caught.value)


def test_a_friends_file_that_is_replaced_during_a_pass_is_an_error(
    core, main, tmp_path, monkeypatch
):
    friend = friend_of(tmp_path / "f", SIZES["as the files"], z=np.arange(TOTAL))
    parts, path = PlainFiles.parts, tmp_path / "f" / "g030.root"
    one, is_replaced = threading.Lock(), []

    def replaced(self, spans):
        with one:  # of two workers
            if not is_replaced:
                is_replaced.append(True)
                os.replace(write(tmp_path / "new.root", z=np.ones(EACH, dtype="i8")), path)
        return parts(self, spans)

    monkeypatch.setattr(PlainFiles, "parts", replaced)
    with raises(tm.errors.ChangedError, about="g030"):
        run(lambda: [main.add_friend(friend, alias="o").sum("z"), main.count()])


# Friends and defaults together.


@pytest.fixture(scope="module", params=[0, 1, 2, 3])
def joined(request, lacking, tmp_path_factory):
    """Files that lack columns, beginning with each of the forms; and a friend of them."""
    files = lacking[request.param :]
    # `y` of the friend is not the dataset's, also where a file lacks it; only the friend has `h`.
    z = np.arange(len(files) * EACH, dtype="f8")
    folder = tmp_path_factory.mktemp("joined") / "f"
    return files, friend_of(folder, [len(z)], z=z, y=z + 1000, h=z % 9), z


@pytest.mark.parametrize(("missing", "text"), [*DEFAULTS, ({"*": -1}, "h")])
def test_files_that_lack_columns_and_have_friends_are_those_of_files_one_by_one(
    core, joined, missing, text, monkeypatch, bound
):
    files, other, z = joined
    events = tm.dataset(files, tree="t", missing=missing).add_friend(other, alias="o")

    def book():
        return [
            events.hist(text, bins=(40, -20, 20), weight="o.y - z - 999"),
            events.sum(f"({text}) + o.z"),
            events.filter(f"{text} > 1").sum("o.y"),
            events.sum("h"),
            events.count() if missing.get("y", 0) is None else events.take(text),
        ]

    found = run(book, workers=1)
    assert len(bound) < FILES // 2
    assert found[3] == (z % 9).sum()
    bound.clear()
    assert_same(found, run(book, monkeypatch))
    assert len(set(bound)) == len(files)


OF_FRIENDS = [
    ({"y": -1.5}, "o.y"),
    ({"y": -1.5, "b": True}, "o.b ? o.y : 2 * o.y"),
    ({"v": [1, 2.5]}, "sum(o.v)"),
    ({"v": []}, "len(o.v)"),
]


@pytest.mark.parametrize(("missing", "text"), OF_FRIENDS)
def test_defaults_of_friends_are_those_of_files_one_by_one(
    core, lacking, main, missing, text, monkeypatch, bound
):
    files = [*lacking[3:], *lacking[:3]]  # the first one has all columns
    other = tm.dataset(files, tree="t", missing=missing)
    events = main.add_friend(other, alias="o")

    def book():
        return [
            events.hist(text, bins=(40, -20, 20), weight="x"),
            events.sum(f"({text}) + o.x + x"),
            events.filter(f"{text} > 1").count(),
            events.take(text),
        ]

    found = run(book, workers=1)
    assert len(bound) < FILES // 2
    bound.clear()
    assert_same(found, run(book, monkeypatch))
    assert len(set(bound)) == FILES


@pytest.mark.parametrize(
    ("missing", "text"), [({"y": None}, "o.y"), ({"*": -1}, "o.y"), ({"Jet_tag": 7}, "o.Jet_tag")]
)
def test_other_defaults_of_friends_are_those_of_files_one_by_one(
    core, lacking, main, missing, text, monkeypatch
):
    # Files with the counter of the list that some lack. The first one has all columns.
    files = [path for number, path in enumerate(lacking) if number % 4 in (0, 3)]
    other = tm.dataset([*files[1:], *files, files[0]], tree="t", missing=missing)
    events = main.add_friend(other, alias="o")

    def book():
        return [events.hist(text, bins=(40, -20, 20), weight="x"), events.take(text)]

    assert_same(run(book), run(book, monkeypatch))


def test_a_friend_does_not_hide_the_default_of_a_column(core, lacking, tmp_path, bound):
    other = friend_of(tmp_path / "f", SIZES["others"], y=np.full(TOTAL, 1e6))
    events = tm.dataset(lacking, tree="t", missing={"y": -1.5}).add_friend(other, alias="o")
    sums = run(lambda: [events.sum("y"), events.sum("o.y")])
    own, lack = np.arange(EACH).sum() / 2, -1.5 * EACH
    assert sums == [FILES // 4 * (own + 3 * lack), 1e6 * TOTAL]


# Looks at all files.


def test_numbers_of_entries_need_no_file_opened_one_by_one(core, lacking, main, monkeypatch):
    from treemill.data.chain_trees import ChainTrees

    opened, plain = [], ChainTrees.__getitem__

    def noted(self, number):
        opened.append(number)
        return plain(self, number)

    monkeypatch.setattr(ChainTrees, "__getitem__", noted)
    events = tm.dataset(lacking, tree="t")
    assert events.num_entries == TOTAL
    assert opened == []


def test_a_file_that_has_no_order_among_many_is_no_friend(core, main, tmp_path):
    from treemill.data.file_tree import UNORDERED

    friend = friend_of(tmp_path / "f", SIZES["as the files"], z=np.arange(TOTAL))
    with uproot.recreate(tmp_path / "f" / "g025.root") as file:
        tree = file.mktree("t", {"z": "i8"}, title=UNORDERED)
        tree.extend({"z": np.arange(EACH)})
    with raises(tm.QueryError, about="o"):
        run(lambda: [main.add_friend(friend, alias="o").sum("z"), main.count()])
