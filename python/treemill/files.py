"""Results of selectors that are files: each worker writes parts of its own, and at the end they are
put together, all or nothing.

Knows files and uproot, no worker and no session.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import QueryError, SourceError

__all__ = ["FileOutput", "file_outputs"]


class FileOutput:
    """A ROOT file of trees, written by many workers: `self.output["skim"] =
    FileOutput("skim.root")` in begin_worker, `self.output["skim"].write(events[good])` in process.

    Parts lie in a hidden folder beside the file until the query has ended well; then the file
    appears, complete (`as_dataset`: a folder of that name with the parts in it). An older one is
    replaced in the same moment. Without an end there is no file.
    """

    def __init__(self, path: str | os.PathLike[str], *, as_dataset: bool = False) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.as_dataset = as_dataset
        self.parts: list[str] = []
        self._folder = f"{os.path.dirname(self.path)}/.{os.path.basename(self.path)}.parts"
        self._writer: Any = None

    def write(self, columns: Any, tree: str = "Events") -> None:
        """Adds entries to a tree: a mapping of names to arrays, or an awkward array of records."""
        if not isinstance(columns, Mapping):
            columns = {name: columns[name] for name in columns.fields}
        try:
            if self._writer is None:
                self._open()
            if tree in self._writer:
                self._writer[tree].extend(columns)
            else:
                import awkward as ak

                kinds = {name: _type(ak.Array(array)) for name, array in columns.items()}
                self._writer.mktree(tree, kinds).extend(columns)
        except OSError as error:
            raise SourceError(f"cannot write: {error.strerror or error}", file=self.path) from error

    def _open(self) -> None:
        import uproot

        os.makedirs(self._folder, exist_ok=True)
        part = f"{self._folder}/{uuid.uuid4().hex}.root"
        self._writer = uproot.recreate(part)
        self.parts.append(part)

    def close(self) -> None:
        """Ends this part; what is written later goes into another one."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            try:
                writer.close()
            except OSError as error:
                message = f"cannot write: {error.strerror or error}"
                raise SourceError(message, file=self.path) from error

    def discard(self) -> None:
        """Removes what was written and not handed over."""
        writer, self._writer = self._writer, None
        for part in self.parts:
            Path(part).unlink(missing_ok=True)
        self.parts = []
        if writer is not None:
            with contextlib.suppress(OSError, ValueError):  # its file is gone
                writer.close()
        with contextlib.suppress(OSError):  # other parts are in there
            os.rmdir(self._folder)

    def merge(self, other: FileOutput) -> None:
        """The other's parts belong to this file, too."""
        if other.path != self.path:
            raise QueryError(f"{other.path} and {self.path} are different files")
        self.parts += other.parts

    def finish(self) -> None:
        """All workers have ended: makes the file. Raises SourceError where the disk does not let
        it; then the parts are gone, and an older file is as it was."""
        try:
            if self.as_dataset:
                self._make_folder()
            elif self.parts:
                self._make_file()
        except OSError as error:
            message = f"cannot write: {error.strerror or error}"
            raise SourceError(message, file=self.path) from error
        finally:
            self.drop()

    def drop(self) -> None:
        """Removes the parts."""
        for part in self.parts:
            Path(part).unlink(missing_ok=True)
        self.parts = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _make_folder(self) -> None:
        made = tempfile.mkdtemp(dir=os.path.dirname(self.path), prefix=".treemill-")
        old = f"{made}.old"
        try:
            for number, part in enumerate(self.parts):
                os.replace(part, f"{made}/part-{number:05d}.root")
            os.chmod(made, 0o755)
            # A folder that is not empty cannot be replaced, so the older one steps aside.
            if os.path.isdir(self.path):
                os.replace(self.path, old)
            os.replace(made, self.path)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            if os.path.isdir(old):
                os.rename(old, self.path)
            raise
        shutil.rmtree(old, ignore_errors=True)

    def _make_file(self) -> None:
        import uproot

        made = f"{self._folder}/merged.root"
        if len(self.parts) == 1:
            made = self.parts[0]
        else:
            with uproot.recreate(made) as target:
                for part in self.parts:
                    with uproot.open(part) as source:
                        for name in source.keys(recursive=False, cycle=False):
                            for chunk in source[name].iterate(step_size="50 MB"):
                                _append(target, name, chunk)
        os.replace(made, self.path)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_writer": None}

    def __deepcopy__(self, memory: dict[int, Any]) -> FileOutput:
        copied = FileOutput(self.path, as_dataset=self.as_dataset)
        copied.parts = list(self.parts)
        copied._folder = self._folder
        return copied

    def __repr__(self) -> str:
        return f"FileOutput({self.path!r})"


def _append(target: Any, name: str, chunk: Any) -> None:
    columns = {field: chunk[field] for field in chunk.fields}
    # uproot writes the counters of jagged branches by itself.
    columns = {k: v for k, v in columns.items() if not (k[0] == "n" and k[1:] in columns)}
    if name in target:
        target[name].extend(columns)
    else:
        import awkward as ak

        target.mktree(name, {k: _type(ak.Array(v)) for k, v in columns.items()}).extend(columns)


def _type(array: Any) -> Any:
    import awkward as ak

    return ak.type(array).content


def file_outputs(output: Any) -> Iterator[FileOutput]:
    """All in an output."""
    if isinstance(output, FileOutput):
        yield output
    elif isinstance(output, Mapping):
        for value in output.values():
            yield from file_outputs(value)
