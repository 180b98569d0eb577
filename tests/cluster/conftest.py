"""Real schedulers and real worker processes of Dask, on free ports of this machine."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _distributed():
    pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Files of different sizes, one of a single entry."""
    from treemill.facility.generate import write

    folder = tmp_path_factory.mktemp("cluster")
    made = [folder / f"events_{i}.root" for i in range(4)]
    for i, (path, events) in enumerate(zip(made, (20_000, 1, 31_000, 12_345), strict=True)):
        write(path, events=events, index=i, cluster=1000, codec="zstd")
    return [str(path) for path in made]


@pytest.fixture
def events(files):
    import treemill as tm

    return tm.dataset(files, tree="Events")


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes, one of two threads. Nothing in the tests that share it ends them."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as made:
        yield made


@pytest.fixture
def session(cluster):
    import treemill as tm

    with tm.connect(cluster) as made:
        yield made


@pytest.fixture
def nothing_cached(cluster):
    """Workers of the cluster read their files in each query: for tests that count what is read."""
    from distributed import Client

    def limited(limit):
        import treemill as tm

        before, tm.cache.limit = tm.cache.limit, limit
        return before

    with Client(cluster) as client:
        before = max(client.run(limited, 0).values())
        yield
        client.run(limited, before)
