"""Density on cells of any size, as a GeoDataFrame or a raster file."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional

import geopandas as gpd
import numpy as np
import shapely

from ..core.atomic import replacing
from ..core.errors import BadInputError
from ..core.public.decode import Decoded
from ..core.public.picture import Picture, picture
from ._optional import need
from .domain import Domain
from .statement import STATEMENT

Array = np.ndarray


class DensityFrame(gpd.GeoDataFrame):
    """Cells with their estimated number of points; `to_raster` writes them as GeoTIFF."""

    _picture: Optional[Picture] = None
    _domain: Optional[Domain] = None
    _statement: Optional[Dict[str, Any]] = None

    def to_raster(self, path: Any) -> None:
        """Write points per square kilometre as a GeoTIFF in the domain's working CRS."""
        if self._picture is None or self._domain is None:
            raise BadInputError("Only the result of density() itself can be written as a raster.")
        write_raster(path, self._picture, self._domain, self._statement or {})


def write_raster(path: Any, shown: Picture, domain: Domain, statement: Dict[str, Any]) -> None:
    """Write points per square kilometre as a GeoTIFF in the domain's working CRS."""
    rasterio = need("rasterio", "Writing a raster")
    per_km2 = shown.per_km2(domain)
    top = shown.y0 + shown.cell * len(per_km2)
    with replacing(path) as part, rasterio.open(
        part, "w", driver="GTiff", dtype="float32", count=1, nodata=np.nan,
        height=per_km2.shape[0], width=per_km2.shape[1], crs=domain.working_crs.to_wkt(),
        transform=rasterio.Affine(shown.cell, 0, shown.x0, 0, -shown.cell, top),
        compress="deflate",
    ) as file:  # fmt: skip
        file.write(per_km2[::-1].astype(np.float32), 1)
        file.update_tags(
            **{STATEMENT.upper(): json.dumps(statement)},
            DPSORT_GEO=statement.get("summary", ""),
            UNIT="points per square kilometre",
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
            "per_km2": shown.per_km2(domain)[row, column],
        },
        geometry=_squares(domain, west[column], south[row], shown.cell),
        crs=domain.crs,
    )
    for name, value in (("_picture", shown), ("_domain", domain), ("_statement", statement)):
        object.__setattr__(frame, name, value)
    return frame


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
