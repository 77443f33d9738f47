"""A release read inside a public boundary that was given afterwards: post-processing, so free.

The boundary is a mask like that of a domain, on the cells of the release or on finer ones. Quadtree
nodes without a cell inside are known zeros, and all the mass of a node that the boundary cuts lies
inside. F, the function that everything is read from, then runs over the inner cells only.
"""

from __future__ import annotations

import numpy as np

from ..curve.cover import Rings, blocks_of, cover, runs_of
from ..curve.grid import MAX_MASKED_ORDER, Grid
from ..errors import BadInputError
from .cumulative import Cumulative

Array = np.ndarray

#: a boundary is followed at least so finely, however coarse the release is
_FINE = 12
#: in cells: outlines that are this near to each other are the same, bent by another projection
_HAIR = 1 / 8


def inside_of(grid: Grid, rings: Rings) -> Grid:
    """The cells of a release's grid, or finer ones, whose centres lie in a polygon.

    >>> half = np.array([[0, 0], [2, 0], [2, 4], [0, 4]], float)
    >>> inside = inside_of(Grid(0.0, 0.0, 1.0, 2), [half])
    >>> inside.order, inside.n_cells / 4**inside.order
    (12, 0.5)
    """
    if grid.order > MAX_MASKED_ORDER:
        raise BadInputError(
            f"The cells of this release are too fine for a boundary: order {grid.order}, and at "
            f"most {MAX_MASKED_ORDER} can have one."
        )
    finer = max(_FINE - grid.order, 0)
    bare = Grid(grid.x0, grid.y0, grid.cell / 2.0**finer, grid.order + finer)
    runs = cover(rings, bare) if rings else np.zeros((0, 2), np.int64)
    if grid.runs is not None:
        runs = _common(runs, grid.runs << 2 * finer)
    if not len(runs):
        raise BadInputError("The boundary has no cell of the release in it; check its CRS.")
    return Grid(bare.x0, bare.y0, bare.cell, bare.order, runs)


def places_inside(grid: Grid, inside: Grid, place: Array) -> Array:
    """Places on the curve of a release as places on the curve of the cells inside.

    >>> grid = Grid(0.0, 0.0, 1.0, 1)
    >>> inside = Grid(0.0, 0.0, 1.0, 1, np.array([[1, 2], [3, 4]]))
    >>> places_inside(grid, inside, np.array([0.0, 1.5, 2.5, 4.0])).tolist()
    [0.0, 0.5, 1.0, 2.0]
    """
    if inside is grid:
        return place
    cell = np.clip(np.floor(place), 0, grid.n_cells - 1)
    part = np.clip(place - cell, 0.0, 1.0) * 4.0 ** (inside.order - grid.order)
    first = grid.expand(cell.astype(np.int64)) << 2 * (inside.order - grid.order)
    index = first + np.floor(part).astype(np.int64)
    rest = (part - np.floor(part)) * inside.is_allowed(index)
    return inside.allowed_before(index) + rest


def move_inside(grid: Grid, inside: Grid, f: Cumulative) -> Cumulative:
    """F over the cells inside: between two corners the mass is even over what is inside there.

    Mass between corners with nothing inside sits at the border, as a jump.
    """
    return Cumulative(places_inside(grid, inside, f.place), f.mass) if inside is not grid else f


def holds_all(grid: Grid, rings: Rings) -> bool:
    """Whether the centres of all allowed cells lie in a polygon, but for a hair.

    So do those of a mask in the polygon that it was made from, and of a smaller one they do not.

    >>> mask = np.array([[0, 0], [3, 0], [4, 4], [0, 3]], float)
    >>> grid = Grid(0.0, 0.0, 1.0, 2, cover([mask], Grid(0.0, 0.0, 1.0, 2)))
    >>> holds_all(grid, [mask]), holds_all(grid, [mask * 0.8])
    (True, False)
    """
    bare, last = Grid(grid.x0, grid.y0, grid.cell, grid.order), 4**grid.order
    missing = np.array([[0, last]]) if grid.runs is None else grid.runs
    for dx, dy in ((0.0, 0.0), (_HAIR, 0.0), (-_HAIR, 0.0), (0.0, _HAIR), (0.0, -_HAIR)):
        moved = [ring + np.array([dx, dy]) * grid.cell for ring in rings]
        _, level, index = blocks_of([moved], bare)
        if not index.size:
            return False
        held = runs_of(level, index, grid.order)
        outside = np.concatenate([[0], held.reshape(-1), [last]]).reshape(-1, 2)
        missing = _common(missing, outside[outside[:, 0] < outside[:, 1]])
        if not len(missing):
            return True
    return False


def _common(a: Array, b: Array) -> Array:
    """What two masks share: runs of cells that are in both."""
    edge = np.concatenate([a.reshape(-1), b.reshape(-1)])
    step = np.concatenate([np.tile([1, -1], len(a)), np.tile([1, -1], len(b))])
    order = np.lexsort((step, edge))
    edge, depth = edge[order], np.cumsum(step[order])
    opens = np.flatnonzero(depth == 2)
    runs = np.stack([edge[opens], edge[np.minimum(opens + 1, edge.size - 1)]], axis=1)
    return runs[runs[:, 0] < runs[:, 1]]
