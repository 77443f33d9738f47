"""Counts in polygons as rows: for each polygon, and each slice of the axes asked for."""

from dataclasses import dataclass

import numpy as np
from qgis.core import QgsDistanceArea, QgsUnitTypes

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.frame.zones import share_near, zone_rings
from ._vendor.dpsort_geo.public.counts import (
    count_slices,
    count_table,
    covered_share,
    room_in,
)
from .compat import square_kilometres
from .i18n import tr


@dataclass(frozen=True, eq=False)
class Rows:
    """A row a polygon and slice: whose polygon, the slice of each axis, and the numbers."""

    zone: np.ndarray
    labels: list
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    #: the share of the polygon that lies in the domain
    covered: np.ndarray

    def reliable(self, share):
        """Whether half of the interval is at most such a share of the estimate."""
        return (self.high - self.low) / 2 <= share * self.estimate


def count_rows(reading, polygons, crs, confidence, axes=()):
    """Rows of counts; ``axes`` are numbers of the release's axes, none for all points together."""
    polygons = list(polygons)
    rings = zone_rings(reading.frame, polygons, crs)
    zones = np.arange(len(rings))
    near, grid = share_near(reading.frame, polygons, crs), reading.frame.grid
    if not axes:
        table = count_table(reading.decoded, rings, confidence)
        covered = near * covered_share(grid, rings, table.room)
        return Rows(zones, [], table.estimate, table.low, table.high, covered)
    sizes = [reading.release.axes[number].size for number in axes]
    slices = int(np.prod(sizes))
    labels = np.unravel_index(np.tile(np.arange(slices), len(rings)), sizes)
    counted = count_slices(reading.decoded, rings, list(axes), confidence)
    covered = near * covered_share(grid, rings, room_in(reading.decoded, rings))
    zone = np.repeat(zones, slices)
    return Rows(zone, list(labels), *counted, covered[zone])


def square_km(geometries, crs, context):
    """Area of polygons on the ground."""
    measure = QgsDistanceArea()
    measure.setSourceCrs(crs, context)
    if not measure.setEllipsoid("EPSG:7030"):
        raise BadInputError(tr("QGIS does not know the ellipsoid WGS 84; areas need it."))
    unit, wanted = measure.areaUnits(), square_kilometres()
    factor = QgsUnitTypes.fromUnitToUnitFactor(unit, wanted)
    return np.array([measure.measureArea(geometry) * factor for geometry in geometries])
