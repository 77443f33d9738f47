"""Counting points by cell on the workers of a dask cluster.

Each piece of a file, or partition of a frame, becomes its own table of (cell, count) where it
is read; tables are added up in a tree, and one small table comes back. A task is a pure function
of its piece and dask keeps one result a task, so a piece that is counted again because its
worker died still counts once.

The workers see private points: they are inside the trust boundary, and so is the table, until a
mechanism of `publisher` has drawn its noise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from ..errors import BadInput
from ..publisher import cells as tables
from ..publisher.cells import Cells
from . import coordinates
from ._optional import need
from .domain import Domain
from .files import pieces
from .formats import Piece

Array = np.ndarray
#: curve index and count of the non-empty cells: what travels between workers
Table = tuple[Array, Array]

#: tables added up by one task
_FAN_IN = 8


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
    need("dask", "Counting on a cluster")
    from dask import delayed

    # the domain may have a large mask: it travels once to each worker, not with every task
    place = delayed(domain, pure=True)
    if isinstance(source, (str, os.PathLike)):
        leaves = _file_tasks(source, place, columns)
    elif hasattr(source, "to_delayed") and hasattr(source, "_meta"):
        leaves = _frame_tasks(source, place, columns)
    else:
        raise BadInput("A cluster counts the points of a path, or of a dask (geo)DataFrame.")
    index, count = _computed(_tree(leaves, place), client)
    return Cells(domain.grid, index, count)


def _computed(total: Any, client: Any) -> Table:
    if client is None:
        return total.compute()
    # dask moves tasks of a dead worker to another one by itself; retries are for a worker that
    # lives and fails, for example to open a file on a slow mount
    return client.compute(total, retries=2).result()


def _tree(leaves: Sequence[Any], place: Any) -> Any:
    from dask import delayed

    add = delayed(_added, pure=True)
    level = list(leaves)
    while len(level) > 1:
        level = [add(level[at : at + _FAN_IN], place) for at in range(0, len(level), _FAN_IN)]
    return level[0]


def _added(parts: Sequence[Table], domain: Domain) -> Table:
    total = tables.merge_all([Cells(domain.grid, *part) for part in parts])
    return total.index, total.count


def _file_tasks(path: Any, place: Any, columns: Optional[tuple[str, str]]) -> list[Any]:
    from dask import delayed

    found = pieces(path, columns)
    if found[0].layout.crs is None and found[0].layout.xy is None:
        raise BadInput("The points have no CRS: write the file again with the CRS they are in.")
    count = delayed(_count_piece, pure=True)
    return [count(piece, place) for piece in found]


def _count_piece(piece: Piece, domain: Domain) -> Table:
    tally = tables.Tally(domain.grid)
    for x, y, _ in piece:
        tally.add(*coordinates.finite(*domain.project(x, y, piece.layout.crs)))
    found = tally.cells()
    return found.index, found.count


def _count(x: Array, y: Array, domain: Domain, crs: Any) -> Table:
    x, y = coordinates.finite(*domain.project(x, y, crs))
    found = tables.count_cells(domain.grid, x, y)
    return found.index, found.count


def _frame_tasks(frame: Any, place: Any, columns: Optional[tuple[str, str]]) -> list[Any]:
    from dask import delayed

    if hasattr(frame, "geometry") and columns is None:
        crs = frame.crs
        if crs is None:
            raise BadInput("The points have no CRS: say which one it is with set_crs().")
        geometry = frame.geometry
        count: Callable[..., Any] = delayed(_count_geometry, pure=True)
        return [count(part, place, crs) for part in geometry.to_delayed()]
    names = list(frame.columns)
    if columns is not None and not set(columns) <= set(names):
        raise BadInput(f"The frame needs columns named {columns[0]!r} and {columns[1]!r}.")
    x, y = columns or coordinates.pair(names)
    crs = coordinates.pair_crs(x, y)
    count = delayed(_count_columns, pure=True)
    return [count(part, place, crs, x, y) for part in frame[[x, y]].to_delayed()]


def _count_geometry(part: Any, domain: Domain, crs: Any) -> Table:
    x, y = coordinates.from_shapely(np.asarray(part.array, object))
    return _count(x, y, domain, crs)


def _count_columns(part: Any, domain: Domain, crs: Any, x: str, y: str) -> Table:
    try:
        values = part[[x, y]].to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise BadInput("The coordinate columns must hold numbers.") from None
    return _count(*coordinates.finite(values[:, 0], values[:, 1]), domain, crs)
