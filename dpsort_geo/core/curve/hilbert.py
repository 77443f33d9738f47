"""The Hilbert curve: cell (column i, row j) of a 2^order x 2^order grid <-> position 0..4^order-1.

This is the curve of geopandas: it starts in the lower left cell, ends in the lower right one, and
visits the quadrants as (0,0), (0,1), (1,1), (1,0). Its orientation is fixed at the *top*, whatever
the order: ``encode(i, j, p) >> 2 == encode(i >> 1, j >> 1, p - 1)``. Hence the
quadtree node (i, j) of level l holds, in a grid of order p, exactly the positions
``[h * 4**(p - l), (h + 1) * 4**(p - l))`` with ``h = encode(i, j, l)``.

How it is computed. Inside each quadrant the curve is a copy of itself, turned in one of four ways
(a *state*): as it is, transposed (1), rotated by half a turn (2), or both (3). These four form a
group under XOR, so a quadrant's state is its parent's XOR a turn that the quadrant alone decides.
A table walks eight levels at once: (state, 8 bits of i, 8 bits of j) -> (next state, 16 bits of the
position). Leading zero bits visit only the first quadrant, which transposes; a grid whose order is
no multiple of eight is padded with them and starts transposed if their number is odd.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError

MAX_ORDER = 31

_LEVELS = 8  # levels a step: the tables (1 MB each) still fit the second-level cache
_SIDE_BITS = (1 << _LEVELS) - 1
_CODE_BITS = (1 << 2 * _LEVELS) - 1
_STATE_BITS = 3 << 2 * _LEVELS
_CHUNK = 1 << 16  # the temporaries of one chunk stay in cache

_TURN = np.array([1, 0, 0, 3])  # of the first, second, third and fourth quadrant visited

IntArray = NDArray[np.int64]

# integers that need no conversion before they are encoded
_FAST = (np.dtype(np.int64), np.dtype(np.uint32))


def encode(i: Any, j: Any, order: int) -> IntArray:
    """Position on the curve of each cell.

    Parameters
    ----------
    i, j : array_like of int
        Column (along x) and row (along y), each in 0..2^order-1; broadcast together.
    order : int
        The grid has 2^order x 2^order cells; 1 to 31.

    Returns
    -------
    ndarray of int64
        Positions in 0..4^order-1.

    Examples
    --------
    >>> encode([0, 0, 1, 1], [0, 1, 1, 0], order=1)
    array([0, 1, 2, 3])
    >>> encode([5], [3], order=3) >> 2 == encode([5 >> 1], [3 >> 1], order=2)
    array([ True])
    """
    order = _checked_order(order)
    column, row = np.broadcast_arrays(_integers(i, "columns"), _integers(j, "rows"))
    position = np.empty(column.shape, np.int64)
    column, row, flat = column.reshape(-1), row.reshape(-1), position.reshape(-1)
    for first in range(0, flat.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        flat[part] = encode_chunk(column[part], row[part], order)
    return position


def decode(position: Any, order: int) -> tuple[IntArray, IntArray]:
    """Cell at each position on the curve; the inverse of `encode`.

    Parameters
    ----------
    position : array_like of int
        Positions in 0..4^order-1.
    order : int
        The grid has 2^order x 2^order cells; 1 to 31.

    Returns
    -------
    i, j : ndarray of int64
        Column (along x) and row (along y).

    Examples
    --------
    >>> decode([0, 1, 2, 3], order=1)
    (array([0, 0, 1, 1]), array([0, 1, 1, 0]))
    """
    order = _checked_order(order)
    given = _integers(position, "positions")
    column, row = np.empty(given.shape, np.int64), np.empty(given.shape, np.int64)
    flat, flat_column, flat_row = given.reshape(-1), column.reshape(-1), row.reshape(-1)
    table = _decode_table()
    for first in range(0, flat.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        _decode_chunk(flat[part], order, table, flat_column[part], flat_row[part])
    return column, row


def encode_chunk(column: NDArray[Any], row: NDArray[Any], order: int) -> NDArray[Any]:
    """What `encode` does to each chunk: arrays of int64 or uint32 in, the narrower of both out."""
    # Any negative or too large value leaves a bit above the order; shifting keeps the sign.
    if (np.bitwise_or.reduce(column) | np.bitwise_or.reduce(row)) >> order:
        raise BadInputError(
            f"Columns and rows must lie in 0..2^{order}-1 for a grid of order {order}."
        )
    # Up to order 16 a position fits 32 bits, and arithmetic on those is twice as fast.
    word = np.dtype(np.uint32 if order <= 2 * _LEVELS else np.int64)
    table = _encode_table().view(np.uint32) if word == np.uint32 else _encode_table()
    top, entry = _top_and_start(order)
    column = column.astype(word) << _LEVELS  # the table wants the bits of i above those of j
    row = row.astype(word, copy=False)
    out = np.zeros(column.size, word)
    for shift in range(top, -1, -_LEVELS):
        index = _field(column, shift, _CODE_BITS - _SIDE_BITS)
        index |= _field(row, shift, _SIDE_BITS)
        index |= entry & _STATE_BITS
        entry = table[index]
        if shift < top:
            out <<= 2 * _LEVELS
        out |= entry & _CODE_BITS
    return out


def _decode_chunk(
    position: IntArray, order: int, table: NDArray[np.int32], column: IntArray, row: IntArray
) -> None:
    if np.bitwise_or.reduce(position) >> 2 * order:
        raise BadInputError(f"Positions must lie in 0..4^{order}-1 for a grid of order {order}.")
    top, entry = _top_and_start(order)
    for shift in range(top, -1, -_LEVELS):
        index = _field(position, 2 * shift, _CODE_BITS)
        index |= entry & _STATE_BITS
        entry = table[index]
        if shift == top:
            np.bitwise_and(entry >> _LEVELS, _SIDE_BITS, out=column)
            np.bitwise_and(entry, _SIDE_BITS, out=row)
        else:
            column <<= _LEVELS
            column |= (entry >> _LEVELS) & _SIDE_BITS
            row <<= _LEVELS
            row |= entry & _SIDE_BITS


def _field(values: IntArray, shift: int, mask: int) -> IntArray:
    return (values >> shift) & mask if shift else values & mask


def _top_and_start(order: int) -> tuple[int, Any]:
    """Shift of the first step, and the table entry that holds its state."""
    steps = -(-order // _LEVELS)
    padding = steps * _LEVELS - order
    return (steps - 1) * _LEVELS, (padding & 1) << 2 * _LEVELS


@cache
def _encode_table() -> NDArray[np.int32]:
    """Eight levels in one look-up: [state | bits of i | bits of j] -> state | bits of position."""
    state, i, j = np.ogrid[:4, :2, :2]
    along = np.where(state & 1, j, i) ^ (state >> 1)
    across = np.where(state & 1, i, j) ^ (state >> 1)
    quadrant = 3 * along ^ across
    table = ((state ^ _TURN[quadrant]) << 2 | quadrant).astype(np.int32).ravel()
    levels = 1
    while levels < _LEVELS:  # walking a table twice gives the table of twice as many levels
        bits = 2 * levels
        mask = (1 << bits) - 1
        high, low = np.divmod(np.arange(1 << bits), 1 << levels)
        upper = table.reshape(4, -1)[:, high[:, None] << levels | high]
        lower = table[upper & ~mask | (low[:, None] << levels | low)]
        table = ((lower & ~mask | upper & mask) << bits | lower & mask).ravel()
        levels *= 2
    return table


@cache
def _decode_table() -> NDArray[np.int32]:
    """The inverse: [state | bits of position] -> state | bits of i | bits of j."""
    forward = _encode_table()
    cell = np.arange(forward.size, dtype=np.int32)
    table = np.empty_like(forward)
    table[cell & _STATE_BITS | forward & _CODE_BITS] = forward & _STATE_BITS | cell & _CODE_BITS
    return table


def _checked_order(order: int) -> int:
    if isinstance(order, (int, np.integer)) and 1 <= order <= MAX_ORDER:
        return int(order)
    raise BadInputError(f"The order of the grid must be a whole number from 1 to {MAX_ORDER}.")


def _integers(values: Any, what: str) -> IntArray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise BadInputError(f"The {what} must be whole numbers; round them to cells first.")
    # Unsigned values beyond int64 wrap to negative ones, which the range check refuses.
    return array if array.dtype in _FAST else array.astype(np.int64, copy=False)
