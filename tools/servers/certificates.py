"""Certificates of an authority of our own, which openssl makes: for servers with TLS, and for users
with proxies. Valid for a day, for tests only.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

__all__ = [
    "digest",
    "make_authority",
    "make_certificate",
    "make_user",
    "missing",
    "name",
    "trusted_folder",
]

_DAYS = "1"
_PROXY = """\
proxyCertInfo=critical,language:id-ppl-inheritAll
keyUsage=critical,digitalSignature,keyEncipherment
"""
_USER = "/DC=test/CN=user"


def missing() -> str | None:
    """Why no certificates can be made here; None if they can."""
    return None if shutil.which("openssl") else "openssl is not installed"


def make_authority(folder: Path, *, is_rsa: bool = False) -> Path:
    """Makes `ca.pem`, which a client must trust, and its key. Gives the path of `ca.pem`.

    is_rsa: the key is one of RSA, as XRootD's GSI takes; else of an elliptic curve.
    """
    folder.mkdir(parents=True, exist_ok=True)
    authority = folder / "ca.pem"
    key = _key(folder / "ca-key.pem", is_rsa)
    _openssl("req", "-x509", *key, "-subj", "/CN=a test authority", "-out", str(authority))
    return authority


def make_certificate(authority: Path, folder: Path, *names: str, is_rsa: bool = False) -> Path:
    """Makes `certificate.pem` and `key.pem` of a server that goes by `names` (`DNS:localhost`,
    `IP:127.0.0.1`). Gives the folder. `is_rsa` as in `make_authority`."""
    extensions = f"subjectAltName={','.join(names)}\n"
    # Clients of GSI look at this name, too.
    (named, *_) = [each[4:] for each in names if each.startswith("DNS:")] or ["a test server"]
    return _signed(authority, folder, f"/CN={named}", extensions, is_rsa)


def make_user(authority: Path, folder: Path) -> Path:
    """Makes `certificate.pem` and `key.pem` of a user, and `proxy.pem`: a proxy of it (RFC 3820),
    the proxy's key, and the user's certificate. All keys are of RSA. Gives the folder."""
    own = "basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature,keyEncipherment\n"
    _signed(authority, folder, _USER, own, is_rsa=True)
    proxy = _signed(folder / "certificate.pem", folder / "proxy", f"{_USER}/CN=1", _PROXY, True)
    parts = (proxy / "certificate.pem", proxy / "key.pem", folder / "certificate.pem")
    target = folder / "proxy.pem"
    target.write_text("".join(part.read_text() for part in parts))
    target.chmod(0o600)
    return folder


def name(certificate: Path) -> str:
    """The name of a certificate's owner, as grids write it: `/DC=test/CN=user`."""
    done = _openssl("x509", "-in", str(certificate), "-noout", "-subject", "-nameopt", "compat")
    return done.stdout.strip().removeprefix("subject=")


def digest(certificate: Path) -> str:
    """The digest of the name of a certificate's owner, by which grids name files and users."""
    done = _openssl("x509", "-in", str(certificate), "-noout", "-subject_hash")
    return done.stdout.strip()


def trusted_folder(authority: Path, folder: Path) -> Path:
    """A folder of authorities as grids have it (`X509_CERT_DIR`), with this one. Gives it."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(authority, folder / f"{digest(authority)}.0")
    return folder


def _signed(by: Path, folder: Path, subject: str, extensions: str, is_rsa: bool) -> Path:
    """Makes `certificate.pem` and `key.pem` in `folder`, signed by the owner of `by`."""
    folder.mkdir(parents=True, exist_ok=True)
    request, said = folder / "request.pem", folder / "extensions.cnf"
    said.write_text(extensions)
    _openssl("req", *_key(folder / "key.pem", is_rsa), "-subj", subject, "-out", str(request))
    key = by.with_name(
        by.name.replace("certificate.pem", "key.pem").replace("ca.pem", "ca-key.pem")
    )
    _openssl(
        *("x509", "-req", "-in", str(request), "-days", _DAYS, "-extfile", str(said)),
        *("-CA", str(by), "-CAkey", str(key)),
        *("-CAcreateserial", "-out", str(folder / "certificate.pem")),
    )
    return folder


def _key(path: Path, is_rsa: bool) -> list[str]:
    """Options for a new key. Elliptic curves where they will do: RSA takes a second."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    kind = ["-newkey", "rsa:2048"] if is_rsa else curve
    return [*kind, "-nodes", "-days", _DAYS, "-keyout", str(path)]


def _openssl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, text=True)
