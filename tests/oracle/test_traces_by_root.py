"""The trace that a query leaves is read by ROOT as it was written."""

import json
from dataclasses import fields

import pytest
import treemill as tm
from treemill.cli.trace import load
from treemill.facility.generate import write
from treemill.monitoring.recorded import About


@pytest.mark.slow
def test_root_reads_the_tree(root_program, tmp_path):
    data = tmp_path / "events.root"
    write(data, events=5000, index=0, cluster=1000, codec="zstd")
    path = tmp_path / "trace.root"
    events = tm.dataset(str(data), tree="Events")
    tm.run(events.hist("MET_pt", bins=(10, 0, 100)), trace=path, trace_steps=True)
    rows = load(str(path)).rows
    root_program("sum_trace.py", path, tmp_path / "told.json")
    told = json.loads((tmp_path / "told.json").read_text())
    assert told.pop("seconds") == pytest.approx(sum(row.seconds for row in rows))
    assert told == {
        "rows": len(rows),
        "packets": sum(row.event == "packet" for row in rows),
        "packets_of_frames": sum(row.event == "packet" for row in rows),
        "entries": 5000,
        "bytes": sum(row.bytes_read for row in rows),
        "about": len(fields(About)),
        "read": sum(row.bytes_read for row in rows),
        "ranges": [row.ranges for row in rows if row.event == "read"],
    }
    assert told["read"] > 0
