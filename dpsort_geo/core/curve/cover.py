"""Which cells of a grid lie in a polygon: a scan line through every row of cell centres.

A polygon is a list of rings, each an array of shape (k, 2); holes and further parts are more
rings, and a cell belongs to the polygon when its centre is inside an odd number of them. The
rows are then gathered into the largest quadtree blocks that they fill, so the cost follows the
length of the outline and not the area.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

from ..errors import BadInputError
from . import hilbert
from .grid import Grid

Array = np.ndarray
Rings = Sequence[Array]

#: in cells: a coordinate nearer than this to the corner of the grid lies on it. Without that the
#: slope of an edge between two such numbers could exceed what a float holds
_TINY = 2.0**-60


def cover(rings: Rings, grid: Grid) -> Array:
    """Mask of a polygon: runs of curve indices, for ``Grid(..., runs=...)``.

    >>> square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], float)
    >>> cover([square], Grid(0, 0, 1, 2))
    array([[0, 4]])
    """
    blocks = blocks_of([rings], grid)
    if not blocks[1].size:
        raise BadInputError(
            "The polygon covers no cell of the grid; give a larger polygon or smaller cells."
        )
    _, level, index = blocks
    return runs_of(level, index, grid.order)


def runs_of(level: Array, index: Array, order: int) -> Array:
    """Quadtree blocks as sorted, disjoint, not touching runs of curve indices."""
    span = np.int64(4) ** (order - level)
    start = np.sort(index * span)
    stop = np.sort((index + 1) * span)
    opens = np.r_[True, start[1:] > stop[:-1]]
    closes = np.r_[opens[1:], True]
    return np.stack([start[opens], stop[closes]], axis=1)


def blocks_of(zones: Sequence[Rings], grid: Grid) -> Tuple[Array, Array, Array]:
    """Largest quadtree blocks inside each polygon: zone number, level, index at that level.

    Blocks of one zone are disjoint. The mask of the grid plays no part here.
    """
    return gather_rows(*_row_runs(zones, grid), grid.order)


def gather_rows(key: Array, start: Array, stop: Array, order: int) -> Tuple[Array, Array, Array]:
    """Runs of columns, row by row, as the largest quadtree blocks; the key is zone * 2^order + row.

    Runs of one row must not overlap, but may touch.
    """
    key, start, stop = _find_stretches(key, start, stop, 1, order)
    found: List[Tuple[Array, Array, Array]] = []
    for level in range(order, -1, -1):
        if not key.size:
            break
        if level:
            # a parent is full where both of its rows are, over whole pairs of columns
            both = _find_stretches(key >> 1, start, stop, 2, level)
            row, first, last = both[0], (both[1] + 1) >> 1, both[2] >> 1
            row, first, last = (part[first < last] for part in (row, first, last))
            rest = _find_stretches(
                np.concatenate([key, row * 2, row * 2 + 1]),
                np.concatenate([start, first * 2, first * 2]),
                np.concatenate([stop, last * 2, last * 2]),
                1,
                level,
            )
            key, start, stop = row, first, last
        else:
            rest = key, start, stop
        found.append(cells_of(rest, level))
    if not found:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    zones_, levels, indices = (np.concatenate(parts) for parts in zip(*found))
    return zones_, levels, indices


def _row_runs(zones: Sequence[Rings], grid: Grid) -> Tuple[Array, Array, Array]:
    """Runs of columns whose centres are inside each polygon, row by row."""
    zone, ax, ay, bx, by, _ = edges_of(zones, grid)
    ax, ay, bx, by = ax - 0.5, ay - 0.5, bx - 0.5, by - 0.5  # the centre of cell (i, j) is (i, j)
    size = 2**grid.order
    edge, row, x = _crossings(ay, ax, by, bx, size)
    column = np.clip(np.ceil(x), 0, size).astype(np.int64)
    key = zone[edge] * size + row
    # crossings pair up in each row, because every ring is closed
    order = np.argsort(key * (2 * size) + column, kind="stable")
    key, column = key[order], column[order]
    start, stop = column[0::2], column[1::2]
    kept = start < stop
    return key[0::2][kept], start[kept], stop[kept]


def _crossings(
    low: Array, start: Array, high: Array, stop: Array, size: int
) -> Tuple[Array, Array, Array]:
    """Edges from ``(start, low)`` to ``(stop, high)``, whole numbers they pass, and where."""
    first = np.clip(np.ceil(low), 0, size).astype(np.int64)
    last = np.clip(np.ceil(high), 0, size).astype(np.int64)
    many = last - first
    edge = np.repeat(np.arange(many.size), many)
    at = np.arange(edge.size) - np.repeat(np.cumsum(many) - many, many) + first[edge]
    slope = (stop - start) / np.where(high > low, high - low, 1.0)
    return edge, at, start[edge] + (at - low[edge]) * slope[edge]


def centres_near(rings: Rings, grid: Grid, margin: float) -> Array:
    """Curve indices of all cells whose centres are within a margin of the outline, in cells.

    With them come a few around its corners that are up to half as far again. The margin is at
    most a quarter.

    >>> low = np.array([[0.3, 0.52], [3.8, 0.52], [3.8, 0.9], [0.3, 0.9]])
    >>> centres_near([low], Grid(0.0, 0.0, 1.0, 2), 0.03).tolist()
    [0, 1, 14, 15]
    >>> centres_near([low], Grid(0.0, 0.0, 1.0, 2), 0.01).tolist()
    []
    """
    _, ax, ay, bx, by, _ = edges_of([rings], grid)
    ax, ay, bx, by = ax - 0.5, ay - 0.5, bx - 0.5, by - 0.5
    # what is nearest to an end of an edge may lie beyond it, where the edge passes no centre
    x, y = np.concatenate([ax, bx]), np.concatenate([ay, by])
    near = np.hypot(x - np.rint(x), y - np.rint(y)) <= margin * 2**0.5
    size, steep = 2**grid.order, by - ay >= np.abs(bx - ax)
    row, column = _passed(np.stack([ay, ax, by, bx])[:, steep], margin, size)
    flat = np.stack([ax, ay, bx, by])[:, ~steep]
    flat = np.where(flat[0] <= flat[2], flat, flat[[2, 3, 0, 1]])
    column_of_flat, row_of_flat = _passed(flat, margin, size)
    i = np.concatenate([np.rint(x[near]).astype(np.int64), column, column_of_flat])
    j = np.concatenate([np.rint(y[near]).astype(np.int64), row, row_of_flat])
    inside = (np.minimum(i, j) >= 0) & (np.maximum(i, j) < size)
    return np.unique(hilbert.encode(i[inside], j[inside], grid.order))


def _passed(edges: Array, margin: float, size: int) -> Tuple[Array, Array]:
    """Pairs of whole numbers within a margin of edges from ``(low, start)`` to ``(high, stop)``."""
    low, start, high, stop = edges
    edge, unit, at = _crossings(low, start, high, stop, size)
    lean = (high - low) / np.maximum(np.hypot(high - low, stop - start), _TINY)
    near = np.flatnonzero(np.abs(at - np.rint(at)) * lean[edge] <= margin)
    return unit[near], np.rint(at[near]).astype(np.int64)


def edges_of(zones: Sequence[Rings], grid: Grid) -> Tuple[Array, ...]:
    """All edges: zone, x and y of the lower end, then of the higher, in cells from the corner.

    Last, 1 for an edge that the ring follows upwards, and -1 for the others.
    """
    owner, tail, head = ring_edges(zones)
    if not owner.size:
        raise BadInputError("A polygon needs at least one ring.")
    offset = np.array([grid.x0, grid.y0])
    a, b = (tail - offset) / grid.cell, (head - offset) / grid.cell
    a[np.abs(a) < _TINY] = 0.0
    b[np.abs(b) < _TINY] = 0.0
    upward = a[:, 1] < b[:, 1]
    low, high = np.where(upward[:, None], a, b), np.where(upward[:, None], b, a)
    sign = np.where(upward, 1.0, -1.0)
    return owner, low[:, 0], low[:, 1], high[:, 0], high[:, 1], sign


def ring_edges(zones: Sequence[Rings]) -> Tuple[Array, Array, Array]:
    """All edges of the closed rings of all zones: number of the zone, first corner, next corner.

    >>> triangle = np.array([[0, 0], [1, 0], [0, 1]], float)
    >>> owner, tail, head = ring_edges([[], [triangle]])
    >>> owner.tolist(), head[-1].tolist()
    ([1, 1, 1], [0.0, 0.0])
    """
    rings = [_shape_ring(ring) for zone in zones for ring in zone]
    if not rings:
        return np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2))
    corners = np.array([len(ring) for ring in rings])
    last = np.cumsum(corners) - 1
    tail = _finite(np.concatenate(rings))
    head = np.roll(tail, -1, axis=0)
    head[last] = tail[last + 1 - corners]
    owner = np.repeat(np.arange(len(zones)), [len(zone) for zone in zones])
    return np.repeat(owner, corners), tail, head


def checked_ring(ring: Array) -> Array:
    """A ring as an array of at least three finite corners."""
    return _finite(_shape_ring(ring))


def _shape_ring(ring: Array) -> Array:
    ring = np.asarray(ring, np.float64)
    if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 3:
        raise BadInputError("A ring of a polygon needs at least three (x, y) corners.")
    return ring


def _finite(corners: Array) -> Array:
    if not np.isfinite(corners).all():
        raise BadInputError("The corners of a polygon must be finite numbers.")
    return corners


def _find_stretches(
    key: Array, start: Array, stop: Array, depth: int, level: int
) -> Tuple[Array, Array, Array]:
    """Maximal stretches of each row that exactly ``depth`` of the given runs cover."""
    width = np.int64(2 << level)
    place = np.concatenate([key * width + start, key * width + stop])
    change = np.ones(place.size, np.int64)
    change[key.size :] = -1
    order = np.argsort(place, kind="stable")
    place, covered = place[order], np.cumsum(change[order])
    here = np.flatnonzero((covered[:-1] == depth) & (place[:-1] < place[1:]))
    begin, end = place[here], place[here + 1]
    if begin.size:
        opens = np.r_[True, begin[1:] != end[:-1]]
        begin, end = begin[opens], end[np.r_[opens[1:], True]]
    row = begin // width
    return row, begin - row * width, end - row * width


def cells_of(runs: Tuple[Array, Array, Array], level: int) -> Tuple[Array, Array, Array]:
    """The single cells of runs: zone, level, index."""
    key, start, stop = runs
    length = stop - start
    which = np.repeat(np.arange(length.size), length)
    column = np.arange(which.size) - np.repeat(np.cumsum(length) - length, length) + start[which]
    zone, row = key[which] >> level, key[which] & (2**level - 1)
    index = hilbert.encode(column, row, level) if level else np.zeros(which.size, np.int64)
    return zone, np.full(which.size, level, np.int64), index
