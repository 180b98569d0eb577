"""A small dataset, written once per test run, and what is known of it without treemill."""

import pytest


@pytest.fixture(scope="session")
def core():
    return pytest.importorskip("treemill._core", reason="the native core is not built")


@pytest.fixture(scope="session")
def paths(core, tmp_path_factory):
    """Three files of different sizes, several clusters each."""
    from treemill.facility.generate import write

    folder = tmp_path_factory.mktemp("data")
    made = [folder / f"events_{i}.root" for i in range(3)]
    for i, (path, events) in enumerate(zip(made, (5000, 1, 7321), strict=True)):
        write(path, events=events, index=i, cluster=1000, codec="zstd")
    return [str(path) for path in made]


@pytest.fixture(scope="session")
def truth(paths):
    """The same columns by uproot, as one awkward array."""
    import awkward as ak
    import uproot

    return ak.concatenate([uproot.open(path)["Events"].arrays() for path in paths])


@pytest.fixture
def events(paths):
    import treemill as tm

    return tm.dataset(paths, tree="Events")


@pytest.fixture
def nothing_remembered(core):
    """Each query reads its files: for tests that count what is read."""
    import treemill as tm

    before = tm.cache.limit
    tm.cache.limit = 0
    yield
    tm.cache.limit = before
