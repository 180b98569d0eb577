"""`python -m bench io`: reading over an emulated link; writes
`bench/results/<date>-<machine>-io.{json,md}`, with the parts in the name if only some are run.

The IOExerciser (some branches of each entry, all branches of each fiftieth) on two layouts, and
some branches of many files, at 0.3 and 137 ms, without a limit and at 20 MB/s of each connection.
replicas: a file at two places against one. clients: treemill's XRootD client beside the official
one. columns: 10 of 200 columns, and filters that keep little. again: the second pass over many
files, which were kept on disk. protocols: XRootD, NFS, HTTP and dCap; pNFS on several data servers.
mounts: a slow mount, read range by range and as planned. readers: 64 at once by each protocol.
planning: 100,000 baskets, without a link.
Each run is a new process with new connections: cold, but for the
server's page cache. Root only.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping

from .. import machine, publish, tables
from ..measured import Row
from ..options import Options
from . import (
    again,
    clients,
    columns,
    contest,
    layouts,
    mounts,
    planning,
    protocols,
    readers,
    replicas,
)
from .contestants import CONTESTANTS
from .field import LINKS, Field, field, missing
from .findings import Findings

Part = Callable[[str, argparse.Namespace, Field, Findings], Iterator[Row]]
PARTS: Mapping[str, Part] = {
    **dict.fromkeys((*layouts.CLUSTERS, layouts.MANY), contest.measure),
    "replicas": replicas.measure,
    "clients": clients.measure,
    "columns": columns.measure,
    "again": again.measure,
    "protocols": protocols.measure,
    "mounts": mounts.measure,
    "readers": readers.measure,
    "planning": planning.measure,
}
"""By the name that `--parts` takes, and that lines begin with."""
_LEGENDS: Mapping[Part, str] = {
    module.measure: module.LEGEND
    for module in (contest, replicas, clients, columns, again, protocols, mounts, readers, planning)
}
_LEGEND = """\
Seconds from before the file is opened until the result is known, in a new process with new
connections each time, unless the line says otherwise. A run is ended when patience is: such lines
say so and count as that long.
"""


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("io", __doc__, clock=False)
    options.size("events", 1000, 60, "entries of the exerciser")
    options.size("files", 100, 2, "files, of which some branches are read")
    options.size("megabytes", 40.0, 1.0, "size of each of these files")
    options.size("rounds", 5, 1, "counted rounds")
    options.size("patience", 60.0, 20.0, "seconds after which a run is ended")
    links = list(LINKS)
    options.choice("links", links, links, "of the exerciser and of many files, only these")
    options.choice("parts", list(PARTS), list(PARTS), "only these")
    keys = [each.key for each in CONTESTANTS]
    options.choice("contestants", keys, keys, "of the exerciser and of many files, only these")
    return options.parse(arguments)


def main(arguments: list[str]) -> int:
    """Measure and write; 1 if there can be no link here, or if results differ."""
    options = _options(arguments)
    if reason := missing():
        publish.say(f"python -m bench io: {reason}")
        return 1
    facts = machine.describe()
    rows: list[Row] = []
    findings = Findings()
    with field() as place:
        for part in options.parts:
            for row in PARTS[part](part, options, place, findings):
                publish.say(f"{row.what}: {row.median:.3g} {row.unit}")
                rows.append(row)
    files = ", ".join(f"{name}: {what}" for name, what in findings.files.items())
    about = machine.about(facts, files, options.rounds, "wall")
    notes = findings.notes
    raw = {"machine": facts, "about": about, "rows": [r.as_dict() for r in rows], "notes": notes}
    title = f"# Reading over a link, {publish.today()}\n"
    remarks = "".join(f"- {note}\n" for note in dict.fromkeys(notes))
    legends = [_LEGEND, *dict.fromkeys(_LEGENDS[PARTS[part]] for part in options.parts)]
    text = "\n".join([title, tables.facts(about), *legends, tables.rows(rows), remarks])
    name = "-io" + publish.of_parts(options.parts, PARTS) + "-quick" * options.quick
    publish.page(options.output, name, raw, text)
    return 1 if findings.is_wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
