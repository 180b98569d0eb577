"""What can go wrong, as one tree of exceptions. Each carries the place where it happened.

Knows nothing of files, queries or workers, and of names only how expressions spell them: the code
that raises fills in the place. The native core raises these classes too.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, cast

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    class Place(TypedDict, total=False):
        """Where an error is: the keywords that all errors have."""

        file: str | None
        branch: str | None
        entries: tuple[int, int] | None
        offset: int | None


__all__ = [
    "ChangedError",
    "FormatError",
    "MissingPackageError",
    "QueryError",
    "QueryInterrupted",
    "SourceError",
    "StoppedError",
    "TreemillError",
    "TruncatedError",
    "UnknownBranchError",
    "UnsupportedError",
    "WorkerError",
    "check_flag",
    "check_text",
    "check_whole",
    "first_line",
    "is_plain",
    "listed",
    "local_path",
    "near",
    "outside",
    "portable",
    "quoted",
    "require_version",
    "sound_path",
    "unquoted",
    "without_credentials",
    "writing",
]


# How expressions spell names: words with dots as they are, all other names in backticks; and
# which names are similar to one that does not exist.

_LONGEST = 200
"""Letters of a name that may be a typing error."""

_SPELLED = {"true", "false"}
"""Words that are not names, in addition to Python's keywords."""


def is_plain(name: str) -> bool:
    """True if an expression may name it without backticks."""
    parts = name.split(".")
    return all(
        part.isidentifier() and not keyword.iskeyword(part) and part not in _SPELLED
        for part in parts
    ) and not any(part.startswith("_") for part in parts[1:])


def near(name: str, names: Iterable[str]) -> list[str]:
    """Gives up to three names that may have been meant; none for a name that is too long."""
    if len(name) > _LONGEST:
        return []
    from difflib import get_close_matches  # start-up

    return get_close_matches(name, [each for each in names if len(each) <= 2 * _LONGEST], 3)


def quoted(name: str) -> str:
    """A column's name as an expression spells it: `MET_pt`, `` `Muon#0.index` ``."""
    return name if is_plain(name) else f"`{name}`"


def unquoted(text: str) -> str | None:
    """The name that a text spells, in backticks or without; None if the text is not a name."""
    inner = text[1:-1]
    if len(text) > 2 and text[0] == text[-1] == "`" and not set(inner) & set("`\n"):
        return inner
    return text if is_plain(text) else None


_QUERY = r"\?(?:[^\s<>'\"]*[^\s<>'\"),;:.])?"
"""The query of an address, without the punctuation of the sentence that it stands in."""
_ADDRESS = re.compile(rf"([A-Za-z][A-Za-z0-9+.-]*://)(?:[^/\s@]*@)?([^\s?]*)(?:{_QUERY})?")
"""An address on a server: its scheme, its user and password, its path, its query."""


def first_line(error: BaseException) -> str:
    """The first line of what another library's error says; its class, if it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def without_credentials(text: str) -> str:
    """A text whose addresses have no users, passwords and queries: tokens travel in them."""
    return _ADDRESS.sub(r"\1\2", text) if "://" in text else text


def traceback_of(error: BaseException) -> str:
    """The error with the place where it was raised and its causes, as Python prints it, without
    credentials: for logs and for other processes."""
    import traceback  # start-up

    return without_credentials("".join(traceback.format_exception(error)))


class TreemillError(Exception):
    """Base of all errors that treemill raises on purpose.

    Attributes, each `None` if it is not known: `file` (path or URL), `branch` (its name), `entries`
    (half-open pair of entry numbers in that file), `offset` (byte in the file).
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        branch: str | None = None,
        entries: tuple[int, int] | None = None,
        offset: int | None = None,
    ) -> None:
        message = without_credentials(message)
        super().__init__(message)
        self.message = message
        self.file = None if file is None else without_credentials(file)
        self.branch = branch
        self.entries = entries
        self.offset = offset

    def __str__(self) -> str:
        places = [
            f"{word} {value}"
            for word, value in self._place()
            # The core may have put the file or the branch into its sentence already.
            if value and value not in self.message
        ]
        return f"{self.message} ({', '.join(places)})" if places else self.message

    def _place(self) -> Iterable[tuple[str, str]]:
        yield "file", without_credentials(self.file or "")
        yield "branch", self.branch or ""
        yield "entries", "" if self.entries is None else f"{self.entries[0]}..{self.entries[1]}"
        yield "byte", "" if self.offset is None else str(self.offset)

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword arguments do not pickle by themselves, and workers send them.
        return _rebuild, (type(self), dict(self.__dict__))


