"""Coordinate reference systems: reading them, naming them, making an equal-area one."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np
import pyproj

from ..errors import BadInput

Bounds = tuple[float, float, float, float]

#: of an area: what a map in metres may be off without being told apart from the ground
_MUCH = 0.01

Array = np.ndarray


def read_crs(crs: Any) -> pyproj.CRS:
    if crs is None:
        raise BadInput(
            "The CRS is missing: say in which one the coordinates are, for example crs='EPSG:4326'."
        )
    if isinstance(crs, dict):
        crs = json.dumps(crs)
    return _parsed_crs(crs)


@lru_cache(maxsize=64)
def _parsed_crs(crs: Any) -> pyproj.CRS:
    try:
        parsed = pyproj.CRS.from_user_input(crs)
    except (pyproj.exceptions.CRSError, RecursionError):
        raise BadInput(
            f"{str(crs)[:60]!r} is not a CRS that PROJ knows; give a code such as 'EPSG:4326'."
        ) from None
    if parsed.is_compound:
        parsed = parsed.sub_crs_list[0]
    if parsed.is_vertical:
        raise BadInput("A vertical CRS has no map; give coordinates in degrees or projected.")
    if parsed.is_geocentric:
        raise BadInput("A geocentric CRS has no map; give coordinates in degrees or projected.")
    return parsed.to_2d() if len(parsed.axis_info) == 3 else parsed


def crs_name(crs: pyproj.CRS) -> str:
    """Short name of a CRS for people: its code, or its name when it has none."""
    authority = crs.to_authority()
    return ":".join(authority) if authority else crs.name


def crs_text(crs: pyproj.CRS) -> str:
    """Text from which the same CRS can be read anywhere: its code, PROJ text or WKT.

    >>> crs_text(pyproj.CRS(27700))
    'EPSG:27700'
    """
    authority = crs.to_authority()
    if authority:
        return ":".join(authority)
    given = crs.srs
    return given if given.startswith("+proj=") else crs.to_wkt()


@lru_cache(maxsize=64)
def metres_per_unit(crs: pyproj.CRS) -> float:
    return float(crs.axis_info[0].unit_conversion_factor) if crs.axis_info else 1.0


def stretch(crs: pyproj.CRS, lon: float, lat: float) -> float:
    """How much longer than on the ground things are on the map there; 1 where that is about so.

    Web Mercator, at the latitude of New York, makes them a third longer.

    >>> round(stretch(pyproj.CRS(3857), -74.0, 40.7), 2), stretch(pyproj.CRS(32618), -74.0, 40.7)
    (1.32, 1.0)
    """
    return float(np.sqrt(areal_scale(crs, np.array([lon]), np.array([lat]))[0]))


def areal_scale(crs: pyproj.CRS, lon: Array, lat: Array) -> Array:
    """How much larger than on the ground areas are on the map; 1 if that is about so everywhere."""
    scale = np.ones(lon.shape)
    known = np.isfinite(lon) & np.isfinite(lat)
    if not (crs.is_projected and known.any()):
        return scale
    try:
        scale[known] = pyproj.Proj(crs).get_factors(lon[known], lat[known]).areal_scale
    except pyproj.exceptions.ProjError:
        return scale
    scale[~(np.isfinite(scale) & (scale > 0))] = 1.0
    return scale if (np.abs(scale - 1) > _MUCH).any() else np.ones(lon.shape)


def equal_area(crs: pyproj.CRS, box: Bounds) -> pyproj.CRS:
    """Equal-area projection centred on a box in degrees, with the datum of ``crs``."""
    west, south, east, north = box
    lon, lat = round((west + east) / 2, 4), round((south + north) / 2, 4)
    lon = (lon + 180) % 360 - 180
    wide = east - west > 180
    if wide and west >= -180 and east <= 180:
        lon = 0.0
    plain = crs == pyproj.CRS("EPSG:4326") or crs.to_authority() == ("OGC", "CRS84")
    if plain and wide and lon == 0.0:
        return pyproj.CRS("EPSG:6933")
    if plain:
        shape = (
            f"+proj=cea +lat_ts=30 +lon_0={lon:g}"
            if wide
            else (f"+proj=laea +lat_0={lat:g} +lon_0={lon:g}")
        )
        return pyproj.CRS(f"{shape} +datum=WGS84 +units=m")
    from pyproj.crs import ProjectedCRS
    from pyproj.crs.coordinate_operation import (
        LambertAzimuthalEqualAreaConversion,
        LambertCylindricalEqualAreaConversion,
    )

    conversion = (
        LambertCylindricalEqualAreaConversion(30, lon)
        if wide
        else LambertAzimuthalEqualAreaConversion(lat, lon)
    )
    return ProjectedCRS(conversion, geodetic_crs=crs)
