"""Twelve small files, so that a stopped query leaves some of them."""

import pytest
import treemill as tm


@pytest.fixture(scope="session")
def small_files(tmp_path_factory):
    from treemill.facility.generate import write

    folder = tmp_path_factory.mktemp("dashboard")
    made = [folder / f"events_{i}.root" for i in range(12)]
    for i, path in enumerate(made):
        write(path, events=500, index=i, cluster=500, codec="zstd")
    return [str(path) for path in made]


@pytest.fixture
def events(small_files):
    return tm.dataset(small_files, tree="Events")


@pytest.fixture
def session():
    with tm.connect(workers=2, mode="threads") as session:
        yield session
