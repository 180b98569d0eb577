"""Workers as jobs of CERN's batch system, from lxplus: `python lxplus.py FILE…`.

Before: `. /cvmfs/sft.cern.ch/lcg/views/LCG_…/setup.sh`, so that jobs find the same Python; then
`pip install --user 'treemill[cluster]' dask-lxplus`. Files on EOS are named by their root:// URLs,
which need a Kerberos ticket or a proxy in the jobs, too.
"""

import socket
import sys

import treemill as tm
from analysis import analyse
from dask_lxplus import CernCluster


def main():
    with CernCluster(
        cores=4,
        memory="8GB",
        disk="10GB",
        lcg=True,
        container_runtime="none",
        death_timeout="60",
        # lxplus lets jobs reach these ports only.
        scheduler_options={"port": 8786, "host": socket.gethostname()},
        job_extra={"MY.JobFlavour": '"longlunch"'},
    ) as cluster:
        cluster.scale(10)
        with tm.connect(cluster) as session:
            analyse(session, sys.argv[1:])


if __name__ == "__main__":
    main()
