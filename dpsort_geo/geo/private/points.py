"""Points in whatever holds them, as batches of coordinates in the domain's working CRS."""

from __future__ import annotations

import contextlib
import numbers
import os
import warnings
from dataclasses import replace
from decimal import Decimal
from typing import Any, Callable, Optional, Tuple

import numpy as np
import shapely

from ...core.errors import BadInputError
from ...core.private.persons import names_of
from .._optional import need
from ..database import PostGIS, is_url
from ..domain import Domain
from . import coordinates, point_crs
from .beside import (
    Beside,
    Values,
    frame_values,
    given_values,
    has_another_index,
    refuse_twice,
    refuse_values,
)
from .files import UNREADABLE, PointStream, arrow_batches, batches, geo_interface_batches
from .formats import csv_text
from .postgis import database_batches
from .table import (
    PLAINLY,
    Layout,
    Persons,
    Reading,
    join_columns,
    layout,
    named_layout,
    person_columns,
    refuse_layer,
)

Array = np.ndarray


def point_stream(
    points: Any,
    domain: Domain,
    person: Any,
    columns: Optional[Tuple[str, str]],
    labels: Tuple[str, ...] = (),
    values: Values = None,
    how: Reading = PLAINLY,
) -> PointStream:
    """Batches of coordinates with their CRS, whatever the points came in."""
    return _add_crs(_stream(points, person, columns, labels, values, how), domain)


def _stream(
    points: Any,
    person: Any,
    columns: Optional[Tuple[str, str]],
    labels: Tuple[str, ...],
    values: Values,
    how: Reading,
) -> PointStream:
    if hasattr(points, "geometry") and hasattr(points, "crs"):
        if hasattr(points, "columns"):
            refuse_values(values)
        return _frame_stream(points, person, labels, values, how)
    if not isinstance(points, (np.ndarray, list, tuple)):
        refuse_values(values)
    if _package(points) == "pandas" and hasattr(points, "columns"):
        return _table_stream(points, person, columns, labels, how)
    if isinstance(points, (np.ndarray, list, tuple)):
        return _array_stream(points, person, labels, values, how)
    column = person if isinstance(person, (str, tuple)) else None
    if person is not None and column is None:
        raise BadInputError(
            "For points from a file or a table, person= is the name of a column, or of several."
        )
    if isinstance(points, PostGIS):
        return database_batches(points, columns, column, labels, how)
    if is_url(points):
        raise BadInputError("Points of a database are given as PostGIS(url, table='calls').")
    if isinstance(points, (str, os.PathLike)):
        return batches(points, columns, column, labels, how)
    if isinstance(points, bytes):
        piece = csv_text(points, columns, column, labels, how)
        return PointStream(piece.layout.crs, None, [piece], bare=True, layout=piece.layout)
    if _package(points) == "polars":
        points = _choose_columns(points, columns, column, labels, how)
    reader = _reader_of_result(points)
    if reader is not None or hasattr(points, "__arrow_c_stream__"):
        return arrow_batches(reader or points, columns, column, labels, how)
    if hasattr(points, "__geo_interface__") or isinstance(points, dict):
        refuse_layer(how)
        stream = geo_interface_batches(points, column, labels, how.gaps)
        crs = getattr(points, "crs", None)
        if crs is None and not isinstance(points, dict):
            # objects such as shapely's name no CRS: they are in that of the domain, like arrays
            return replace(stream, crs=point_crs.settle_crs(None, how.crs), bare=True)
        # GeoJSON is in degrees unless it says otherwise
        declared = point_crs.geojson_crs(points) if crs is None else crs
        return replace(stream, crs=point_crs.settle_crs(declared, how.crs))
    raise BadInputError(
        "Points must be a GeoDataFrame, a GeoSeries, an (n, 2) array, a path, a table, or "
        "something with __geo_interface__ or __arrow_c_stream__."
    )


def _package(points: Any) -> str:
    return type(points).__module__.partition(".")[0]


