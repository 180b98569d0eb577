"""The measurements of storages by treemill's own commands: they run in one go. Tests no timings."""

import json
import re
import subprocess
import sys

import pytest

from bench.protocol import REPOSITORY
from bench.storage import servers
from tools.link.link import missing as link_missing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measurement", "line", "pages"),
    [
        ("endurance", "root: jobs done", {"endurance"}),
        ("storages", "protocols: errors", {"storages-protocols", "storages-layouts"}),
    ],
)
def test_quick_run(measurement, line, pages, tmp_path):
    if reason := link_missing() or servers.missing():
        pytest.skip(reason)
    command = [sys.executable, "-m", "bench", measurement, "--quick"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (text,) = (tmp_path / "results").glob("*.md")
    rows = json.loads(text.with_suffix(".json").read_text())["rows"]
    assert line in [row["what"] for row in rows]
    linked = re.findall(r"\]\((\S+\.html)\)", text.read_text())
    assert linked
    for name in linked:
        assert "data:image/svg+xml" in (tmp_path / "results" / name).read_text()