def _rebuild(kind: type[TreemillError], state: dict[str, object]) -> TreemillError:
    error = kind(str(state.get("message", "")))
    error.__dict__.update(state)
    return error


class SourceError(TreemillError):
    """treemill could not read or write bytes: the file does not exist, the permission or the space
    is missing, or a server does not answer.

    Attributes
    ----------
    kind : str or None
        Which of these it is, if the core met it in a file, in one word that does not change:
        "missing", "denied", "untrusted" (a certificate), "tls-required", "unreachable", "silent",
        "reset" or "lost" (a connection), "busy", "malformed" (an answer), "damaged" (it differs
        from its checksums), "changed", "unsupported", "invalid", "elsewhere" (this server cannot
        bring it now), "transient" (another reason that may pass) or "permanent" (one that does
        not). All errors have the other attributes.

    Examples
    --------
    >>> import treemill as tm
    >>> try:
    ...     tm.dataset("none.root", tree="Events").num_entries
    ... except tm.SourceError as error:
    ...     print(error.kind)
    missing
    """

    def __init__(
        self, message: str = "", *, kind: str | None = None, **place: Unpack[Place]
    ) -> None:
        super().__init__(message, **place)
        self.kind = kind


class ChangedError(SourceError):
    """A file has changed since the pass began, so entries of the old and the new state would be in
    one result. Another attempt in the same pass would not help."""


def sound_path(path: str | os.PathLike[str]) -> str:
    """The path as a text. Raises QueryError for what is none, and for one that no system has."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise QueryError(f"a path is a text, not {text!r:.60}")
    if "\0" in text:
        raise QueryError(f"a path cannot contain a zero byte: {text!r}")
    return text


# What options may be, for those that many functions have.


def check_flag(name: str, value: object) -> None:
    """Raises QueryError for what is not True or False."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
        raise QueryError(f"{name} is True or False, not {value!r:.60}")


def check_text(name: str, value: object) -> None:
    """Raises QueryError for what is no text, or none that can be written."""
    if not isinstance(value, str) or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise QueryError(f"{name} is a text, not {value!r:.60}")


def check_whole(name: str, value: object, least: int = 0) -> None:
    """Raises QueryError for what is no whole number, or one that is less than `least`."""
    try:
        is_whole = not isinstance(value, bool) and index(cast("SupportsIndex", value)) >= least
    except TypeError:
        is_whole = False
    if not is_whole:
        raise QueryError(f"{name} is a number of {least} or more, not {value!r:.60}")


def listed(name: str, value: object) -> list[str]:
    """One text or several as a list. Raises QueryError for anything else."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable):
        raise QueryError(f"{name} is a text or a list of texts, not {value!r:.60}")
    texts = [*value]
    for each in texts:
        check_text(f"each of {name}", each)
    return texts


def require_version(package: str, found: str, oldest: str, upgrade: str) -> None:
    """Raises UnsupportedError for a package that is older than `oldest`: year, month and number;
    what follows, as of a release candidate, does not count. `upgrade`: what pip installs."""

    def numbers(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", version)[:3])

    if numbers(found) < numbers(oldest):
        raise UnsupportedError(
            f"treemill needs {package} {oldest} or newer, and this is {found}: "
            f"pip install --upgrade {upgrade}"
        )


_ON_A_SERVER = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+://", re.IGNORECASE)


def local_path(path: str | os.PathLike[str]) -> str:
    """The path of a file or a folder that is to be made, as a text. Raises UnsupportedError for an
    address on a server: as a path it would name folders here, which nobody looks for."""
    text = sound_path(path)
    if _ON_A_SERVER.match(text):
        raise UnsupportedError(
            f"cannot write to {text}, which is on a server: give a path on this machine or on a "
            "mount, and copy the file to the server afterwards"
        )
    return text.removeprefix("file://")


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Makes a SourceError, which names the file that is being made, of what the system says."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write: {error.strerror or error}", file=path) from error


class FormatError(TreemillError):
    """The bytes of a file break ROOT's file format: it is not a ROOT file, is cut short, or is
    damaged."""


class TruncatedError(FormatError):
    """The file ends before what it says that it has."""


class UnsupportedError(TreemillError):
    """The file, expression or option is valid, but this version of treemill does not support it;
    the message names it. If a package is missing, the error is an ImportError, too, and the message
    says how to install the package."""


class MissingPackageError(UnsupportedError, ImportError):
    """A package that is needed is not installed; the message says how to install it."""


class QueryError(TreemillError):
    """An expression, a name or a booking makes no sense for this dataset.

    `text` is the expression, and `span` is the half-open range of its characters that the message
    describes. `suggestions` are names that may be right. If a column does not exist, `column` is
    its name.
    """

    def __init__(
        self,
        message: str = "",
        *,
        text: str | None = None,
        span: tuple[int, int] | None = None,
        suggestions: Iterable[str] = (),
        column: str | None = None,
        **place: Unpack[Place],
    ) -> None:
        super().__init__(message, **place)
        self.text = text
        self.span = span
        self.column = column
        self.suggestions = tuple(suggestions)

    def __str__(self) -> str:
        first = super().__str__()
        # The core may have named some already; MET_pt is not named by "no column MET_ptt".
        said = set(re.findall(r"\w+", first))
        unsaid = [name for name in self.suggestions if name not in said]
        # As an expression spells them, if the error is in an expression.
        unsaid = unsaid if self.text is None else [quoted(name) for name in unsaid]
        if unsaid:
            first += f"; did you mean {' or '.join(unsaid)}?"
        picture = underline(self.text, self.span)
        return f"{first}\n{picture}" if picture else first


class UnknownBranchError(QueryError, KeyError):
    """A mapping of branches has none of this name."""


class WorkerError(TreemillError):
    """A worker failed, for example in your code. `worker` is its name, and `traceback` is the
    worker's traceback."""

    def __init__(
        self,
        message: str = "",
        *,
        worker: str | None = None,
        traceback: str | None = None,
        **place: Unpack[Place],
    ) -> None:
        super().__init__(message, **place)
        self.worker = worker
        self.traceback = None if traceback is None else without_credentials(traceback)


