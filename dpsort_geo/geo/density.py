"""Density on cells of any size, as a GeoDataFrame or a raster file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional

import geopandas as gpd
import numpy as np
import shapely

from ..atomic import replacing
from ..errors import BadInput
from ..reader.decode import Decoded
from ..reader.density import MAX_LEVEL, SMOOTH_LEVEL, pixel_area, raster
from ._optional import need
from .domain import Domain

Array = np.ndarray

#: a table of more cells than this is not a picture any more
_MOST_CELLS = 4_000_000
_DEFAULT_CELLS = 128


@dataclass(frozen=True)
class Picture:
    """Mass and allowed share of square cells in the working CRS; row 0 is the south."""

    mass: Array
    share: Array
    x0: float
    y0: float
    cell: float

    @property
    def edges(self) -> "tuple[Array, Array]":
        """West edges of the columns and south edges of the rows."""
        rows, columns = self.mass.shape
        return self.x0 + self.cell * np.arange(columns), self.y0 + self.cell * np.arange(rows)


class DensityFrame(gpd.GeoDataFrame):
    """Cells with their estimated number of points; `to_raster` writes them as GeoTIFF."""

    _picture: Optional[Picture] = None
    _domain: Optional[Domain] = None
    _statement: Optional[Dict[str, Any]] = None

    def to_raster(self, path: Any) -> None:
        """Write points per square kilometre as a GeoTIFF in the domain's working CRS."""
        if self._picture is None or self._domain is None:
            raise BadInput("Only the result of density() itself can be written as a raster.")
        write_raster(path, self._picture, self._domain, self._statement or {})


def write_raster(path: Any, shown: Picture, domain: Domain, statement: Dict[str, Any]) -> None:
    """Write points per square kilometre as a GeoTIFF in the domain's working CRS."""
    rasterio = need("rasterio", "Writing a raster")
    per_km2 = _per_km2(shown, domain)
    per_km2[shown.share == 0] = np.nan
    top = shown.y0 + shown.cell * len(per_km2)
    with replacing(path) as part, rasterio.open(
        part, "w", driver="GTiff", dtype="float32", count=1, nodata=np.nan,
        height=per_km2.shape[0], width=per_km2.shape[1], crs=domain.working_crs.to_wkt(),
        transform=rasterio.Affine(shown.cell, 0, shown.x0, 0, -shown.cell, top),
        compress="deflate",
    ) as file:  # fmt: skip
        file.write(per_km2[::-1].astype(np.float32), 1)
        file.update_tags(
            DPSORT_GEO=statement.get("summary", ""), UNIT="points per square kilometre"
        )


def density_frame(
    decoded: Decoded, domain: Domain, cell: Optional[float], statement: Dict[str, Any]
) -> DensityFrame:
    """Estimated points and points per square kilometre in square cells of ``cell`` metres."""
    shown = picture(decoded, domain, cell)
    row, column = np.nonzero(shown.share > 0)
    west, south = shown.edges
    frame = DensityFrame(
        {
            "count": shown.mass[row, column],
            "per_km2": _per_km2(shown, domain)[row, column],
        },
        geometry=_squares(domain, west[column], south[row], shown.cell),
        crs=domain.crs,
    )
    for name, value in (("_picture", shown), ("_domain", domain), ("_statement", statement)):
        object.__setattr__(frame, name, value)
    return frame


def picture(decoded: Decoded, domain: Domain, cell: Optional[float] = None) -> Picture:
    """The density on cells of ``cell`` metres, counted from the grid's lower left corner."""
    grid = domain.grid
    if cell is None:
        cell = _round(domain.side / _DEFAULT_CELLS)
    if not (np.isfinite(cell) and cell > 0):
        raise BadInput("The cell must be a positive number of metres.")
    size = cell / domain.metres
    count = int(np.ceil(grid.side / size - 1e-9))
    if count**2 > _MOST_CELLS:
        raise BadInput(
            f"Cells of {cell:g} m make more than {_MOST_CELLS:,} of them; "
            f"give at least {domain.side / np.sqrt(_MOST_CELLS):.3g} m."
        )
    level = int(np.clip(np.ceil(np.log2(max(count, 1))) + 1, 1, SMOOTH_LEVEL))
    level = min(max(level, min(int(np.ceil(np.log2(count))), MAX_LEVEL)), grid.order)
    pixel = grid.side / 2**level
    edge = np.minimum(np.arange(count + 1) * size, grid.side) / pixel
    mass = _resampled(raster(decoded, level), edge)
    share = _resampled(pixel_area(grid, level), edge) * (pixel / size) ** 2
    share[share < 1e-12] = 0.0
    return Picture(mass, share, grid.x0, grid.y0, size)


def _resampled(pixels: Array, edge: Array) -> Array:
    """Sums over intervals between edges, given in pixels; a cut pixel is shared by area."""
    for _ in range(2):
        total = np.vstack([np.zeros((1, pixels.shape[1])), np.cumsum(pixels, axis=0)])
        low = np.minimum(edge.astype(np.int64), len(total) - 2)
        part = (edge - low)[:, None]
        pixels = np.diff(total[low] * (1 - part) + total[low + 1] * part, axis=0).T
    return np.maximum(pixels, 0.0)


def _per_km2(shown: Picture, domain: Domain) -> Array:
    west, south = shown.edges
    square = domain.square_metres(west + shown.cell / 2, south + shown.cell / 2)
    area = shown.share * square * (shown.cell / 1000) ** 2
    return np.divide(shown.mass, area, out=np.zeros_like(shown.mass), where=area > 0)


def _squares(domain: Domain, west: Array, south: Array, size: float) -> Array:
    x = west[:, None] + size * np.array([0, 1, 1, 0, 0])
    y = south[:, None] + size * np.array([0, 0, 1, 1, 0])
    lon, lat = domain.unproject(x.reshape(-1), y.reshape(-1))
    if domain.crs.is_geographic:
        # a cell across the antimeridian stays whole instead of going around the globe
        lon = lon.reshape(-1, 5)
        lon = np.where(lon < lon[:, :1] - 180, lon + 360, lon)
        lon = np.where(lon > lon[:, :1] + 180, lon - 360, lon).reshape(-1)
    return shapely.polygons(np.column_stack([lon, lat]).reshape(-1, 5, 2))


def _round(value: float) -> float:
    """The next smaller of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(digit for digit in (1, 2, 5) if digit * power <= value * (1 + 1e-9)) * power)
