"""Workers as HTCondor jobs: `python htcondor.py FILE…`, with `pip install dask-jobqueue`."""

import sys

import treemill as tm
from analysis import analyse
from dask_jobqueue import HTCondorCluster


def cluster(**options):
    """A cluster without workers. `options` are those of HTCondorCluster."""
    settings = {
        "cores": 4,
        "processes": 1,
        "memory": "8GB",
        "disk": "10GB",
        "death_timeout": 120,
        # What the site wants to know, such as the time that a job may take.
        "job_extra_directives": {"+MaxRuntime": "7200", "getenv": "True"},
    }
    return HTCondorCluster(**settings | options)


def main():
    with cluster() as made:
        made.adapt(minimum_jobs=1, maximum_jobs=100)
        with tm.connect(made) as session:
            analyse(session, sys.argv[1:])


if __name__ == "__main__":
    main()