def _choose_columns(
    frame: Any,
    columns: Optional[Tuple[str, str]],
    person: Persons,
    labels: Tuple[str, ...],
    how: Reading,
) -> Any:
    """The columns of a polars frame, lazy or not, that are wanted: others may be of any type."""
    pa = need("pyarrow", "A polars frame")
    lazy = frame.to_frame().lazy() if hasattr(frame, "to_frame") else frame.lazy()
    kinds = _compute(lazy.collect_schema)
    plain = [name for name, kind in kinds.items() if str(kind) != "Object"]
    nothing = pa.table(_compute(lazy.select(plain).head(0).collect))
    chosen = layout(nothing.schema, columns, person, labels, how)
    return _compute(lazy.select(chosen.names).collect)


def _compute(run: Callable[[], Any]) -> Any:
    """What a lazy frame gives when it is run; its errors quote the values they are about."""
    with contextlib.suppress(Exception):
        return run()
    # not raised above: an error remembers the one during which it was raised
    raise BadInputError(UNREADABLE)


def _reader_of_result(points: Any) -> Any:
    """The rows of a query that was run: DuckDB's connection, or the cursor of an ADBC driver."""
    if hasattr(points, "__arrow_c_stream__"):
        return None
    for name in ("to_arrow_reader", "fetch_record_batch"):
        if hasattr(points, name):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(Exception):
                    return getattr(points, name)()
            # not raised above: the error may quote the query
            raise BadInputError("This connection has no result to read: run a query first.")
    return None


def _frame_stream(
    frame: Any, person: Any, labels: Tuple[str, ...], values: Values, how: Reading
) -> PointStream:
    """Points of a GeoDataFrame, or of a GeoSeries, which has no columns."""
    refuse_layer(how)
    crs = point_crs.settle_crs(frame.crs, how.crs)
    x, y = coordinates.from_shapely(np.asarray(frame.geometry.array, object), how.gaps)
    if hasattr(frame, "columns"):
        beside = _beside_frame(frame, person, labels, x.size, how.gaps)
    else:
        beside = persons_of(frame, person, x.size, how.gaps)
        if labels:
            index = getattr(frame, "index", None)
            beside = Beside(beside, given_values(values, labels, x.size, index))
    return PointStream(crs, x.size, [[(x, y, beside)]])


def _table_stream(
    frame: Any,
    person: Any,
    columns: Optional[Tuple[str, str]],
    labels: Tuple[str, ...],
    how: Reading,
) -> PointStream:
    """Points of a pandas frame without geometry, each value as it is in its own row."""
    refuse_layer(how)
    names = list(frame.columns)
    who = person_columns(person) if isinstance(person, (str, tuple)) else ()
    for name in (*(columns or ()), *who, *labels):
        if names.count(name) != 1:
            raise BadInputError(f"The input needs exactly one column named {name!r}.")
    chosen = named_layout(names, columns, how)
    for name in chosen.names:
        refuse_twice(names, name)
    if chosen.xy is None:
        shapes = frame[chosen.geometry].tolist()
        chosen = chosen.settled([one for one in shapes if isinstance(one, (str, bytes))][:1])
        x, y = coordinates.from_objects(shapes, chosen.srid, how.gaps)
    else:
        x, y = (_numbers(frame, name, chosen) for name in chosen.xy)
        x, y = coordinates.finite(x, y, how.gaps)
    beside = _beside_frame(frame, person, labels, x.size, how.gaps)
    return PointStream(chosen.crs, x.size, [[(x, y, beside)]], bare=True, layout=chosen)


def _numbers(frame: Any, name: str, chosen: Layout) -> Array:
    column = frame[name]
    numeric = getattr(column.dtype, "kind", "O") in "iuf"
    if not numeric and not all(
        isinstance(value, (numbers.Number, Decimal)) and not isinstance(value, bool)
        for value in column.dropna()
    ):
        raise BadInputError(coordinates.NOT_NUMBERS.format(*chosen.xy or ()))
    return np.asarray(column.to_numpy(np.float64, na_value=np.nan))


