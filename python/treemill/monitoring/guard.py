"""Which requests to the page are answered. Pure: it sees the parts of a request, never a socket.

Other programs and other pages of the same browser can reach a port of this machine. So each request
must show the secret token of the page's address, must be addressed to this server by one of its own
names (a page of another site could let its own name lead here: DNS rebinding), and must come from
this page if the browser says from where it comes."""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

__all__ = ["Guard", "HttpRequest", "Refusal"]

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
        """`token`: the secret. `names`: names of this server beside those of the loopback."""
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
