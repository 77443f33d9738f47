"""pyproj and shapely answer what `core.frame` asks of a GIS."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyproj
import shapely
from pyproj.crs import ProjectedCRS
from pyproj.crs.coordinate_operation import (
    LambertAzimuthalEqualAreaConversion,
    LambertCylindricalEqualAreaConversion,
)

from ..core.errors import BadInputError
from ..core.frame import rings
from ..core.frame.host import Bounds, EqualArea, Polygons
from .crs import read_crs, stay_offline

Array = np.ndarray


class PyprojHost:
    """Reference systems are ``pyproj.CRS``."""

    def crs_of(self, text: str) -> pyproj.CRS:
        """The reference system that a text names."""
        return read_crs(text)

    def parameters(self, crs: pyproj.CRS) -> dict[str, str]:
        """What PROJ's text of a reference system says.

        >>> HOST.parameters(pyproj.CRS(6933))["proj"]
        'cea'
        """
        return _parameters(crs)

    def is_geographic(self, crs: pyproj.CRS) -> bool:
        """Whether coordinates are longitudes and latitudes."""
        return bool(crs.is_geographic)

    def metres_per_unit(self, crs: pyproj.CRS) -> float:
        """Metres in one unit of a projected system, by its own definition."""
        return float(crs.axis_info[0].unit_conversion_factor) if crs.axis_info else 1.0

    def equal_area(self, crs: pyproj.CRS, projection: EqualArea) -> pyproj.CRS:
        """A projection of the datum of a geographic system."""
        if crs == pyproj.CRS("EPSG:4326") or crs.to_authority() == ("OGC", "CRS84"):
            return pyproj.CRS(projection.text)
        conversion = (
            LambertCylindricalEqualAreaConversion(30, projection.lon)
            if projection.lat is None
            else LambertAzimuthalEqualAreaConversion(projection.lat, projection.lon)
        )
        return ProjectedCRS(conversion, geodetic_crs=crs)

    def transform(
        self, x: Array, y: Array, source: pyproj.CRS, target: pyproj.CRS
    ) -> tuple[Array, Array]:
        """Coordinates in another system, x first; infinite where a place has none there.

        >>> x, y = np.array([-74.0]), np.array([40.7])
        >>> [at.round(1) for at in HOST.transform(x, y, read_crs(4326), read_crs(6933))]
        [array([-7139984.7]), array([4775524.2])]
        """
        # here too: pyproj has a context a thread, and another library may have turned it on
        stay_offline()
        x, y = _transformer(source, target).transform(x, y)
        return np.asarray(x), np.asarray(y)

    def areal_scale(self, crs: pyproj.CRS, lon: Array, lat: Array) -> Array:
        """How much larger than on the ground areas are on the map; not finite where unknown.

        >>> HOST.areal_scale(pyproj.CRS(3857), np.array([0.0]), np.array([60.0])).round(1)
        array([4.])
        """
        if not crs.is_projected:
            return np.full(lon.shape, np.nan)
        try:
            return np.asarray(pyproj.Proj(crs).get_factors(lon, lat).areal_scale)
        except pyproj.exceptions.ProjError:
            return np.full(lon.shape, np.nan)

    def unite(self, polygons: Polygons) -> Polygons:
        """Valid polygons with the same inside; what several cover counts once."""
        return polygons_of(_shape(polygons))

    def clip(self, polygons: Polygons, box: Bounds) -> Polygons:
        """The part of polygons that lies in a box, as valid polygons."""
        return polygons_of(shapely.intersection(_shape(polygons), shapely.box(*box)))


HOST = PyprojHost()


@lru_cache(maxsize=64)
def _parameters(crs: pyproj.CRS) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the text loses something of the CRS
        try:
            text = crs.to_proj4()
        except pyproj.exceptions.CRSError:
            return {}
    return dict(re.findall(r"\+(\w+)=(\S+)", text))


@lru_cache(maxsize=64)
def _transformer(source: pyproj.CRS, target: pyproj.CRS) -> pyproj.Transformer:
    try:
        return pyproj.Transformer.from_crs(source, target, always_xy=True)
    except pyproj.exceptions.ProjError:
        raise BadInputError("PROJ knows no way between the two reference systems.") from None


def all_polygons(shapes: Sequence[Any]) -> list[Polygons]:
    """`polygons_of` each shape; the usual ones, valid and simple, all at once."""
    array = np.empty(len(shapes), object)
    array[:] = shapes
    plain = (shapely.get_type_id(array) == 3) & shapely.is_valid(array) & ~shapely.is_empty(array)
    lines, owner = shapely.get_rings(array[plain], return_index=True)
    points, which = shapely.get_coordinates(lines, return_index=True)
    rings = np.split(points, np.flatnonzero(np.diff(which)) + 1)
    found: list[Polygons] = [[[]] for _ in range(int(plain.sum()))]
    for number, ring in zip(owner.tolist(), rings):
        found[number][0].append(ring)
    usual = iter(found)
    return [
        next(usual) if is_plain else polygons_of(shape)
        for shape, is_plain in zip(shapes, plain.tolist())
    ]


def polygons_of(shape: Any) -> Polygons:
    """The polygons of a shape, made valid; what several of them cover counts once.

    >>> [len(polygon) for polygon in polygons_of(shapely.box(0, 0, 1, 1))]
    [1]
    """
    lines, owner = shapely.get_rings(shapely.get_parts(polygonal(shape)), return_index=True)
    points, which = shapely.get_coordinates(lines, return_index=True)
    polygons: Polygons = [[] for _ in range(owner[-1] + 1)] if len(owner) else []
    for number, ring in zip(owner, np.split(points, np.flatnonzero(np.diff(which)) + 1)):
        polygons[number].append(ring)
    return polygons


def rings_of(shape: Any) -> list[Array]:
    """Rings of a polygon or multipolygon, as float arrays of shape (k, 2); holes turn clockwise.

    >>> [ring.shape for ring in rings_of(shapely.box(0, 0, 1, 1))]
    [(5, 2)]
    """
    return rings.rings_of(polygons_of(shape))


def _shape(polygons: Polygons) -> Any:
    return shapely.multipolygons([shapely.Polygon(outer, holes) for outer, *holes in polygons])


def polygonal(shape: Any) -> Any:
    """A valid shape with the same inside; of parts that overlap, the union."""
    if not np.isfinite(shapely.get_coordinates(shape)).all():
        raise BadInputError("The corners of a polygon must be finite numbers.")
    if not shape.is_valid:
        shape = shapely.make_valid(shape, method="structure", keep_collapsed=False)
    if shape.geom_type == "GeometryCollection":
        parts = shapely.get_parts(shape)
        shape = shapely.union_all(parts[np.isin(shapely.get_type_id(parts), (3, 6))])
    return shape if shape.geom_type in ("Polygon", "MultiPolygon") else shapely.Polygon()
