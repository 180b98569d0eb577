"""What users look for at bookings and nodes and results and datasets have, and what to write there.

Pure: data only.
"""

from __future__ import annotations

__all__ = ["OF_DATASETS", "OF_VALUES"]

_NAMES = (
    *("axes", "counts", "density", "plot", "project", "show", "stack", "sum", "to_hist"),
    *("to_latex", "to_list", "to_numpy", "tolist", "values", "variances", "view", "items", "keys"),
    *("cumulative", "map", "nominal"),
)
OF_VALUES = {name: f"the result has it: .value.{name}" for name in _NAMES} | dict.fromkeys(
    (
        *(
            "[]",
            "bool",
            "in",
            "iteration",
            "float()",
            "int()",
            "complex()",
            "len()",
            "round()",
            "abs()",
        ),
        *("+", "-", "*", "/", "//", "%", "**", "- before it", "<", "<=", ">", ">="),
    ),
    "the result is its .value",
)
"""What to write for what results have and bookings do not; signs are operators."""

_FIRST = "it is a method of datasets: call it there, before filters, definitions and parameters"
OF_DATASETS = {
    **dict.fromkeys(("add_friend", "define_per_file", "select_entries"), _FIRST),
    **{
        name: f"it is of datasets: events.{name}"
        for name in ("aliases", "branches", "files", "index", "metadata", "name")
    },
    "io_report": "it is of datasets: events.io_report()",
    "num_entries": "count() books the number of entries here",
    "read": "arrays(names) computes columns here",
    "show": "it is of datasets: events.show() prints the branches",
    "to_arrow": "arrays(names) computes columns here; awkward.to_arrow_table makes a table of them",
    "to_numpy": "take(name) books a column here, arrays(names) computes several",
}
"""What to write for what datasets have and places below them do not."""
