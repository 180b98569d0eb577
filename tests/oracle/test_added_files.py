"""The files of two jobs, added as ROOT's hadd does, are the file of one job over all their data:
histograms of all kinds, cut flows and snapshots."""

import json
from pathlib import Path

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
import uproot

WORDS = (["a", "b"], ["c", "b", "d"])
CODES = ([11, 13], [13, 22, -7])
FOUND = Path(__file__).parents[3] / "shared" / "found"


def columns(job):
    random = np.random.default_rng(job)
    n = 60
    weight = random.choice([-1.5, 0.5, 2.0], n)
    # The weights of the first job cancel exactly.
    cancelling = np.tile([1.0, -1.0], n // 2) if job == 0 else random.uniform(0.5, 2.0, n)
    counts = random.integers(0, 4, n)
    return {
        "x": random.uniform(-1, 4, n),
        "y": random.uniform(-1, 4, n),
        "w": weight,
        "v": cancelling,
        "word": ak.Array(random.choice(WORDS[job], n).tolist()),
        "code": random.choice(CODES[job], n).astype(np.int32),
        "many": ak.unflatten(random.normal(size=counts.sum()), counts),
    }


def categories():
    return hist.axis.StrCategory([], growth=True, name="word")


def codes():
    return hist.axis.IntCategory([], growth=True, name="code")


def results(events):
    x, y = hist.axis.Regular(4, 0, 3, name="x"), hist.axis.Variable([0, 1, 3.0], name="y")
    weight = {"weight": "w", "storage": "Weight"}
    return {
        "plain": events.hist("x", bins=x),
        "weighted": events.hist("x", bins=x, **weight),
        "cancelling": events.hist("x", bins=x, weight="v", storage="Weight"),
        "double": events.hist("x", bins=x, weight="v", storage="Double"),
        "words": events.hist("word", bins=categories(), **weight),
        "counted": events.hist("word", bins=categories()),
        "codes": events.hist("code", bins=codes(), **weight),
        "words_x": events.hist("word", "x", bins=[categories(), x], **weight),
        "x_words": events.hist("x", "word", bins=[x, categories()], **weight),
        "words_codes": events.hist("word", "code", bins=[categories(), codes()], **weight),
        "y_codes_x": events.hist("y", "code", "x", bins=[y, codes(), x], **weight),
        "profile": events.profile("x", sample="y", bins=x),
        "weighted_profile": events.profile("x", sample="y", bins=x, weight="w"),
        "cancelling_profile": events.profile("x", sample="y", bins=x, weight="v"),
        "profile_of_words": events.profile("word", sample="y", bins=categories(), weight="w"),
        "cuts": events.filter("x > 0", name="one").filter("y > 0", name="two").report(),
    }


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """A folder with the data of two jobs, and data sets of each and of both."""
    folder = tmp_path_factory.mktemp("jobs")
    paths = [folder / f"{job}.root" for job in (0, 1)]
    for job, path in enumerate(paths):
        with uproot.recreate(path) as file:
            data = ak.zip(columns(job), depth_limit=1)
            file.mkrntuple("Events", data.layout.form).extend(data)
    inputs = {"first": paths[0], "second": paths[1], "both": paths}
    return folder, {name: tm.dataset(of, tree="Events") for name, of in inputs.items()}


@pytest.fixture
def added(root_program, tmp_path):
    """Adds files as hadd does, in this order, and gives what ROOT reads of the sum."""

    def add(*files):
        output, merged = tmp_path / "found.json", tmp_path / "merged.root"
        root_program("add_files.py", output, merged, *files)
        return json.loads(output.read_text())[str(merged)]

    return add


@pytest.fixture(scope="module")
def saved(jobs):
    folder, datasets = jobs
    paths = {name: folder / f"results_{name}.root" for name in datasets}
    for name, events in datasets.items():
        made = results(events)
        tm.run(*made.values(), progress=False)
        tm.save(made, paths[name])
    return paths


@pytest.mark.parametrize("order", [["first", "second"], ["second", "first"]])
def test_results_of_two_jobs_are_those_of_one(saved, added, order):
    found, wanted = added(*(saved[job] for job in order)), added(saved["both"])
    assert found.keys() == wanted.keys()
    for name, made in wanted.items():
        sums = found[name]
        assert sums["entries"] == made["entries"], name
        assert sums["bins"].keys() == made["bins"].keys(), name
        for label, values in made["bins"].items():
            np.testing.assert_allclose(sums["bins"][label], values, 1e-9, 1e-9, err_msg=name)


def test_entries_are_fills(saved, added):
    found = added(saved["first"])
    assert {found[name]["entries"] for name in found if "cuts" not in name} == {60}
    assert found["cancelling"]["bins"] != {}


def test_what_is_in_no_category_is_added_by_label(tmp_path, added):
    """ROOT would add what is above an axis to the first category that is new."""
    paths, sums = [], {}
    for job, words in enumerate((["a", "b"], ["b", "d"])):
        axis = hist.axis.StrCategory(words, name="word")
        made = hist.Hist(axis, hist.axis.Regular(2, 0, 2), storage="Weight")
        filled = ["a", "b", "d", "b", "e"]
        made.fill(filled, [0.5, 0.5, 1.5, 3, 1.5], weight=[1, 2, 3, 4, 5])
        paths.append(tmp_path / f"{job}.root")
        tm.save({"h": made}, paths[-1])
        assert tm.load(paths[-1])["h"] == made
        for word, x, w in zip(filled, ["0", "0", "1", ">", "1"], [1, 2, 3, 4, 5], strict=True):
            label = f"{word if word in words else '(other)'} {x}"
            sums[label] = sums.get(label, 0) + w
    found = added(*paths)["h"]
    assert {label: sums[0] for label, sums in found["bins"].items()} == sums


def test_a_job_without_categories_adds_nothing(tmp_path, added):
    made = {
        name: hist.Hist(hist.axis.StrCategory([], growth=True), storage=hist.storage.Weight())
        for name in ("none", "some")
    }
    made["some"].fill(["a", "b", "a"], weight=[1, 2, 3])
    for name, each in made.items():
        tm.save({"h": each}, tmp_path / f"{name}.root")
        assert tm.load(tmp_path / f"{name}.root")["h"] == each
    for order in (["none", "some"], ["some", "none"]):
        found = added(*(tmp_path / f"{name}.root" for name in order))["h"]
        assert found["bins"] == {"a": pytest.approx([4, 10]), "b": pytest.approx([2, 4])}


@pytest.mark.parametrize("compression", ["zstd", "zlib", None])
@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_snapshots_of_two_jobs_are_that_of_one(jobs, added, tmp_path, kind, compression):
    _, datasets = jobs
    paths = {name: tmp_path / f"{name}.root" for name in datasets}
    for name, events in datasets.items():
        wanted = events.snapshot(paths[name], "*", format=kind, compression=compression)
        tm.run(wanted, progress=False)
    added(paths["first"], paths["second"])
    found = tm.dataset(tmp_path / "merged.root", tree="Events").arrays()
    wanted = tm.dataset(paths["both"], tree="Events").arrays()
    assert found.fields == wanted.fields
    assert found.to_list() == wanted.to_list()


@pytest.mark.parametrize(
    ("first", "second", "name", "sums"),
    [
        ("tA", "tB", "c", {"a": 1, "b": 7, "c": 7}),
        ("out1", "out2", "pdg", {"11": 2, "13": 2, "22": 2}),
    ],
)
def test_results_that_users_have_added(tmp_path, added, first, second, name, sums):
    """Saved again, so that they are in the form that ROOT adds."""
    if not FOUND.is_dir():
        pytest.skip(f"{FOUND} is not there")
    paths = [tmp_path / f"{each}.root" for each in (first, second)]
    for path in paths:
        tm.save(tm.load(FOUND / path.name), path)
    found = added(*paths)[name]["bins"]
    assert {label: sums[0] for label, sums in found.items()} == sums
