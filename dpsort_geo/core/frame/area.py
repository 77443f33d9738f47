"""The public area in which points may lie: a box or polygons, projected, and made into a grid.

A projected CRS is used as it is. A geographic one gets an equal-area projection centred on the
area, whose edges are cut into short pieces first: a box in degrees means that box and not the hull
of its projection.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, List, Optional, Tuple

import numpy as np

from ..curve.cover import centres_near, cover
from ..curve.grid import Grid, default_order, order_for
from ..curve.mask import Mask
from ..curve.overlap import overlap
from ..errors import BadInputError
from .ground import metres_at
from .host import Array, Bounds, Crs, EqualArea, Host, Polygons
from .rings import bend_closer, box_ring, cut, extent, project_ring, rings_of

#: metres, and share of a cell: an edge bent by a projection is followed so closely
_NEAR, _NEAR_IN_CELLS = 1e-3, 1e-4
#: metres: GeoJSON rounds degrees to 8 mm on the ground, up to 9 on the map, and PROJ finds its way
#: back from an equal-area map to 2 mm
_ROUNDED = 0.012
#: degrees: an area around the globe that stays this far from the equator is seen from its pole
_POLAR = 15.0


@dataclass(frozen=True, eq=False)
class Area:
    """Rings of an area in its working CRS, and the CRS in which it was given."""

    host: Host
    rings: List[Array]
    crs: Crs
    working_crs: Crs
    #: as they were given, in ``crs``; west is greater than east across the antimeridian
    bounds: Bounds
    is_box: bool = False
    #: of polygons in degrees, the same corners as in ``rings``, and the longitude in their middle
    degrees: Optional[Tuple[List[Array], float]] = None

    def __post_init__(self) -> None:
        if not all(np.isfinite(ring).all() for ring in self.rings):
            raise BadInputError(
                "The area does not fit into its CRS; give a smaller area or another CRS."
            )

    @cached_property
    def box(self) -> Bounds:
        """West, south, east, north in the working CRS."""
        corners = np.concatenate(self.rings)
        (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
        return float(west), float(south), float(east), float(north)

    @property
    def side(self) -> float:
        """Side of the grid, in units of the working CRS."""
        west, south, east, north = self.box
        return max(east - west, north - south)

    @cached_property
    def metres(self) -> float:
        """Metres on the ground in one unit of the working CRS, at the middle of the grid."""
        west, south, _, _ = self.box
        half = self.side / 2
        return metres_at(self.host, self.working_crs, west + half, south + half)

    def order(self, resolution: Optional[float] = None) -> int:
        """How often its square is halved: as usual, or to cells of about so many metres."""
        if resolution is None:
            return default_order(self.side * self.host.metres_per_unit(self.working_crs))
        return order_for(self.side * self.metres, resolution)

    def grid(self, order: Optional[int] = None) -> Grid:
        """The grid with the area as its mask: cells whose centres are in it.

        A cell that a polygon cuts is at the edge of the mask, and points in it sit at its centre;
        so they lie in the polygon itself. A polygon in degrees holds these centres with a margin
        for what is lost between the map and the decimals in a file.
        """
        west, south, east, north = self.box
        if order is None:
            order = self.order()
        elif isinstance(order, bool) or not isinstance(order, (int, np.integer)):
            raise BadInputError("The order of a grid must be a whole number.")
        grid = Grid(west, south, self.side / 2.0**order, order)
        if east - west == north - south and _is_box(self.rings):
            return grid
        if self.is_box:
            runs = cover(self.rings, grid)
            is_all = len(runs) == 1 and runs[0, 1] - runs[0, 0] == 4**grid.order
            return grid if is_all else Grid(grid.x0, grid.y0, grid.cell, grid.order, runs)
        near = max(_NEAR, _NEAR_IN_CELLS * grid.cell)
        rings = self._bend_closer(near)
        mask = Mask(cover(rings, grid), grid.order)
        if self.degrees is not None:
            margin = min((_ROUNDED + 2 * near) / grid.cell, 0.25)
            mask = mask.without(centres_near(rings, grid, margin))
        blocks = overlap([rings], grid)
        mask = mask.show_crossed(blocks.index[blocks.share < 1])
        if not mask.n_cells:
            raise BadInputError(
                "The polygon covers no cell of the grid; give a larger polygon or smaller cells."
            )
        return Grid(grid.x0, grid.y0, grid.cell, grid.order, mask.runs)

    def _bend_closer(self, near: float) -> List[Array]:
        """Rings; those of a polygon in degrees with edges so near to what they stand for."""
        if self.degrees is None:
            return self.rings
        given, centre = self.degrees

        def project(corners: Array) -> Array:
            return project_ring(self.host, corners, self.crs, self.working_crs, centre)

        return bend_closer(self.rings, given, project, near)

    def grid_for(self, resolution: float) -> Grid:
        """The same with cells of about so many metres."""
        return self.grid(self.order(resolution))


def _is_box(rings: List[Array]) -> bool:
    if len(rings) != 1 or len(rings[0]) != 5:
        return False
    return all(len(np.unique(rings[0][:, axis])) == 2 for axis in (0, 1))


def ledger_text(bounds: Bounds, crs: str, order: int) -> str:
    """An area on one line, for the ledger.

    >>> ledger_text((-74.3, 40.5, -73.7, 40.95), "EPSG:4326", 13)
    '-74.3 40.5 -73.7 40.95 EPSG:4326 order 13'
    """
    return f"{' '.join(f'{value:.6g}' for value in bounds)} {crs} order {order}"


def area_of_box(host: Host, bounds: Any, crs: Crs) -> Area:
    """The area of a box ``(west, south, east, north)``."""
    degrees = host.is_geographic(crs)
    box = _check_bounds(bounds, degrees)
    if not degrees:
        return Area(host, [box_ring(*box, pieces=1)], crs, crs, box, is_box=True)
    working = host.equal_area(crs, choose_projection(box))
    ring = project_ring(host, box_ring(*box), crs, working, (box[0] + box[2]) / 2)
    return Area(host, [ring], crs, working, wrap_box(box), is_box=True)


def area_of_polygons(host: Host, polygons: Polygons, crs: Crs) -> Area:
    """The area of valid polygons."""
    if not polygons:
        raise BadInputError("The polygon has no area: give the area in which points may lie.")
    low, high = extent(polygons)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise BadInputError("The polygon has coordinates that are not finite numbers.")
    if not host.is_geographic(crs):
        box = float(low[0]), float(low[1]), float(high[0]), float(high[1])
        return Area(host, rings_of(polygons), crs, crs, box)
    box = _bounds_in_degrees(polygons)
    working = host.equal_area(crs, choose_projection(box))
    centre, size = (box[0] + box[2]) / 2, max(box[2] - box[0], box[3] - box[1])
    given = rings_of(cut(_put_together(host, polygons, centre), size))
    rings = [project_ring(host, ring, crs, working, centre) for ring in given]
    return Area(host, rings, crs, working, wrap_box(box), degrees=(given, centre))


def _put_together(host: Host, polygons: Polygons, centre: float) -> Polygons:
    """Polygons within half a turn of a longitude, those that meet at the antimeridian as one."""
    turns = [
        np.rint(((ring[:, 0].min() + ring[:, 0].max()) / 2 - centre) / 360) for ring, *_ in polygons
    ]
    if not any(turns):
        return polygons
    return host.unite(
        [[ring - [360 * turn, 0.0] for ring in polygon] for polygon, turn in zip(polygons, turns)]
    )


def choose_projection(box: Bounds) -> EqualArea:
    """Equal-area projection centred on a box in degrees, or on the pole that a wide box surrounds.

    Half the globe and more on both sides of the equator gets a cylinder. It would draw cells near
    a pole out along the parallels: at 80 degrees 25 times as long as wide, around a pole without
    an end. Seen from the pole, cells are at most 1.6 times as long as wide.

    >>> choose_projection((177, -20, 182, -15)).shape
    '+proj=laea +lat_0=-17.5 +lon_0=179.5'
    >>> choose_projection((-180, 60, 180, 90)).shape
    '+proj=laea +lat_0=90 +lon_0=0'
    >>> choose_projection((-180, -90, 180, 90)).text
    'EPSG:6933'
    """
    west, south, east, north = box
    lon = (round((west + east) / 2, 4) + 180) % 360 - 180
    if east - west <= 180:
        return EqualArea(lon, round((south + north) / 2, 4))
    if south >= _POLAR or north <= -_POLAR:
        return EqualArea(lon, 90.0 if south > 0 else -90.0)
    return EqualArea(0.0 if west >= -180 and east <= 180 else lon)


def _check_bounds(bounds: Any, degrees: bool) -> Bounds:
    try:
        west, south, east, north = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise BadInputError("Bounds are four numbers: west, south, east, north.") from None
    if not np.isfinite([west, south, east, north]).all():
        raise BadInputError("Bounds must be finite numbers: west, south, east, north.")
    if degrees:
        if not (south >= -90 and north <= 90 and abs(west) <= 360 and abs(east) <= 360):
            raise _degrees_error()
        if west > east and east + 360 - west < 180:
            east += 360
    if west > east or south > north:
        raise BadInputError("The box is inverted: give west, south, east, north in this order.")
    if west == east or south == north:
        raise BadInputError("The box is empty: its sides must be longer than zero.")
    if degrees and east - west > 360:
        raise BadInputError(
            "The box goes around the globe more than once; its width is at most 360."
        )
    return west, south, east, north


def _degrees_error() -> BadInputError:
    return BadInputError(
        "The area's coordinates are not degrees, but its CRS is in degrees; "
        "give them in degrees, or the CRS that they are in."
    )


def wrap_box(box: Bounds) -> Bounds:
    """Bounds with both longitudes in [-180, 180]; west > east says: across the antimeridian."""
    west, south, east, north = box
    if not (west >= -180 and east <= 180):
        west, east = (west + 180) % 360 - 180, (east + 180) % 360 - 180
    return west, south, east, north


def _bounds_in_degrees(polygons: Polygons) -> Bounds:
    """Smallest box around polygons in degrees; east exceeds 180 when it must."""
    parts = np.array([[ring.min(axis=0), ring.max(axis=0)] for ring, *_ in polygons])
    low, high = parts[:, 0], parts[:, 1]
    if low[:, 1].min() < -90 or high[:, 1].max() > 90 or np.abs(parts[:, :, 0]).max() > 360:
        raise _degrees_error()
    west, east = narrowest(low[:, 0], high[:, 0])
    return west, float(low[:, 1].min()), east, float(high[:, 1].max())


def narrowest(first: Array, last: Array) -> "tuple[float, float]":
    """The narrowest range of longitudes that holds intervals of them; it may pass 180.

    >>> narrowest(np.array([177.0, -180.0]), np.array([180.0, -178.0]))
    (177.0, 182.0)
    """
    west, east = float(first.min()), float(last.max())
    # the widest gap between intervals, seen as arcs on the circle, is what the range leaves out
    start = first % 360
    order = np.argsort(start)
    begin = start[order]
    ends = begin + (last - first)[order]
    # an arc that passes 360 covers what comes first, too
    reach = np.maximum.accumulate(np.maximum(ends, ends.max() - 360))
    gap = np.append(begin[1:], begin[0] + 360) - reach
    widest = int(np.argmax(gap))
    width = 360 - float(gap[widest])
    if gap[widest] > 0 and width < east - west - 1e-9:
        west = float(begin[(widest + 1) % len(begin)])
        west -= 360 * (west > 180)
        east = west + width
    return west, east
