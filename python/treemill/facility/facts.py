"""The facts of one process: versions, clock, files, permissions, space, memory. Judges nothing.

Each worker gets the text of this module and runs it, because functions cannot be sent from one
version of Python to another. So it needs Python alone, and knows nothing of treemill: it tries to
import it, as it tries other packages. It tells no secret: of a token only whether there is one.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Sequence

PACKAGES = (
    *("treemill", "numpy", "awkward", "hist", "boost-histogram", "vector", "uproot", "coffea"),
    *("dask", "distributed", "cloudpickle", "msgpack", "tornado"),
)
"""The packages whose versions are told."""
PLAIN = (
    *("HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "TZ", "LC_ALL", "OMP_NUM_THREADS"),
    *("X509_USER_PROXY", "X509_CERT_DIR", "BEARER_TOKEN_FILE", "KRB5CCNAME"),
)
"""Variables of the environment whose values are told, along with those that begin with XRD_ or
TREEMILL_."""
SECRET = ("BEARER_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Variables of which it is told only whether they are set."""


def gather(packages: Sequence[str] = (), scratch: str | None = None) -> dict[str, object]:
    """The facts of this process, but those of files. `packages`: more packages than those above;
    `scratch`: the folder for temporary files, if it is known."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "time": time.time(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": platform.machine(),
        "packages": {name: _version(name) for name in (*PACKAGES, *packages)},
        "treemill": _treemill(),
        "environment": _environment(),
        "user": _user(),
        "files": {},
        "proxy": _credential("X509_USER_PROXY", f"/tmp/x509up_u{_uid()}"),
        "token": _credential("BEARER_TOKEN_FILE", None),
        "scratch": _scratch(scratch or _dask_folder() or tempfile.gettempdir()),
        "memory": _memory(),
        "cores": _cores(),
        "open_files": _open_files(),
    }


def look(files: Sequence[tuple[str, str | None]]) -> dict[str, dict[str, object]]:
    """What this process finds of files, each with a tree in it or None, by `file:tree`."""
    opens = _treemill() is None
    return {named(path, tree): _file(path, tree, opens) for path, tree in files}


def named(path: str, tree: str | None) -> str:
    """A file and the tree in it, in one word."""
    return f"{path}:{tree}" if tree else path


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except Exception:
        return None


def _treemill() -> str | None:
    """None if treemill and its core can be imported, else why they cannot."""
    try:
        importlib.import_module("treemill._core")
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def _environment() -> dict[str, str]:
    variables = {
        name: value
        for name, value in os.environ.items()
        if name in PLAIN or name.startswith(("XRD_", "TREEMILL_"))
    }
    variables.update({name: "set" for name in SECRET if name in os.environ})
    return variables


def _uid() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _user() -> dict[str, object]:
    groups = sorted(os.getgroups()) if hasattr(os, "getgroups") else []
    return {"uid": _uid(), "groups": groups}


def _file(path: str, tree: str | None, opens: bool) -> dict[str, object]:
    """The size of a file, or why it cannot be read, and why it cannot be opened."""
    is_far = "://" in path and not path.startswith("file://")
    # Workers may have a Python without str.removeprefix.
    local = path[len("file://") :] if path.startswith("file://") else path
    plain = path if is_far else os.path.expanduser(local)
    found: dict[str, object] = {"size": None, "error": None, "content": None, "opened": False}
    try:
        if is_far:
            core = importlib.import_module("treemill._core")
            found["size"] = core.remote_stat(path)[0]
        else:
            with open(plain, "rb") as file:
                file.read(4)
                found["size"] = os.fstat(file.fileno()).st_size
    except OSError as error:
        found["error"] = error.strerror or str(error)
    except BaseException as error:
        found["error"] = f"{type(error).__name__}: {error}"
    if opens and found["error"] is None:
        found["content"] = _unopened(plain, tree)
        found["opened"] = found["content"] is None
    return found


def _unopened(path: str, tree: str | None) -> str | None:
    """None if treemill opens the file, and the tree in it if one is named, else why it does not."""
    try:
        if tree:
            len(importlib.import_module("treemill").dataset(path, tree))
        else:
            importlib.import_module("treemill._core").File(path)
    except BaseException as error:
        return str(getattr(error, "message", "") or f"{type(error).__name__}: {error}")
    return None


def _credential(variable: str, usual: str | None) -> dict[str, object] | None:
    """Whether a file with a credential is there and may be read: None if there should be none."""
    path = os.environ.get(variable)
    if path is None and usual is not None and os.path.exists(usual):
        path = usual
    return None if path is None else {"path": path, "readable": os.access(path, os.R_OK)}


def _dask_folder() -> str | None:
    """The folder of the Dask worker that this process is."""
    if "distributed" not in sys.modules:
        return None
    try:
        workers = sys.modules["distributed"].Worker._instances
        (folder,) = {each.local_directory for each in workers if each.status.name == "running"}
        return str(folder)
    except Exception:
        return None


def _scratch(folder: str) -> dict[str, object]:
    space: dict[str, object] = {"path": folder, "free": None, "error": None}
    try:
        space["free"] = shutil.disk_usage(folder).free
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"treemill" * 1024)
            file.flush()
    except OSError as error:
        space["error"] = error.strerror or str(error)
    return space


def _memory() -> int | None:
    """The bytes that this process may have, as far as the system says."""
    limits = []
    with contextlib.suppress(Exception):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(Exception), open(path) as file:
            limits.append(int(file.read()))
    with contextlib.suppress(Exception):
        import resource

        limits.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    return min((limit for limit in limits if limit > 0), default=None)


def _cores() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count()


def _open_files() -> int | None:
    try:
        import resource

        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except Exception:
        return None
