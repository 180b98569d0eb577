"""`treemill hammer --users`: a short run on real processes, of which some are killed."""

import json

import pytest
from click.testing import CliRunner
from treemill.facility.hammer import command

pytest.importorskip("matplotlib", reason="pictures need matplotlib")


@pytest.mark.slow
def test_many_users_get_exact_results_while_workers_are_killed(tmp_path):
    words = ["--users", "5", "--for", "20s", "--workers", "2", "--think", "2s", "--kill", "8s"]
    done = CliRunner().invoke(command, [*words, "-o", str(tmp_path / "run.json")])
    assert done.exit_code == 0, done.output
    assert "all results exact" in done.output
    told = json.loads((tmp_path / "run.json").read_text())
    assert len(told["kills"]) >= 1
    assert {each["kind"] for each in told["queries"]} >= {"thinks", "hangs"}
    assert not [each for each in told["queries"] if each["problem"]]
    assert (tmp_path / "run.png").stat().st_size > 10_000
