"""An address on a server where a file is to be made is refused, before any work: as a path it would
name folders on this machine, which nobody looks for. So is one of a file in an archive."""

import hist
import numpy as np
import pytest
import treemill as tm
from click.testing import CliRunner
from treemill.cli.main import cli
from treemill.errors import local_path

from tests.python.written import write
from tests.raising import raises

SERVER = "root://me:secret@host:1094//store"


@pytest.fixture
def events(core, tmp_path, monkeypatch):
    path = write(tmp_path / "in.root", x=np.arange(2.0))
    made = tmp_path / "made"
    made.mkdir()
    monkeypatch.chdir(made)
    yield tm.dataset(path)
    assert not list(made.iterdir())


def count(events, **options):
    with tm.connect(workers=1) as session:
        session.run(events.count(), progress=False, **options)


def directory(events):
    tm.cache.directory = f"{SERVER}/kept"


HISTOGRAM = hist.Hist.new.Reg(2, 0, 1).Double()
WRITERS = {
    "snapshot": lambda events: events.snapshot(f"{SERVER}/out.root", ["x"]),
    "parquet": lambda events: events.snapshot("https://me:secret@host/out.parquet", ["x"]),
    "save": lambda events: tm.save({"h": HISTOGRAM}, f"{SERVER}/out.json"),
    "templates": lambda events: tm.templates({"h": HISTOGRAM}, f"{SERVER}/out.root"),
    "file of a selector": lambda events: tm.FileOutput(f"{SERVER}/out.root"),
    "trace": lambda events: count(events, trace=f"{SERVER}/trace.json"),
    "checkpoint": lambda events: count(events, checkpoint=f"{SERVER}/kept"),
    "cache": directory,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_written_to_a_server_or_beside_it(events, writer):
    with raises(tm.UnsupportedError, said="on a server: give a path copy") as raised:
        WRITERS[writer](events)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["out.root", "out.json", "out.png"])
def test_nor_does_a_command(events, name):
    command = ["draw", events.files[0], "x", "-o", f"{SERVER}/{name}"]
    found = CliRunner().invoke(cli, command)
    assert isinstance(found.exception, tm.UnsupportedError)
    assert "is on a server" in str(found.exception)


@pytest.mark.parametrize(
    ("given", "path"), [("file:///tmp/a.root", "/tmp/a.root"), ("C:/a", "C:/a"), ("a:b", "a:b")]
)
def test_other_paths_are_taken_as_they_are(given, path):
    assert local_path(given) == path


@pytest.mark.parametrize("scheme", ["root", "xroots"])
def test_a_file_in_an_archive_is_refused_by_the_name_of_the_option(scheme):
    url = f"{scheme}://me:secret@host:1094//store/a.zip?xrdcl.unzip=in.root"
    with raises(tm.UnsupportedError, said="xrdcl unzip unpack") as raised:
        tm.dataset(url, tree="Events")
    assert "secret" not in str(raised.value)
