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
from treemill.query.cutflow import Cut, CutFlow

from tests.raising import raises

from . import archives

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
        "weighted_cuts": events.filter("x > 0", name="one").report(weight="w"),
    }


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """A folder with the data of two jobs, and samples of each and of both."""
    folder = tmp_path_factory.mktemp("jobs")
    paths = [folder / f"{job}.root" for job in (0, 1)]
    for job, path in enumerate(paths):
        with uproot.recreate(path) as file:
            data = ak.zip(columns(job), depth_limit=1)
            file.mkrntuple("Events", data.layout.form).extend(data)
    inputs = {"first": paths[0], "second": paths[1], "both": paths}
    return folder, {name: tm.dataset(of, tree="Events") for name, of in inputs.items()}


@pytest.fixture(scope="module")
def adder(root_program):
    """ROOT, started once: what it has to do for each sum is little."""
    with archives.started("add_files.py") as process:
        yield process


@pytest.fixture
def added(adder, tmp_path):
    """Adds files as hadd does, in this order, and gives what ROOT reads of the sum."""

    def add(*files):
        output, merged = tmp_path / "found.json", tmp_path / "merged.root"
        print(json.dumps([str(path) for path in (output, merged, *files)]), file=adder.stdin)
        adder.stdin.flush()
        assert adder.stdout.readline() == "made\n", adder.stderr.read()
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


def approx(sums):
    return pytest.approx(sums, rel=1e-9, abs=1e-9)


def same(found, wanted):
    """Whether histograms have the same in their bins, whatever the order of categories."""
    assert found.storage_type is wanted.storage_type
    fields = [each.view(flow=True) for each in (found, wanted)]
    for number, (one, two) in enumerate(zip(found.axes, wanted.axes, strict=True)):
        assert one.traits == two.traits
        if not one.traits.ordered:
            assert set(one) == set(two)
            order = [*(one.index(each) for each in two), *range(one.size, one.extent)]
            fields[0] = np.take(fields[0], order, axis=number)
        else:
            assert one == two
    for name in fields[1].dtype.names or (...,):
        np.testing.assert_allclose(fields[0][name], fields[1][name], 1e-9, 1e-9)


def test_of_what_was_added_no_numbers_of_one_job_are_taken(added, tmp_path):
    """Also if one record is left, as of a file of results and one of another program's."""
    paths = [tmp_path / name for name in ("a.root", "b.root")]
    for number, path in enumerate(paths, 1):
        made = hist.Hist(hist.axis.Regular(2, 0, 2), storage="Double")
        made.fill([0.5] * number)
        tm.save({"n": number, "of": {"array": np.array([number]), "h": made}}, path)
    merged, first = tmp_path / "merged.root", tmp_path / "first.root"
    added(*paths)
    merged.rename(first)
    with uproot.recreate(tmp_path / "other.root") as file:
        file.mkdir("of")
        file["of/h"] = np.histogram([0.5, 0.5], 2, (0, 2))
    added(paths[0], tmp_path / "other.root")
    for path, why in ((first, "joined from several files"), (merged, "written by another program")):
        with pytest.warns(UserWarning, match=rf"{why}.* n \(a number\).*of/array"):
            found = tm.load(path)
        assert list(found) == ["of"]
        assert list(found["of"]) == ["h"]
        assert found["of"]["h"].values().tolist() == [3, 0]
    assert tm.load(paths[0])["n"] == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", [["first", "second"], ["second", "first"]])
@pytest.mark.slow
def test_what_was_added_is_loaded_as_the_results_of_one_job(saved, added, tmp_path, order):
    by_root = added(*(saved[job] for job in order))
    found, wanted = tm.load(tmp_path / "merged.root"), tm.load(saved["both"])
    tm.save(found, tmp_path / "again.root")
    assert list(found) == list(wanted)
    for name in ("cuts", "weighted_cuts"):
        assert found.pop(name) == wanted.pop(name)
    for name, each in wanted.items():
        same(found[name], each)
    (tmp_path / "merged.root").unlink()
    again = added(tmp_path / "again.root")
    for name, each in by_root.items():
        assert again[name]["entries"] == each["entries"]
        assert again[name]["bins"] == {label: approx(sums) for label, sums in each["bins"].items()}


