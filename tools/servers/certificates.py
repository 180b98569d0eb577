"""Certificates of an authority of our own, which openssl makes: for servers with TLS, and for users
with proxies. Valid for a day, for nobody but tests.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

__all__ = ["make_authority", "make_certificate", "missing"]

_DAYS = "1"


def missing() -> str | None:
    """Why no certificates can be made here; None if they can."""
    return None if shutil.which("openssl") else "openssl is not installed"


def make_authority(folder: Path) -> Path:
    """Makes `ca.pem`, which a client must trust, and its key. Gives the path of `ca.pem`."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = folder / "ca.pem"
    _openssl(
        "req",
        "-x509",
        *_key(folder / "ca-key.pem"),
        "-subj",
        "/CN=a test authority",
        "-out",
        str(authority),
    )
    return authority


def make_certificate(authority: Path, folder: Path, *names: str) -> Path:
    """Makes `certificate.pem` and `key.pem` of a server that goes by `names` (`DNS:localhost`,
    `IP:127.0.0.1`). Gives the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    request, extensions = folder / "request.pem", folder / "extensions.cnf"
    extensions.write_text(f"subjectAltName={','.join(names)}\n")
    _openssl("req", *_key(folder / "key.pem"), "-subj", "/CN=a test server", "-out", str(request))
    _openssl(
        *("x509", "-req", "-in", str(request), "-days", _DAYS, "-extfile", str(extensions)),
        *("-CA", str(authority), "-CAkey", str(authority.with_name("ca-key.pem"))),
        *("-CAcreateserial", "-out", str(folder / "certificate.pem")),
    )
    return folder


def _key(path: Path) -> list[str]:
    """Options for a new key. Elliptic curves: RSA takes a second."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    return [*curve, "-nodes", "-days", _DAYS, "-keyout", str(path)]


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
