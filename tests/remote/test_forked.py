"""A process that is forked from one that has files on servers open reads them, too: of its parent's
connections it has only the memory, and its parent goes on with them.
"""

import multiprocessing

import pytest
import treemill as tm

from tests.remote.conftest import settle

PATH = "store/trees/events_2.root"
PATIENCE = 60


@pytest.mark.parametrize("server", ["xrootd", "nginx", "ganesha"])
@pytest.mark.parametrize("first", ["num_entries", "arrays"])
@pytest.mark.usefixtures("nothing_remembered")
def test_a_child_reads_what_its_parent_has_open(server, first, request):
    url = request.getfixturevalue(server).url(PATH)
    settle(url)  # only then do datasets share what is open
    events = tm.dataset(url, tree="Events")
    expected = events.arrays("MET_pt").MET_pt.to_list() if first == "arrays" else None
    assert events.num_entries == 7321
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def read():
        try:
            found = [tm.dataset(url, tree="Events").arrays("nJet").nJet.to_list()]
            found.append(events.arrays("MET_pt").MET_pt.to_list())
            sender.send(found)
        except tm.TreemillError as error:
            sender.send(repr(error))

    child = context.Process(target=read)
    child.start()
    # What the child says may be larger than a pipe, so it is read before its end.
    assert receiver.poll(PATIENCE)
    found = receiver.recv()
    child.join(PATIENCE)
    assert child.exitcode == 0
    here = events.arrays(["nJet", "MET_pt"])
    assert found == [here.nJet.to_list(), here.MET_pt.to_list()]
    assert expected is None or expected == found[1]
