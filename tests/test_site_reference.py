"""The Python reference of the documentation's site has every method and field that users meet.
Slow: the site is built, without running its notebooks.
"""

import re

import pytest
import treemill as tm

from tests.python.test_docstrings import DESCRIBED, RECORDS
from tests.tutorials import build_site

pytest.importorskip("myst_nb", reason="myst-nb is not installed (dependency group `dev`)")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    """The names that have a place in the reference."""
    folder = tmp_path_factory.mktemp("site")
    build_site(folder)
    text = "".join(path.read_text() for path in (folder / "api").glob("*.html"))
    return set(re.findall(r'id="treemill\.([\w.]+)"', text))


def test_every_method_has_a_place(placed):
    for name, member in DESCRIBED.items():
        cls, _, method = name.rpartition(".")
        # What datasets and filesets have in common with nodes is told there.
        if not cls or getattr(tm.Node, method, None) is not member:
            assert {name, f"plot.{name}"} & placed, name


def test_every_field_has_a_place(placed):
    for record in RECORDS:
        module = "" if record.__name__ in tm.__all__ else record.__module__.partition(".")[2] + "."
        for field in record.__annotations__:
            assert f"{module}{record.__name__}.{field}" in placed, field


def test_what_is_for_treemill_itself_has_none(placed):
    assert not {"Query.drop", "Query.measured", "Dataset.filter"} & placed
