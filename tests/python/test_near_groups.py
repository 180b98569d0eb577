"""Which groups are near to a file, by its address, by the names of hosts, and by what the client
has found out; and that a group is told where the files are that it gets.
"""

from test_desk import request
from treemill.backends.dask.group_lead import GroupLead
from treemill.backends.dask.group_messages import Down, GroupStatus, Hosted, LeadGroup, Up
from treemill.backends.dask.master import Master
from treemill.backends.dask.near_groups import NearGroups
from treemill.backends.pulse import Pulse
from treemill.scheduling import FileSize
from treemill.scheduling.keeping import KeepingLessor
from treemill.scheduling.messages import Asked, Grant, Part, Standing, SubJoined
from treemill.scheduling.unleased_parts import Reach

STATUS = GroupStatus(1, 1, 0, Pulse())


def near(nodes, groups):
    return NearGroups(nodes, lambda host: frozenset(groups.get(host, ())))


def test_hosts_of_addresses():
    groups = near(["root://a/store", "root://b/store", None], {"a": ["group 0"]})
    assert groups.reach(0) == Reach(frozenset(["group 0"]))
    assert groups.reach(1) == groups.reach(2) == Reach()


def test_a_host_by_another_name():
    groups = near(["root://node5/store", "root://node6/store"], {"10.0.0.5": ["group 0"]})
    assert groups.named("10.0.0.5") == set()
    assert groups.reach(0) == Reach()
    assert groups.named("10.0.0.5", ("Node5", "localhost")) == {0}
    assert groups.reach(0) == Reach(frozenset(["group 0"]))
    assert groups.reach(1) == Reach()


def test_what_the_client_has_found():
    at = {"a": ["group 0"], "b": ["group 1", "group 2"]}
    groups = near(["root://redirector/store"] * 3, at)
    addresses = {1: ["root://a//x", "root://b//x"], 2: ["root://far//x"], 0: []}
    assert groups.locate(addresses) == {0, 1, 2}
    assert groups.reach(1) == Reach(frozenset(["group 0", "group 1", "group 2"]))
    assert groups.reach(0) == groups.reach(2) == Reach()
    parts = [Part(0, 0, 10), Part(1, 5, 10), Part(1, 20, 30)]
    assert groups.addresses(parts) == {1: ["root://a//x", "root://b//x"]}
    assert groups.named("redirector") == {0}, "the others are elsewhere"
    assert groups.named("b") == {1}
    assert groups.named("b") == set(), "that was known"
    assert groups.at("b") == {1}
    assert groups.at("c") == set()


def test_parts_go_where_they_belong_now():
    reach = {}
    sizes = [FileSize(100)] * 4
    lessor = KeepingLessor(sizes, reach=lambda file: reach.get(file, Reach()), expected=["x", "y"])
    reach |= {file: Reach(frozenset("xy"[file % 2])) for file in range(4)}
    lessor.moved({1, 2, 3})
    for sub, site in enumerate("xy"):
        lessor.handle(SubJoined(sub, site), 0.0)
        lessor.handle(Standing(sub, 1, 1000.0, 0.0), 0.0)
    (grant,) = lessor.handle(Asked(1), 0.0)
    assert {part.file for part in grant.parts[:2]} == {1, 3}
    whole = [*lessor.whereabouts()]
    assert sum(part.stop - part.start for part in whole) == 400


class Pass:
    """A pass with two groups of one process, on the hosts 10.0.0.1 and 10.0.0.2."""

    def __init__(self, nodes, **others):
        asked = request(files=[FileSize(100)] * 4, nodes=nodes, submasters=1, **others)
        self.request = asked
        self.master = Master("work", asked, lambda: 0.0)
        told = []
        for number in "12":
            told += self.master.join(number, f"10.0.0.{number}", 1, f"10.0.0.{number}")
        told += self.master.begin()
        self.orders = {
            address: message for address, message in told if isinstance(message, LeadGroup)
        }
        assert self.orders.keys() == {"1", "2"}

    def say(self, address, *messages):
        sub = self.orders[address].sub
        return self.master.hear(address, Up("work", sub, messages, STATUS))

    def granted(self, address):
        """What a group gets that asks for all of it."""
        sub = self.orders[address].sub
        told = self.say(
            address,
            SubJoined(sub, self.orders[address].site),
            Standing(sub, 1, 1e9, 0.0),
            Asked(sub),
        )
        (down,) = (
            each
            for to, each in told
            if to == address and isinstance(each, Down) and isinstance(each.message, Grant)
        )
        return down


def test_a_group_gets_the_files_of_its_hosts_first():
    nodes = ["root://10.0.0.2/x", "root://10.0.0.1/x"] * 2
    assert [p.file for p in Pass(nodes).granted("1").message.parts[:2]] == [1, 3]
    assert [p.file for p in Pass(nodes).granted("2").message.parts[:2]] == [0, 2]


def test_a_process_says_by_which_names_its_host_is_known():
    named = Pass(["root://one/x", "root://two/x"] * 2)
    named.say("2", Hosted("10.0.0.2", ("two.site.org", "two")))
    assert [part.file for part in named.granted("2").message.parts[:2]] == [1, 3]


def test_files_with_replicas_are_known_from_the_beginning():
    addresses = {file: [f"root://far//{file}", f"root://10.0.0.2//{file}"] for file in (1, 2)}
    known = Pass(["root://far/"] * 4, addresses=addresses)
    down = known.granted("2")
    assert {part.file for part in down.message.parts[:2]} == {1, 2}
    assert down.addresses == addresses


def test_a_group_is_told_what_the_client_has_found():
    located = Pass(["root://redirector/x"] * 4)
    addresses = {2: ["root://10.0.0.1//x/2", "root://10.0.0.2//x/2"], 3: ["root://10.0.0.1//x/3"]}
    located.master.locate(addresses)
    down = located.granted("1")
    assert {part.file for part in down.message.parts[:2]} == {2, 3}
    assert down.addresses == addresses
    lead = GroupLead("work/0", located.orders["1"].request, lambda: 0.0, located.orders["1"])
    lead.join("1", "10.0.0.1", 1)
    lead._places.worker("10.0.0.1", ())
    lead.handle(down)
    found = [lead.group.nodes[file] for file in range(4)]
    assert found == [*["root://redirector/x"] * 2, *["root://10.0.0.1/x"] * 2]


def test_a_group_gets_its_files_also_if_it_comes_later():
    late = Pass(["root://10.0.0.3/x", "root://10.0.0.1/x"] * 2)
    told = late.master.join("3", "10.0.0.3", 1, "10.0.0.3")
    late.orders |= {address: each for address, each in told if isinstance(each, LeadGroup)}
    assert [part.file for part in late.granted("3").message.parts[:2]] == [0, 2]
