"""Counts in polygons and quantiles along the curve, from a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple

import numpy as np

from ..curve.cover import Rings, blocks_of, checked_ring
from ..curve.grid import Grid
from ..errors import BadInput
from .decode import Decoded
from .lean import lean
from .leaves import Leaves, columns_and_rows

Array = np.ndarray
#: zone number, level and index of quadtree blocks
Blocks = Tuple[Array, Array, Array]

METHODS = ("formula", "bootstrap")

#: outlines are followed in eighths of a cell at most
_FINER = 3
_FINEST = 28
#: a zone's outline has at least so many rows, and so many more if it holds everything: what its
#: cells leave open shall be a small part of the noise
_ROWS = 128
_MORE_ROWS = 1 << 17
#: a table of zones has at least so many rows, all of one height; so many are worked on together
_ALL_ROWS = 1 << 18
_MOST_ROWS = 1 << 19


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which share of each leaf lies in each zone; a row a (zone, leaf) pair that overlap."""

    zones: int
    zone: Array
    leaf: Array
    #: share of the leaf's allowed cells, and of its mass
    area: Array
    mass: Array


def count_within(
    decoded: Decoded, zones: Sequence[Rings], level: float = 0.9, method: str = "formula"
) -> Tuple[Array, Array, Array]:
    """Estimated number of points in each zone, with the limits of a ``level`` interval.

    A zone is a list of rings in the coordinates of the grid; see `dpsort_geo.curve.cover`. How the
    limits come about is told in `uncertainty`; ``method="bootstrap"``, for adaptive releases, tries
    it out with plausible data instead, see `bootstrap`.

    >>> from dpsort_geo.publisher.adaptive import publish_adaptive
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> from dpsort_geo.reader.decode import decode
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> everything = [np.array([[0, 0], [8, 0], [8, 8], [0, 8]], float)]
    >>> estimate, low, high = count_within(decode(publish_adaptive(cells, epsilon=1)), [everything])
    >>> float(estimate[0].round(6)), bool(low[0] <= 8 <= high[0])
    (8.0, True)
    """
    from .bootstrap import bootstrap_limits
    from .uncertainty import interval

    if not 0 < level < 1:
        raise BadInput("The level of an interval must lie between 0 and 1, such as 0.9.")
    if method not in METHODS:
        raise BadInput("The method of an interval must be 'formula' or 'bootstrap'.")
    if not len(zones):
        empty = np.zeros(0)
        return empty, empty, empty
    blocks = zone_blocks(decoded, zones)
    known: Any = blocks
    if decoded.leaves is None:
        estimate = mass_on_curve(decoded, blocks, len(zones))
    else:
        known = coverage(decoded.leaves, blocks, len(zones))
        part = decoded.leaves.mass[known.leaf] * known.mass
        estimate = np.bincount(known.zone, part, len(zones))
    if method == "bootstrap":
        return (estimate, *bootstrap_limits(decoded, blocks, len(zones), estimate, level))
    return (estimate, *interval(decoded, known, len(zones), estimate, level))


def quantiles(decoded: Decoded, shares: Sequence[float]) -> Tuple[Array, Array]:
    """Coordinates of the points that lie behind given shares of all points along the curve.

    >>> from dpsort_geo.publisher.adaptive import publish_adaptive
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> from dpsort_geo.reader.decode import decode
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 1), np.full(9, 1.5), np.full(9, 0.5))
    >>> x, y = quantiles(decode(publish_adaptive(cells, epsilon=100)), [0.5])
    >>> x.tolist(), y.tolist()
    ([1.5], [0.5])
    """
    share = np.asarray(shares, np.float64)
    if share.ndim != 1 or not np.all((share >= 0) & (share <= 1)):
        raise BadInput("Quantiles are given as numbers between 0 and 1, such as 0.5.")
    if not decoded.n:
        raise BadInput("The release stands for no points at all, so it has no quantiles.")
    place = decoded.cumulative.at(share * decoded.cumulative.total)
    return decoded.grid.centres(np.clip(place.astype(np.int64), 0, decoded.grid.n_cells - 1))


def zone_blocks(decoded: Decoded, zones: Sequence[Rings]) -> Blocks:
    """Quadtree blocks of the zones (zone, level, index).

    As finely as is cheap for all of them together, so that zones which share a border add up; but
    each at least so finely that its neighbours in the table do not matter for its answer.
    """
    grid = decoded.grid
    height = np.array([_height(rings, grid) for rings in zones]) / grid.side
    together = _ALL_ROWS * height / max(float(height.sum()), 1e-300)
    order = _orders(grid, height, np.maximum(together, _ROWS))
    blocks = _blocks(grid, zones, height, order)
    share = mass_on_curve(decoded, blocks, len(zones)) / max(decoded.n, 1)
    finer = _orders(grid, height, _ROWS + _MORE_ROWS * share)
    again = finer > order
    kept = ~again[blocks[0]]
    more = _blocks(grid, zones, np.where(again, height, 0.0), finer)
    zone, level, index = (np.concatenate([a[kept], b]) for a, b in zip(blocks, more))
    return zone, level, index


def _orders(grid: Grid, height: Array, rows: Array) -> Array:
    """The finest order at which an outline crosses not more than so many rows."""
    order = np.full(height.size, min(grid.order + _FINER, _FINEST))
    while np.any(coarser := (order > 1) & (np.ldexp(height, order) > rows)):
        order[coarser] -= 1
    return order


