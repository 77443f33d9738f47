"""Where points may lie: a grid with a coordinate reference system. Public, never read from data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyproj
import shapely

from ..curve.cover import cover
from ..curve.grid import Grid, default_order
from ..errors import BadInput
from ..reader.density import between, pixel_area
from .area import (
    EDGE_PIECES,
    box_ring,
    checked_bounds,
    geographic_bounds,
    polygon_of,
    project_ring,
    rings_of,
    unwrapped,
    wrapped,
)
from .crs import Bounds, areal_scale, crs_name, equal_area, metres_per_unit, read_crs, stretch
from .projection import Cylindrical, transformer

Array = np.ndarray
#: a picture of the mask never needs more than 2^10 cells a side
_PICTURE_LEVEL = 10
#: areas on the ground are known at so many places along each side
_LATTICE = 65


@dataclass(frozen=True, repr=False)
class Domain:
    """A grid, the user's CRS, and the CRS in which the grid's cells are square.

    Make one with :meth:`from_bounds` or :meth:`from_polygon`. It is public knowledge and has to
    be given: bounds read from private points would tell where the outermost person is.
    """

    grid: Grid
    crs: pyproj.CRS
    working_crs: pyproj.CRS
    #: as the user gave them, in ``crs``; west is greater than east across the antimeridian
    bounds: Bounds = field(compare=False)

    @classmethod
    def from_bounds(cls, bounds: Any, crs: Any, order: int | None = None) -> Domain:
        """The box ``(west, south, east, north)`` in ``crs``.

        A box in degrees means that box, not the hull of its projection. West may be greater
        than east for a box across the antimeridian.

        >>> city = Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326")
        >>> city.grid.order, round(city.cell_size, 1)
        (13, 6.2)
        """
        crs = read_crs(crs)
        box = checked_bounds(bounds, crs)
        if crs.is_geographic:
            west, south, east, north = box
            working = equal_area(crs, box)
            ring = box_ring(west, south, east, north)
            rings = [project_ring(ring, crs, working, centre=(west + east) / 2)]
        else:
            working = crs
            rings = [box_ring(*box, pieces=1)]
        return cls(_masked_grid(rings, working, order), crs, working, wrapped(box, crs))

    @classmethod
    def from_polygon(cls, area: Any, crs: Any = None, order: int | None = None) -> Domain:
        """The inside of polygons: a GeoDataFrame, a GeoSeries or a shapely geometry with ``crs``.

        >>> park = shapely.box(0, 0, 800, 400)
        >>> Domain.from_polygon(park, crs="EPSG:27700").side
        800.0
        """
        geometry, crs = polygon_of(area, crs)
        if crs.is_geographic:
            box = geographic_bounds(geometry)
            working = equal_area(crs, box)
            centre = (box[0] + box[2]) / 2
            step = max(box[2] - box[0], box[3] - box[1]) / EDGE_PIECES
            rings = [
                project_ring(ring, crs, working, centre)
                for ring in rings_of(shapely.segmentize(geometry, step))
            ]
        else:
            box, working = geometry.bounds, crs
            rings = rings_of(geometry)
        return cls(_masked_grid(rings, working, order), crs, working, wrapped(box, crs))

    @classmethod
    def of_grid(cls, grid: Grid, crs: Any, working_crs: Any) -> Domain:
        """The domain of a published grid; its bounds are those of its allowed cells.

        >>> Domain.of_grid(Grid(0.0, 0.0, 10.0, 3), "EPSG:3857", "EPSG:3857").bounds
        (0.0, 0.0, 80.0, 80.0)
        """
        crs, working = read_crs(crs), read_crs(working_crs)
        bare = cls(grid, crs, working, (0.0, 0.0, 0.0, 0.0))
        nowhere = BadInput("The grid of this release has no place in its CRS; ask for it again.")
        try:
            x, y = shapely.get_coordinates(shapely.segmentize(bare.outline(), grid.side / 64)).T
        except shapely.errors.ShapelyError:
            raise nowhere from None
        lon, lat = bare.unproject(x, y)
        if not (lon.size and np.isfinite(lon).all() and np.isfinite(lat).all()):
            raise nowhere
        if crs.is_geographic:
            lon = unwrapped(lon, float(bare.unproject(*bare.middle())[0][0]))
        box = (float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max()))
        return cls(grid, crs, working, wrapped(box, crs))

    @property
    def side(self) -> float:
        """Length of the grid's side in metres."""
        return self.grid.side * self.metres

    @property
    def cell_size(self) -> float:
        """Side of a cell in metres."""
        return self.grid.cell * self.metres

    @property
    def area(self) -> float:
        """Area of the allowed cells in square metres on the ground."""
        level = min(7, self.grid.order)
        pixel = self.grid.side / 2**level
        middle = (np.arange(2**level) + 0.5) * pixel
        square = self.square_metres(self.grid.x0 + middle, self.grid.y0 + middle)
        return float((pixel_area(self.grid, level) * square).sum()) * pixel**2

    @cached_property
    def metres(self) -> float:
        """Metres on the ground in one unit of the working CRS, at the middle of the domain."""
        unit = metres_per_unit(self.working_crs)
        try:
            lon, lat = self.unproject(*self.middle(), "EPSG:4326")
        except BadInput:  # a local map that says nothing of where it lies
            return unit
        return unit / stretch(self.working_crs, float(lon[0]), float(lat[0]))

    def square_metres(self, x: Array, y: Array) -> Array:
        """Square metres on the ground in one square unit of the working CRS, a row a y.

        The same everywhere on a map that keeps areas. Web Mercator does not: it shows Oslo four
        times as large as it is, and Athens less than twice.
        """
        grid, unit = self.grid, metres_per_unit(self.working_crs)
        at = np.linspace(0, grid.side, _LATTICE)
        try:
            lon, lat = self.unproject(
                np.tile(grid.x0 + at, at.size), np.repeat(grid.y0 + at, at.size), "EPSG:4326"
            )
        except BadInput:  # a local map that says nothing of where it lies
            return np.full((y.size, x.size), unit**2)
        square = unit**2 / areal_scale(self.working_crs, lon, lat).reshape(at.size, at.size)
        return between(square, (y - grid.y0) / grid.side, (x - grid.x0) / grid.side)

    def project(self, x: Array, y: Array, crs: Any = None) -> tuple[Array, Array]:
        """Coordinates in ``crs`` (the domain's own, when None) to the working CRS.

        >>> square = Domain.from_bounds((0, 0, 64, 64), crs="EPSG:3857")
        >>> [float(v[0]) for v in square.project([3.0], [4.0])]
        [3.0, 4.0]
        """
        source = self.crs if crs is None else read_crs(crs)
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if source == self.working_crs:
            return x, y
        return transformer(source, self.working_crs).forward(x, y)

    def unproject(self, x: Array, y: Array, crs: Any = None) -> tuple[Array, Array]:
        """Coordinates in the working CRS to ``crs`` (the domain's own, when None).

        On a map of the whole globe the outermost cells reach beyond its edge: there the edge is
        meant.
        """
        target = self.crs if crs is None else read_crs(crs)
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if target == self.working_crs:
            return x, y
        edge = _edge_of_the_map(self.working_crs)
        if edge is not None:
            west, south, east, north = edge
            x, y = np.clip(x, west, east), np.clip(y, south, north)
        return transformer(target, self.working_crs).inverse(x, y)

    def mask(self, level: int) -> Array:
        """Share of allowed cells in each of 2^level x 2^level squares; row 0 is the south."""
        return pixel_area(self.grid, min(level, self.grid.order))

    def outline(self, level: int = _PICTURE_LEVEL) -> Any:
        """The allowed area as a shapely geometry in the working CRS, its staircases smoothed."""
        grid = self.grid
        if grid.runs is None:
            return shapely.box(grid.x0, grid.y0, grid.x0 + grid.side, grid.y0 + grid.side)
        inside = self.mask(level) >= 0.5
        if not inside.any():
            inside = self.mask(level) > 0
        size = grid.side / len(inside)
        edge = np.diff(np.pad(inside.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        row, start = np.nonzero(edge == 1)
        _, stop = np.nonzero(edge == -1)
        boxes = shapely.box(
            grid.x0 + start * size,
            grid.y0 + row * size,
            grid.x0 + stop * size,
            grid.y0 + (row + 1) * size,
        )
        return shapely.simplify(shapely.union_all(boxes), 1.1 * size)

    def middle(self) -> tuple[Array, Array]:
        """The centre of the grid, in the working CRS."""
        half = self.grid.side / 2
        return np.array([self.grid.x0 + half]), np.array([self.grid.y0 + half])

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        grid = self.grid
        masked = "" if grid.runs is None else f", {grid.n_cells / 4**grid.order:.0%} of it allowed"
        return (
            f"Domain of {_length(self.side)} x {_length(self.side)} in {crs_name(self.crs)}: "
            f"2^{grid.order} x 2^{grid.order} cells of {_length(self.cell_size)}{masked}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        from .png import data_uri

        level = min(7, self.grid.order)
        share = self.mask(level)[::-1]
        picture = np.empty((*share.shape, 4), np.uint8)
        picture[..., :3] = (37, 99, 125)
        picture[..., 3] = np.rint(255 * share)
        return (
            f'<figure style="margin:0"><img alt="allowed cells" src="{data_uri(picture)}" '
            'style="width:128px;height:128px;image-rendering:pixelated;border:1px solid #8888">'
            f"<figcaption>{escape(str(self))}</figcaption></figure>"
        )


def _masked_grid(rings: list[Array], working: pyproj.CRS, order: int | None) -> Grid:
    corners = np.concatenate(rings)
    if not np.isfinite(corners).all():
        raise BadInput("The area does not fit into its CRS; give a smaller area or another CRS.")
    low, high = corners.min(axis=0), corners.max(axis=0)
    side = float((high - low).max())
    if order is None:
        order = default_order(side * metres_per_unit(working))
    elif isinstance(order, bool) or not isinstance(order, (int, np.integer)):
        raise BadInput("The order of a grid must be a whole number.")
    grid = Grid(float(low[0]), float(low[1]), side / 2.0**order, order)
    if len(rings) == 1 and len(rings[0]) == 5 and float((high - low).min()) == side:
        box = shapely.box(*low, *high)
        if shapely.Polygon(rings[0]).equals(box):
            return grid
    runs = cover(rings, grid)
    if len(runs) == 0:
        raise BadInput("No cell has its centre in this area: give a larger order.")
    if len(runs) == 1 and runs[0, 0] == 0 and runs[0, 1] == 4**grid.order:
        return grid
    return Grid(grid.x0, grid.y0, grid.cell, grid.order, runs)


@lru_cache(maxsize=64)
def _edge_of_the_map(working: pyproj.CRS) -> Bounds | None:
    """How far a map of the globe on a cylinder goes."""
    if working.geodetic_crs is None:
        return None
    way = transformer(working.geodetic_crs, working)
    return way.edges if isinstance(way, Cylindrical) else None


def _length(metres: float) -> str:
    return f"{metres / 1000:.4g} km" if metres >= 1000 else f"{metres:.3g} m"