def _beside_frame(frame: Any, person: Any, labels: Tuple[str, ...], rows: int, gaps: bool) -> Any:
    who = persons_of(frame, person, rows, gaps)
    return Beside(who, frame_values(frame, labels)) if labels else who


def _array_stream(
    points: Any, person: Any, labels: Tuple[str, ...], values: Values, how: Reading
) -> PointStream:
    refuse_layer(how)
    shapes = all(one is None or isinstance(one, shapely.Geometry) for one in points)
    if shapes and any(one is not None for one in points):
        x, y = coordinates.from_shapely(np.asarray(points, object), how.gaps)
    else:
        x, y = _columns_of_array(points, how.gaps)
    who = persons_of(None, person, x.size, how.gaps)
    beside = Beside(who, given_values(values, labels, x.size)) if labels else who
    crs = point_crs.settle_crs(None, how.crs)
    return PointStream(crs, x.size, [[(x, y, beside)]], bare=True)


def _columns_of_array(points: Any, gaps: bool) -> Tuple[Array, Array]:
    array = None
    with contextlib.suppress(TypeError, ValueError):
        array = np.asarray(points, np.float64)
    if array is None:  # not raised above: the error would remember the text it was about
        raise BadInputError("The points must be numbers in an array of shape (n, 2).")
    if array.ndim != 2 or array.shape[1] != 2:
        raise BadInputError("An array of points must have the shape (n, 2): x and y of each point.")
    return coordinates.finite(array[:, 0], array[:, 1], gaps)


def persons_of(frame: Any, person: Any, rows: int, gaps: bool = False) -> Optional[Array]:
    """Whose point each row of a frame is: by a column, several, or an array beside it."""
    if person is None:
        return None
    if isinstance(person, tuple):
        return join_columns([persons_of(frame, name, rows, gaps) for name in person], gaps)
    if isinstance(person, str):
        if frame is None or not hasattr(frame, "columns") or person not in frame.columns:
            raise BadInputError(f"There is no person column {person!r} in the points.")
        refuse_twice(frame.columns, person)
        person = frame[person]
    if has_another_index(person, getattr(frame, "index", None)):
        raise BadInputError(
            "The persons have another index than the points; "
            "take a column of the same frame, or give an array in the order of the points."
        )
    if not gaps and hasattr(person, "isna") and bool(person.isna().any()):
        raise BadInputError("Every point must have a person; drop the rows without one first.")
    who = names_of(person)
    if who.shape != (rows,):
        raise BadInputError("There must be exactly one person for each point.")
    return who


def _add_crs(stream: PointStream, domain: Domain) -> PointStream:
    if stream.crs is not None:
        return stream
    if stream.bare:  # numbers without a CRS are in that of the domain
        return replace(stream, crs=domain.crs, assumed=True)
    raise BadInputError(point_crs.NO_CRS)


def projected(domain: Domain, stream: PointStream, x: Array, y: Array) -> Tuple[Array, Array]:
    """Coordinates of a batch in the working CRS."""
    with np.errstate(all="ignore"):  # numpy's warning would tell that there is such a point
        x, y = domain.project(x, y, stream.crs)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        if stream.assumed:
            raise BadInputError(
                "The points name no CRS, and some have no place in that of the domain: say in "
                "which one they are, with points_crs=, and look at them with check() first."
            )
        raise BadInputError(
            "Some coordinates have no place in the domain's CRS; "
            "check that the points are in the CRS that they say."
        )
    return x, y


def is_dask(points: Any) -> bool:
    """Whether these are a frame of dask."""
    return type(points).__module__.split(".")[0] in ("dask", "dask_expr", "dask_geopandas")


def is_spark(points: Any) -> bool:
    """Whether these are a frame of Spark."""
    return type(points).__module__.startswith("pyspark.sql")
