"""Workers read the files of their own host first: the hosts are in the files' addresses, or a
redirector of a real federation names them.
"""

import pytest
import treemill as tm

from tools.link.link import Link
from tools.link.link import missing as link_missing
from tools.servers.xrootd import Federation, XRootD

from .processes import Processes

FILES = 16
EVENTS = 1000


def skip_without(reason):
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture
def together(tmp_path):
    """A folder in which processes say how many files they have begun."""
    (tmp_path / "together").mkdir()
    return tmp_path / "together"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    from treemill.facility.generate import write

    path = tmp_path_factory.mktemp("files") / "events.root"
    write(path, events=EVENTS, cluster=EVENTS, codec="zstd")
    return path


def reads(folder):
    """Says which file was read by which process, and when. Both processes go at the same pace,
    however much of the machine each of them gets."""
    folder = str(folder)

    def seen(chunk):
        import os
        import time

        with open(os.path.join(folder, str(os.getpid())), "a") as mine:
            mine.write("+")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            begun = [entry.stat().st_size for entry in os.scandir(folder)]
            own = os.stat(mine.name).st_size
            if (len(begun) == 2 and own <= min(begun)) or sum(begun) >= FILES:
                break
            time.sleep(0.01)
        what = (os.getpid(), time.monotonic(), chunk.metadata["filename"])
        return {"n": len(chunk), "read": [what]}

    return seen


LED = pytest.mark.parametrize("led", ["alone", "sites"])
"""By whom the workers are led; as one of several sites, the other of which can read nothing."""


def connected(address, led="alone"):
    """A session of the cluster's workers, when both are there."""
    cluster = tm.connect(address)
    cluster._pool._client.wait_for_workers(2, timeout=60)
    if led == "sites":
        return tm.connect({"it": cluster, "no": tm.connect(workers=1)}, reach={"it": "*"})
    return cluster


def in_order(led, files):
    """Files in a bad order, those of one host after those of the other. For sites alternately:
    what a site leases at once are some files in a row, of which it can choose."""
    files = list(files)
    if led != "sites":
        return files
    half = len(files) // 2
    return [each for two in zip(files[:half], files[half:], strict=True) for each in two]


def of_own_host(output, hosts):
    """Whether each process has read from its own host first, and the share of its files that are
    there. `hosts`: the signs of files of a host, by process id."""
    reads = {pid: [] for pid in hosts}
    for pid, when, name in output["read"]:
        reads[pid].append((when, hosts[pid](name)))
    firsts = all(min(each)[1] for each in reads.values())
    return firsts, sum(own for each in reads.values() for _, own in each) / len(output["read"])


@pytest.mark.slow
@LED
def test_hosts_of_addresses(file, tmp_path, together, led):
    skip_without(XRootD.missing())
    with XRootD() as server, Processes(tmp_path) as processes:
        hosts, pids = ("127.0.0.1", "127.0.0.2"), {}
        for host in hosts:
            (worker,) = processes.add(1, 1, "--no-nanny", "--host", host)
            pids[worker.pid] = lambda name, host=host: f"//{host}:" in name
        for number in range(FILES):
            server.put(file, f"data/{number}.root")
        # Half of the files are said to be on each of the hosts, in the order that is worst.
        urls = [server.url(f"data/{number}.root") for number in range(FILES)]
        urls[FILES // 2 :] = [url.replace(*hosts) for url in urls[FILES // 2 :]]
        with connected(processes.address, led) as session:
            events = tm.dataset(in_order(led, urls[::-1]), "Events")
            output = session.run(reads(together), events)
        assert output["n"] == FILES * EVENTS
        assert len({name for _, _, name in output["read"]}) == FILES
        first, share = of_own_host(output, pids)
        assert first
        assert share > 0.6


@pytest.mark.slow
@LED
def test_a_redirector_names_the_hosts(file, tmp_path, together, led):
    skip_without(link_missing() or Federation.missing())
    with Link(["client", "r", "s1", "s2"], here="client") as link:
        hosts = [link.hosts["s1"], link.hosts["s2"]]
        with Federation(link.hosts["r"], hosts) as federation:
            url = federation.url("data/{}.root")
            for number in range(FILES):
                federation.put(file, f"data/{number}.root", number % 2)
            urls = [url.format(n) for n in [*range(0, FILES, 2), *range(1, FILES, 2)]]
            with Processes(tmp_path, host=link.hosts["client"].address) as processes:
                pids = {}
                for server, host in enumerate(hosts):
                    (worker,) = processes.add(1, 1, "--no-nanny", enter=host.enter)
                    mine = {url.format(n) for n in range(server, FILES, 2)}
                    pids[worker.pid] = mine.__contains__
                with connected(processes.address, led) as session:
                    events = tm.dataset(in_order(led, urls[::-1]), "Events")
                    output = session.run(reads(together), events)
            assert output["n"] == FILES * EVENTS
            assert len({name for _, _, name in output["read"]}) == FILES
            _, share = of_own_host(output, pids)
            assert share > 0.6, "the first files were begun before the redirector had answered"


@pytest.mark.slow
@LED
def test_of_replicas_the_one_at_the_own_host_is_read(file, tmp_path, together, led):
    """Each file is on a server far away, which is named first, and on one of the workers' hosts."""
    skip_without(link_missing() or XRootD.missing())
    with Link(["client", "far", "s1", "s2"], here="client") as link:
        hosts = [link.hosts["s1"], link.hosts["s2"]]
        servers = [XRootD(host=link.hosts["far"]), *(XRootD(host=host) for host in hosts)]
        with servers[0] as far, servers[1] as one, servers[2] as two:
            replicas, near = {}, {one: set(), two: set()}
            for number in range(FILES):
                name, here = f"data/{number}.root", one if number < FILES // 2 else two
                far.put(file, name)
                here.put(file, name)
                replicas[f"/store/{number}.root"] = [far.url(name), here.url(name)]
                near[here].add(far.url(name))
            files = in_order(led, reversed(replicas.items()))
            events = tm.dataset(dict(files), "Events")
            with Processes(tmp_path, host=link.hosts["client"].address) as processes:
                pids = {}
                for server, host in zip((one, two), hosts, strict=True):
                    (worker,) = processes.add(1, 1, "--no-nanny", enter=host.enter)
                    pids[worker.pid] = near[server].__contains__
                with connected(processes.address, led) as session:
                    output = session.run(reads(together), events)
            assert output["n"] == FILES * EVENTS
            assert len({name for _, _, name in output["read"]}) == FILES
            _, share = of_own_host(output, pids)
            assert share > 0.6
