"""What this folder asks of a GIS: coordinates, scales, and polygons clipped and put together.

pyproj and shapely answer in ``dpsort_geo.geo.host``, QGIS in the plugin's ``host``. Reference
systems are whatever the host takes them to be; two of them are the same when they are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Protocol, Tuple

import numpy as np

Array = np.ndarray
Crs = Any
#: west, south, east, north
Bounds = Tuple[float, float, float, float]
#: each polygon is its outer ring, then its holes; a ring is a closed array of shape (k, 2)
Polygons = List[List[Array]]

#: degrees, the longitude first
LONLAT = "EPSG:4326"


@dataclass(frozen=True)
class EqualArea:
    """An equal-area projection: azimuthal around a centre, or, without a latitude, the cylinder.

    >>> EqualArea(-74.0, 40.725).text
    '+proj=laea +lat_0=40.725 +lon_0=-74 +datum=WGS84 +units=m'
    """

    lon: float
    lat: Optional[float] = None

    @property
    def shape(self) -> str:
        """The projection as PROJ writes it, without its datum."""
        if self.lat is None:
            return f"+proj=cea +lat_ts=30 +lon_0={self.lon:g}"
        return f"+proj=laea +lat_0={self.lat:g} +lon_0={self.lon:g}"

    @property
    def text(self) -> str:
        """The reference system on WGS 84."""
        known = {None: "EPSG:6933", 90.0: "EPSG:6931", -90.0: "EPSG:6932"}
        if self.lon == 0 and self.lat in known:
            return known[self.lat]
        return f"{self.shape} +datum=WGS84 +units=m"


class Host(Protocol):
    """A GIS that answers."""

    def crs_of(self, text: str) -> Crs:
        """The reference system that a text names."""

    def parameters(self, crs: Crs) -> Dict[str, str]:
        """What PROJ's text of a reference system says, such as proj and lon_0; may be empty."""

    def is_geographic(self, crs: Crs) -> bool:
        """Whether coordinates are longitudes and latitudes."""

    def metres_per_unit(self, crs: Crs) -> float:
        """Metres in one unit of a projected system, by its own definition."""

    def equal_area(self, crs: Crs, projection: EqualArea) -> Crs:
        """A projection of the datum of a geographic system."""

    def transform(self, x: Array, y: Array, source: Crs, target: Crs) -> Tuple[Array, Array]:
        """Coordinates in another system, x first; not finite where a place has none there."""

    def areal_scale(self, crs: Crs, lon: Array, lat: Array) -> Array:
        """How much larger than on the ground areas are on the map; not finite where unknown."""

    def unite(self, polygons: Polygons) -> Polygons:
        """Valid polygons with the same inside; what several cover counts once."""

    def clip(self, polygons: Polygons, box: Bounds) -> Polygons:
        """The part of polygons that lies in a box, as valid polygons."""
