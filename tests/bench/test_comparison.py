"""The README's picture and lines are those of the newest raw results."""

import json

import pytest

from bench import comparison, publish


def results(folder, name, cells, **more):
    machine = {"cpu": "Intel(R) Xeon(R) Processor", "commit": "abc"}
    warm = [
        {"rival": rival, "query": query, "codec": codec, "wall": {"median": seconds}}
        for rival, query, codec, seconds in cells
    ]
    path = folder / name
    path.write_text(json.dumps({"machine": machine, "warm": warm, **more}))
    return path


@pytest.fixture
def shown(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison, "REPOSITORY", tmp_path)
    keys = comparison.QUERIES.values()
    cells = [
        (key, q, codec, 1.0) for key in keys for q in ("q1", "q2") for codec in ("zstd", "lz4")
    ]
    cells[0] = ("treemill", "q1", "zstd", 0.25)
    cells[2] = ("treemill", "q2", "zstd", 0.15)
    rivals = results(tmp_path, "2027-01-02-xeon-2-cores.json", cells)
    cells = [(key, "agc", "zstd", 3.0) for key in comparison.ANALYSIS.values()]
    cells[0] = ("agc-reading", "agc", "zstd", 0.5)
    whole = results(tmp_path, "2027-01-03-xeon-2-cores-agc.json", cells, events=1_000_000)
    return comparison.panels(rivals, whole)


def test_rates_are_of_all_queries_of_one_codec(shown):
    four, whole = shown
    assert four.rates == pytest.approx(
        {"treemill": 5, "RDataFrame in C++": 1, "uproot and awkward": 1}
    )
    assert whole.rates["treemill"] == pytest.approx(2)
    assert whole.ratio("RDataFrame in C++") == pytest.approx(6)


def test_lines_name_their_pages_and_replace_what_stood_there(shown):
    lines = comparison.told(shown)
    assert "5.0 (RDataFrame in C++)" in lines
    assert "[2027-01-02](2027-01-02-xeon-2-cores.md), Intel Xeon, commit abc" in lines
    before = f"a\n{comparison.BEGIN}old\n{comparison.END}b\n"
    assert comparison.with_lines(before, lines) == before.replace("old\n", lines)


def test_the_newest_of_a_kind_is_taken(tmp_path):
    for name in ("2027-01-01-x-2-cores", "2027-01-02-x-4-cores", "2027-01-03-x-2-cores-agc"):
        (tmp_path / f"{name}.json").touch()
    assert comparison.newest(tmp_path, "").name == "2027-01-02-x-4-cores.json"


def test_the_readme_has_them():
    shown = comparison.panels(
        comparison.newest(publish.FOLDER, ""), comparison.newest(publish.FOLDER, "-agc")
    )
    readme = comparison.README.read_text()
    assert comparison.with_lines(readme, comparison.told(shown)) == readme
    assert all(panel.source.is_file() for panel in shown)


def test_a_picture_is_drawn(shown, tmp_path):
    pytest.importorskip("matplotlib")
    comparison.draw(shown, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
