"""Privelet: Laplace noise on weighted Haar coefficients (Xiao, Wang, Gehrke 2010).

Not private here: see `raster`. The base coefficient is n, which is public, and gets no noise.
With ``raw`` a method stops before making counts non-negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .raster import Array, Generator, checked, fitted, from_curve, to_curve


def privelet(counts: Any, eps: float, rng: Generator, raw: bool = False) -> Array:
    """The paper's two-dimensional transform (rows, then columns), non-negative with total n.

    A point changes the (l+1)^2 - 1 coefficients above it (l levels an axis, without the base) by
    one over their weight, so a replaced point has weighted sensitivity 2 ((l+1)^2 - 1).

    >>> privelet(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    raster = checked(counts, eps)
    estimate = noisy_transform(raster, eps, rng)
    return fitted(estimate.ravel(), raster.sum(), raw).reshape(raster.shape)


def privelet_curve(counts: Any, eps: float, rng: Generator, raw: bool = False) -> Array:
    """The one-dimensional transform along the Hilbert curve: fewer coefficients a point.

    >>> privelet_curve(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    flat = to_curve(checked(counts, eps))
    return from_curve(fitted(noisy_transform(flat, eps, rng), flat.sum(), raw))


def noisy_transform(values: Array, eps: float, rng: Generator) -> Array:
    """Counts (1-D or 2-D, sides powers of two) seen through noisy Haar coefficients; unbiased.

    >>> noisy_transform(np.array([1.0, 2.0, 3.0, 4.0]), 1e9, np.random.default_rng(0)).round(3)
    array([1., 2., 3., 4.])
    """
    levels = [side.bit_length() - 1 for side in values.shape]
    sensitivity = 2.0 * (np.prod([level + 1 for level in levels]) - 1)
    coefficients = values
    for axis in range(values.ndim):
        coefficients = np.moveaxis(haar(np.moveaxis(coefficients, axis, 0)), 0, axis)
    weight = np.ones(values.shape)
    for axis, side in enumerate(values.shape):
        shape = [1] * values.ndim
        shape[axis] = side
        weight = weight * haar_weight(side).reshape(shape)
    noise = rng.laplace(0, 1, values.shape) * sensitivity / (eps * weight)
    noise.flat[0] = 0.0
    coefficients = coefficients + noise
    for axis in range(values.ndim):
        coefficients = np.moveaxis(unhaar(np.moveaxis(coefficients, axis, 0)), 0, axis)
    return coefficients


def haar(values: Array) -> Array:
    """Haar coefficients along the first axis: the mean, then half-differences, coarse to fine.

    >>> haar(np.array([1.0, 2.0, 3.0, 6.0]))
    array([ 3. , -1.5, -0.5, -1.5])
    """
    details: list[Array] = []
    while values.shape[0] > 1:
        even, odd = values[0::2], values[1::2]
        details.insert(0, (even - odd) / 2)
        values = (even + odd) / 2
    return np.concatenate([values, *details])


def unhaar(coefficients: Array) -> Array:
    """The inverse of `haar`.

    >>> unhaar(np.array([3.0, -1.5, -0.5, -1.5]))
    array([1., 2., 3., 6.])
    """
    values = coefficients[:1]
    while values.shape[0] < coefficients.shape[0]:
        detail = coefficients[values.shape[0] : 2 * values.shape[0]]
        values = np.stack([values + detail, values - detail], axis=1).reshape(-1, *detail.shape[1:])
    return values


def haar_weight(side: int) -> Array:
    """One point changes a coefficient by one over this: how many values it is a mean of.

    >>> haar_weight(4)
    array([4., 4., 2., 2.])
    """
    index = np.arange(side)
    index[0] = 1
    return side / 2.0 ** np.floor(np.log2(index))
