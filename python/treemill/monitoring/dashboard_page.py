"""The page's text: one HTML document with its script, its style and the plotting library inside, so
that it works without the internet. Pure, but for reading the package's own files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["HEADERS", "REPORT_POLICY", "document", "policy"]

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of all answers."""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of reports of traces: they run no script and load nothing. Their
style is in them, and has nothing of the user's."""

_NONCE = "@nonce@"
_PARTS = {
    "@plot-style@": "vendor/uPlot.min.css",
    "@style@": "page.css",
    "@plot-script@": "vendor/uPlot.iife.min.js",
    "@charts@": "charts.js",
    "@script@": "page.js",
}


@cache
def _template() -> str:
    folder = files(__package__) / "page"
    text = (folder / "page.html").read_text("utf-8")
    for mark, name in _PARTS.items():
        text = text.replace(mark, folder.joinpath(name).read_text("utf-8"))
    return text


def document(nonce: str) -> str:
    """The page. `nonce`: a random word, also of `policy`."""
    return _template().replace(_NONCE, nonce)


def policy(nonce: str) -> str:
    """Returns what the browser may do for the page (Content-Security-Policy): run its own script
    and style, ask this server, and nothing else."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
