"""Servers of Google's and Azure's object stores: fake-gcs-server (a program of its own) and azurite
(npm). They keep objects until they end.
"""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import json
import os
import urllib.request
from pathlib import Path

from .process import Server

__all__ = ["Azure", "Google"]

_BUCKET = "data"


class _Cloud(Server):
    """A server with one bucket. `environment` is what clients need beside the URL."""

    scheme: str

    @property
    def endpoint(self) -> str:
        """`http://…`."""
        return f"http://{self.host.address}:{self.ports[0]}"

    def url(self, path: str) -> str:
        """Clients need the `environment` too."""
        return f"{self.scheme}://{_BUCKET}/{path}"


class Google(_Cloud):
    """Google Cloud Storage, as fake-gcs-server has it."""

    program = "fake-gcs-server"
    scheme = "gs"

    @property
    def environment(self) -> dict[str, str]:
        """What a client's process must find."""
        key = {"client_email": "", "private_key": "", "private_key_id": "", "disable_oauth": True}
        key["gcs_base_url"] = self.endpoint
        return {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(key)}

    def put(self, source: str | os.PathLike[str], path: str) -> str:
        """See Server."""
        query = f"b/{_BUCKET}/o?uploadType=media&name={path}"
        self._post(f"upload/storage/v1/{query}", Path(source).read_bytes())
        return self.url(path)

    def _start(self) -> None:
        (port,) = self.ports
        words = [self.program, "-scheme", "http", "-backend", "memory", "-port", str(port)]
        words += ["-host", self.host.address, "-public-host", f"{self.host.address}:{port}"]
        self._wait_for_port(self._run(words, "gcs", is_ours=True), port)
        self._post("storage/v1/b?project=any", json.dumps({"name": _BUCKET}).encode())

    def _post(self, path: str, body: bytes) -> None:
        kind = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{self.endpoint}/{path}", body, kind, method="POST")
        with urllib.request.urlopen(request):
            pass


class Azure(_Cloud):
    """Azure's blobs, as azurite has them, with the account and key that all of its servers have."""

    program = "azurite-blob"
    scheme = "az"
    ACCOUNT = "devstoreaccount1"
    KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    """Published with azurite; no secret."""

    @property
    def environment(self) -> dict[str, str]:
        """What a client's process must find."""
        return {
            "AZURE_STORAGE_ACCOUNT_NAME": self.ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": self.KEY,
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": self.endpoint,
            "AZURE_ALLOW_HTTP": "true",
        }

    def put(self, source: str | os.PathLike[str], path: str) -> str:
        """See Server."""
        self._send(f"{_BUCKET}/{path}", "", Path(source).read_bytes())
        return self.url(path)

    def _start(self) -> None:
        (port,) = self.ports
        words = [self.program, "--blobHost", self.host.address, "--blobPort", str(port)]
        words += ["--location", str(self.data), "--silent", "--skipApiVersionCheck"]
        self._wait_for_port(self._run([*words, "--disableTelemetry"], "azure", is_ours=True), port)
        self._send(_BUCKET, "restype:container", b"")

    def _send(self, path: str, query: str, body: bytes) -> None:
        """A signed PUT ("Authorize with Shared Key"). `query`: `name:value`, or nothing."""
        own = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
        if body:
            own["x-ms-blob-type"] = "BlockBlob"
        kind, length = "application/octet-stream", str(len(body)) if body else ""
        lines = ["PUT", "", "", length, "", kind, *[""] * 6]
        lines += [f"{name}:{value}" for name, value in sorted(own.items())]
        lines += [f"/{self.ACCOUNT}/{self.ACCOUNT}/{path}", *filter(None, [query])]
        key = base64.b64decode(self.KEY)
        digest = hmac.new(key, "\n".join(lines).encode(), hashlib.sha256).digest()
        signed = f"SharedKey {self.ACCOUNT}:{base64.b64encode(digest).decode()}"
        where = f"{self.endpoint}/{self.ACCOUNT}/{path}"
        where += f"?{query.replace(':', '=')}" if query else ""
        told = own | {"Authorization": signed, "Content-Type": kind}
        with urllib.request.urlopen(urllib.request.Request(where, body, told, method="PUT")):
            pass
