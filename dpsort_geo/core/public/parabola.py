"""Inside a leaf the density leans toward its neighbours; the leaf's mass is kept.

Along each axis, with u from 0 to 1 across the leaf, the density relative to the leaf's own mean
is the parabola g(u) = 1 + a (u - 1/2) + q (6 (u - 1/2)^2 - 1/2), which has mean 1 and meets the
neighbours' densities at the two faces. It is flattened until it is nowhere negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple
from weakref import WeakKeyDictionary

import numpy as np

from ..curve import hilbert
from .leaves import Leaves

Array = np.ndarray

#: a neighbour counts for at most this many times the leaf's own density
CAP = 4.0
#: points are bent in pieces that stay in cache
_CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class Parabolas:
    """Slope a and bend q of each leaf, along x (row 0) and y (row 1)."""

    slope: Array
    bend: Array

    def density(self, axis: int, leaf: Array, u: Array, width: Array) -> Array:
        """Mean of g over a stretch of the given width around u, exactly."""
        v = u - 0.5
        bend = 6 * v * v - 0.5 + width * width / 2
        return 1 + self.slope[axis][leaf] * v + self.bend[axis][leaf] * bend

    def inverse(self, axis: int, leaf: Array, share: Array) -> Array:
        """The u below which that share of the leaf's mass lies, to a hundred-thousandth."""
        u = np.empty(share.size)
        for first in range(0, share.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            which = leaf[part]
            u[part] = _inverse(self.slope[axis][which], self.bend[axis][which], share[part])
        return u


#: a long table of zones asks for the same ones part after part
_fitted: "WeakKeyDictionary[Leaves, Parabolas]" = WeakKeyDictionary()


def fit_parabolas(leaves: Leaves) -> Parabolas:
    """Fit the parabolas to the densities across the leaves' faces."""
    if leaves not in _fitted:
        _fitted[leaves] = _fit(leaves)
    return _fitted[leaves]


def _fit(leaves: Leaves) -> Parabolas:
    own = leaves.mass / leaves.area
    face, contact = _faces(leaves, own)
    bent = leaves.is_whole & (own > 0)
    safe = np.where(own > 0, own, 1.0)
    relative = np.where(contact > 0, face / np.where(contact > 0, contact, 1.0) / safe, 1.0)
    relative = np.where(bent, np.minimum(relative, CAP), 1.0)
    slope, bend = np.empty((2, own.size)), np.empty((2, own.size))
    for axis in (0, 1):
        left, right = relative[2 * axis], relative[2 * axis + 1]
        a, q = right - left, (left + right) / 2 - 1
        deepest = 1 - _minimum(a, q)  # how far g goes below its mean
        flat = np.where(deepest > 1, 1 / np.maximum(deepest, 1), 1.0)
        slope[axis], bend[axis] = a * flat, q * flat
    return Parabolas(slope, bend)


def _inverse(a: Array, q: Array, share: Array) -> Array:
    """Newton's method inside a bracket.

    What has settled is left alone, so that a point lies in the same place whichever others are
    looked for with it.
    """
    result = share.copy()
    mine: Array = np.arange(share.size)
    u, low, high = share, np.zeros_like(share), np.ones_like(share)
    half, twice = a / 2, 2 * q
    for _ in range(40):
        v = u - 0.5
        error = u + (v * v - 0.25) * (half + twice * v) - share
        wrong = np.abs(error) > 1e-9
        many = np.count_nonzero(wrong)
        if 2 * many < wrong.size:
            result[mine] = u
            if not many:
                break
            left = np.flatnonzero(wrong)
            mine, u, v, error, share, low, high, a, q, half, twice = (
                part[left] for part in (mine, u, v, error, share, low, high, a, q, half, twice)
            )
        np.copyto(high, u, where=error > 0)
        np.copyto(low, u, where=error < 0)
        newton = u - error / np.maximum(1 + a * v + q * (6 * v * v - 0.5), 1e-3)
        better = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        u = np.where(np.abs(error) > 1e-9, better, u)
    else:
        result[mine] = u
    return result


def _minimum(a: Array, q: Array) -> Array:
    """Smallest value of g on [0, 1]."""
    ends = 1 + q - np.abs(a) / 2
    inside = np.abs(a) < 6 * q  # a valley between the faces
    return np.where(inside, 1 - q / 2 - a * a / (24 * np.where(inside, q, 1.0)), ends)


def _faces(leaves: Leaves, density: Array) -> Tuple[Array, Array]:
    """For west, east, south and north: sum of contact length x density, and of contact length.

    Every leaf looks across each face at the block of its own size there. If one leaf covers that
    block the two touch along the smaller leaf's side; if smaller leaves do, they find it from
    their side. Across the domain's edge there is nobody.
    """
    face, contact = np.zeros((4, density.size)), np.zeros((4, density.size))
    order = leaves.grid.order
    start = leaves.index << 2 * (order - leaves.level)
    length = leaves.size.astype(np.float64)
    for side, (di, dj) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
        me, there = _across(leaves, di, dj)
        beyond = np.searchsorted(start, there, side="right") - 1
        covered = (beyond >= 0) & (leaves.level[beyond] <= leaves.level[me])
        stop = start[beyond] + (np.int64(1) << 2 * (order - leaves.level[beyond]))
        covered &= there < stop
        me, beyond = me[covered], beyond[covered]
        face[side] += np.bincount(me, length[me] * density[beyond], density.size)
        contact[side] += np.bincount(me, length[me], density.size)
        larger = leaves.level[beyond] < leaves.level[me]
        me, beyond = me[larger], beyond[larger]
        back = side ^ 1
        face[back] += np.bincount(beyond, length[me] * density[me], density.size)
        contact[back] += np.bincount(beyond, length[me], density.size)
    return face, contact


def _across(leaves: Leaves, di: int, dj: int) -> Tuple[Array, Array]:
    """Leaves that have a block of their size across one face, and its first curve index."""
    i, j = leaves.column + di, leaves.row + dj
    last = (np.int64(1) << leaves.level) - 1
    me = np.flatnonzero((i >= 0) & (j >= 0) & (i <= last) & (j <= last))
    there = np.empty(me.size, np.int64)
    level = leaves.level[me]
    for depth in np.unique(level).tolist():
        here = level == depth
        index = hilbert.encode(i[me[here]], j[me[here]], depth)
        there[here] = index << 2 * (leaves.grid.order - depth)
    return me, there
