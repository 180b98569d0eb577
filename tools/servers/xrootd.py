"""XRootD's own server: one alone, which speaks HTTP too, and a federation of a redirector and data
servers. Debian: `xrootd-server`, `xrootd-server-plugins`, `xrootd-plugins`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..link.host import HERE, Host, give
from . import certificates, tokens
from .process import Process, Server

__all__ = ["Federation", "Member", "XRootD"]

_COMMON = """\
all.export /
all.adminpath {run}
all.pidpath {run}
xrd.port {port}
xrd.network nodnr
"""
_HTTP = """\
xrd.protocol http:{port} libXrdHttp.so
http.listingdeny no
"""
_TLS = """\
xrd.tls {folder}/certificate.pem {folder}/key.pem
xrd.tlsca noverify
"""
_TLS_OF_USERS = """\
xrd.tls {folder}/certificate.pem {folder}/key.pem
xrd.tlsca certdir {folder}/trusted
xrootd.tls none
xrootd.seclib libXrdSec.so
sec.protocol gsi -certdir:{folder}/trusted -cert:{folder}/certificate.pem -key:{folder}/key.pem \
-crl:0 -gmapopt:10 -dlgpxy:0
ofs.authorize 1
acc.authdb {folder}/users
"""
_SECURITY: Mapping[str, str] = {
    "none": "",
    "host": "xrootd.seclib libXrdSec.so\nsec.protocol host\n",
    "unix": "xrootd.seclib libXrdSec.so\nsec.protocol unix\n",
}


class XRootD(Server):
    """One server, without a federation. `http_url` gives the same files by HTTP.

    security: what a client must show: "none", "host" or "unix".
    certificate: folder with `certificate.pem` and `key.pem`, for TLS.
    users: the certificate of the only user who may read, and that of the authority who has signed
        it. The user logs in by GSI, and by HTTP shows the certificate, or a proxy of it. Needs a
        certificate of the server's own, too, with keys of RSA.
    token: what clients must log in with; needs a certificate. `renew` lets it expire.
    pool: a server that has the files. This one sends every client there, whatever that has tried
        before, as a door of dCache does.
    checksums: it computes the checksum adler32 of a file that it is asked for.
    """

    program = "xrootd"

    def __init__(
        self,
        host: Host = HERE,
        *,
        security: str = "none",
        certificate: Path | None = None,
        users: tuple[Path, Path] | None = None,
        token: str | None = None,
        pool: XRootD | None = None,
        checksums: bool = False,
    ) -> None:
        self._token = token
        self._security = security
        self._users = users
        self._certificate = certificate
        self._pool = pool
        self._checksums = checksums
        super().__init__(host)

    def url(self, path: str) -> str:
        """`root://`; with TLS `roots://`, unless users log in by GSI."""
        is_plain = self._certificate is None or self._users is not None
        scheme = "root" if is_plain else "roots"
        return f"{scheme}://{self.host.address}:{self.ports[0]}//{path}"

    def http_url(self, path: str) -> str:
        """`http://`; with TLS `https://`."""
        scheme = "http" if self._certificate is None else "https"
        return f"{scheme}://{self.host.address}:{self.ports[0]}/{path}"

    def _start(self) -> None:
        (port,) = self.ports
        parts = [_COMMON.format(run=self.folder, port=port), f"oss.localroot {self.data}\n"]
        if self._certificate is not None:
            _private_copy(self._certificate, self.folder)
            parts.append(
                (_TLS if self._users is None else _TLS_OF_USERS).format(folder=self.folder)
            )
        if self._users is not None:
            self._write_users(*self._users)
        if self._pool is not None:
            parts.append(f"xrootd.redirect {self._pool.host.address}:{self._pool.ports[0]} /\n")
        parts.append(_SECURITY[self._security])
        if self._token is not None:
            tokens.install(self.folder, self._token)
            parts.append(tokens.CONFIGURATION.format(folder=self.folder, bound="*"))
        parts.append(_HTTP.format(port=port))
        if self._checksums:
            parts.append("xrootd.chksum max 2 adler32\n")
        process = _run(self, "xrootd", "".join(parts))
        self._wait_for_port(process, port)

    def renew(self, token: str) -> None:
        """The token has expired for those who log in anew; this one counts from now on."""
        tokens.renew(self.folder, token)

    def _write_users(self, user: Path, authority: Path) -> None:
        """Who may read: by GSI a user has a whole name, by HTTP its digest."""
        certificates.trusted_folder(authority, self.folder / "trusted")
        names = (certificates.name(user), f"{certificates.digest(user)}.0")
        lines = (f"u {name} / rl\n" for name in names)
        (self.folder / "users").write_text("".join(lines))


def _run(server: Server, program: str, configuration: str) -> Process:
    path = server.folder / f"{program}.cfg"
    path.write_text(configuration)
    return server._run([program, "-c", str(path), "-n", "it"], program)


def _private_copy(certificate: Path, folder: Path) -> Path:
    """Keys must be the server's own, and readable for no other user."""
    for name in ("certificate.pem", "key.pem"):
        path = folder / name
        shutil.copyfile(certificate / name, path)
        path.chmod(0o600)
        give(path)
    return folder


