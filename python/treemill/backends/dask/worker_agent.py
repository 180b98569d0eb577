"""What one of Dask's worker processes has of treemill: the workers of each pass, its mailbox to the
scheduler, and the bytes and packages that it has got. Knows no Dask: worker_plugin.py carries its
messages.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import socket
import sys
import threading
import uuid
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from ...errors import portable
from ...scheduling import Ranges
from .memory_limits import AtWork, Kept, LowWater, Measured, Over, watch
from .merger import Read, RefusedByMerger
from .messages import (
    Act,
    Begin,
    Crashed,
    Drop,
    End,
    Fetch,
    Hold,
    KeepsMemory,
    Mailbox,
    Parcel,
    Recall,
    RecallFrom,
)
from .operation import ProcessActivity, activity
from .pass_workers import Handed, PassWorkers

__all__ = ["WorkerAgent"]

_BLOB_BYTES = 512 << 20
"""Bytes of tasks and inputs that a process keeps for passes to come."""

_ENDED = ", which has ended"
"""Behind the name of a pass that has ended here, and is at work still."""

Hand = Callable[[str, Handed, Ranges, "bytes | None"], "Future[None]"]


class WorkerAgent:
    """The workers of a process, by pass. `receive` and `parcel` are called on the event loop."""

    def __init__(
        self,
        address: str,
        folder: str,
        fetch: Callable[[str], bytes],
        hand: Hand,
        read: Callable[[str, str, int], Future[Read]],
        awake: Callable[[float], None],
        memory: int = 0,
    ) -> None:
        """`folder`: where packages are put. `fetch` gets bytes from the scheduler, and waits.
        `hand` hands a partial to another process, and `read` gets what a merger there has. `awake`
        is called, on any thread, when there is something to be sent, with what else there will be
        within so many seconds. `memory`: the most bytes that the process may have; 0: nobody
        knows."""
        self.address = address
        self.hand = hand
        self.fetch = read
        self.names: tuple[str, ...] = (socket.gethostname(),)
        self.called = f"{address} ({self.names[0]})"
        """This process as errors name it: its address, and its host as people call it."""
        threading.Thread(target=self._ask_names, name="treemill-names", daemon=True).start()
        self._folder = folder
        self._fetch = fetch
        self._awake = awake
        self._awoken: float | None = None  # within which time what there is will be sent
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._paths: tuple[str, ...] = ()
        self._unpacked_digests: set[str] = set()
        self._passes: dict[str, PassWorkers] = {}
        self._ended: list[PassWorkers] = []  # that are at work still
        self._is_watched = False
        self.looks = threading.Event()
        """Is set if there should be a look at the memory at once."""
        self._limit = memory
        self.restart()

    def _ask_names(self) -> None:
        self.names = (*self.names, socket.getfqdn())  # may ask a name service, which may be slow

    def restart(self) -> None:
        """Starts over, because the scheduler has given this process up."""
        for pass_workers in self._passes.values():
            pass_workers.end()
        with self._lock:
            self._passes = {}
            self.start = uuid.uuid4().hex
            self._mail = Mailbox()
            self.low_water = LowWater(self._limit) if self._limit else None

    # Messages.

    def send_message(self, message: object, within: float = 0.0) -> None:
        """Sends a message to the scheduler, at once or with others within so many seconds."""
        with self._lock:
            self._mail.put(message)
            is_sooner = self._awoken is None or within < self._awoken
            if is_sooner:
                self._awoken = within
        if is_sooner or not within:
            self._awake(within)

    @property
    def is_busy(self) -> bool:
        """True if the process has a part in a pass."""
        return bool(self._passes)

    @property
    def has_mail(self) -> bool:
        """True if there is something to be sent."""
        return self._mail.waiting

    def parcel(self) -> Parcel:
        """Returns what is to be sent."""
        with self._lock:
            self._awoken = None
            return self._mail.parcel()

    def receive(self, parcel: Parcel) -> None:
        """Handles what the scheduler has sent."""
        with self._lock:
            messages = self._mail.take(parcel)
        for message in messages:
            try:
                self._handle(message)
            except Exception as error:  # those after it are not said again
                told = portable(error, f"worker {self.called} failed", self.called)
                self.send_message(Crashed(message.work, told))  # type: ignore[attr-defined]

    def _handle(self, message: object) -> None:
        if isinstance(message, Begin):
            self._passes[message.work] = PassWorkers(message, self)
            with self._lock:  # or the last look of the watch that ends may not have seen this pass
                is_new, self._is_watched = not self._is_watched, True
            if is_new:
                watch(self)
            elif message.memory is not None:
                self.looks.set()
            return
        assert isinstance(message, Hold | Act | Recall | Fetch | RecallFrom | Drop | End)
        pass_workers = self._passes.get(message.work)
        if pass_workers is None:
            return
        if isinstance(message, End):
            del self._passes[message.work]
            pass_workers.end()
            with self._lock:
                there = [*self._ended, pass_workers]
                self._ended = [each for each in there if each.is_at_work]
        elif isinstance(message, Drop):
            pass_workers.drop(message.merger)
        else:
            pass_workers.receive(message)

    # Memory, on a thread of its own.

    @property
    def has_limits(self) -> bool:
        """True if some pass may take so many bytes only."""
        return any(each.memory is not None for each in list(self._passes.values()))

    def at_work(self) -> dict[str, AtWork] | None:
        """What the passes have done since the last look. None if there is none any more."""
        with self._lock:
            passes = list(self._passes.values())
            self._ended = [each for each in self._ended if each.is_at_work]
            late = [(each.name, doing) for each in self._ended if (doing := each.worked())]
            if not passes:
                self._is_watched = False
                return None
        ended = {name + _ENDED: doing for name, doing in late}
        return ended | {each.name: doing for each in passes if (doing := each.worked())}

    def has_ended(self, work: str) -> bool:
        """True if this pass has no part in the process any more."""
        return work not in self._passes

    def tell_memory(self, found: Over | Measured | Kept) -> None:
        """Something was found."""
        if isinstance(found, Kept):
            worked = tuple({work.removesuffix(_ENDED) for work in found.worked})
            self.send_message(KeepsMemory(found.keeps, self._limit, worked))
            return
        pass_workers = self._passes.get(found.work)
        if pass_workers is not None:
            pass_workers.tell_memory(found)

    def end(self) -> None:
        """Ends the workers of all passes: the process ends."""
        for pass_workers in self._passes.values():
            pass_workers.end()

    # What other processes ask; on threads that may wait.

    def take(self, which: Handed, covers: Ranges, data: bytes | None) -> None:
        """Merges a partial. See Merger."""
        work, merger, worker, number, is_aside = which
        self._workers_of(work).take(merger, worker, number, covers, data, is_aside)

    def read(self, work: str, merger: int) -> Read:
        """Returns what a merger has. See Merger."""
        return self._workers_of(work).read(merger)

    def _workers_of(self, work: str) -> PassWorkers:
        pass_workers = self._passes.get(work)
        if pass_workers is None:
            raise RefusedByMerger
        return pass_workers

    def activity(self, held: bool) -> ProcessActivity:
        """What the workers do now. `held`: count what mergers hold, too."""
        return activity(self.address, list(self._passes.values()), held)

    # What the workers of a pass need.

    def blob(self, digest: str) -> bytes:
        """Gets the bytes with this digest, once."""
        with self._loading:
            data = self._blobs.pop(digest, None)
            if data is None:
                data = self._fetch(digest)
            self._blobs[digest] = data
            while sum(map(len, self._blobs.values())) > _BLOB_BYTES and len(self._blobs) > 1:
                self._blobs.popitem(last=False)
            return data

    def paths(self, packages: Sequence[str]) -> None:
        """Puts these packages first on the import path, and takes earlier ones off it."""
        wanted = tuple(self._unpacked(digest) for digest in packages)
        with self._loading:
            if wanted != self._paths:
                left = [path for path in self._paths if path not in wanted]
                sys.path[:] = [*wanted, *(p for p in sys.path if p not in {*left, *wanted})]
                _forget_modules(left)
                importlib.invalidate_caches()
                self._paths = wanted
                # The hook of uploaded packages, which few of them have.
                if importlib.util.find_spec("treemill_setup") is not None:
                    importlib.import_module("treemill_setup")

    def _unpacked(self, digest: str) -> str:
        """The folder of a package, unpacked once: another pass may import from it."""
        target = os.path.join(self._folder, f"treemill-{digest[:16]}")
        if digest in self._unpacked_digests:
            return target
        data = self.blob(digest)
        with self._loading, zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(target)
            self._unpacked_digests.add(digest)
        return target


def _forget_modules(folders: Sequence[str]) -> None:
    """Forgets the modules of packages that are on the path no more: a later one may have another
    module of the same name."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and any(file.startswith(f"{folder}{os.sep}") for folder in folders):
            del sys.modules[name]