@pytest.mark.filterwarnings("error")
def test_files_that_are_added_to_a_sum_count_too(saved, added, tmp_path):
    """ROOT leaves out records of the sum then."""
    added(saved["first"], saved["second"])
    sums = tmp_path / "sum.root"
    (tmp_path / "merged.root").rename(sums)
    added(sums, saved["first"])
    found = tm.load(tmp_path / "merged.root")
    one, two = (tm.load(saved[job]) for job in ("first", "second"))
    assert found["cuts"] == one["cuts"] + two["cuts"] + one["cuts"]
    for name in ("weighted", "words", "codes", "words_codes", "profile"):
        same(found[name], one[name] + two[name] + one[name])
    (tmp_path / "merged.root").unlink()
    added(sums)  # of its records one is left
    for name in ("weighted", "words", "codes", "words_codes", "profile"):
        same(tm.load(tmp_path / "merged.root")[name], one[name] + two[name])


def plain(value):
    return hist.Hist(hist.axis.Regular(2, 0, 2), data=np.array([value, value]))


def test_what_is_not_added_is_left_out_and_named(tmp_path, added):
    paths = []
    for job in (1, 2):
        results = {
            "h": plain(job),
            "entries": 10 * job,
            "equal": 1,
            "array": np.arange(3),
            "text": "same",
            "words": f"of {job}",
            "list": [plain(job), plain(2 * job)],
            "mixed": [plain(job), job],
            "cuts": CutFlow([Cut(f"cut {job}", 2, 1, 2, 1)]),
            "axes": hist.Hist(hist.axis.Regular(job, 0, 2), data=np.ones(job)),
            f"only_{job}": {"h": plain(job), "n": 1},
        }
        paths.append(tmp_path / f"{job}.root")
        tm.save(results, paths[-1])
    added(*paths)
    with pytest.warns(UserWarning, match="joined from several files") as told:
        found = tm.load(tmp_path / "merged.root")
    assert told[0].filename == __file__
    assert found == {
        "h": plain(3),
        "text": "same",
        "list": [plain(3), plain(6)],
        "only_1": {"h": plain(1)},
        "only_2": {"h": plain(2)},
    }
    for name in ("entries", "equal", "array", "words", "mixed"):
        assert name in str(told[0].message)


def test_nothing_that_was_added_is_an_error(tmp_path, added):
    for job in (1, 2):
        tm.save({"entries": job}, tmp_path / f"{job}.root")
    added(tmp_path / "1.root", tmp_path / "2.root")
    with raises(tm.UnsupportedError, said="load each of the files"):
        tm.load(tmp_path / "merged.root")


def of_three(words):
    fields = hist.axis.StrCategory(words, growth=True, name="word")
    made = hist.Hist(hist.axis.Regular(1, 0, 1), hist.axis.Regular(1, 0, 1), fields)
    return made.fill(*np.full((2, len(words)), 0.5), words)


def test_categories_on_the_third_axis_are_not_taken_from_a_sum(tmp_path, added):
    """ROOT adds them by place."""
    paths = [tmp_path / f"{job}.root" for job in (1, 2, 3)]
    for path, words in zip(paths, (["a", "b"], ["a", "b"], ["b", "c"]), strict=True):
        with pytest.warns(UserWarning, match="third axis"):
            tm.save({"h": of_three(words), "plain": plain(1)}, path)
        assert tm.load(path)["h"] == of_three(words)
    added(*paths[:2])
    assert tm.load(tmp_path / "merged.root")["h"] == of_three(["a", "b"]) + of_three(["a", "b"])
    (tmp_path / "merged.root").unlink()
    added(paths[0], paths[2])
    with pytest.warns(UserWarning, match=r"Left out: h "):
        assert list(tm.load(tmp_path / "merged.root")) == ["plain"]


