"""What a user sees of a dataset on a server has neither the password nor the signature of its
address."""

import pytest
import treemill as tm
import uproot
from click.testing import CliRunner
from treemill.cli.main import cli

PATH = "store/trees/events_0.root"
SIGNED = "?X-Amz-Signature=secret&authz=Bearer%20secret"


@pytest.fixture
def address(nginx):
    def signed(path):
        return nginx.url(path).replace("://", "://user:secret@") + SIGNED

    return signed


def test_a_dataset_shows_none(address, capsys):
    events = tm.dataset(address(PATH), tree="Events")
    events.show()
    shown = repr(events) + events._repr_html_() + repr(events.filter("nJet > 1"))
    with tm.connect(workers=1) as session:
        assert session.run(events.count()) == 5000
        shown += f"{session.report}{session.report!r}"
        assert list(session.report.processed) == [address(PATH)]
    shown += capsys.readouterr().out
    assert PATH in shown
    assert "secret" not in shown


def test_the_command_that_shows_a_file_shows_none(address, nginx, tmp_path):
    with uproot.recreate(tmp_path / "two.root") as file:
        for name in ("a", "b"):
            file.mktree(name, {"x": "int32"}).extend({"x": [1, 2]})
    nginx.put(tmp_path / "two.root", "two.root")
    for shown in (address("two.root"), address("two.root") + ":a", address(PATH)):
        found = CliRunner().invoke(cli, ["show", shown])
        assert found.exit_code == 0, found.output
        assert ".root" in found.output
        assert "secret" not in found.output
