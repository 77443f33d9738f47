"""Counts in H3 hexagons: the cells that meet the domain, as zones."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, List, Set

import geopandas as gpd
import numpy as np
import shapely

from ..core.curve import hilbert
from ..core.curve.grid import Grid
from ..core.errors import BadInputError
from ..core.public.counts import zone_areas, zone_blocks
from ..core.public.decode import Decoded
from ..core.public.stretches import share_of_cells
from ._optional import need
from .domain import Domain

Array = np.ndarray

LONLAT = "EPSG:4326"
#: more cells than this are not made: a slip of one resolution is a factor of seven
MOST_HEXES = 2_000_000
#: metres from the middle of the smallest cell of resolution 0 to its edge; each next one is
#: smaller by the square root of 7, and this takes into account that H3 cells differ by a half
_REACH = 600_000.0
#: radians by which meridians converge before an edge is bent in degrees
_BENT = 0.02
#: cells are looked for among the children of those of a resolution that is lower by this
_STEP = 2
#: a cell with less of its area than this in the domain does not meet it: numbers end there
_LEAST = 1e-5


def hex_zones(decoded: Decoded, domain: Domain, resolution: int) -> gpd.GeoDataFrame:
    """The H3 cells with an allowed cell of the domain in them, sorted, in degrees."""
    h3 = need("h3", "Counting in hexagons")
    if not isinstance(resolution, (int, np.integer)) or not 0 <= resolution <= 15:
        raise BadInputError("The resolution of H3 hexagons is a whole number from 0 to 15.")
    expected = domain.area / h3.average_hexagon_area(resolution, unit="m^2")
    if expected > MOST_HEXES:
        raise BadInputError(
            f"At resolution {resolution} the domain has about {expected:,.0f} hexagons, more than "
            f"{MOST_HEXES:,}: choose a lower resolution."
        )
    sure, unsure = _cells_of(h3, domain, resolution)
    sure |= _with_room(h3, decoded, domain, sorted(unsure))
    return _frame(h3, sorted(sure))


def _frame(h3: Any, cells: List[str]) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame({"h3": cells}, geometry=_hexagons(h3, cells), crs=LONLAT)


def _with_room(h3: Any, decoded: Decoded, domain: Domain, cells: List[str]) -> Set[str]:
    """Those of the cells of which some share lies in allowed cells of the grid."""
    rings = domain.zone_rings(list(_hexagons(h3, cells)), LONLAT)
    grid = decoded.grid
    room = share_of_cells(grid, zone_blocks(decoded, rings), len(rings))
    some = room * grid.n_cells * grid.cell**2 > _LEAST * zone_areas(rings)
    return {cell for cell, has_some in zip(cells, some.tolist()) if has_some}


def _cells_of(h3: Any, domain: Domain, resolution: int) -> "tuple[Set[str], Set[str]]":
    """Cells whose middle lies in the domain, and others that may meet it.

    A cell that meets the domain and has its middle outside meets the domain's edge. The squares
    along the edge are so small that a cell which meets one has its middle, or is next to one that
    has. The others are found as children: the middle of a cell lies in its parent, or next to it.
    """
    if resolution < _STEP:
        every = {child for cell in h3.get_res0_cells() for child in _children(h3, cell, resolution)}
    else:
        parents = set.union(*_cells_of(h3, domain, resolution - _STEP))
        around = {near for cell in parents for near in h3.grid_disk(cell, 1)}
        every = {child for cell in around for child in _children(h3, cell, resolution)}
    cells = sorted(every)
    lat, lon = np.array([h3.cell_to_latlng(cell) for cell in cells]).T
    inside = _contains(domain, *domain.project(lon, lat, LONLAT))
    sure = set(np.array(cells)[inside].tolist())
    x, y = _edge_places(domain, resolution)
    lon, lat = domain.unproject(x, y, LONLAT)
    known = np.isfinite(lon) & np.isfinite(lat)
    places = zip(lat[known].tolist(), lon[known].tolist())
    edge = {h3.latlng_to_cell(*place, resolution) for place in places}
    return sure, {near for cell in edge for near in h3.grid_disk(cell, 1)} - sure


def _children(h3: Any, cell: str, resolution: int) -> List[str]:
    found: List[str] = h3.cell_to_children(cell, resolution)
    return found


def _contains(domain: Domain, x: Array, y: Array) -> Array:
    inside = np.isfinite(x) & np.isfinite(y)
    inside[inside] = domain.grid.contains(x[inside], y[inside])
    return inside


def _edge_places(domain: Domain, resolution: int) -> "tuple[Array, Array]":
    """Middles of small squares with allowed cells that have some not allowed in or around them."""
    grid = domain.grid
    at = np.array([0.0, 0.25, 0.5, 0.75, 1.0]) * grid.side
    largest = grid.side * float(np.sqrt(domain.square_metres(grid.x0 + at, grid.y0 + at).max()))
    level = 1 + max(0, math.ceil(math.log2(largest / (_REACH / 7 ** (resolution / 2)))))
    column = row = np.zeros(1, np.int64)
    for depth in range(1, level + 1):
        column, row = (
            (2 * part[:, None] + child).reshape(-1)
            for part, child in ((column, [0, 1, 0, 1]), (row, [0, 0, 1, 1]))
        )
        if depth <= grid.order:
            inner = np.ones(column.size, bool)
            for right, up in product((-1, 0, 1), repeat=2):
                inner &= _room_in(grid, depth, column + right, row + up) == 1
            kept = (_room_in(grid, depth, column, row) > 0) & ~inner
            column, row = column[kept], row[kept]
    step = grid.side / 2**level
    return grid.x0 + (column + 0.5) * step, grid.y0 + (row + 0.5) * step


def _room_in(grid: Grid, level: int, column: Array, row: Array) -> Array:
    """Share of allowed cells in squares of a level; none beyond the grid."""
    last = 2**level - 1
    there = (column >= 0) & (row >= 0) & (column <= last) & (row <= last)
    index = hilbert.encode(np.clip(column, 0, last), np.clip(row, 0, last), level)
    span = np.int64(4) ** (grid.order - level)
    room = grid.allowed_before((index + 1) * span) - grid.allowed_before(index * span)
    return np.where(there, room / span, 0.0)


def _follow_circles(lat: Array, lon: Array) -> "tuple[Array, Array]":
    """Corners between which a straight line in degrees is about a great circle, H3's edge.

    Between two meridians that converge by an angle they part by an eighth of it times the length.
    """
    angle = _angles(lat, lon)
    if angle.max() < _BENT:
        return lat, lon
    pieces = np.where(angle < _BENT, 1, np.ceil(4 * np.sqrt(angle / _BENT))).astype(int)
    along, up = np.radians(lon), np.radians(lat)
    place = np.stack([np.cos(up) * np.cos(along), np.cos(up) * np.sin(along), np.sin(up)])
    edge = np.repeat(np.arange(lat.size), pieces)
    part = (np.arange(edge.size) - (np.cumsum(pieces) - pieces)[edge]) / pieces[edge]
    x, y, z = place[:, edge] * (1 - part) + np.roll(place, -1, axis=1)[:, edge] * part
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def _hexagons(h3: Any, cells: List[str]) -> Array:
    """Cells as polygons in degrees; those with straight edges, nearly all, together."""
    corners = [h3.cell_to_boundary(cell) for cell in cells]
    many = np.array([len(own) for own in corners], np.int64)
    shapes = np.empty(len(cells), object)
    for size in np.unique(many).tolist():
        group = np.flatnonzero(many == size)
        lat, lon = np.array([corners[number] for number in group.tolist()]).transpose(2, 0, 1)
        plain = ((np.ptp(lon, axis=1) < 180) & (_angles(lat, lon) < _BENT).all(axis=1)).tolist()
        shapes[group[plain]] = shapely.polygons(np.stack([lon[plain], lat[plain]], axis=2))
        for number, is_plain in zip(group.tolist(), plain):
            if not is_plain:
                shapes[number] = _bent_hexagon(*np.array(corners[number]).T)
    return shapes


def _angles(lat: Array, lon: Array) -> Array:
    """By how much the meridians of the ends of each edge converge, in radians."""
    turn = (np.roll(lon, -1, axis=-1) - lon + 180) % 360 - 180
    middle = np.radians((lat + np.roll(lat, -1, axis=-1)) / 2)
    return np.abs(np.radians(turn) * np.sin(middle))


def _bent_hexagon(lat: Array, lon: Array) -> Any:
    """A cell as a polygon in degrees, whole across the antimeridian, and around a pole."""
    lat, lon = _follow_circles(lat, lon)
    turn = (np.diff(lon, append=lon[:1]) + 180) % 360 - 180
    lon = lon[0] + np.concatenate([[0.0], np.cumsum(turn[:-1])])
    corners: List[Any] = list(zip(lon.tolist(), lat.tolist()))
    around = float(turn.sum())
    if abs(around) > 180:  # the cell holds a pole, where its map in degrees has a whole edge
        pole = 90.0 if lat[0] > 0 else -90.0
        corners += [(lon[0] + around, lat[0]), (lon[0] + around, pole), (lon[0], pole)]
    return shapely.Polygon(corners)