def test_sums_of_a_profile_whose_weights_cancel_are_kept(saved, added, tmp_path):
    """A profile of hist has no mean there, but ROOT's has its sums."""
    one = tm.load(saved["first"])["cancelling_profile"]
    assert np.isnan(one.view(flow=True)["value"]).any()
    tm.save({"cancelling_profile": one}, tmp_path / "again.root")
    wanted = added(saved["first"])["cancelling_profile"]
    assert added(tmp_path / "again.root")["cancelling_profile"] == wanted
    tm.save(
        {"from ROOT": tm.load(tmp_path / "merged.root")["cancelling_profile"]}, tmp_path / "x.root"
    )
    assert added(tmp_path / "x.root")["from ROOT"]["bins"] == wanted["bins"]


def profile_of(words, values, weights=None, *, growth=True):
    known = [*dict.fromkeys(words)] if growth else ["a", "b"]
    axis = hist.axis.StrCategory(known, growth=growth, name="word")
    storage = "Mean" if weights is None else "WeightedMean"
    made = hist.Hist(axis, storage=getattr(hist.storage, storage)())
    extra = {} if weights is None else {"weight": weights}
    return made.fill(words, sample=np.array(values, float), **extra)


@pytest.mark.parametrize("growth", [True, False])
@pytest.mark.parametrize("weights", [None, [2.0, 3.0], [-2.0, 3.0], [-2.0, -0.5]])
@pytest.mark.parametrize("values", [[0, 0], [0, 1], [7, 0.1], [-7, 1e9]])
@pytest.mark.filterwarnings("error")
def test_bins_that_root_takes_for_empty_are_added(tmp_path, added, growth, weights, values):
    """When ROOT adds by label it skips bins whose mean and error are 0 for it: those of zeros, and
    of one fill with a negative weight."""
    jobs = [["a", "b"], ["b", "a"], ["b", "c"] if growth else ["a", "b"]]
    made = [profile_of(words, values, weights, growth=growth) for words in jobs]
    paths = [tmp_path / f"{number}.root" for number in range(len(made))]
    for path, each in zip(paths, made, strict=True):
        tm.save({"p": each}, path)
        same(tm.load(path)["p"], each)
    added(*paths)
    found = tm.load(tmp_path / "merged.root")["p"]
    for label in found.axes[0]:
        bins = [each.view()[each.axes[0].index(label)] for each in made if label in each.axes[0]]
        name = "count" if weights is None else "sum_of_weights"
        sums = [float(each[name]) for each in bins]
        got = found.view()[found.axes[0].index(label)]
        assert got[name] == pytest.approx(sum(sums))
        wanted = sum(each["value"] * weight for each, weight in zip(bins, sums, strict=True))
        assert got["value"] * sum(sums) == pytest.approx(wanted)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_profiles_of_which_root_has_lost_bins_are_left_out(tmp_path, added, order):
    """ROOT skips bins of categories whose weights cancel, if it adds by label. It keeps those of
    the first file."""
    cancels = profile_of(["a", "b", "b"], [1, 2, 4], [1.0, 1.0, -1.0])
    paths = [tmp_path / "0.root", tmp_path / "1.root"]
    with pytest.warns(UserWarning, match="1 bins of categories where weights cancel"):
        tm.save({"p": cancels, "plain": plain(1)}, paths[0])
    tm.save({"p": profile_of(["b", "c"], [5, 6], [1.0, 1.0]), "plain": plain(1)}, paths[1])
    added(*(paths[number] for number in order))
    if order == (1, 0):
        with pytest.warns(UserWarning, match=r"Left out: p \(ROOT has left out bins"):
            assert list(tm.load(tmp_path / "merged.root")) == ["plain"]
    else:
        found = tm.load(tmp_path / "merged.root")["p"]
        assert found.view()["sum_of_weights_squared"].tolist() == [1, 3, 1]


def test_deviations_of_bins_without_a_variance_are_kept(tmp_path):
    """The weights are such that the estimate of the variance divides by zero."""
    made = hist.Hist(hist.axis.Regular(1, 0, 1), storage=hist.storage.WeightedMean())
    made.fill([0.5] * 3, sample=[1.0, 2.0, 4.0], weight=[2.0, 2.0, -1.0])
    assert not np.isfinite(made.variances()).any()
    tm.save({"p": made}, tmp_path / "x.root")
    same(tm.load(tmp_path / "x.root")["p"], made)
    with pytest.warns(UserWarning, match="deviations in 1 bins"):
        tm.save({"p": made}, tmp_path / "x.json")


