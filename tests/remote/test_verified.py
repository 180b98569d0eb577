"""Files on servers that were verified: a later run asks nothing of them to plan, and workers
compare what they open with the list."""

import json

import pytest
import treemill as tm
from click.testing import CliRunner
from treemill.cli.dataset import dataset

from tests.raising import raises

from .conftest import settle


@pytest.mark.parametrize("kind", ["nginx", "xrootd"])
def test_a_list_of_far_files(request, files, tmp_path, kind):
    server = request.getfixturevalue(kind)
    urls = [server.url(f"store/trees/events_{number}.root") for number in range(3)]
    settle(*urls)
    fileset = {"far": {"files": [*urls, server.url("store/trees/none.root"), urls[0]]}}
    (tmp_path / "far.json").write_text(json.dumps(fileset))
    output = str(tmp_path / "found.json")
    arguments = ["verify", str(tmp_path / "far.json"), "--tree", "Events", "--output", output]
    ran = CliRunner().invoke(dataset, arguments)
    assert ran.exit_code == 1
    told = [line.split()[0] for line in ran.output.splitlines() if "left out" in line]
    assert told == ["missing", "doubled"]
    fs = tm.fileset(output)
    expected = tm.dataset(urls, "Events")
    assert fs.num_entries == expected.num_entries
    for mode in ("threads", "processes"):
        with tm.connect(workers=2, mode=mode) as session:
            n, total = session.run(fs.count(), fs.sum("MET_pt"))
            assert n == {"far": expected.num_entries}
            assert total["far"] == pytest.approx(expected.sum("MET_pt").value, rel=1e-9)
    listed = json.loads((tmp_path / "found.json").read_text())
    listed["far"]["files"][urls[1]]["uuid"] = "another"
    with raises(tm.SourceError, said="is not the file that was verified: its UUID"):
        tm.run(tm.fileset(listed).count())
