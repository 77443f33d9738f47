"""Public maps that a release is read against: earlier releases, weighted polygons, rasters.

Whatever it is, it becomes one function F along the curve of the release that reads it: how much of
the map's weight lies before each place. Only the shares matter.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

import numpy as np
import pyproj

from ..core.curve import hilbert
from ..core.curve.grid import Grid
from ..core.curve.overlap import overlap
from ..core.errors import BadInputError
from ..core.public.counts import zone_areas
from ..core.public.cumulative import Cumulative, blend
from ._optional import need
from .crs import read_crs
from .domain import Domain
from .zones import zone_frame

if TYPE_CHECKING:
    from .release import Release

Array = np.ndarray

#: a map is followed on up to 2^10 x 2^10 pixels of the domain
_FINEST = 10
#: zones worked on together
_ZONES = 256
#: a pixel that is so many times as large on the map as the median one lies across its seam
_TORN = 100.0


@dataclass(frozen=True, eq=False)
class Prior:
    """A public map, of one of three kinds; `on` puts it on the grid of a domain."""

    #: earlier releases; each counts half as much as the one after it
    releases: Tuple[Release, ...] = ()
    #: polygons with weights
    zones: Any = None
    weights: Optional[Array] = None
    #: weight a pixel, row 0 first; from pixels to coordinates (GDAL's six numbers); CRS
    pixels: Optional[Array] = None
    transform: Tuple[float, ...] = ()
    crs: Optional[pyproj.CRS] = None

    @classmethod
    def of(cls, prior: Any, weight: Optional[str], transform: Any, crs: Any) -> Prior:
        """Whatever can be a prior besides a release; everything else is refused."""
        if isinstance(prior, Prior):
            return prior
        if isinstance(prior, np.ndarray):
            return cls._of_pixels(prior, transform, crs)
        if isinstance(prior, (str, os.PathLike)):
            return cls._of_file(prior)
        if hasattr(prior, "geometry"):
            return cls._of_zones(prior, weight)
        raise BadInputError(
            "A prior is an earlier release or a list of them, a GeoDataFrame of polygons with "
            "weight='column', the path of a raster, or an array with transform= and crs=."
        )

    @classmethod
    def _of_zones(cls, zones: Any, weight: Optional[str]) -> Prior:
        frame, _ = zone_frame(zones)
        if weight is None or weight not in frame.columns:
            raise BadInputError(
                "Polygons need weights to be a prior: name their column, weight='population'."
            )
        try:
            weights = np.asarray(frame[weight], np.float64)
        except (TypeError, ValueError):
            raise BadInputError(f"The weights in {weight!r} must be numbers.") from None
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise BadInputError(f"The weights in {weight!r} must be finite numbers, 0 or more.")
        return cls(zones=frame, weights=weights)

    @classmethod
    def _of_pixels(cls, pixels: Array, transform: Any, crs: Any) -> Prior:
        if transform is None or crs is None:
            raise BadInputError("An array needs transform= and crs= to be a prior.")
        if pixels.ndim != 2 or not pixels.size or pixels.dtype.kind not in "uifb":
            raise BadInputError("The array of a prior has rows and columns of numbers.")
        six = tuple(float(value) for value in tuple(transform)[:6])
        if len(six) != 6 or not np.isfinite(six).all() or six[0] * six[4] == six[1] * six[3]:
            raise BadInputError("The transform of a raster has six numbers, as rasterio's has.")
        values = np.asarray(pixels, np.float64)
        known = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
        return cls(pixels=known, transform=six, crs=read_crs(crs))

    @classmethod
    def _of_file(cls, path: Any) -> Prior:
        rasterio = need("rasterio", "Reading a raster")
        try:
            with rasterio.open(path) as file:
                if file.crs is None:
                    raise BadInputError("The raster names no CRS.")
                band = file.read(1, masked=True).astype(np.float64).filled(0.0)
                return cls._of_pixels(band, file.transform, pyproj.CRS.from_wkt(file.crs.to_wkt()))
        except rasterio.errors.RasterioIOError:
            raise BadInputError("The prior is a path, but no raster can be read there.") from None

    def on(self, domain: Domain) -> Cumulative:
        """F of the map along the curve of a domain."""
        if self.releases:
            for release in self._not_decoded():
                release.decoded  # noqa: B018
            maps = [_map_of(release, domain) for release in self.releases]
            return maps[0] if len(maps) == 1 else blend(maps)
        return self._on_zones(domain) if self.pixels is None else self._on_pixels(domain)

    def _not_decoded(self) -> List[Release]:
        """Releases to decode first, earliest first: a year of days is too long for recursion."""
        found, waiting = {}, [self]
        while waiting:
            for release in waiting.pop().releases:
                if id(release) not in found and "decoded" not in vars(release):
                    found[id(release)] = release
                    waiting += [] if release.prior is None else [release.prior]
        return list(reversed(found.values()))

    def _on_zones(self, domain: Domain) -> Cumulative:
        """Each polygon's weight is even over its area; what lies outside of the domain is lost."""
        level = min(_FINEST, domain.grid.order)
        grid, weights = _pixel_grid(domain, level), self.weights
        assert weights is not None
        shapes = list(self.zones.geometry.array)
        rings = domain.zone_rings(shapes, self.zones.crs)
        near = domain.share_near(shapes, self.zones.crs)
        area = zone_areas(rings)
        dense = weights * near / np.where(area > 0, area, np.inf) * grid.cell**2
        step = np.zeros(4**level + 1)
        here = np.flatnonzero(area > 0)
        for first in range(0, here.size, _ZONES):
            some = here[first : first + _ZONES]
            blocks = overlap([rings[zone] for zone in some], grid)
            each = blocks.share * dense[some[blocks.zone]]
            span = np.int64(1) << 2 * (level - blocks.level)
            np.add.at(step, blocks.index * span, each)
            np.add.at(step, (blocks.index + 1) * span, -each)
        return _along(domain.grid, np.maximum(np.cumsum(step[:-1]), 0.0), level)

    def _on_pixels(self, domain: Domain) -> Cumulative:
        """Pixels of the domain look up where they lie on the map, and how large they are there."""
        pixels = self.pixels
        assert pixels is not None
        level = min(_FINEST, domain.grid.order)
        column, row = self._places(domain, level)
        size = _jacobian(column, row)
        coarser = int(np.sqrt(np.median(size[np.isfinite(size)]))) if np.isfinite(size).any() else 1
        if coarser > 1:  # many pixels of the map in one of ours: they are added up first
            pixels = _add_up(pixels, coarser)
            column, row, size = column / coarser, row / coarser, size / coarser**2
        inside = (column >= 0) & (row >= 0) & np.isfinite(size)
        inside &= (column < pixels.shape[1]) & (row < pixels.shape[0])
        mass = np.zeros(size.shape)
        at = row[inside].astype(np.int64), column[inside].astype(np.int64)
        mass[inside] = pixels[at] * size[inside]
        i, j = hilbert.decode(np.arange(4**level), level)
        return _along(domain.grid, mass[j, i], level)

    def _places(self, domain: Domain, level: int) -> Tuple[Array, Array]:
        """Column and row of the map, with fractions, of the middles of the domain's pixels."""
        grid, side = _pixel_grid(domain, level), 2**level
        middle = (np.arange(side) + 0.5) * grid.cell
        x, y = np.meshgrid(grid.x0 + middle, grid.y0 + middle)
        px, py = domain.unproject(x.reshape(-1), y.reshape(-1), self.crs)
        a, b, c, d, e, f = self.transform
        u, v, whole = px - c, py - f, a * e - b * d
        column, row = (e * u - b * v) / whole, (a * v - d * u) / whole
        return column.reshape(side, side), row.reshape(side, side)


