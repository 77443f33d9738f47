"""The density of a release as a raster in a CRS that people know."""

import math
from dataclasses import dataclass

import numpy as np

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.frame.ground import metres_at
from ._vendor.dpsort_geo.frame.host import LONLAT
from ._vendor.dpsort_geo.frame.rings import box_ring
from ._vendor.dpsort_geo.public.picture import MOST_CELLS, default_cell, picture
from .host import crs_of
from .i18n import tr

#: an area wider than this, in metres, is not for a UTM zone
_WIDE = 1_000_000


@dataclass(frozen=True, eq=False)
class Raster:
    """Points per square kilometre, row 0 in the north; NaN outside of the area."""

    values: np.ndarray
    west: float
    north: float
    #: side of a pixel in units of the CRS, and on the ground
    cell: float
    metres: float


def known_crs(frame):
    """The CRS for a raster of an area: its own where it has a code and metres, else a usual one.

    Areas given in degrees are worked on in a projection of their own, which has no name.
    """
    for crs in (frame.working_crs, frame.crs):
        if crs.authid().startswith(("EPSG:", "ESRI:")) and not crs.isGeographic():
            return crs
    if frame.side > _WIDE:
        pole = float(frame.host.parameters(frame.working_crs).get("lat_0", 0))
        return crs_of({90.0: "EPSG:6931", -90.0: "EPSG:6932"}.get(pole, "EPSG:6933"))
    lon, lat = (float(one[0]) for one in frame.unproject(*frame.middle(), crs_of(LONLAT)))
    if not abs(lat) <= 84:
        return frame.working_crs
    zone = int(math.floor((lon + 180) / 6)) % 60 + 1
    return crs_of(f"EPSG:{(32600 if lat >= 0 else 32700) + zone}")


def density_raster(reading, crs, cell=None):
    """The density in a CRS, on pixels of ``cell`` metres."""
    frame = reading.frame
    cell = cell or default_cell(frame.side)
    if crs == frame.working_crs:
        shown = picture(reading.decoded, frame, cell)
        values = shown.per_km2(frame)[::-1]
        north = shown.y0 + len(values) * shown.cell
        return Raster(values, shown.x0, north, shown.cell, shown.cell * frame.metres)
    return _warped(reading, crs, cell)


def _warped(reading, crs, cell):
    """What lies at the centre of each pixel, taken from a picture of half the pixel's size."""
    frame, host = reading.frame, reading.frame.host
    finer = cell / 2 if 4 * (frame.side / cell) ** 2 < MOST_CELLS else cell
    shown = picture(reading.decoded, frame, finer)
    there = shown.per_km2(frame)
    x0, y0, side = frame.grid.x0, frame.grid.y0, frame.grid.side
    ring = box_ring(x0, y0, x0 + side, y0 + side)
    x, y = host.transform(ring[:, 0], ring[:, 1], frame.working_crs, crs)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadInputError(tr("The area does not fit into that CRS; choose another."))
    size = cell / metres_at(host, crs, float(x.mean()), float(y.mean()))
    west, south = (math.floor(float(one.min()) / size) * size for one in (x, y))
    width, height = (
        math.ceil((float(one.max()) - low) / size) for one, low in ((x, west), (y, south))
    )
    if width * height > MOST_CELLS:
        raise BadInputError(tr("That makes more than four million pixels; give a larger pixel."))
    north = south + height * size
    px = np.tile(west + (np.arange(width) + 0.5) * size, height)
    py = np.repeat(north - (np.arange(height) + 0.5) * size, width)
    px, py = host.transform(px, py, crs, frame.working_crs)
    column, row = ((at - low) / shown.cell for at, low in ((px, shown.x0), (py, shown.y0)))
    rows, columns = there.shape
    inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    values = np.full(px.size, np.nan)
    values[inside] = there[row[inside].astype(np.int64), column[inside].astype(np.int64)]
    return Raster(values.reshape(height, width), west, north, size, cell)