class StoppedError(TreemillError):
    """Somebody else has stopped or aborted the query, so its result does not cover all entries.

    `by` names the person or program, `partial_result` has the results of the processed entries
    (None if no results exist), and `report` says which entries these are.
    `query.result(partial=True)` gives such a result without an error.
    """

    def __init__(
        self,
        message: str = "",
        *,
        by: str = "",
        partial_result: object = None,
        report: object = None,
        **place: Unpack[Place],
    ) -> None:
        super().__init__(message, **place)
        self.by = by
        self.partial_result = partial_result
        self.report = report


class QueryInterrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C during a query, and its workers have stopped.

    `partial_result` has the results of the entries so far (None if no results exist yet), and
    `report` says which entries these are.
    """

    def __init__(
        self, message: str, *, partial_result: object = None, report: object = None
    ) -> None:
        super().__init__(message)
        self.partial_result = partial_result
        self.report = report


def warn(message: str | Warning, kind: type[Warning] = UserWarning) -> None:
    """Warns at the line of the user's that has called treemill. A text has no credentials then, as
    errors have none; a warning that is made already leaves them out itself."""
    said = without_credentials(message) if isinstance(message, str) else message
    warnings.warn(said, kind, stacklevel=outside())  # noqa: TID251 - the one place


def outside() -> int:
    """The level of the frame that is not of treemill, as `warnings.warn` counts from its caller,
    which is the caller of this function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__")):
        frame, level = frame.f_back, level + 1
    return level


def _is_own(module: object) -> bool:
    return str(module).partition(".")[0] == "treemill"


# Expressions can be long; a line of a terminal is not.
_WIDTH = 96


def underline(text: str | None, span: tuple[int, int] | None) -> str:
    """The expression on one line and carets under `span` on the next; empty without a text."""
    if text is None:
        return ""
    line = "".join(c if c.isprintable() else " " for c in text)
    if span is None:
        return "  " + (line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…")
    start = min(max(span[0], 0), len(line))
    stop = min(max(span[1], start + 1), max(len(line), start + 1))
    cut = 0
    if len(line) > _WIDTH:
        cut = min(max(0, start - _WIDTH // 2), len(line) - _WIDTH)
        shown = line[cut : cut + _WIDTH]
        if cut > 0:
            shown = "…" + shown[1:]
        if cut + _WIDTH < len(line):
            shown = shown[:-1] + "…"
        line = shown
    carets = "^" * max(1, min(stop - cut, len(line) + 1) - (start - cut))
    return f"  {line}\n  {' ' * (start - cut)}{carets}"


def portable(error: BaseException, words: str, worker: str | None = None) -> BaseException:
    """The error in a form that can be sent to another process: itself, if it is treemill's or the
    system's and can be pickled. Else a WorkerError that begins with `words` and has the traceback
    as text."""
    import pickle  # start-up

    if isinstance(error, (TreemillError, OSError)):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            pass
        else:
            return error
    return WorkerError(
        f"{words}: {type(error).__name__}: {error}",
        worker=worker,
        traceback=traceback_of(error),
    )
