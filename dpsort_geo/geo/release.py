"""The geopandas face of a release: what `publish` and `read_release` return."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union

import geopandas as gpd
import numpy as np
import shapely

from ..atomic import write_text
from ..errors import BadInput
from ..reader import diffuse as diffusion
from ..reader import query
from ..reader.decode import Decoded, decode
from ..release import Release, load
from . import maps, write
from .density import DensityFrame, density_frame
from .domain import Domain
from .layers import (
    Layer,
    LonLatBounds,
    density_layer,
    graticule_layer,
    lonlat_rings,
    outline_layer,
    points_layer,
    tile_layer,
)
from .zones import zone_rings

Array = np.ndarray
PathLike = Union[str, "os.PathLike[str]"]

LONLAT = "EPSG:4326"


@dataclass(frozen=True, repr=False)
class GeoRelease:
    """A release and the domain it is on. All that is read from it is public."""

    release: Release
    domain: Domain

    def __getattr__(self, name: str) -> Any:
        # n, epsilon, kind, unit, neighbours, private, grid, statement, verify, to_json
        if name.startswith("_") or name == "release":
            raise AttributeError(name)
        return getattr(self.release, name)

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *dir(self.release)})

    @cached_property
    def decoded(self) -> Decoded:
        """F and what it was made from."""
        return decode(self.release)

    def coordinates(
        self, diffuse: bool = True, decoder: Optional[str] = None
    ) -> Tuple[Array, Array]:
        """Coordinates of the published points in the working CRS."""
        if decoder is None and self.release.kind == "sort" and not diffuse:
            # the default decoder draws a line between groups; only the paper's repeats points
            decoder = "paper"
        decoded = self.decoded if decoder in (None, "default") else decode(self.release, decoder)
        return diffusion.points(decoded, spread=diffuse)

    def points(self, diffuse: bool = True, decoder: Optional[str] = None) -> gpd.GeoDataFrame:
        """The published points in the domain's CRS, one row each, geometry only.

        Parameters
        ----------
        diffuse
            False gives the paper's repeated points instead of spreading them over the area that
            they stand for.
        decoder
            "paper" decodes a sort release as the paper does; that is the default of its repeated
            points.
        """
        x, y = self.domain.unproject(*self.coordinates(diffuse, decoder))
        return gpd.GeoDataFrame(geometry=shapely.points(x, y), crs=self.domain.crs)

    def density(self, cell: Optional[float] = None) -> DensityFrame:
        """Estimated points in square cells of ``cell`` metres, and per square kilometre."""
        return density_frame(self.decoded, self.domain, cell, self.release.statement())

    def count_within(
        self, zones: Any, level: float = 0.9, method: str = "formula"
    ) -> gpd.GeoDataFrame:
        """Zones with the estimated number of points in each, and its interval.

        Parameters
        ----------
        zones
            A GeoDataFrame or GeoSeries of polygons in any CRS; the result is a copy of it with the
            columns estimate, low and high.
        level
            How often such intervals hold the truth.
        method
            "bootstrap" finds the limits of an adaptive release by trying out plausible data, which
            takes longer.
        """
        frame, shapes = _zones(zones)
        rings = zone_rings(self.domain, shapes, frame.crs)
        estimate, low, high = query.count_within(self.decoded, rings, level, method)
        return frame.assign(estimate=estimate, low=low, high=high)

    def quantiles(self, shares: Sequence[float]) -> gpd.GeoDataFrame:
        """Where along the curve these shares of all points have been passed."""
        x, y = query.quantiles(self.decoded, shares)
        x, y = self.domain.unproject(x, y)
        return gpd.GeoDataFrame(
            {"share": np.asarray(shares, np.float64)},
            geometry=shapely.points(x, y),
            crs=self.domain.crs,
        )

    def explore(self, tiles: Any = "https://tile.openstreetmap.org/{z}/{x}/{y}.png") -> Any:
        """A ``folium.Map`` with density, points and outline, for notebooks."""
        return self.map_page(tiles=tiles).folium_map()

    def to_map(self, path: PathLike, title: Optional[str] = None, tiles: Any = None) -> None:
        """Write the map as one page that needs no network; ``tiles`` adds a base map that does."""
        write_text(path, self.map_page(title, tiles).html())

    def map_page(self, title: Optional[str] = None, tiles: Any = None) -> maps.Page:
        """What the map shows: for `to_map`, `explore`, and pages with further layers."""
        rings, bounds = lonlat_rings(self.domain)
        layers = [outline_layer(rings, fill=0.0 if tiles else 1.0), graticule_layer()]
        if tiles:
            layers = [tile_layer(tiles), layers[0]]
        layers += [
            density_layer(self.decoded, self.domain, bounds),
            self.points_layer(bounds, "Published points"),
            self.points_layer(bounds, "Repeated points", diffuse=False, on=False),
        ]
        shown = title or f"{self.release.size:,} private points"
        words = maps.statement_words(self.release.statement())
        return maps.Page(shown, bounds, layers, words, self.release.private)

    def points_layer(
        self,
        bounds: LonLatBounds,
        name: str,
        diffuse: bool = True,
        decoder: Optional[str] = None,
        **look: Any,
    ) -> Layer:
        """The published points as a layer of a map page; repeated ones as circles."""
        lon, lat = self.domain.unproject(*self.coordinates(diffuse, decoder), crs=LONLAT)
        if not diffuse:
            look = {
                "colour": "#c2410c",
                "note": "before they are spread; size tells how many",
                **look,
            }
        return points_layer(name, lon, lat, bounds[0], repeated=not diffuse, **look)

    def to_geojson(self, path: PathLike, diffuse: bool = True) -> None:
        """Write the points as GeoJSON (RFC 7946) with the privacy statement in it."""
        lon, lat = self.domain.unproject(*self.coordinates(diffuse), crs=LONLAT)
        write.write_geojson(path, lon, lat, self.release.statement())

    def geojson(self, diffuse: bool = True) -> Iterator[bytes]:
        """The same text piece by piece, for pipes."""
        lon, lat = self.domain.unproject(*self.coordinates(diffuse), crs=LONLAT)
        return write.geojson(lon, lat, self.release.statement())

    def to_geoparquet(self, path: PathLike, diffuse: bool = True) -> None:
        """Write the points as GeoParquet in the domain's CRS, the statement in its metadata."""
        x, y = self.domain.unproject(*self.coordinates(diffuse))
        write.write_geoparquet(path, x, y, self.domain.crs, self.release.statement())

    def to_gpkg(self, path: PathLike, diffuse: bool = True) -> None:
        """Write the points as a GeoPackage, the statement in its metadata table."""
        x, y = self.domain.unproject(*self.coordinates(diffuse))
        write.write_gpkg(path, x, y, self.domain.crs, self.release.statement())

    def save(self, path: PathLike) -> None:
        """Write the release itself: the public file from which all else can be made again."""
        self.release.save(path)

    def __repr__(self) -> str:
        return f"<Release: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        core = self.release
        who = "persons" if core.unit == "person" else "points"
        about = "about " if core.neighbours == "add-remove" else ""
        return (
            f"{core.kind} release of {about}{core.size:,} {who} at epsilon = {core.epsilon}\n"
            f"{core.statement()['summary']}\n{self.domain}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        first, rest = str(self).split("\n", 1)
        return (
            f"<b>{escape(first)}</b><br>{escape(rest.splitlines()[0])}{self.domain._repr_html_()}"
        )


def read_release(path: PathLike) -> GeoRelease:
    """Read a release that `GeoRelease.save` wrote; what it claims is checked by ``verify()``.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpsort_geo.geo.publish import publish
    >>> domain = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    >>> points = np.random.default_rng(1).uniform(0, 1000, (5000, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     publish(points, 1, domain, neighbours="add-remove").save(Path(folder, "r.json"))
    ...     release = read_release(Path(folder, "r.json"))
    >>> len(release.points()) == release.n
    True
    """
    return _on_a_map(load(path))


def from_text(text: str) -> GeoRelease:
    """A release from its JSON text."""
    return _on_a_map(Release.from_json(text))


def _on_a_map(core: Release) -> GeoRelease:
    if core.crs is None or core.working_crs is None:
        raise BadInput("This release names no CRS, so its points cannot be put on a map.")
    return GeoRelease(core, Domain.of_grid(core.grid, core.crs, core.working_crs))


def _zones(zones: Any) -> Tuple[gpd.GeoDataFrame, List[Any]]:
    if isinstance(zones, gpd.GeoSeries):
        frame = gpd.GeoDataFrame(geometry=zones)
    elif isinstance(zones, gpd.GeoDataFrame):
        frame = zones
    else:
        raise BadInput("Zones must be a GeoDataFrame or a GeoSeries of polygons.")
    try:
        crs, shapes = frame.crs, np.asarray(frame.geometry.array, object)
    except AttributeError:
        raise BadInput("The zones have no geometry column: name it with set_geometry().") from None
    if crs is None:
        raise BadInput("The zones have no CRS: say which one it is with set_crs().")
    if not np.isin(shapely.get_type_id(shapes), (3, 6)).all():
        raise BadInput("Zones must be polygons; null geometries, lines and points have no inside.")
    return frame, [shapely.force_2d(shape) for shape in shapes]
