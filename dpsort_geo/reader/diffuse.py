"""Points from a release: exactly n of them, where F reaches 1/2, 3/2, ..., n - 1/2.

No point is drawn at random; drawing from the density would cost half of the accuracy. The
repeated points of the paper (``spread=False``) are what F says and nothing more. Spread over the
area that they stand for they make a better map, but not a more private or a truer one.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from ..curve import hilbert
from ..curve.grid import Grid
from ..errors import BadInput
from .decode import Decoded
from .lean import lean
from .leaves import Leaves

Array = np.ndarray

#: so many points still have a place in memory
MOST_POINTS = 1 << 31
#: a place on the curve is read to 2^-8 of a cell's side, within what a float can hold
_FINER = 8


def points(decoded: Decoded, spread: bool = True) -> Tuple[Array, Array]:
    """Coordinates of the n published points, in the order of the curve."""
    if decoded.n > MOST_POINTS:
        raise BadInput("The release stands for too many points to make them; read its density.")
    mass = np.arange(decoded.n) + 0.5
    if not decoded.n:
        return mass, mass.copy()
    if decoded.leaves is not None:
        return _points_of_leaves(decoded.leaves, decoded.cumulative.mass, mass, spread)
    cumulative = decoded.cumulative
    if spread:
        return _on_curve(decoded.grid, cumulative.spread(decoded.grid.n_cells).at(mass))
    cell = np.clip(np.floor(cumulative.at(mass)), 0, decoded.grid.n_cells - 1)
    return decoded.grid.centres(cell.astype(np.int64))


def _points_of_leaves(
    leaves: Leaves, upto: Array, mass: Array, spread: bool
) -> Tuple[Array, Array]:
    grid = leaves.grid
    leaf = np.clip(np.searchsorted(upto, mass, side="left") - 1, 0, leaves.mass.size - 1)
    if not spread:
        middle = leaves.start[leaf] + leaves.area[leaf] // 2
        x, y = grid.centres(middle)
        whole = leaves.is_whole[leaf]
        size = leaves.size[leaf] * grid.cell
        x = np.where(whole, grid.x0 + (leaves.column[leaf] + 0.5) * size, x)
        return x, np.where(whole, grid.y0 + (leaves.row[leaf] + 0.5) * size, y)
    inside = (mass - upto[leaf]) / leaves.mass[leaf]
    place = leaves.start[leaf] + np.clip(inside, 0.0, 1.0) * leaves.area[leaf]
    last = leaves.start[leaf] + leaves.area[leaf]
    x, y = _on_curve(grid, np.minimum(place, np.nextafter(last.astype(np.float64), 0.0)))
    return _bent(leaves, leaf, x, y)


def _bent(leaves: Leaves, leaf: Array, x: Array, y: Array) -> Tuple[Array, Array]:
    """Move points that fill their leaves evenly so that they fill them as the density leans."""
    grid, shape = leaves.grid, lean(leaves)
    size = leaves.size * grid.cell
    corners = grid.x0 + leaves.column * size, grid.y0 + leaves.row * size
    moved = []
    for axis, at in ((0, x), (1, y)):
        some = np.flatnonzero(((shape.slope[axis] != 0) | (shape.bend[axis] != 0))[leaf])
        who = leaf[some]
        share = (at[some] - corners[axis][who]) / size[who]
        at[some] = corners[axis][who] + size[who] * shape.inverse(axis, who, share)
        moved.append(at)
    return moved[0], moved[1]


def _on_curve(grid: Grid, place: Array) -> Tuple[Array, Array]:
    """Coordinates of places on the curve, which goes on inside the cells."""
    finer = max(0, min(_FINER, 26 - grid.order))
    cell = np.clip(np.floor(place), 0, grid.n_cells - 1)
    within = np.clip((place - cell) * 4.0**finer, 0, 4**finer - 1).astype(np.int64)
    index = (grid.expand(cell.astype(np.int64)) << 2 * finer) | within
    i, j = hilbert.decode(index, grid.order + finer)
    step = grid.cell / 2.0**finer
    return grid.x0 + (i + 0.5) * step, grid.y0 + (j + 0.5) * step
