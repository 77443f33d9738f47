"""The files that commands read and write: releases, polygons, and what must not be replaced."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, Optional, Tuple

from ..core.errors import BadInputError
from .arguments import make_choice

#: formats in which nobody keeps private points, and that cannot say who wrote them
_NO_STATEMENT = (".html", ".htm")


def read_frame(path: str, layer: Optional[str] = None) -> Any:
    """A file of public polygons as a GeoDataFrame."""
    from ..geo.polygons import read_frame as read

    return read(path, layer)


def read_artefact(path: str) -> Tuple[Any, Any]:
    """The release in a file or, for -, on standard input, and its domain without bounds.

    For commands that read no places from it, and need not wait for geopandas.
    """
    from ..geo.domain import Domain

    release = load_release(path)
    return release, Domain.of_release(release, bounded=False)


def read_release(path: str) -> Any:
    """The release in a file or, for -, on standard input, as an object that can be mapped."""
    from ..geo.domain import Domain
    from ..geo.release import Release

    release = load_release(path)
    return Release(release, Domain.of_release(release))


def read_view(path: str, within: Optional[str], select: Tuple[str, ...]) -> Any:
    """A release, read with a public boundary and in some slices where they are given."""
    chosen, read = make_choice(select), read_release(path)
    if within is not None:
        read = read.within(read_frame(within))
    return read.select(**chosen) if chosen else read


def load_release(path: str) -> Any:
    """The release in a file or, for -, on standard input, as numbers that need numpy alone."""
    from ..core.release import Release, load
    from ..core.release_json import MOST_BYTES

    if path != "-":
        return load(path)
    # a byte more than is accepted, and none of what comes after it
    return Release.from_json(sys.stdin.buffer.read(MOST_BYTES + 1).decode("utf-8", "replace"))


def refuse_to_overwrite(
    out: str, *inputs: str, silent: Tuple[str, ...] = _NO_STATEMENT, overwrite: bool = False
) -> None:
    """Refuse to replace an input, or a file that dpsort-geo did not write: the private original.

    ``silent`` are the endings of files that are replaced whoever wrote them; releases never are.
    """
    from ..core.release import load
    from ..geo.statement import read_statement

    if out == "-" or not Path(out).is_file():
        return
    if any(Path(given).exists() and Path(out).samefile(given) for given in inputs):
        raise BadInputError(f"{out} is read and cannot be written to; give another name.")
    if _holds(load, out):
        if overwrite:
            return
        raise BadInputError(
            f"{out} is a release, and what was spent on it would be lost: give another name, or "
            "publish with --overwrite."
        )
    if Path(out).suffix.lower() in silent or _holds(read_statement, out):
        return
    raise BadInputError(
        f"{out} exists and was not written by dpsort-geo; give another name, or remove it first."
    )


def _holds(read: Callable[[str], Any], path: str) -> bool:
    try:
        read(path)
    except BadInputError:
        return False
    return True


def check_ending(out: str, *endings: str) -> None:
    """Refuse a file whose name says that it is something else."""
    if out == "-" or out.lower().endswith(endings):
        return
    listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
    raise BadInputError(f"{out} should end in {listed}.")