def _map_of(release: Release, domain: Domain) -> Cumulative:
    """F of a release on the grid of a domain; on another grid than its own, by pixels."""
    own = release.domain
    if own.grid == domain.grid and own.working_crs == domain.working_crs:
        return release.decoded.cumulative
    grid = release.decoded.grid
    level = min(_FINEST, grid.order)
    size = grid.side / 2**level
    six = (size, 0.0, grid.x0, 0.0, size, grid.y0)
    pixels = Prior._of_pixels(release.decoded.raster(level), six, own.working_crs)
    return pixels._on_pixels(domain)


def _pixel_grid(domain: Domain, level: int) -> Grid:
    grid = domain.grid
    return Grid(grid.x0, grid.y0, grid.side / 2.0**level, level)


def _jacobian(column: Array, row: Array) -> Array:
    """How many pixels of the map one of ours is; NaN across the seam of a map."""
    if column.shape[0] < 2:
        raise BadInputError("A domain of one pixel has no use for a prior.")
    (column_y, column_x), (row_y, row_x) = np.gradient(column), np.gradient(row)
    size = np.abs(column_x * row_y - column_y * row_x)
    usual = np.nanmedian(size) if np.isfinite(size).any() else 0.0
    return np.where(size <= _TORN * usual, size, np.nan)


def _add_up(pixels: Array, many: int) -> Array:
    rows, columns = pixels.shape
    padded = np.pad(pixels, ((0, -rows % many), (0, -columns % many)))
    shape = padded.shape[0] // many, many, padded.shape[1] // many, many
    return np.asarray(padded.reshape(shape).sum(axis=(1, 3)))


def _along(grid: Grid, mass: Array, level: int) -> Cumulative:
    """F from the masses of pixels along the curve; all of a pixel's mass lies on allowed cells."""
    edge = np.arange(4**level + 1, dtype=np.int64) << 2 * (grid.order - level)
    place = grid.allowed_before(edge).astype(np.float64)
    mass = np.where(np.diff(place) > 0, mass, 0.0)
    return Cumulative(place, np.concatenate([[0.0], np.cumsum(mass)]))
