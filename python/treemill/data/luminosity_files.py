"""Files with certified luminosity sections, as masks. Reads the file; knows no ROOT file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .._system.json_document import parsed
from ..errors import QueryError, SourceError
from ..faces import short_errors
from . import source
from .mask import LUMINOSITY_BLOCK, RUN, LumiMask
from .sections import LumiSections

__all__ = ["lumi_mask"]


@short_errors
def lumi_mask(
    certified: object,
    *,
    run: str = RUN,
    luminosity_block: str = LUMINOSITY_BLOCK,
    unless: str | None = None,
) -> LumiMask:
    """Make a mask of good luminosity sections, for `filter`.

    Parameters
    ----------
    certified
        The path or URL of a JSON file as CMS has them (`{"273158": [[1, 1279]], …}`; it may be
        compressed, `.gz`), a mapping of that form, or `LumiSections`.
    run, luminosity_block
        The columns' names.
    unless
        An expression: entries for which it is true pass whatever their section is, as "is_mc" where
        simulation and data are in one fileset.

    Returns
    -------
    LumiMask
        `filter` takes it; so does, as a function of arrays, a selector.

    Raises
    ------
    SourceError
        If the file cannot be read.
    QueryError
        For what has not that form.

    Examples
    --------
    >>> good = tm.lumi_mask({"1": [[1, 20], [25, 25]]}, luminosity_block="luminosityBlock")
    >>> len(good.sections)
    21
    >>> certified = events.filter(good, name="certified")
    """
    if isinstance(certified, LumiSections):
        return LumiMask(certified, run, luminosity_block, unless)
    of = "the mapping"
    given: object = certified
    if isinstance(certified, str | os.PathLike):
        of = source.address(os.fspath(certified))
        try:
            given = parsed(source.content(of), of)
        except (SourceError, ValueError) as error:
            message = f"cannot read the luminosity sections {of}: {error}"
            raise SourceError(message, file=of) from None
    if not isinstance(given, Mapping):
        raise QueryError(f"{of} maps runs to ranges of luminosity sections, not {given!r:.60}")
    try:
        sections = LumiSections(given)
    except QueryError as error:
        error.message = f"{of}: {error.message}"
        raise
    return LumiMask(sections, run, luminosity_block, unless)
