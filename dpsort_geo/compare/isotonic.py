"""Our decoder for others' estimates: what is owed to the decoder, what to the measurement."""

from __future__ import annotations

import numpy as np

from ..core.public.isotonic import isotonic_l2
from .raster import Array, to_curve


def isotonic_masses(raw: Array, n: float) -> Array:
    """A raw estimate made non-negative by isotonic regression along four symmetries of the curve.

    The estimate's cells of equal value are one leaf (with continuous noise no two leaves agree).
    As in our own decoder: leaves in the order of the curve, cumulative counts, weights 1/area, ends
    at 0 and n, the mean of four symmetries. A leaf that the curve enters several times has its
    place at the mean of its cells'.

    >>> float(isotonic_masses(np.array([[3.0, 1.0], [-1.0, 0.0]]), 3.0).sum())
    3.0
    """
    _, leaf = np.unique(raw, return_inverse=True)
    leaf = leaf.reshape(raw.shape)
    area = np.bincount(leaf.ravel()).astype(float)
    estimate = np.bincount(leaf.ravel(), raw.ravel())
    mass = np.zeros(area.size)
    for turned in (leaf, leaf.T, leaf[:, ::-1], leaf[::-1]):
        along = to_curve(turned.astype(float)).astype(np.int64)
        place = np.bincount(along, np.arange(along.size)) / area
        order = np.argsort(place)
        before = isotonic_l2(np.cumsum(estimate[order]), 1 / area[order])
        before = np.clip(before, 0.0, n)
        before[-1] = n
        mass[order] += np.diff(before, prepend=0.0) / 4
    return (mass / area)[leaf]
