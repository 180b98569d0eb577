"""nginx: the plainest of HTTP servers, with ranges; TLS and passwords or tokens if wanted. Debian:
`nginx-light`.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from ..link.host import HERE, Host, give
from .process import Server

__all__ = ["Nginx"]

# One process, so that a signal reaches all of it.
_CONFIGURATION = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
  log_format requests
    '$status $request_method $request_uri range=$http_range sent=$body_bytes_sent';
  access_log {folder}/access.log requests;
  types {{ }}
  default_type application/octet-stream;
  sendfile on;
  client_body_temp_path {folder}/tmp;
  proxy_temp_path {folder}/tmp;
  fastcgi_temp_path {folder}/tmp;
  uwsgi_temp_path {folder}/tmp;
  scgi_temp_path {folder}/tmp;
  large_client_header_buffers 8 64k;
  map "$http_want_digest $uri" $digest {{
    default "";
    {digests}
  }}
  server {{
    listen {listen}{tls};
    root {data};
    {lines}
    location / {{ autoindex on; }}
    location ~ ^/moved/(?<path>.*)$ {{ return 302 $scheme://$http_host/$path$is_args$args; }}
  }}
  server {{ listen unix:{folder}/settled; access_log off; return 204; }}
}}
"""
_CERTIFICATE = """\
ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    ssl_session_cache none;"""
# Whoever shows none gets 400.
_USERS = """\
ssl_client_certificate {folder}/users.pem;
    ssl_verify_client on;"""
# A token that counts from now on, in place of the first one: nginx asks the file's name each time.
_TOKEN = """\
set $granted "{token}";
    if (-f {folder}/renewed) {{ set $granted "{renewed}"; }}
    if ($http_authorization != "Bearer $granted") {{ return {status}; }}"""


class Nginx(Server):
    """A server of HTTP. `/moved/PATH` redirects to `/PATH`; folders are listed.

    certificate: folder with `certificate.pem` and `key.pem`: the server speaks TLS.
    users: the certificate of an authority: clients must show a certificate that it has signed.
    token: what clients must bring in `Authorization: Bearer …`; else they get 401. `renew` lets it
        expire, and another one count.
    link: what every answer has as its header `Link`; nginx's variables count, such as `$uri`.
    pool: the base of the URLs to which all requests are redirected, as a door of dCache does.
    closes: each connection ends after one answer.
    digests: by path what its answers have as their header `Digest` if a client wants one, as dCache
        does.
    """

    program = "nginx"
    RENEWED = "another-token-of-the-user"

    def __init__(
        self,
        host: Host = HERE,
        *,
        certificate: Path | None = None,
        users: Path | None = None,
        token: str | None = None,
        link: str | None = None,
        pool: str | None = None,
        closes: bool = False,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self._certificate = certificate
        self._users = users
        self._token = token
        self._link = link
        self._pool, self._closes = pool, closes
        self._digests = digests or {}
        super().__init__(host)

    @classmethod
    def missing(cls) -> str | None:
        """See Server."""
        return None if _program() else "nginx is not installed"

    def url(self, path: str) -> str:
        """`http://`; with TLS `https://`."""
        scheme = "http" if self._certificate is None else "https"
        return f"{scheme}://{self.host.address}:{self.ports[0]}/{path}"

    def requests(self) -> list[str]:
        """What it was asked for: `STATUS METHOD PATH range=… sent=BYTES`, as requests ended.

        An answer is here before its line is in the log, so one more answer is waited for: by then
        the only thread has written the lines of those before it. A killed server has no more.
        """
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as settled:
            settled.settimeout(5)
            settled.connect(str(self.folder / "settled"))
            settled.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while settled.recv(1 << 10):
                pass
        path = self.folder / "access.log"
        return path.read_text().splitlines() if path.exists() else []

    def renew(self) -> str:
        """The token has expired. Gives the one that counts from now on."""
        (self.folder / "renewed").touch()
        return self.RENEWED

    def _start(self) -> None:
        (port,) = self.ports
        (self.folder / "settled").unlink(missing_ok=True)  # that of a server that was killed
        tls, lines = "", []
        if self._certificate is not None:
            tls = " ssl"
            lines.append(_CERTIFICATE.format(folder=self.folder))
            for name in ("certificate.pem", "key.pem"):
                shutil.copyfile(self._certificate / name, self.folder / name)
                give(self.folder / name)
        if self._users is not None:
            lines.append(_USERS.format(folder=self.folder))
            shutil.copyfile(self._users, self.folder / "users.pem")
            give(self.folder / "users.pem")
        if self._token is not None:
            tokens = {"token": self._token, "renewed": self.RENEWED}
            lines.append(_TOKEN.format(folder=self.folder, status=401, **tokens))
        if self._link is not None:
            lines.append(f"add_header Link '{self._link}' always;")
        if self._digests:
            lines.append("add_header Digest $digest;")
        digests = (
            f'"~^[^ ].* /{re.escape(path)}$" "{digest}";' for path, digest in self._digests.items()
        )
        if self._closes:
            lines.append("keepalive_timeout 0;")
        if self._pool is not None:
            lines.append(f"return 307 {self._pool}$request_uri;")
        path = self.folder / "nginx.conf"
        path.write_text(
            _CONFIGURATION.format(
                folder=self.folder,
                data=self.data,
                listen=f"{self.host.address}:{port}",
                tls=tls,
                lines="\n    ".join(lines),
                digests="\n    ".join(digests),
            )
        )
        program = _program()
        assert program is not None
        words = [program, "-p", str(self.folder), "-e", "stderr", "-c", str(path)]
        self._wait_for_port(self._run(words, "nginx"), port)


def _program() -> str | None:
    """Debian has it where ordinary users do not look."""
    return shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
