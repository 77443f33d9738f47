"""How much of each cell of a grid lies in a polygon: exactly, by the area left of the outline.

A polygon is a list of rings, as in `cover`; what lies inside an odd number of them is inside. The
outline is cut where it passes from cell to cell. A piece that rises by dy inside a cell covers dy
of every cell to its right in that row, and of its own cell the part to its right; summed from the
left these are the winding numbers, averaged over each cell. Rings may turn either way. Only where
two of them pass through one cell it matters that a hole turns against its outline; then it is
exact there too.

As in `cover`, full cells are gathered into the largest quadtree blocks, so that the cost follows
the length of the outline and not the area.
"""

from __future__ import annotations

from typing import Sequence, Tuple

import numpy as np

from .blocks import Blocks
from .cover import Rings, cells_of, edges_of, gather_rows
from .grid import Grid

Array = np.ndarray

#: shares this near to none or all are none or all
_NEAR = 1e-6


def overlap(zones: Sequence[Rings], grid: Grid) -> Blocks:
    """Quadtree blocks that meet each polygon, disjoint for each zone; the grid's mask is ignored.

    >>> triangle = np.array([[0, 0], [2, 0], [2, 2]], float)
    >>> blocks = overlap([[triangle]], Grid(0, 0, 1, 2))
    >>> blocks.level.tolist(), blocks.index.tolist(), blocks.share.tolist()
    ([2, 2, 2], [1, 0, 2], [1.0, 0.5, 0.5])
    """
    size = 2**grid.order
    key, column, winding, after = _windings(_pieces(zones, grid), size)
    # cells with a piece of the outline, and those from there to its next piece in the row
    next_column = np.append(column[1:], 0)
    between = (np.append(key[1:], -1) == key) & (column + 1 < next_column)
    own = column < size
    key = np.concatenate([key[own], key[between]])
    first = np.concatenate([column[own], column[between] + 1])
    last = np.concatenate([column[own] + 1, next_column[between]])
    share = _share_of_odd(np.concatenate([winding[own], after[between]]))
    full = share > 1 - _NEAR
    cut = np.flatnonzero((share > _NEAR) & ~full)
    blocks = gather_rows(key[full], first[full], last[full], grid.order)
    # an edge along a row cuts all cells on its way
    crossed = cells_of((key[cut], first[cut], last[cut]), grid.order)
    shares = np.ones(blocks[0].size), np.repeat(share[cut], last[cut] - first[cut])
    zone, level, index = (np.concatenate(parts) for parts in zip(blocks, crossed))
    return Blocks(zone, level, index, np.concatenate(shares))


def _share_of_odd(winding: Array) -> Array:
    """The share of a cell that lies inside an odd number of rings, from its mean winding number."""
    return np.abs(winding - 2 * np.rint(winding / 2))


def _windings(pieces: Tuple[Array, ...], size: int) -> Tuple[Array, Array, Array, Array]:
    """Cells with pieces, by row and column: the mean winding number there, and right of there."""
    key, column, rise, part = pieces
    place = key * (2 * size) + column
    order = np.argsort(place, kind="stable")
    place = place[order]
    first = np.flatnonzero(np.r_[True, place[1:] != place[:-1]][: place.size])
    if not first.size:
        return place, place, np.zeros(0), np.zeros(0)
    passed = np.add.reduceat(rise[order], first)
    own = np.add.reduceat(part[order], first)
    # every ring is closed: what rises in a row falls again in it
    after = np.cumsum(passed)
    place = place[first]
    return place // (2 * size), place % (2 * size), after - passed + own, after


def _pieces(zones: Sequence[Rings], grid: Grid) -> Tuple[Array, Array, Array, Array]:
    """Outlines cut at all cell borders: zone * 2^order + row, column, rise, and area to the right.

    What lies left of the grid is pushed to its edge; what lies right of it has column 2^order.
    """
    size = 2**grid.order
    zone, ax, ay, bx, by, sign = edges_of(zones, grid)
    edge, row, low, high = _cut(ay, by, size, 0)
    slope = (bx - ax) / np.where(by > ay, by - ay, 1.0)
    ends = ax[edge] + (low - ay[edge]) * slope[edge], ax[edge] + (high - ay[edge]) * slope[edge]
    left, right = np.minimum(*ends), np.maximum(*ends)
    rise, key = (high - low) * sign[edge], zone[edge] * size + row
    width = right - left
    upright = width == 0
    per_width = rise / np.where(upright, 1.0, width)
    piece, column, start, stop = _cut(np.clip(left, 0, size), np.clip(right, 0, size), size, 1)
    within = np.where(upright[piece], rise[piece], per_width[piece] * (stop - start))
    # the ends of a slanting piece that stick out of the grid
    west = per_width * np.clip(-left, 0.0, width)
    east = per_width * np.clip(right - size, 0.0, width)
    beyond = [(np.flatnonzero(end), end, edge) for end, edge in ((west, 0), (east, size))]
    return (
        np.concatenate([key[piece], *(key[some] for some, _, _ in beyond)]),
        np.concatenate([column, *(np.full(some.size, at) for some, _, at in beyond)]),
        np.concatenate([within, *(end[some] for some, end, _ in beyond)]),
        np.concatenate(
            [
                within * (column + 1 - (start + stop) / 2),
                *(end[some] for some, end, _ in beyond),
            ]
        ),
    )


def _cut(low: Array, high: Array, size: int, least: int) -> Tuple[Array, Array, Array, Array]:
    """Stretches cut at whole numbers: whose piece, which unit, from where, to where."""
    first = np.clip(np.floor(low), 0, size).astype(np.int64)
    last = np.clip(np.ceil(high), 0, size).astype(np.int64)
    many = np.maximum(last - first, least)
    owner = np.repeat(np.arange(many.size), many)
    unit = np.arange(owner.size) - np.repeat(np.cumsum(many) - many, many) + first[owner]
    return owner, unit, np.maximum(low[owner], unit), np.minimum(high[owner], unit + 1)
