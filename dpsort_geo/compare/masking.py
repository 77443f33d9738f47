"""What people do to points today: planar Laplace noise and donut geomasking.

Both move each point by itself. Planar Laplace is geo-indistinguishable: its epsilon is *per unit of
distance* and bounds what is learned about nearby places only, so it cannot be set equal to ours.
The donut has no guarantee at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .raster import Array, Generator


def planar_laplace(points: Any, eps_per_unit: float, rng: Generator) -> Array:
    """Points moved by a distance ~ Gamma(2, 1/eps) in any direction (Andres et al. 2013).

    >>> planar_laplace([[0.0, 0.0]], 1e9, np.random.default_rng(0)).round(3)
    array([[0., 0.]])
    """
    at: Array = np.asarray(points, float)
    radius: Array = rng.gamma(2.0, 1 / eps_per_unit, size=(at.shape[0],))
    return np.add(at, _ring(radius, rng))


def donut(points: Any, inner: float, outer: float, rng: Generator) -> Array:
    """Points moved to anywhere, evenly, between two circles around each (Hampton et al. 2010).

    >>> moved = donut([[0.0, 0.0]], 1.0, 2.0, np.random.default_rng(0))
    >>> bool(1 <= np.hypot(*moved[0]) <= 2)
    True
    """
    at: Array = np.asarray(points, float)
    return at + _ring(np.sqrt(rng.uniform(inner**2, outer**2, at.shape[0])), rng)


def _ring(radius: Array, rng: Generator) -> Array:
    angle = rng.uniform(0, 2 * np.pi, radius.size)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
