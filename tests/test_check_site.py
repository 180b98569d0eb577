"""What `make docs` refuses: links that lead nowhere, and whatever comes from another server."""

import pytest

from tools.check_site import faults


@pytest.fixture
def site(tmp_path):
    (tmp_path / "style.css").write_text("body { background: url(picture.png) }")
    (tmp_path / "other.html").write_text('<h1 id="top">other</h1>')
    return tmp_path


def wrong(site, body):
    (site / "index.html").write_text(f"<html><body>{body}</body></html>")
    return list(faults(site))


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html#top">there</a>',
        '<p id="here"><a href="#here">here</a></p>',
        '<a href="https://example.org">readers may go there</a>',
        '<link rel="stylesheet" href="style.css?v=1">',
        '<img src="data:image/png;base64,AAAA">',
    ],
)
def test_a_sound_page(site, body):
    assert wrong(site, body) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="none.html">x</a>', "no such file: none.html"),
        ('<a href="other.html#bottom">x</a>', "no such place: other.html#bottom"),
        ('<a href="#bottom">x</a>', "no such place: #bottom"),
        ('<img src="none.png">', "no such file: none.png"),
        ('<script src="https://cdn.org/MathJax.js"></script>', "loads https://cdn.org/MathJax.js"),
        ('<link rel="stylesheet" href="//cdn.org/x.css">', "loads //cdn.org/x.css"),
        ('<p style="background: url(https://cdn.org/x.png)">', "loads https://cdn.org/x.png"),
    ],
)
def test_a_fault_is_told(site, body, said):
    assert wrong(site, body) == [f"index.html: {said}"]


def test_styles_load_nothing_from_elsewhere(site):
    (site / "style.css").write_text("@import 'https://fonts.org/a.css';")
    assert wrong(site, "") == ["style.css: loads https://fonts.org/a.css"]


def test_no_page_is_a_fault(tmp_path):
    assert "no page" in next(faults(tmp_path))
