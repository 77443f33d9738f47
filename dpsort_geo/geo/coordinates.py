"""Coordinates out of geometry columns, without a geometry object per point.

A plain point in well-known binary is 21 bytes: byte order, type, x, y. A column of them is a
table with four fields that numpy can look at where it lies. Only what is not plain (a third
coordinate, an SRID, big-endian numbers) passes through shapely.

No message here tells how many geometries were at fault, or which: that is private.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import shapely
from pyproj import CRS

from ..errors import BadInput
from .crs import read_crs

Array = np.ndarray

#: one plain point in little-endian well-known binary
WKB_POINT = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])

EMPTY = "Every row must have a point with finite coordinates; drop null and empty geometries first."
NOT_POINTS = "Only points can be published; take points (for example centroids) of the geometries."
MULTIPOINT = "Multipoints cannot be published as they are; turn them into points with explode()."

#: pairs of column names that mean coordinates, in lower case, and whether they are degrees
PAIRS = {
    ("lon", "lat"): True,
    ("lng", "lat"): True,
    ("long", "lat"): True,
    ("longitude", "latitude"): True,
    ("x", "y"): False,
    ("easting", "northing"): False,
}

#: two names for longitude and latitude on WGS 84, once x comes first
_LON_LAT = {"OGC:CRS84", "EPSG:4326"}


def finite(x: Array, y: Array) -> tuple[Array, Array]:
    """The same coordinates as float64, refused if one of them is not a finite number.

    >>> finite([1, 2], [3, 4])
    (array([1., 2.]), array([3., 4.]))
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadInput(EMPTY)
    return x, y


def from_shapely(geometry: Array) -> tuple[Array, Array]:
    """Coordinates of an array of shapely points.

    >>> from_shapely(shapely.points([[1.0, 2.0], [3.0, 4.0]]))
    (array([1., 3.]), array([2., 4.]))
    """
    geometry = np.asarray(geometry, object)
    kinds = shapely.get_type_id(geometry)
    if (kinds == shapely.GeometryType.MULTIPOINT).any():
        raise BadInput(MULTIPOINT)
    if (kinds > shapely.GeometryType.POINT).any():
        raise BadInput(NOT_POINTS)
    if (shapely.is_missing(geometry) | shapely.is_empty(geometry)).any():
        raise BadInput(EMPTY)
    return finite(shapely.get_x(geometry), shapely.get_y(geometry))


def from_wkb_objects(geometry: Any) -> tuple[Array, Array]:
    """Coordinates of a sequence of ``bytes`` in well-known binary, None for a missing one."""
    try:
        parsed = shapely.from_wkb(np.asarray(geometry, object))
    except (shapely.errors.ShapelyError, TypeError, ValueError):
        raise BadInput("A geometry is not valid well-known binary; write the file anew.") from None
    return from_shapely(parsed)


def from_wkb_buffer(buffer: Any, n: int, start: int = 0) -> tuple[Array, Array] | None:
    """Coordinates of ``n`` geometries of 21 bytes each; None if they are not all plain points.

    >>> raw = shapely.to_wkb(shapely.Point(1, 2)) + shapely.to_wkb(shapely.Point(3, 4))
    >>> from_wkb_buffer(raw, 2)
    (array([1., 3.]), array([2., 4.]))
    """
    points = np.frombuffer(buffer, WKB_POINT, count=n, offset=start)
    if not ((points["order"] == 1).all() and (points["type"] == 1).all()):
        return None
    # the fields lie 21 bytes apart: copy them to where arithmetic is fast
    return finite(points["x"].copy(), points["y"].copy())


