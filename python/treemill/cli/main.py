"""The command `treemill`: parses arguments, calls the library, prints. A command imports what it
needs when it is called.

Exit status: 0; 1 for an error, which is printed to standard error in one line, followed by the
expression and the place in it if an expression is wrong; 2 for wrong usage; 130 after Ctrl-C.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

import click

from .._system.files import picture_file, whole_file, write_text
from ..errors import TreemillError, UnsupportedError, local_path, without_credentials, writing

if TYPE_CHECKING:
    from ..session.draw import Drawn

__all__ = ["cli", "main"]

# Writes a histogram to a file, in the format that the file's suffix names.


def check(path: str) -> None:
    """Raises UnsupportedError if `write` cannot write such a file. To be called before the work."""
    suffix = Path(local_path(path)).suffix.lower()
    if suffix not in _WRITERS:
        raise UnsupportedError(f"cannot write {path}: give it one of {' '.join(_WRITERS)}")
    if _WRITERS[suffix] is _picture:
        for module in ("matplotlib", "mplhep"):
            if importlib.util.find_spec(module) is None:
                raise UnsupportedError(f"pictures need {module}: pip install 'treemill[plot]'")


def write(drawn: Drawn, path: str, log: bool = False) -> None:
    """Writes the histogram. Raises SourceError if the file cannot be written. `log`: draw a picture
    on a logarithmic scale."""
    _WRITERS[Path(path).suffix.lower()](drawn, path, log)


def _picture(drawn: Drawn, path: str, log: bool) -> None:
    from ..pictures.pictures import save  # start-up

    with picture_file(path) as (file, form):
        save([drawn.histogram], [drawn.title], file, log, form)


def _root(drawn: Drawn, path: str, _log: bool) -> None:
    import uproot

    with writing(path), whole_file(path) as whole, uproot.recreate(whole) as file:
        file[_object_name(drawn.name)] = drawn.histogram


def _object_name(words: str) -> str:
    """A name that ROOT's prompt can use, of letters, digits and underscores."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in words).strip("_")
    return name if name and not name[0].isdigit() else f"h_{name}"


def _json(drawn: Drawn, path: str, _log: bool) -> None:
    import json

    import uhi.io.json

    text = json.dumps(drawn.histogram, default=uhi.io.json.default, allow_nan=False)
    write_text(path, text + "\n")


_WRITERS: dict[str, Callable[[Drawn, str, bool], None]] = {
    ".png": _picture,
    ".pdf": _picture,
    ".svg": _picture,
    ".root": _root,
    ".json": _json,
}


_Axis: TypeAlias = int | tuple[int, float, float]
"""The bins of one axis: their number, or (number, low, high)."""


