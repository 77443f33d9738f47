"""F: how much mass lies before a place on the curve. Every release is decoded to one of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Cumulative:
    """A non-decreasing, piecewise linear F given by its corners; equal places make a jump.

    ``place`` is a coordinate along the curve: cell 0 covers 0 to 1, cell N - 1 covers N - 1 to N.
    ``mass`` is the number of points before it.

    >>> f = Cumulative(np.array([0.0, 4.0, 4.0, 8.0]), np.array([0.0, 2.0, 6.0, 6.0]))
    >>> f.before(np.array([2.0, 4.0, 5.0]))
    array([1., 2., 6.])
    >>> f.at(np.array([1.0, 3.0, 6.0]))
    array([2., 4., 4.])
    """

    place: Array
    mass: Array

    @property
    def total(self) -> float:
        """All the mass there is."""
        return float(self.mass[-1])

    def before(self, place: Array) -> Array:
        """F: the mass strictly before each place."""
        return _interpolate(self.place, self.mass, place)

    def upto(self, place: Array) -> Array:
        """F, with all that sits at the two ends of the curve between them."""
        upto = np.where(place >= self.place[-1], self.total, self.before(place))
        return np.where(place <= 0, 0.0, upto)

    def at(self, mass: Array) -> Array:
        """The inverse of F: the first place with this much mass up to it."""
        return _interpolate(self.mass, self.place, mass)

    def diffuse(self, n_cells: int) -> "Cumulative":
        """The paper's diffusion along the curve: each jump becomes a ramp.

        The points that sit in one place are diffused over its Voronoi cell, that is from half way
        to the previous corner to half way to the next; mass is kept.
        """
        place, mass = self.place, self.mass
        first = np.flatnonzero(np.r_[True, place[1:] > place[:-1]])
        last = np.append(first[1:] - 1, place.size - 1)
        where, low, high = place[first], mass[first], mass[last]
        middle = np.concatenate([[0.0], (where[1:] + where[:-1]) / 2, [float(n_cells)]])
        # between two ramps F keeps the mass that it had on the way
        half = np.concatenate([[0.0], (high[:-1] + low[1:]) / 2, [self.total]])
        return Cumulative(middle, half)


def blend(earlier: Sequence[Cumulative]) -> Cumulative:
    """Maps of one grid as one, given in time: each counts half as much as the one after it.

    Only shares count, and maps without any mass do not. A jump becomes a ramp of one cell.

    >>> flat, step = (Cumulative(np.array([0.0, 2.0, 8.0]), np.array([0.0, m, 9])) for m in (3, 9))
    >>> blend([flat, step]).mass
    array([0.        , 0.77777778, 1.        ])
    """
    some = [f for f in earlier if f.total > 0]
    weights = 2.0 ** np.arange(len(some))
    jumps = [f.place[1:][np.diff(f.place) == 0] + 1 for f in some]
    end = max(float(f.place[-1]) for f in some)
    place = np.unique(np.minimum(np.concatenate([f.place for f in some] + jumps), end))
    parts = (w / f.total * f.upto(place) for w, f in zip(weights, some))
    return Cumulative(place, sum(parts) / weights.sum())


def _interpolate(x: Array, y: Array, at: Array) -> Array:
    """Linear through the corners (x, y), taking the first of equal x, constant outside."""
    at = np.asarray(at, np.float64)
    right = np.searchsorted(x, at, side="left")
    inside = np.clip(right, 1, x.size - 1)
    x0, x1, y0, y1 = x[inside - 1], x[inside], y[inside - 1], y[inside]
    width = np.where(x1 > x0, x1 - x0, 1.0)
    value = y0 + (y1 - y0) * np.clip((at - x0) / width, 0.0, 1.0)
    return np.where(right == 0, y[0], value)
