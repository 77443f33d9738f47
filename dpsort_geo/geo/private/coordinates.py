"""Coordinates out of geometry columns, without a geometry object per point.

A plain point in well-known binary is 21 bytes: byte order, type, x, y. A column of them is a
table with four fields that numpy can look at where it lies. Only what is not plain (a third
coordinate, an SRID, big-endian numbers) passes through shapely.

Where a row has no place, all of it is refused; only a dry run asks for ``gaps``, and finds NaN
there. No message here tells how many geometries were at fault, or which: that is private.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import shapely

from ...core.errors import BadInputError
from ..write import WKB_POINT

Array = np.ndarray

#: one plain point as PostGIS writes it
EWKB_POINT = np.dtype(
    [("order", "u1"), ("type", "<u4"), ("srid", "<i4"), ("x", "<f8"), ("y", "<f8")]
)

EMPTY = "Every row must have a point with finite coordinates; drop null and empty geometries first."
NOT_POINTS = "Only points can be published; take points (for example centroids) of the geometries."
MULTIPOINT = (
    "Multipoints and collections cannot be published as they are; "
    "turn them into points with explode()."
)
NOT_NUMBERS = (
    "The coordinate columns {0!r} and {1!r} must hold numbers, and somewhere there is text: a word "
    "for a missing value, a unit, or a decimal comma (decimal=',')."
)


def finite(x: Array, y: Array, gaps: bool = False) -> tuple[Array, Array]:
    """The same coordinates as float64, refused if one of them is not a finite number.

    >>> finite([1, 2], [3, 4])
    (array([1., 2.]), array([3., 4.]))
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not (gaps or (np.isfinite(x).all() and np.isfinite(y).all())):
        raise BadInputError(EMPTY)
    return x, y


def from_shapely(geometry: Array, gaps: bool = False) -> tuple[Array, Array]:
    """Coordinates of an array of shapely points.

    >>> from_shapely(shapely.points([[1.0, 2.0], [3.0, 4.0]]))
    (array([1., 3.]), array([2., 4.]))
    """
    geometry = np.asarray(geometry, object)
    kinds = shapely.get_type_id(geometry)
    several = (shapely.GeometryType.MULTIPOINT, shapely.GeometryType.GEOMETRYCOLLECTION)
    if np.isin(kinds, several).any():
        raise BadInputError(MULTIPOINT)
    if (kinds > shapely.GeometryType.POINT).any():
        raise BadInputError(NOT_POINTS)
    if not gaps and (shapely.is_missing(geometry) | shapely.is_empty(geometry)).any():
        raise BadInputError(EMPTY)
    return finite(shapely.get_x(geometry), shapely.get_y(geometry), gaps)


def from_objects(geometry: Any, srid: int | None = None, gaps: bool = False) -> tuple[Array, Array]:
    """Coordinates of a sequence of geometries, each as it comes; None for a missing one.

    They are ``bytes`` of WKB, or text: WKT, EWKT, or WKB in hexadecimal digits as databases write
    it. With ``srid``, which PostGIS writes into each geometry (0 is none), all must have that one.

    >>> from_objects(["POINT (1 2)", "SRID=4326;POINT(3 4)"])
    (array([1., 3.]), array([2., 4.]))
    """
    parsed = None
    with contextlib.suppress(shapely.errors.ShapelyError, TypeError, ValueError, AttributeError):
        if all(one is None or type(one) is bytes for one in geometry):
            parsed = shapely.from_wkb(np.asarray(geometry, object))
        else:
            parsed = np.array([_shape(one) for one in geometry], object)
    if parsed is None:  # not raised above: an error remembers the one during which it was raised
        raise BadInputError(
            "A geometry is neither valid well-known binary nor well-known text; "
            "write the points anew."
        )
    _check_srid(parsed, srid)
    return from_shapely(parsed, gaps)


def _shape(one: Any) -> Any:
    if one is None or isinstance(one, shapely.Geometry):
        return one
    if not isinstance(one, str):
        return shapely.from_wkb(bytes(one))
    text = one.strip()
    if not text:
        return None
    if text[:2] in ("00", "01"):
        return shapely.from_wkb(text)
    number, sign, plain = text.rpartition(";")
    shape = shapely.from_wkt(plain)
    if not sign:
        return shape
    if number[:5].upper() != "SRID=":
        raise ValueError("not EWKT")
    return shapely.set_srid(shape, int(number[5:]))


def _check_srid(shapes: Array, srid: int | None) -> None:
    """Each row says in which CRS it is, and all must say the same: that of the first one rules."""
    if srid is not None and (shapely.get_srid(shapes[~shapely.is_missing(shapes)]) != srid).any():
        raise BadInputError(
            "Some geometries have another SRID than others; write all of them in the same CRS."
        )


def srid_of(geometry: Any) -> int:
    """The SRID of the first geometry, bytes or text; 0 if it has none or cannot be read.

    >>> srid_of([shapely.to_wkb(shapely.set_srid(shapely.Point(1, 2), 4326), include_srid=True)])
    4326
    """
    first = next((one for one in geometry if one), None)
    shape = None
    with contextlib.suppress(shapely.errors.ShapelyError, TypeError, ValueError):
        shape = _shape(first)
    return 0 if shape is None else int(shapely.get_srid(shape))


def from_wkb_buffer(
    buffer: Any, n: int, start: int = 0, srid: int | None = None, gaps: bool = False
) -> tuple[Array, Array] | None:
    """Coordinates of ``n`` plain points; None if they are not all plain.

    Each has 21 bytes, or 25 where ``srid`` is one, which they must then have.

    >>> raw = shapely.to_wkb(shapely.Point(1, 2)) + shapely.to_wkb(shapely.Point(3, 4))
    >>> from_wkb_buffer(raw, 2)
    (array([1., 3.]), array([2., 4.]))
    """
    kind, code = (EWKB_POINT, 0x20000001) if srid else (WKB_POINT, 1)
    points = np.frombuffer(buffer, kind, count=n, offset=start)
    if not ((points["order"] == 1).all() and (points["type"] == code).all()):
        return None
    if srid and (points["srid"] != srid).any():
        return None
    # the fields lie so many bytes apart: copy them to where arithmetic is fast
    return finite(points["x"].copy(), points["y"].copy(), gaps)