class _Lazy(click.Group):
    """A group with further commands, whose modules are imported when the commands are called."""

    COMMANDS: ClassVar = {
        "demo": ".demo:demo",
        "bench": ".bench:bench",
        "cluster": ".cluster:cluster",
        "dataset": ".dataset:dataset",
        "hammer": "..facility.hammer:command",
        "machine": ".machine:machine",
        "remembered": ".machine:remembered",
        "samples": ".demo:samples",
        "trace": ".trace:trace",
    }
    HELP: ClassVar = {
        "demo": "Write a dataset, run a query over it on all cores, and draw the results.",
        "bench": "Measure how fast treemill is on this machine or on a cluster.",
        "cluster": "Check and manage a Dask cluster and the queries on it.",
        "dataset": "Check the files of samples.",
        "hammer": "Run queries of many users on one cluster, and compare all results.",
        "machine": "Print the processor's level, the memory and the versions that treemill runs "
        "with.",
        "remembered": "List the remembered results, and remove results that are not used.",
        "samples": "Write made-up samples of a small analysis, for the tutorials.",
        "trace": "Read the trace of a query.",
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = self.COMMANDS.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, name = place.split(":")
        command: click.Command = getattr(importlib.import_module(module, __package__), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # Asking a lazy command for its help would import its module.
        own = [(n, c.get_short_help_str(80)) for n, c in sorted(self.commands.items())]
        with formatter.section("Commands"):
            formatter.write_dl([*own, *sorted(self.HELP.items())])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="treemill")
def cli() -> None:
    """Turn ROOT files into histograms and selections at interactive speed."""


@cli.command()
@click.argument("file", metavar="FILE[:TREE]")
@click.argument("names", metavar="[GLOB]...", nargs=-1)
def show(file: str, names: tuple[str, ...]) -> None:
    """List the branches of a tree with their C++ types, readers, sizes and titles.

    GLOBs in quotes choose branches by their names. Without TREE, the command lists the branches of
    the file's only tree; if the file has several trees, it lists their names instead.
    """
    from ..dataset import dataset  # start-up

    events = dataset(file)
    if events.chain.locations[0].tree is None and _list_trees(events.files[0]):
        return
    events.show(*names)
    click.echo(f"{events.num_entries:,} entries")


def _list_trees(path: str) -> bool:
    """Lists the trees of a file if it has several. False if it has not."""
    from treemill import _core  # heavy: core

    from ..data.open_tree import tree_names  # start-up

    file = _core.File(path)
    names = tree_names(file)
    if len(names) < 2:
        return False
    titles = {tree["path"]: tree["title"] for tree in reversed(file.trees())}
    shown = without_credentials(path)
    click.echo(f"{shown} has {len(names)} trees:")
    for name in names:
        click.echo(f"  {shown}:{name}  {titles[name]}".rstrip())
    return True


class _Bins(click.ParamType[_Axis]):
    """N or N,LO,HI."""

    name = "N,LO,HI"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> _Axis:
        parts = str(value).split(",")
        try:
            if len(parts) == 1:
                return int(parts[0])
            count, low, high = parts
            return int(count), float(low), float(high)
        except ValueError:
            self.fail(f"{value!r} is not N or N,LO,HI", param, ctx)


class _Default(click.ParamType[tuple[str, Any]]):
    """NAME=VALUE, with the value as Python writes it."""

    name = "NAME=VALUE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Any]:
        import ast

        name, _, text = str(value).partition("=")
        try:
            if not name.strip():
                raise ValueError("no name")
            return name.strip(), ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            words = "is not NAME=VALUE with a number, True, False, None or []"
            self.fail(f"{value!r} {words}", param, ctx)


@cli.command()
@click.argument("files", metavar="FILE[:TREE]…", nargs=-1)
@click.argument("expr")
@click.option(
    "--where",
    metavar="E",
    help="Take only entries (or items) for which this expression is true. If it is a number, it "
    "is also a weight.",
)
@click.option(
    "--bins",
    type=_Bins(),
    multiple=True,
    help="Number of bins and range. N alone finds the range. For two dimensions, give the option "
    "twice: x, then y.",
)
@click.option("--weight", metavar="E", help="Weight of each entry.")
@click.option("--profile", is_flag=True, help='Draw the mean of y against x, for an EXPR "y:x".')
@click.option("--log", is_flag=True, help="Draw on a logarithmic scale.")
@click.option(
    "--missing",
    type=_Default(),
    multiple=True,
    help="Value of a branch in files that lack it: a number, True, False, None (fills nothing) "
    "or []. NAME may be a glob. You may repeat this option.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False),
    help="Write a picture (.png .pdf .svg), a ROOT histogram (.root) or JSON (.json, UHI's form) "
    "instead of drawing in the terminal.",
)
def draw(
    files: tuple[str, ...],
    expr: str,
    where: str | None,
    bins: tuple[_Axis, ...],
    weight: str | None,
    profile: bool,
    log: bool,
    missing: tuple[tuple[str, Any], ...],
    output: str | None,
) -> None:
    """Fill a histogram of EXPR over a tree and draw it, as TTree::Draw does.

    FILE may be a glob in quotes, and you may give several FILEs. You may leave out TREE if a file
    has only one tree. EXPR may be "y:x" for two
    dimensions or "z:y:x" for three, and may end in ">>h(100,0,1)". If the selection is a number, it
    is also a weight.
    """
    from ..dataset import dataset  # start-up
    from ..language.clike import dimensions  # start-up
    from ..query.description import Drawing  # start-up
    from ..session.draw import drawn  # start-up

    if not files:  # click takes the only argument for the last one
        raise click.UsageError(
            f"there is one argument, {expr}, and two are needed: a file and an expression, as in "
            "treemill draw file.root:Events MET_pt"
        )
    if output is not None:
        check(output)
    axes = _all_bins(bins, len(dimensions(expr)) - profile)
    places = files[0] if len(files) == 1 else list(files)
    node = dataset(places, missing=dict(missing) or "error").node
    plot = drawn(node, Drawing(expr, where, bins=axes, weight=weight, profile=profile))
    if output is None:
        from ..pictures.text_histogram import show as show_text  # start-up

        show_text(plot.histogram, plot.title, log)
    else:
        write(plot, output, log)
        click.echo(output)


def _all_bins(bins: tuple[_Axis, ...], dimensions: int) -> _Axis | list[_Axis] | None:
    """The bins of all axes: `--bins` given once is for each of them."""
    if not bins:
        return None
    if len(bins) == 1:
        return bins[0] if dimensions == 1 else [bins[0]] * dimensions
    if len(bins) != dimensions:
        raise click.UsageError(
            f"--bins is given {len(bins)} times, and EXPR has {dimensions} "
            f"{'axis' if dimensions == 1 else 'axes'}: give it once for each axis"
        )
    return list(bins)


def main() -> NoReturn:
    """Runs the command. Prints no traceback for mistakes of users."""
    for stream in (sys.stdout, sys.stderr):
        # Names of files need not be text, and a terminal need not have all signs of a picture.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        # In click's standalone mode, click would print errors and exit.
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except TreemillError as error:
        _complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone, as `head` does. Python must not fail when it flushes at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (OSError, ImportError) as error:
        _complain(str(error))
    sys.exit(0)


def _complain(message: str) -> NoReturn:
    click.echo(f"treemill: {message}", err=True)
    sys.exit(1)
