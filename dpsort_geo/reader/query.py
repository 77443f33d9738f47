"""Counts in polygons and quantiles along the curve, from a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple

import numpy as np

from ..curve.cover import Rings, checked_ring
from ..curve.grid import Grid
from ..curve.overlap import Blocks, overlap
from ..errors import BadInput
from .decode import Decoded
from .lean import lean
from .leaves import Leaves, columns_and_rows

Array = np.ndarray

METHODS = ("formula", "bootstrap")

#: outlines are cut into pieces of an eighth of a cell at least: inside such a piece it does not
#: matter any more how the density leans
_FINER = 3
_FINEST = 28
#: a zone's outline has at least so many pieces
_PIECES = 64
#: a table of zones has at least so many, all of one size; so many are worked on together
_ALL_PIECES = 1 << 17
_MOST_PIECES = 1 << 18
#: zones of a long table that are in memory together
_MOST_ZONES = 1 << 12


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
    if decoded.leaves is not None and method == "formula" and len(zones) > _MOST_ZONES:
        starts = range(0, len(zones), _MOST_ZONES)
        parts = [count_within(decoded, zones[i : i + _MOST_ZONES], level) for i in starts]
        estimate, low, high = (np.concatenate(part) for part in zip(*parts))
        return estimate, low, high
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
    each at least so finely that its neighbours in the table do not matter for its answer: its
    outline has about as many pieces as there are leaves (or groups) for the mass that it holds.
    """
    grid = decoded.grid
    length = np.array([_length(rings, grid) for rings in zones]) / grid.side
    together = _ALL_PIECES * length / max(float(length.sum()), 1e-300)
    order = _orders(grid, length, np.maximum(together, _PIECES))
    blocks = _blocks(grid, zones, length, order)
    share = mass_on_curve(decoded, blocks, len(zones)) / max(decoded.n, 1)
    most = min(decoded.cumulative.place.size, _ALL_PIECES)
    finer = _orders(grid, length, _PIECES + most * share)
    again = finer > order
    kept = ~again[blocks[0]]
    more = _blocks(grid, zones, np.where(again, length, 0.0), finer)
    zone, level, index, part = (np.concatenate([a[kept], b]) for a, b in zip(blocks, more))
    return zone, level, index, part


def _orders(grid: Grid, length: Array, pieces: Array) -> Array:
    """The finest order at which an outline has not more than so many pieces."""
    order = np.full(length.size, min(grid.order + _FINER, _FINEST))
    while np.any(coarser := (order > 1) & (np.ldexp(length, order) > pieces)):
        order[coarser] -= 1
    return order


def _blocks(grid: Grid, zones: Sequence[Rings], length: Array, order: Array) -> Blocks:
    """Blocks of all zones with an outline in the grid, each at its own order."""
    nothing = np.zeros(0, np.int64)
    found: List[Blocks] = [(nothing, nothing, nothing, np.zeros(0))]
    for depth in np.unique(order).tolist():
        finer = Grid(grid.x0, grid.y0, grid.side / 2.0**depth, depth)
        chosen = np.flatnonzero((order == depth) & (length > 0))
        for some in _together(chosen, np.ldexp(length[chosen], depth), depth):
            zone, level, index, share = overlap([zones[number] for number in some], finer)
            found.append((some[zone], level, index, share))
    zone, level, index, share = (np.concatenate(parts) for parts in zip(*found))
    return zone, level, index, share


def _length(rings: Rings, grid: Grid) -> float:
    """How far the outline goes inside the grid: half of its ways along x and along y."""
    low = np.array([grid.x0, grid.y0])
    total = 0.0
    for ring in rings:
        at = np.clip(checked_ring(ring), low, low + grid.side)
        total += float(np.abs(np.diff(at, axis=0, append=at[:1])).sum())
    return total / 2


def _together(zones: Array, pieces: Array, order: int) -> List[Array]:
    """Parts of a table with not too many pieces, and so few zones that their keys fit 64 bits."""
    batch = np.cumsum(pieces) // _MOST_PIECES + (np.arange(zones.size) >> max(0, 61 - 2 * order))
    return np.split(zones, np.flatnonzero(np.diff(batch)) + 1) if zones.size else []


def mass_on_curve(decoded: Decoded, blocks: Blocks, zones: int) -> Array:
    """Mass of the blocks of each zone by F alone."""
    zone, level, index, share = blocks
    start = place_of(decoded.grid, level, index)
    stop = place_of(decoded.grid, level, index + 1)
    part = decoded.cumulative.upto(stop) - decoded.cumulative.upto(start)
    return np.bincount(zone, part * share, zones)


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
    """Share of each leaf in each zone: a block's own for leaves in it, less for one around it."""
    zone, level, index, share = blocks
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
    area, mass = area * share[small], mass * share[small]
    key = np.concatenate([zone[block] * start.size + inside, zone[small] * start.size + leaf])
    pair, place = np.unique(key, return_inverse=True)
    place = place.reshape(-1)
    return Coverage(
        zones,
        pair // start.size,
        pair % start.size,
        np.minimum(np.bincount(place, np.concatenate([share[block], area]), pair.size), 1.0),
        np.minimum(np.bincount(place, np.concatenate([share[block], mass]), pair.size), 1.0),
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
    width = (0.5 ** np.arange(64))[deeper]
    corners = leaves.column[leaf] << deeper, leaves.row[leaf] << deeper
    density = np.ones(leaf.size)
    for axis, own in enumerate(columns_and_rows(level, index)):
        density *= shape.density(axis, leaf, (own - corners[axis] + 0.5) * width, width)
    mass[bent] *= density
    return area, mass
