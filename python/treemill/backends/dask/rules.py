"""What a cluster's operator says of its users, read on the scheduler: the file `treemill.toml`, or
`treemill.rules` in Dask's configuration, which a preload may set.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dask

from ..._system.cache import size_of
from ...errors import QueryError
from ...scheduling import Rules, UserRule

__all__ = ["VARIABLE", "read_rules", "rules_of"]

VARIABLE = "TREEMILL_RULES"
"""Names the file, if it is not `treemill.toml` in the scheduler's folder."""
_SETTING = "treemill.rules"
"""Dask's setting with the same rules."""
_KINDS = {
    "weight": ((int, float), "a number above 0"),
    "priority": (int, "a whole number"),
    "threads": (int, "a number of 1 or more"),
    "processes": (int, "a number of 1 or more"),
    "queries": (int, "a number of 1 or more"),
}


def rules_of(said: Mapping[str, Any], file: str = "treemill.toml") -> Rules:
    """The rules that a file says. Raises QueryError for what makes no sense: an operator must not
    believe in a limit that there is not.

    >>> rules = rules_of({"memory": "2 GB", "users": {"ana": {"weight": 2}, "*": {"queries": 4}}})
    >>> rules.memory, rules.of("ana@lxplus").weight, rules.of("bob@lxplus").queries
    (2000000000, 2, 4)
    """
    unknown = said.keys() - {"memory", "queries", "users"}
    if unknown:
        raise QueryError(
            f"{file} has {sorted(unknown)[0]!r}, which is not a rule: the rules are memory, "
            "queries and users"
        )
    memory = said.get("memory")
    if memory is not None:
        memory = size_of(memory, f"{file}: memory", least=1)
    if "queries" in said:
        _check("queries", said["queries"], file)
    users = {name: _user_rule(name, each, file) for name, each in said.get("users", {}).items()}
    others = users.pop("*", UserRule())
    return Rules(users, others, said.get("queries"), memory)


def _user_rule(name: str, said: object, file: str) -> UserRule:
    if not isinstance(said, Mapping) or said.keys() - _KINDS.keys():
        raise QueryError(f"{file}: the rules of user {name!r} are {', '.join(_KINDS)}")
    for key, value in said.items():
        _check(key, value, f"{file}, user {name!r}")
    return UserRule(**said)


def _check(key: str, value: object, where: str) -> None:
    kind, words = _KINDS[key]
    fits = isinstance(value, kind) and not isinstance(value, bool)  # type: ignore[arg-type]
    if not fits or (key != "priority" and not value > 0):  # type: ignore[operator]
        raise QueryError(f"{where}: {key} is {words}, not {value!r:.60}")


def read_rules() -> Rules:
    """The rules of this scheduler; none if nobody has said any. Raises QueryError if they are
    wrong."""
    named = os.environ.get(VARIABLE)
    file = Path(named or "treemill.toml")
    setting = dask.config.get(_SETTING, None)
    try:
        text = file.read_text()
    except FileNotFoundError:
        if named:
            raise QueryError(f"the file {named}, which {VARIABLE} names, does not exist") from None
        where = f"{_SETTING} of Dask's configuration"
        if not isinstance(setting, Mapping | None):
            raise QueryError(f"{where} is not a mapping, as in treemill.toml") from None
        return rules_of(setting or {}, where)
    if setting is not None:
        raise QueryError(
            f"{file} and {_SETTING} of Dask's configuration both contain rules: keep one of them"
        )
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise QueryError(f"{file} is no TOML: {error}") from error
    return rules_of(said, str(file))
