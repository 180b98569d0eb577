"""Pictures of results: which rows become bars, and that they are drawn."""

import json

import pytest

from bench import pictures

ROWS = [
    {"what": "CMS 2013, here: treemill", "unit": "s", "values": [1.0], "goal": ""},
    {"what": "CMS 2013, 137 ms, 20 MB/s: treemill, XRootD", "unit": "s", "values": [2.0, 4.0]},
    {"what": "CMS 2013, 137 ms, 20 MB/s: ROOT, as it is (ended after 60 s)", "values": [60.0]},
    {"what": "CMS 2013, 137 ms, 20 MB/s: root / treemill", "unit": "x", "values": [20.0]},
    {"what": "replicas, 20 ms: lost when one of two dies", "values": [0.1], "goal": "≤ 3 s"},
]
ROWS = [{"unit": "s", "goal": "", "median": row["values"][0]} | row for row in ROWS]


def test_seconds_without_goals_are_bars():
    found = [(bar.panel, bar.contestant, bar.ended) for bar in pictures.bars(ROWS)]
    link = "137 ms, 20 MB/s"
    expected = [("here", "treemill", False), (link, "treemill, XRootD", False)]
    assert found == [*expected, (link, "ROOT, as it is", True)]


def test_a_picture_for_each_part(tmp_path):
    pytest.importorskip("matplotlib")
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"rows": ROWS}))
    assert pictures.main([str(results), "--output", str(tmp_path)]) == 0
    (made,) = tmp_path.glob("*.png")
    assert made.name == "io-cms-2013.png"
    assert made.read_bytes().startswith(b"\x89PNG")
