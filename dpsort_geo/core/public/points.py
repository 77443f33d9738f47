"""Points from a release: exactly n of them, where F reaches 1/2, 3/2, ..., n - 1/2.

No point is drawn at random; drawing from the density would cost half of the accuracy. The
repeated points of the paper (``diffuse=False``) are what F says and nothing more. Spread over the
area that they stand for they make a better map, but not a more private or a truer one.

They come in a fixed order that jumps over the curve by the golden section: the first thousand, or
any others that follow each other, lie all over the map in proportion to what is there.
The order depends on n alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Iterator, Optional, Tuple

import numpy as np

from ..errors import BadInputError
from .decode import Decoded, walk_curve
from .leaves import Leaves
from .parabola import Parabolas

Array = np.ndarray

#: more points than this are made only for who asks for them: a short file may claim any number
MOST_UNASKED = 50_000_000
#: points made at a time
CHUNK = 1 << 18
#: up to so many are made along the curve and then put in their order, which needs more memory and
#: no sorting
_SORTED = 1 << 22
_GOLDEN = (5**0.5 - 1) / 2
#: steps that are tried on either side of it
_TRIED = 64


def points(
    decoded: Decoded, diffuse: bool = True, most: Optional[int] = None
) -> Tuple[Array, Array]:
    """Coordinates of the n published points, in the order of `ranks`.

    ``most`` allows that many of them, where there are more than MOST_UNASKED.
    """
    pieces = chunks(decoded, diffuse, most)
    if decoded.n <= _SORTED:
        return _points_in_order(decoded, ranks(decoded.n), diffuse)
    x, y = np.empty(decoded.n), np.empty(decoded.n)
    for number, piece in enumerate(pieces):
        here = slice(number * CHUNK, (number + 1) * CHUNK)
        x[here], y[here] = piece
    return x, y


def chunks(
    decoded: Decoded, diffuse: bool = True, most: Optional[int] = None
) -> Iterator[Tuple[Array, Array]]:
    """The same points, CHUNK at a time: memory does not grow with their number."""
    n, allowed = decoded.n, MOST_UNASKED if most is None else most
    if n > allowed:
        raise BadInputError(
            f"The release stands for {n:,} points, more than the {allowed:,} that are made unless "
            f"asked for: ask for them with most={n}, or read its density."
        )
    return (
        _points_in_order(decoded, ranks(n, first, min(first + CHUNK, n)), diffuse)
        for first in range(0, n, CHUNK)
    )


def _points_in_order(decoded: Decoded, rank: Array, diffuse: bool) -> Tuple[Array, Array]:
    """Points are found along the curve, which keeps memory warm, and then put in their order."""
    if rank.size == decoded.n:
        x, y = points_at(decoded, np.arange(decoded.n), diffuse)
        return x[rank], y[rank]
    order = np.argsort(rank)
    x, y = np.empty(rank.size), np.empty(rank.size)
    x[order], y[order] = points_at(decoded, rank[order], diffuse)
    return x, y


def ranks(n: int, first: int = 0, stop: Optional[int] = None) -> Array:
    """Numbers along the curve of the published points from ``first`` to ``stop``.

    Each goes on from the one before by the same step around the curve, see `_step`.

    >>> ranks(10).tolist()
    [5, 2, 9, 6, 3, 0, 7, 4, 1, 8]
    """
    step = _step(n)
    stop = n if stop is None else stop
    begin = (n // 2 + first * step) % max(n, 1)  # in whole numbers of any size
    # CHUNK steps of less than 2^37 fit 64 bits
    parts = [
        ((begin + (part - first) * step) % n + np.arange(min(CHUNK, stop - part)) * step) % n
        for part in range(first, stop, CHUNK)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])


@lru_cache(maxsize=256)
def _step(n: int) -> int:
    """A step near n over the golden section that shares no divisor with n, so that all come once.

    How evenly the first so many lie is told by the continued fraction of step / n: the smaller its
    terms, the more alike are the gaps between them (the three-gap theorem).
    """
    near = max(1, round(n * _GOLDEN))
    choice = range(max(1, near - _TRIED), min(near + _TRIED, max(n, 2)))
    return min(choice, key=lambda step: (_largest_term(step, n), abs(step - near)))


def _largest_term(step: int, n: int) -> int:
    """The largest term of the continued fraction of step / n; n itself with a common divisor."""
    largest, a, b = 1, n, step
    while b:
        largest = max(largest, a // b)
        a, b = b, a % b
    return largest if a == 1 else n


def points_at(decoded: Decoded, rank: Array, diffuse: bool = True) -> Tuple[Array, Array]:
    """Coordinates of some of the points, by their numbers along the curve, and of no others."""
    return decoded.locate(rank + 0.5, diffuse)


def locate_in_leaves(
    leaves: Leaves, upto: Array, mass: Array, shape: Optional[Parabolas]
) -> Tuple[Array, Array]:
    """Coordinates of the points before which there is so much mass in the leaves.

    With a shape they fill the leaves as it says; without one they sit in the middle.
    """
    grid = leaves.grid
    leaf = np.clip(np.searchsorted(upto, mass, side="left") - 1, 0, leaves.mass.size - 1)
    if shape is None:
        return _middles(leaves, leaf)
    inside = (mass - upto[leaf]) / leaves.mass[leaf]
    place = leaves.start[leaf] + np.clip(inside, 0.0, 1.0) * leaves.area[leaf]
    last = leaves.start[leaf] + leaves.area[leaf]
    x, y = walk_curve(grid, np.minimum(place, np.nextafter(last.astype(np.float64), 0.0)))
    return _bend(leaves, shape, leaf, x, y)


def _middles(leaves: Leaves, leaf: Array) -> Tuple[Array, Array]:
    """The middle of each leaf, or of what the mask allows of it."""
    grid = leaves.grid
    x, y = grid.centres(leaves.start[leaf] + leaves.area[leaf] // 2)
    whole = leaves.is_whole[leaf]
    size = leaves.size[leaf] * grid.cell
    x = np.where(whole, grid.x0 + (leaves.column[leaf] + 0.5) * size, x)
    return x, np.where(whole, grid.y0 + (leaves.row[leaf] + 0.5) * size, y)


def _bend(leaves: Leaves, shape: Parabolas, leaf: Array, x: Array, y: Array) -> Tuple[Array, Array]:
    """Move points that fill their leaves evenly so that they fill them as the density leans."""
    grid = leaves.grid
    size = leaves.size * grid.cell
    corners = grid.x0 + leaves.column * size, grid.y0 + leaves.row * size
    for axis, at in ((0, x), (1, y)):
        some = np.flatnonzero(((shape.slope[axis] != 0) | (shape.bend[axis] != 0))[leaf])
        who = leaf[some]
        share = (at[some] - corners[axis][who]) / size[who]
        at[some] = corners[axis][who] + size[who] * shape.inverse(axis, who, share)
    return x, y