def _blocks(grid: Grid, zones: Sequence[Rings], height: Array, order: Array) -> Blocks:
    """Blocks of all zones with a height, each at its own order."""
    nothing = np.zeros(0, np.int64)
    found = [(nothing, nothing, nothing)]
    for depth in np.unique(order).tolist():
        finer = Grid(grid.x0, grid.y0, grid.side / 2.0**depth, depth)
        chosen = np.flatnonzero((order == depth) & (height > 0))
        for some in _together(chosen, np.ldexp(height[chosen], depth), depth):
            zone, level, index = blocks_of([zones[number] for number in some], finer)
            found.append((some[zone], level, index))
    zone, level, index = (np.concatenate(parts) for parts in zip(*found))
    return zone, level, index


def _height(rings: Rings, grid: Grid) -> float:
    """How far the outline goes up and down inside the grid."""
    total = 0.0
    for ring in rings:
        y = np.clip(checked_ring(ring)[:, 1], grid.y0, grid.y0 + grid.side)
        total += float(np.abs(np.diff(y, append=y[:1])).sum())
    return total


def _together(zones: Array, rows: Array, order: int) -> List[Array]:
    """Parts of a table with not too many rows, and so few zones that their keys fit 64 bits."""
    batch = np.cumsum(rows) // _MOST_ROWS + (np.arange(zones.size) >> max(0, 61 - 2 * order))
    return np.split(zones, np.flatnonzero(np.diff(batch)) + 1) if zones.size else []


def mass_on_curve(decoded: Decoded, blocks: Blocks, zones: int) -> Array:
    """Mass of the blocks of each zone by F alone."""
    zone, level, index = blocks
    start = place_of(decoded.grid, level, index)
    stop = place_of(decoded.grid, level, index + 1)
    part = decoded.cumulative.upto(stop) - decoded.cumulative.upto(start)
    return np.bincount(zone, part, zones)


def place_of(grid: Grid, level: Array, index: Array) -> Array:
    """Where on the curve, as F measures it, quadtree nodes begin; they may be parts of cells."""
    inside = np.maximum(level - grid.order, 0)
    cell = index << 2 * np.maximum(grid.order - level, 0) >> 2 * inside
    place = grid.allowed_before(cell).astype(np.float64)
    rest = index & ((np.int64(1) << 2 * inside) - 1)
    some = np.flatnonzero(rest)
    part = np.ldexp(rest[some].astype(np.float64), -2 * inside[some])
    place[some] += part * grid.is_allowed(cell[some])
    return place


def coverage(leaves: Leaves, blocks: Blocks, zones: int) -> Coverage:
    """Share of each leaf in each zone: 1 for leaves inside a block, less for leaves around one."""
    zone, level, index = blocks
    order = max(leaves.grid.order, int(level.max(initial=0)))
    start = leaves.index << 2 * (order - leaves.level)
    first, last = index << 2 * (order - level), (index + 1) << 2 * (order - level)
    low, high = np.searchsorted(start, first), np.searchsorted(start, last)
    # blocks inside one larger leaf, the last one that begins at the block's start or before it
    around = np.searchsorted(start, first, side="right") - 1
    hit = (around >= 0) & (leaves.level[around] < level)
    hit &= first < start[around] + (np.int64(1) << 2 * (order - leaves.level[around]))
    small = np.flatnonzero(hit)
    leaf = around[small]
    # leaves that a block holds
    many = np.where(hit, 0, high - low)
    block = np.repeat(np.arange(many.size), many)
    inside = np.arange(block.size) - np.repeat(np.cumsum(many) - many, many) + low[block]
    area, mass = _partial(leaves, leaf, level[small], index[small])
    ones = np.ones(inside.size)
    key = np.concatenate([zone[block] * start.size + inside, zone[small] * start.size + leaf])
    pair, place = np.unique(key, return_inverse=True)
    place = place.reshape(-1)
    return Coverage(
        zones,
        pair // start.size,
        pair % start.size,
        np.minimum(np.bincount(place, np.concatenate([ones, area]), pair.size), 1.0),
        np.minimum(np.bincount(place, np.concatenate([ones, mass]), pair.size), 1.0),
    )


def _partial(leaves: Leaves, leaf: Array, level: Array, index: Array) -> Tuple[Array, Array]:
    """Share of a leaf's area and of its mass in a block that lies inside the leaf."""
    grid = leaves.grid
    area = place_of(grid, level, index + 1) - place_of(grid, level, index)
    area /= leaves.area[leaf]
    shape = lean(leaves)
    mass = area.copy()
    bent = np.flatnonzero(leaves.is_whole[leaf])
    leaf, level, index = leaf[bent], level[bent], index[bent]
    deeper = level - leaves.level[leaf]
    corners = leaves.column[leaf] << deeper, leaves.row[leaf] << deeper
    for axis, own in enumerate(columns_and_rows(level, index)):
        u = np.ldexp((own - corners[axis]).astype(np.float64), -deeper)
        mass[bent] *= shape.density(axis, leaf, u + np.ldexp(0.5, -deeper), np.ldexp(1.0, -deeper))
    return area, mass