def from_arrow(column: Any) -> tuple[Array, Array]:
    """Coordinates of an Arrow array of points: WKB, or native (separated or interleaved)."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if len(column) == 0:
        return np.empty(0), np.empty(0)
    if column.null_count:
        raise BadInput(EMPTY)
    kind = column.type
    if pa.types.is_struct(kind):
        if kind.num_fields < 2 or not pa.types.is_floating(kind.field(0).type):
            raise BadInput(NOT_POINTS)
        return finite(_numbers(column.field(0)), _numbers(column.field(1)))
    if pa.types.is_fixed_size_list(kind) and pa.types.is_floating(kind.value_type):
        values = _numbers(column.flatten()).reshape(len(column), kind.list_size)
        return finite(values[:, 0].copy(), values[:, 1].copy())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        nested = kind.value_type
        is_multipoint = pa.types.is_struct(nested) or pa.types.is_fixed_size_list(nested)
        raise BadInput(MULTIPOINT if is_multipoint else NOT_POINTS)
    return _from_arrow_wkb(column)


def _from_arrow_wkb(column: Any) -> tuple[Array, Array]:
    import pyarrow as pa

    n = len(column)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        _, offset_buffer, data = column.buffers()
        width = np.int32 if pa.types.is_binary(column.type) else np.int64
        offset = np.frombuffer(offset_buffer, width)[column.offset : column.offset + n + 1]
        length = np.diff(offset)
        # GDAL's stream of a FlatGeobuf shows a missing geometry by its length alone
        if data is None or (length <= 0).any():
            raise BadInput(EMPTY)
        if (length == WKB_POINT.itemsize).all():
            plain = from_wkb_buffer(data, n, int(offset[0]))
            if plain is not None:
                return plain
    elif not _is_binary(column.type):
        raise BadInput("The geometry column must be well-known binary or GeoArrow points.")
    return from_wkb_objects(column.to_pylist())


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or kind == pa.binary_view()
    )


def from_arrow_numbers(x: Any, y: Any) -> tuple[Array, Array]:
    """Coordinates of two Arrow arrays of numbers."""
    import pyarrow as pa

    for column in (x, y):
        kind = column.type
        if not (
            pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
        ):
            raise BadInput("The coordinate columns must hold numbers.")
    return finite(_numbers(x), _numbers(y))


def _numbers(column: Any) -> Array:
    import pyarrow as pa

    if column.null_count:
        raise BadInput(EMPTY)
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def pair(names: Any) -> tuple[str, str]:
    """The two columns of a table that hold coordinates, found by their names.

    >>> pair(["id", "Longitude", "Latitude"])
    ('Longitude', 'Latitude')
    """
    lower = {str(name).strip().lower(): name for name in reversed(list(names))}
    found = [(lower[a], lower[b]) for a, b in PAIRS if a in lower and b in lower]
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadInput(
            "No coordinates were found: expected point geometries or columns named lon and lat "
            "or x and y; name the columns with columns=(x, y)."
        )
    raise BadInput(
        "More than one pair of columns could be the coordinates; "
        "say which with columns=(x, y), for example columns=('lon', 'lat')."
    )


def geojson_crs(document: Any) -> CRS:
    """CRS of parsed GeoJSON: longitude and latitude (RFC 7946), or what an old file names.

    >>> geojson_crs({"type": "Point", "coordinates": [1, 2]}).name
    'WGS 84 (CRS84)'
    """
    named = document.get("crs")
    if named is None:
        return CRS("OGC:CRS84")
    try:
        return read_crs(named["properties"]["name"])
    except (BadInput, KeyError, TypeError):  # without the name: it is text of a private file
        raise BadInput("The GeoJSON names a CRS that is not known; write it in degrees.") from None


def pair_crs(x: str, y: str) -> CRS | None:
    """WGS 84 for columns that are named as degrees; unknown for any others.

    >>> pair_crs("lon", "lat").to_epsg(), pair_crs("x", "y")
    (4326, None)
    """
    degrees = PAIRS.get((x.strip().lower(), y.strip().lower()), False)
    return CRS.from_epsg(4326) if degrees else None


def parse_crs(value: Any) -> CRS | None:
    """A CRS from whatever a file holds: PROJJSON, text, or nothing.

    >>> parse_crs("EPSG:27700").to_epsg()
    27700
    """
    if value is None or value == "":
        return None
    if isinstance(value, dict):
        value = json.dumps(value)
    return read_crs(value)


def same_crs(a: CRS | None, b: CRS | None) -> bool:
    """Whether coordinates in both, x first, mean the same.

    >>> same_crs(CRS("OGC:CRS84"), CRS("EPSG:4326")), same_crs(None, CRS("EPSG:4326"))
    (True, False)
    """
    if a is None or b is None:
        return a is b
    return a.equals(b, ignore_axis_order=True) or {_code(a), _code(b)} <= _LON_LAT


def _code(crs: CRS) -> str | None:
    authority = crs.to_authority()
    return ":".join(authority) if authority else None


def extension_crs(metadata: bytes | None) -> CRS | None:
    """The CRS in the metadata of a GeoArrow extension type."""
    try:
        parsed = json.loads(metadata or b"{}")
    except ValueError:
        return None
    return parse_crs(parsed.get("crs")) if isinstance(parsed, dict) else None
