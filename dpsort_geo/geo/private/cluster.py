"""Counting points by cell on the workers of a dask cluster.

Each piece of a file, or partition of a frame, becomes its own table of (cell, count) where it
is read; tables are added up in a tree, and one small table comes back. With persons each piece is
cut into buckets by person first, and the same bucket of all pieces goes to one task: all points of
a person meet there. A task is a pure function of its piece and dask keeps one result a task, so a
piece that is counted again because its worker died still counts once.

The workers see private points: they are inside the trust boundary, and so is the table, until a
mechanism of `core.private` has drawn its noise.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Optional, Union

import numpy as np

from ...core.errors import BadInputError
from ...core.private.cells import Cells
from ...core.private.extent import Extents
from ...core.private.slices import SlicedCells
from .._optional import need
from ..domain import Domain
from . import coordinates, parts, point_crs
from .beside import Beside, frame_values, refuse_twice
from .files import is_bare, pieces
from .formats import Piece
from .parts import Part, Placed, Refusal, Work, or_refusal
from .points import persons_of
from .table import refuse_layer

Array = np.ndarray

#: tables added up by one task
_FAN_IN = 8
#: tasks in which persons meet, at most
_BUCKETS = 128


def count_cells(
    source: Any,
    domain: Domain,
    client: Any = None,
    columns: Optional[tuple[str, str]] = None,
) -> Cells:
    """Count the points of a path or of a dask frame by cell, in parallel.

    Parameters
    ----------
    source : path, dask DataFrame or dask-geopandas GeoDataFrame
        A file, folder or glob that every worker can read under the same path; or a frame with
        point geometries, or with columns lon and lat, or x and y.
    domain : Domain
        Where points may lie.
    client : distributed.Client, optional
        The cluster; without it dask's own default is used (threads of this process, if no
        client has been made).
    columns : (x, y), optional
        Names of two columns that hold the coordinates.

    Returns
    -------
    Cells
        Identical to counting in one process, whatever the pieces and whoever fails.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> frame = dd.from_pandas(pd.DataFrame({"x": [0.5, 0.6, 3.5], "y": [0.5, 0.4, 3.5]}), 2)
    >>> domain = Domain.from_bounds((0, 0, 4, 4), crs="EPSG:3857", order=2)
    >>> count_cells(frame, domain).count
    array([2, 1])
    """
    found, _ = count_points(source, Work(domain, None), client, columns)
    assert isinstance(found, Cells)
    return found


def count_points(
    source: Any, work: Work, client: Any, columns: Optional[tuple[str, str]]
) -> tuple[Union[Cells, SlicedCells], Optional[Extents]]:
    """The same counts, by person and slice too if asked for, and how far the points reach."""
    need("dask", "Counting on a cluster")
    from dask import delayed

    if isinstance(source, (str, os.PathLike)):
        leaves, work = _file_tasks(source, work, columns)
    elif hasattr(source, "to_delayed") and hasattr(source, "_meta"):
        leaves, work = _frame_tasks(source, work, columns)
    else:
        raise BadInputError("A cluster counts the points of a path, or of a dask (geo)DataFrame.")
    # the domain may have a large mask: it travels once to each worker, not with every task
    shared = delayed(work, pure=True)
    read = delayed(_place_part if work.person else _count_part, pure=True)
    counted = [read(*leaf, shared) for leaf in leaves]
    if work.person:
        counted = _meet(counted, shared)
    total = _tree(counted)
    found = total.compute() if client is None else client.compute(total).result()
    return parts.finish(found, work)


def _tree(leaves: Sequence[Any]) -> Any:
    from dask import delayed

    add = delayed(_add, pure=True)
    level = list(leaves)
    while len(level) > 1:
        level = [add(level[at : at + _FAN_IN]) for at in range(0, len(level), _FAN_IN)]
    return level[0]


def _meet(placed: Sequence[Any], shared: Any) -> list[Any]:
    """The shuffle: bucket b of every piece goes to task b."""
    from dask import delayed

    buckets = min(len(placed), _BUCKETS)
    cut, pick = delayed(_cut, pure=True), delayed(_pick, pure=True)
    gather = delayed(_gather, pure=True)
    pieces_cut = [cut(part, buckets) for part in placed]
    return [gather([pick(part, b) for part in pieces_cut], shared) for b in range(buckets)]


@or_refusal
def _count_part(source: Any, names: Any, work: Work) -> Part:
    return parts.count_part(_rows(source, names, work), work)


@or_refusal
def _place_part(source: Any, names: Any, work: Work) -> Placed:
    return parts.place_part(_rows(source, names, work), work)


@or_refusal
def _cut(placed: Union[Placed, Refusal], buckets: int) -> list[Placed]:
    if isinstance(placed, Refusal):
        raise BadInputError(placed.sentence)
    number = parts.bucket(placed.name, buckets)
    order = np.argsort(number, kind="stable")
    edge = np.searchsorted(number[order], np.arange(buckets + 1))
    several = []
    for b in range(buckets):
        here = order[edge[b] : edge[b + 1]]
        # how far points reach is told once
        reach = None if b else placed.extents
        several.append(Placed(placed.key[here], placed.name[here], reach, placed.kinds))
    return several


@or_refusal
def _pick(several: Union[list[Placed], Refusal], b: int) -> Any:
    return several if isinstance(several, Refusal) else several[b]


@or_refusal
def _gather(several: Sequence[Union[Placed, Refusal]], work: Work) -> Part:
    return parts.gather_persons(_refuse_or_list(several), work)


@or_refusal
def _add(several: Sequence[Union[Part, Refusal]]) -> Part:
    return parts.add_parts(_refuse_or_list(several))


def _refuse_or_list(several: Sequence[Any]) -> list[Any]:
    """The same, unless one of them is a refusal, which then is that of all."""
    for part in several:
        if isinstance(part, Refusal):
            raise BadInputError(part.sentence)
    return list(several)


def _file_tasks(
    path: Any, work: Work, columns: Optional[tuple[str, str]]
) -> tuple[list[Any], Work]:
    found = pieces(path, columns, work.choice.person, work.how, work.wanted)
    chosen = found[0].layout
    if chosen.crs is None and not is_bare(found[0]):
        raise BadInputError(point_crs.NO_CRS)
    return [(piece, None) for piece in found], replace(work, crs=chosen.crs)


def _frame_tasks(
    frame: Any, work: Work, columns: Optional[tuple[str, str]]
) -> tuple[list[Any], Work]:
    refuse_layer(work.how)
    names = list(frame.columns) if hasattr(frame, "columns") else []
    for name in (*(columns or ()), *work.wanted, *work.person):
        if name not in names:
            raise BadInputError(f"The frame needs a column named {name!r}.")
    xy = columns
    if xy is None and hasattr(frame, "geometry"):
        crs = point_crs.settle_crs(frame.crs, work.how.crs)
        if crs is None:
            raise BadInputError(point_crs.NO_CRS)
        places = [frame.geometry.name]
    else:
        xy = xy or point_crs.pair(names)
        crs = point_crs.settle_crs(point_crs.pair_crs(*xy), work.how.crs, guessed=True)
        places = list(xy)
    wanted = list(dict.fromkeys([*places, *work.person, *work.wanted]))
    for name in wanted:
        refuse_twice(names, name)
    chosen = frame[wanted] if names else frame
    return [(part, xy or ()) for part in chosen.to_delayed()], replace(work, crs=crs)


def _rows(source: Any, xy: Any, work: Work) -> Any:
    """The records of a piece of a file, or of a partition of a frame."""
    return source if isinstance(source, Piece) else [_frame_rows(source, xy, work)]


def _frame_rows(part: Any, xy: Sequence[str], work: Work) -> tuple[Array, Array, Any]:
    if not xy:
        x, y = coordinates.from_shapely(np.asarray(part.geometry.array, object))
    else:
        x, y = _numbers(part, xy)
    who = persons_of(part, work.choice.person, x.size)
    return x, y, Beside(who, frame_values(part, work.wanted)) if work.wanted else who


def _numbers(part: Any, xy: Sequence[str]) -> tuple[Array, Array]:
    values = None
    with contextlib.suppress(TypeError, ValueError):
        values = part[list(xy)].to_numpy(np.float64, na_value=np.nan)
    if values is None:
        raise BadInputError("The coordinate columns must hold numbers.")
    return coordinates.finite(values[:, 0], values[:, 1])