def test_sums_that_hist_does_not_know_are_a_warning(saved, tmp_path):
    one = tm.load(saved["first"])["cancelling_profile"]
    with pytest.warns(UserWarning, match="weights cancel"):
        tm.save({"p": one + one}, tmp_path / "x.root")


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


@pytest.mark.parametrize("label_first", [True, False])
@pytest.mark.parametrize("storage", ["Double", "Weight", "WeightedMean"])
def test_bins_without_an_end_are_added_beside_labels(tmp_path, added, storage, label_first):
    """ROOT looks for the bin in which the centre of a bin lies."""
    ends = hist.axis.Variable([-np.inf, -1, 0, np.inf]), hist.axis.Variable([-np.inf, np.inf])
    paths, sums = [tmp_path / f"{job}.root" for job in range(2)], {}
    for path, scale in zip(paths, (1, 3), strict=True):
        for name, numbers in zip(("some", "one"), ends, strict=True):
            axes, values = [hist.axis.Boolean(), numbers], [[0, 1, 1, 0], [-5, -0.5, 6, 7]]
            if not label_first:
                axes, values = axes[::-1], values[::-1]
            made = hist.Hist(*axes, storage=getattr(hist.storage, storage)())
            more = {"sample": [1, 2, 3, 5]} if storage == "WeightedMean" else {}
            made.fill(*values, weight=np.array([2, 3, 4, 5.0]) * scale, **more)
            sums[name] = sums[name] + made if name in sums else made
            sums[f"{scale} {name}"] = made
        tm.save({name: sums[f"{scale} {name}"] for name in ("some", "one")}, path)
    added(*paths)
    found = tm.load(tmp_path / "merged.root")
    for name, each in found.items():
        assert each.axes == sums[name].axes
        assert each.values(flow=True).tolist() == sums[name].values(flow=True).tolist()


@pytest.mark.parametrize("flow", [{}, {"underflow": False}, {"overflow": False}, {"flow": False}])
@pytest.mark.parametrize("storage", ["Double", "Weight", "WeightedMean"])
def test_axes_that_fall_are_added(tmp_path, added, storage, flow):
    """ROOT takes an axis that falls for one without limits, and adds nothing to it."""
    paths, sums = [tmp_path / f"{job}.root" for job in range(2)], {}
    falling = hist.axis.Regular(4, 4, -4, **flow)
    others = {"alone": [], "beside": [hist.axis.StrCategory(["a", "b"])]}
    for path, scale in zip(paths, (1, 3), strict=True):
        jobs = {}
        for name, beside in others.items():
            made = hist.Hist(*beside, falling, storage=getattr(hist.storage, storage)())
            values = [["a", "b", "b", "a", "a"]] * len(beside)
            more = {"sample": [1, 2, 3, 5, 4]} if storage == "WeightedMean" else {}
            made.fill(*values, [-5, -3, 1, 3, 7], weight=np.arange(1, 6) * scale, **more)
            sums[name] = sums[name] + made if name in sums else made
            jobs[name] = made
        tm.save(jobs, path)
        again = tm.load(path)
        assert all(again[name] == made for name, made in jobs.items())
    added(*paths)
    found = tm.load(tmp_path / "merged.root")
    for name, each in found.items():
        assert each.axes == sums[name].axes
        assert each.values(flow=True).tolist() == sums[name].values(flow=True).tolist()
    with uproot.open(paths[0]) as file:
        assert file["alone"].axis().edges().tolist() == [-4, -2, 0, 2, 4]


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


@pytest.mark.slow
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
@pytest.mark.slow
def test_results_that_users_have_added(tmp_path, added, first, second, name, sums):
    """Saved again, so that they are in the form that ROOT adds."""
    if not FOUND.is_dir():
        pytest.skip(f"{FOUND} is not there")
    paths = [tmp_path / f"{each}.root" for each in (first, second)]
    for path in paths:
        tm.save(tm.load(FOUND / path.name), path)
    found = added(*paths)[name]["bins"]
    assert {label: sums[0] for label, sums in found.items()} == sums
