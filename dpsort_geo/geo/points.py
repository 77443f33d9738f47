"""Points in whatever holds them, as batches of coordinates in the domain's working CRS."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Optional, Tuple

import numpy as np
import shapely

from ..errors import BadInput
from ..publisher.persons import names_of
from . import coordinates
from .domain import Domain
from .files import PointStream, arrow_batches, batches, geo_interface_batches
from .formats import csv_text

Array = np.ndarray


def point_stream(
    points: Any, domain: Domain, person: Any, columns: Optional[Tuple[str, str]]
) -> PointStream:
    """Batches of coordinates with their CRS, whatever the points came in."""
    column = person if isinstance(person, str) else None
    if isinstance(points, (str, os.PathLike)):
        _only_columns(person)
        stream = batches(points, columns, column)
        # two columns of numbers carry no CRS of their own: like an array, they are in the domain's
        bare = columns is not None or str(points).lower().endswith((".csv", ".tsv", ".csv.gz"))
        return _with_crs(stream, domain, bare)
    if isinstance(points, bytes):
        piece = csv_text(points, columns, column)
        return _with_crs(PointStream(piece.layout.crs, None, [piece]), domain, bare=True)
    if is_dask(points):
        raise BadInput("With person= the points must fit into memory: call compute() first.")
    if hasattr(points, "geometry") and hasattr(points, "crs"):
        return _frame_stream(points, person)
    if isinstance(points, (np.ndarray, list, tuple)):
        return _array_stream(points, domain, person)
    if hasattr(points, "__arrow_c_stream__"):
        _only_columns(person)
        return _with_crs(arrow_batches(points, columns, column), domain, bare=columns is not None)
    if hasattr(points, "__geo_interface__") or isinstance(points, dict):
        _only_columns(person)
        stream = geo_interface_batches(points, column)
        crs = getattr(points, "crs", None)
        if crs is None and not isinstance(points, dict):
            # objects such as shapely's name no CRS: they are in that of the domain, like arrays
            crs = domain.crs
        # GeoJSON is in degrees unless it says otherwise
        return replace(stream, crs=coordinates.geojson_crs(points) if crs is None else crs)
    raise BadInput(
        "Points must be a GeoDataFrame, a GeoSeries, an (n, 2) array, a path, or something with "
        "__geo_interface__ or __arrow_c_stream__."
    )


def _frame_stream(frame: Any, person: Any) -> PointStream:
    if frame.crs is None:
        raise BadInput("The points have no CRS: say which one it is with set_crs().")
    shapes = np.asarray(frame.geometry.array, object)
    if (shapely.is_missing(shapes) | shapely.is_empty(shapes)).any():
        raise BadInput(coordinates.EMPTY)
    x, y = coordinates.from_shapely(shapes)
    return PointStream(frame.crs, x.size, [[(x, y, _who(frame, person, x.size))]])


def _array_stream(points: Any, domain: Domain, person: Any) -> PointStream:
    try:
        array = np.asarray(points, np.float64)
    except (TypeError, ValueError):
        raise BadInput("The points must be numbers in an array of shape (n, 2).") from None
    if array.ndim != 2 or array.shape[1] != 2:
        raise BadInput("An array of points must have the shape (n, 2): x and y of each point.")
    x, y = coordinates.finite(array[:, 0], array[:, 1])
    return PointStream(domain.crs, x.size, [[(x, y, _who(None, person, x.size))]])


def _who(frame: Any, person: Any, rows: int) -> Optional[Array]:
    if person is None:
        return None
    if isinstance(person, str):
        if frame is None or not hasattr(frame, "columns") or person not in frame.columns:
            raise BadInput(f"There is no person column {person!r} in the points.")
        person = frame[person]
    if hasattr(person, "isna") and bool(person.isna().any()):
        raise BadInput("Every point must have a person; drop the rows without one first.")
    who = names_of(person)
    if who.shape != (rows,):
        raise BadInput("There must be exactly one person for each point.")
    return who


def _only_columns(person: Any) -> None:
    if person is not None and not isinstance(person, str):
        raise BadInput("For points from a file or a table, person= is the name of a column.")


def _with_crs(stream: PointStream, domain: Domain, bare: bool) -> PointStream:
    if stream.crs is not None:
        return stream
    if bare:
        return replace(stream, crs=domain.crs)
    raise BadInput("The points have no CRS: write the file again with the CRS they are in.")


def projected(domain: Domain, stream: PointStream, x: Array, y: Array) -> Tuple[Array, Array]:
    """Coordinates of a batch in the working CRS."""
    x, y = domain.project(x, y, stream.crs)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadInput(
            "Some coordinates have no place in the domain's CRS; "
            "check that the points are in the CRS that they say."
        )
    return x, y


def is_dask(points: Any) -> bool:
    """Whether these are a frame of dask."""
    return type(points).__module__.split(".")[0] in ("dask", "dask_expr", "dask_geopandas")
