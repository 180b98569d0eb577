"""The README's Python works as pasted, and its commands are the Makefile's."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from treemill.facility.generate import Recipe

from tests.tutorials import programs, write_demo
from tools.list_pages import LIST, listed

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text()


def blocks(language, text=README):
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_python_works_as_pasted(tmp_path):
    code = "\n".join(blocks("python"))
    write_demo(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0].startswith("4000 ")


def pasted(page, folder):
    """What the code of a page of the docs prints, run as one program over the demo's data."""
    code = "\n".join(programs(page))
    write_demo(folder)
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_first_selector_works_as_pasted(tmp_path):
    code = programs("selectors")[0]
    write_demo(tmp_path)
    words = [sys.executable, "-c", code]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert 0 < float(ran.stdout) < 4000


def test_the_page_on_datasets_works_as_pasted(tmp_path):
    pasted("datasets", tmp_path)
    assert (tmp_path / "extra.root").exists()


def test_the_page_on_bookings_works_as_pasted(tmp_path):
    printed = pasted("bookings", tmp_path)
    lines = printed.splitlines()
    assert lines[0].startswith("two muons: pass=")
    names = [line.split()[0] for line in lines[2:]]
    assert names == ["nominal", "Jet_pt:up", "Jet_pt:down", "met:shift"]
    assert (tmp_path / "skim.root").exists()


def test_the_page_on_passes_prints_what_it_shows(tmp_path):
    (shown,) = blocks("text", (REPOSITORY / "docs" / "passes.md").read_text())
    assert pasted("passes", tmp_path).rstrip() == shown.rstrip()


def test_the_page_on_filesets_works_as_pasted(tmp_path):
    lines = pasted("filesets", tmp_path).splitlines()
    dy, tt, data = map(int, lines[0].split())
    assert 0 < dy < dy + tt == data
    assert lines[1] == "('MET_pt',) ('dataset', 'MET_pt') ['dy', 'tt', 'data']"
    assert lines[2] == "{'dy': 2000, 'tt': 0, 'data': 2000}"
    assert float(lines[3]) == 2000 * (6077.2 + 831.8) + 4000


def test_the_page_on_outputs_works_as_pasted(tmp_path):
    lines = pasted("outputs", tmp_path).splitlines()
    assert lines[-1].startswith("['signal_region/ttbar', 'signal_region/ttbar_jesUp'")
    assert {"results.root", "results.json.gz", "shapes.root"} <= {
        each.name for each in tmp_path.iterdir()
    }


@pytest.mark.slow
def test_the_page_on_drawing_works_as_pasted(tmp_path):
    printed = pasted("drawing", tmp_path)
    titles = [line for line in printed.splitlines() if line[:3] in ("Muo", "Jet", "MET")]
    assert titles[0] == "Muon_pt  where nMuon >= 2"
    assert (tmp_path / "met.png").stat().st_size > 1000


def test_the_page_for_agents_works_as_pasted(tmp_path):
    count, filled, bins = pasted("agents", tmp_path).split()
    assert 0 < int(count) <= 4000
    assert (float(filled) <= int(count), bins) == (True, "50")


def test_the_list_of_pages_is_that_of_the_pages():
    assert LIST.read_text() == listed(), "python -m tools.list_pages"


def test_the_page_on_checkpoints_works_as_pasted(tmp_path):
    printed = pasted("checkpoints", tmp_path)
    assert printed.splitlines() == ["4000", "4000 of 4000 events were kept before"]


def test_shell_commands_exist():
    makefile = (REPOSITORY / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", "".join(blocks("sh")), flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_shell_examples_name_files_that_the_demo_writes():
    names = {Recipe().name(i) for i in range(Recipe().files)}
    used = re.findall(r"demo-data/([\w.]+\.root)", "".join(blocks("sh")))
    assert used
    assert set(used) <= names
