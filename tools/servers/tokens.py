"""Tokens for a real `xrootd`: a library by which it knows one token, and that one only for as long
as a file holds it. Those that it comes with need an issuer with a server of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ..link.host import give

__all__ = ["CONFIGURATION", "install", "missing", "renew"]

CONFIGURATION = """\
xrootd.seclib libXrdSec.so
sec.protocol ztn -expiry ignore -tokenlib {folder}/libtoken.so
sec.protbind {bound} only ztn
"""
"""`bound`: the clients that must log in by a token: `*` for all, or hosts."""

_LIBRARY = r"""
#include <fstream>
#include <string>
#include <vector>
class XrdSecEntity;
// The server's interface XrdSciTokensHelper, by its layout.
struct Helper {
    struct Issuer { std::string name, url; };
    virtual std::vector<Issuer> IssuerList() { return {}; }
    virtual bool Validate(const char *token, std::string &why, long long *expiry, XrdSecEntity *) {
        if (expiry) *expiry = -1;
        why = "it is not the token of the day";
        std::string known;
        std::getline(std::ifstream("FOLDER/token"), known);
        return known == token;
    }
    virtual ~Helper() {}
};
static Helper helper;
extern "C" { Helper *SciTokensHelper = &helper; }
"""


def missing() -> str | None:
    """Why no such library can be made here; None if it can."""
    return None if shutil.which("c++") else "c++ is not installed"


def install(folder: Path, token: str) -> None:
    """Makes the library in a server's folder, and the file with the token."""
    if not (folder / "token").exists():
        renew(folder, token)
    (folder / "token.cc").write_text(_LIBRARY.replace("FOLDER", str(folder)))
    command = ["c++", "-shared", "-fPIC", "-o", "libtoken.so", "token.cc"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def renew(folder: Path, token: str) -> None:
    """From now on this token counts, and no other one."""
    (folder / "token").write_text(token)
    give(folder / "token")
