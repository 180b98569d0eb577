"""RDataFrame's specification of samples (FromSpec): treemill's fileset of the same JSON has the
same entries and sums in each sample, with the metadata as columns."""

import json

import pytest
import treemill as tm
from treemill.facility.generate import write


@pytest.fixture(scope="module")
def specification(tmp_path_factory):
    folder = tmp_path_factory.mktemp("specification")
    for number, events in enumerate((3000, 1, 2000, 500, 700)):
        path = folder / f"e{number}.root"
        write(path, events=events, index=number, cluster=1000, codec="zstd")
    names = [str(folder / f"e{number}.root") for number in range(5)]
    # No file is in two samples: ROOT takes it for the first one's in both.
    samples = {
        "several": {"trees": ["Events", "Events"], "files": names[:2]},
        "one tree": {"trees": ["Events"], "files": [names[4], names[2]]},
        "glob": {"trees": ["Events"], "files": [str(folder / "e[3]*.root")]},
    }
    for number, sample in enumerate(samples.values()):
        sample["metadata"] = {"xsec": 1.5 + number, "number": number, "kind": "made up"}
    path = folder / "spec.json"
    path.write_text(json.dumps({"samples": samples}))
    return path


@pytest.mark.slow
def test_samples_are_roots(root_program, specification, tmp_path):
    root_program("from_specification.py", specification, tmp_path / "found.json")
    theirs = json.loads((tmp_path / "found.json").read_text())
    everything = theirs.pop("all")
    fs = tm.fileset(specification)
    count, total, weighted = tm.run(fs.count(), fs.sum("MET_pt"), fs.sum("xsec * MET_pt"))
    assert list(count) == list(theirs)
    for name, (entries, met, weight) in theirs.items():
        assert count[name] == entries > 0
        assert total[name] == pytest.approx(met, rel=1e-12)
        assert weighted[name] == pytest.approx(weight, rel=1e-12)
    assert [fs.num_entries, sum(total.values())] == pytest.approx(everything, rel=1e-12)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"friends": {"f": {"trees": ["Events"], "files": ["x.root"]}}}, "add_friend"),
        ({"range": [0, 100]}, "entries= to run"),
    ],
)
def test_what_is_not_read_says_what_to_write(specification, more, message):
    given = json.loads(specification.read_text()) | more
    with pytest.raises(tm.UnsupportedError, match=message):
        tm.fileset(given)
