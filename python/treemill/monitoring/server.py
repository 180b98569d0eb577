"""The page's server: a socket, its threads, and one thread that looks at running queries. server.py
decides which requests are answered, dashboard_page.py makes the answers.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from .dashboard_page import HEADERS, LOOK_EVERY, REPORT_POLICY, Board, Screen, document, policy

__all__ = ["Dashboard", "Guard", "HttpRequest", "Refusal"]

# Which requests to the page are answered. Pure: it sees the parts of a request, never a socket.
# Other programs and other pages of the same browser can reach a port of this machine. So each
# request must show the secret token of the page's address, must be addressed to this server by
# one of its own names (a page of another site could let its own name lead here: DNS rebinding),
# and must come from this page if the browser says from where it comes.

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine that no other machine has."""
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:[0-9]+)?")
_LONGEST = 4096
"""Characters of a request's target, at most."""


@dataclass(frozen=True)
class HttpRequest:
    """A request that may be answered."""

    method: str
    path: str
    options: Mapping[str, str]
    """The options of the target, without the token."""


@dataclass(frozen=True)
class Refusal:
    """A request that is not answered: the status, and the reason in words."""

    status: int
    reason: str


class Guard:
    """Decides whether a request is answered."""

    def __init__(self, token: str, names: Collection[str] = ()) -> None:
        """`token`: the secret. `names`: names of this server in addition to those of the
        loopback.
        """
        self._token = token
        self._names = {name.lower() for name in (*LOOPBACK, *names)}

    def admit(self, method: str, target: str, headers: Mapping[str, str]) -> HttpRequest | Refusal:
        """The request, or why it is refused. `headers`: names in lower case."""
        if len(target) > _LONGEST:
            return Refusal(414, "the address is too long")
        host = headers.get("host", "")
        if _name(host) not in self._names:
            return Refusal(403, "this server does not have the name in the request")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return Refusal(403, "the request comes from another page")
        try:
            parts = urlsplit(target)
            given = parse_qs(parts.query, max_num_fields=10)
        except ValueError:
            return Refusal(400, "the address makes no sense")
        options = {name: values[0] for name, values in given.items()}
        shown = options.pop("token", "").encode()
        if not hmac.compare_digest(shown, self._token.encode()):
            return Refusal(403, "the address needs the token that the session printed")
        return HttpRequest(method, parts.path, options)


def _name(host: str) -> str:
    """A Host header without its port, which is another one behind a tunnel; empty for nonsense."""
    match = _HOST.fullmatch(host)
    return "" if match is None else match[1].lower()


_ANY = ("0.0.0.0", "::")
"""Addresses that stand for all of this machine's."""
_PATIENCE = 10.0
"""Seconds after which a silent connection is closed."""


class Dashboard:
    """A page that shows a session's queries. `Session.dashboard` makes it.

    `url` is the page's address, with the token that opens it; who has the address can see and stop
    the queries. `close` ends the page; the session's end does that, too."""

    def __init__(self, board: Board, host: str = "127.0.0.1", port: int = 0) -> None:
        """`port`: 0 for any that is free. Raises OSError if the port is taken."""
        self._board = board
        self._token = secrets.token_urlsafe(24)
        self._screen = Screen(board)
        self._closed = threading.Event()
        machine = socket.gethostname()
        names = () if host in LOOPBACK else (host, machine, socket.getfqdn())
        self._guard = Guard(self._token, names)
        self._server = _Server((host, port), self)
        shown = machine if host in _ANY else host
        self.url = f"http://{shown}:{self._server.server_address[1]}/?token={self._token}"
        """The address of the page."""
        for work in (self._server.serve_forever, self._look):
            threading.Thread(target=work, name="treemill-dashboard", daemon=True).start()

    def close(self) -> None:
        """Ends the page. Queries continue."""
        if not self._closed.is_set():
            self._closed.set()
            self._server.shutdown()
            self._server.server_close()

    def __enter__(self) -> Dashboard:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<dashboard: {'closed' if self._closed.is_set() else self.url}>"

    # Answers.

    def admit(self, method: str, target: str, headers: dict[str, str]) -> HttpRequest | Refusal:
        """See Guard."""
        return self._guard.admit(method, target, headers)

    def state(self, options: Mapping[str, str]) -> dict[str, object]:
        """See Screen."""
        return self._screen.state(options)

    def metrics(self) -> str:
        """See Screen."""
        return self._screen.metrics()

    def trace_page(self, name: str) -> str | None:
        """See Board."""
        return self._board.trace_page(name)

    def end(self, how: str, name: str) -> bool:
        """Stops or aborts a query. False if there is no such query that runs."""
        live = self._board.live(name)
        if live is None:
            return False
        {"stop": live.stop, "abort": live.abort}[how](f"{_ENDED[how]} on the dashboard")
        return True

    # Looking.

    def _look(self) -> None:
        while not self._closed.wait(LOOK_EVERY):
            self._screen.look()


_ENDED = {"stop": "stopped", "abort": "aborted"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], page: Dashboard) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.page = page
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of a browser that has gone before it had its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """One request. Bodies are not read: no request has one."""

    timeout = _PATIENCE
    server: _Server
    server_version, sys_version = "treemill", ""

    def do_GET(self) -> None:
        self._answer(
            {
                "/": self._page,
                "/state": self._state,
                "/metrics": self._metrics,
                "/trace": self._trace,
            }
        )

    def do_POST(self) -> None:
        self._answer({"/stop": self._end, "/abort": self._end})

    def _answer(self, table: dict[str, Callable[[HttpRequest], None]]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = self.server.page.admit(self.command, self.path, headers)
        if isinstance(request, Refusal):
            self._send(request.status, "text/plain", request.reason + "\n")
        elif request.path not in table:
            self._send(404, "text/plain", "there is no such page\n")
        else:
            table[request.path](request)

    def _page(self, request: HttpRequest) -> None:
        nonce = secrets.token_urlsafe(12)
        more = {"Content-Security-Policy": policy(nonce)}
        self._send(200, "text/html", document(nonce), more)

    def _state(self, request: HttpRequest) -> None:
        state = self.server.page.state(request.options)
        self._send(200, "application/json", json.dumps(state, allow_nan=False, default=str))

    def _metrics(self, request: HttpRequest) -> None:
        self._send(200, "text/plain", self.server.page.metrics())

    def _trace(self, request: HttpRequest) -> None:
        text = self.server.page.trace_page(request.options.get("query", ""))
        if text is None:
            self._send(404, "text/plain", "there is no such query that has ended with a trace\n")
        else:
            self._send(200, "text/html", text, {"Content-Security-Policy": REPORT_POLICY})

    def _end(self, request: HttpRequest) -> None:
        success = self.server.page.end(request.path[1:], request.options.get("query", ""))
        words = "the query ends\n" if success else "there is no such query that runs\n"
        self._send(200 if success else 404, "text/plain", words)

    def _send(self, status: int, kind: str, text: str, more: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
        }
        for name, value in (HEADERS | headers | (more or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Prints nothing: the address holds the token."""
