"""Uploaded packages on real worker processes: unpacked and set up once in each, also in those that
join while a query runs."""

import pytest
import treemill as tm

from tests.waiting import until

from .processes import Processes


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "cuts_of_package.py").write_text("CUT = 20\n")
    (folder / "treemill_setup.py").write_text(
        "import os\n"
        f"with open(os.path.join({str(tmp_path)!r}, f'setup-{{os.getpid()}}'), 'a') as noted:\n"
        "    noted.write('once\\n')\n"
    )
    return folder


def uses(folder, gate=None):
    """Counts with the package; before that it waits for the gate, if there is one."""

    def count(chunk):
        import os
        import time

        import cuts_of_package

        open(os.path.join(folder, f"at-work-{os.getpid()}"), "w").close()
        while gate is not None and not os.path.exists(gate):
            time.sleep(0.01)
        return {"n": len(chunk), "cut": {cuts_of_package.CUT}}

    return count


def test_a_worker_that_joins_has_the_package(tmp_path, package, events):
    gate = str(tmp_path / "gate")
    with Processes(tmp_path) as processes:
        processes.add(1)
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(1, timeout=60)
            session.upload(package)
            query = session.submit(uses(str(tmp_path), gate), events)
            until(lambda: len(list(tmp_path.glob("at-work-*"))) == 1, "the first worker")
            processes.add(1)
            until(lambda: len(list(tmp_path.glob("at-work-*"))) == 2, "the one that joins")
            (tmp_path / "gate").touch()
            output = query.result(60)
            assert output["n"] == events.num_entries
            assert output["cut"] == {20}
            for _ in range(2):
                assert session.run(uses(str(tmp_path)), events)["n"] == events.num_entries
    noted = [path.read_text() for path in tmp_path.glob("setup-*")]
    assert noted == ["once\n"] * 2