_MANAGER_PORT = 1213
_PORT = 1094
# A federation has hosts of its own, so that its ports are the usual ones. A manager with fewer
# servers than it is told to have redirects no client: also later, when one is lost.
_MANAGER = """\
all.role manager
all.manager {manager}
cms.delay startup 1 servers 1 lookup 1 qdl 1
"""
_SERVER = """\
all.role server
all.manager {manager}
oss.localroot {data}
"""


class Member(Server):
    """A host of a federation: a program `cmsd` for the federation beside the server.

    certificate, token: as of XRootD.
    """

    program = "xrootd"
    ports_needed = 0

    def __init__(
        self,
        host: Host,
        manager: Host,
        *,
        certificate: Path | None = None,
        token: str | None = None,
    ) -> None:
        self._manager = f"{manager.name}:{_MANAGER_PORT}"
        self._is_manager = host is manager
        self._certificate, self._token = certificate, token
        super().__init__(host)

    def url(self, path: str) -> str:
        """`root://`, of this host; with TLS `roots://`."""
        scheme = "root" if self._certificate is None else "roots"
        return f"{scheme}://{self.host.address}:{_PORT}//{path}"

    def http_url(self, path: str) -> str:
        """By the HTTP plug-in; the redirector answers with a redirect."""
        return f"http://{self.host.address}:{_PORT}/{path}"

    def _start(self) -> None:
        role = (_MANAGER if self._is_manager else _SERVER).format(
            manager=self._manager, data=self.data
        )
        cmsd = _run(self, "cmsd", _COMMON.format(run=self.folder, port="any") + role)
        # Without its socket xrootd would not find it, and would look again after 10 s.
        sockets = self.folder / "it" / ".olb"
        cmsd.wait_until(lambda: any(sockets.glob("olbd.*")), "its socket is there")
        common = _COMMON.format(run=self.folder, port=_PORT)
        if self._certificate is None:
            common += _HTTP.format(port=_PORT)
        else:
            _private_copy(self._certificate, self.folder)
            common += _TLS.format(folder=self.folder) + "xrootd.tls all\n"
        if self._token is not None:
            tokens.install(self.folder, self._token)
            common += tokens.CONFIGURATION.format(folder=self.folder, bound="*")
        xrootd = _run(self, "xrootd", common + role)
        self._wait_for_port(xrootd, _PORT)


class Federation:
    """A redirector and data servers, each on a host of its own: with one address for several
    servers, a client cannot tell the redirector which of them it has tried.

    certificates: those of the redirector and of each server, for TLS on all of them.
    token: what clients must log in with everywhere.
    """

    def __init__(
        self,
        redirector: Host,
        servers: Sequence[Host],
        *,
        certificates: Sequence[Path] = (),
        token: str | None = None,
    ) -> None:
        own: list[Path | None] = [*certificates] or [None] * (1 + len(servers))
        self.servers: list[Member] = []
        self.redirector = Member(redirector, redirector, certificate=own[0], token=token)
        try:
            for host, certificate in zip(servers, own[1:], strict=True):
                member = Member(host, redirector, certificate=certificate, token=token)
                self.servers.append(member)
            self._wait_until_whole()
        except BaseException:
            self.stop()
            raise

    @staticmethod
    def missing() -> str | None:
        """Why there can be no federation here, hosts apart; None if there can."""
        absent = [name for name in ("xrootd", "cmsd") if shutil.which(name) is None]
        return f"{', '.join(absent)}: not installed" if absent else None

    def url(self, path: str) -> str:
        """Of a file by the redirector."""
        return self.redirector.url(path)

    def put(self, source: str | os.PathLike[str], path: str, *servers: int) -> str:
        """Copies a file to the data servers with these numbers (all). Gives its URL."""
        for number in servers or range(len(self.servers)):
            self.servers[number].put(source, path)
        return self.url(path)

    def stop(self) -> None:
        """Ends all of it."""
        for member in (*self.servers, self.redirector):
            member.stop()

    def __enter__(self) -> Federation:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _wait_until_whole(self) -> None:
        """Until the redirector sends clients to every server."""
        cmsd = self.redirector.processes[0]

        def is_whole() -> bool:
            said = cmsd.log.read_text(errors="replace")
            lines = (f"@{member.host.name}:{_PORT} logged in" for member in self.servers)
            return "service enabled" in said and all(line in said for line in lines)

        cmsd.wait_until(is_whole, "all servers have logged in")
