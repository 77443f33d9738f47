"""The allowed cell nearest to a cell, found in the quadtree for many cells at once.

Distances are squared integers, so exact.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from . import hilbert
from .mask import Mask

Array = np.ndarray

#: cells worked on at a time
_CHUNK = 15 << 10


def find_nearest(mask: Mask, column: Array, row: Array) -> Array:
    """Curve index of the allowed cell nearest to each cell; the smallest index among equals.

    >>> find_nearest(Mask(np.array([[0, 2]]), 1), np.array([5, -3]), np.array([1, 1]))
    array([1, 1])
    """
    found = [np.zeros(0, np.int64)]
    for first in range(0, column.size, _CHUNK):
        here = slice(first, first + _CHUNK)
        found.append(_descend(mask, column[here], row[here]))
    return np.concatenate(found)


def _descend(mask: Mask, column: Array, row: Array) -> Array:
    """A node is kept while its nearest corner is not farther than the surest cell seen so far.

    A first, greedy descent finds some near cell.
    """
    bound = _bound_distance(mask, column, row)
    who = np.arange(column.size)
    node = np.zeros(column.size, np.int64)
    for level in range(1, mask.order + 1):
        node = (node[:, None] * 4 + np.arange(4)).reshape(-1)
        who = np.repeat(who, 4)
        near, far = _distances(mask.order, level, node, column[who], row[who])
        kept = near <= bound[who]
        node, who, near, far = node[kept], who[kept], near[kept], far[kept]
        span = np.int64(4 ** (mask.order - level))
        allowed = mask.allowed_before((node + 1) * span) - mask.allowed_before(node * span)
        sure = np.where(allowed == span, near, far)
        np.minimum.at(bound, who[allowed > 0], sure[allowed > 0])
        kept = (allowed > 0) & (near <= bound[who])
        node, who, near = node[kept], who[kept], near[kept]
    order = np.lexsort((node, near, who))
    first = np.r_[True, np.diff(who[order]) > 0]
    return node[order][first]


def _bound_distance(mask: Mask, column: Array, row: Array) -> Array:
    """Squared distance to an allowed cell that a descent to the nearest corners finds."""
    node = np.zeros(column.size, np.int64)
    near = np.zeros(column.size, np.int64)
    for level in range(1, mask.order + 1):
        child = (node[:, None] * 4 + np.arange(4)).reshape(-1)
        span = np.int64(4 ** (mask.order - level))
        empty = mask.allowed_before((child + 1) * span) == mask.allowed_before(child * span)
        columns, rows = np.repeat(column, 4), np.repeat(row, 4)
        away, _ = _distances(mask.order, level, child, columns, rows)
        away = np.where(empty, np.iinfo(np.int64).max, away).reshape(-1, 4)
        best = np.argmin(away, axis=1)
        node, near = node * 4 + best, np.take_along_axis(away, best[:, None], axis=1)[:, 0]
    return near


def _distances(
    order: int, level: int, node: Array, column: Array, row: Array
) -> Tuple[Array, Array]:
    """Squared distance from cells to the nearest and the farthest cell of quadtree nodes."""
    size = np.int64(2 ** (order - level))
    i, j = hilbert.decode(node, level)
    near = np.zeros(node.size, np.int64)
    far = np.zeros(node.size, np.int64)
    for low, at in ((i * size, column), (j * size, row)):
        high = low + size - 1
        near += np.maximum(np.maximum(low - at, at - high), 0) ** 2
        far += np.maximum(np.abs(at - low), np.abs(at - high)) ** 2
    return near, far
