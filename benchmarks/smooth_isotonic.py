"""Isotonic regression with a penalty on roughness: the paper's remark 4, for its experiments.

Nothing that is published is read with it: see docs/paper.md.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.public.isotonic import isotonic_l2
from dpsort_geo.core.rules.isotonic import check_sequence


def isotonic_smooth(y: Any, roughness: float, weights: Optional[Any] = None) -> np.ndarray:
    """Fit a smooth non-decreasing sequence (the paper's remark 4).

    Minimises ``sum(w * (x - y)**2) + roughness * sum(diff(x, 2)**2)`` over non-decreasing x.

    Parameters
    ----------
    y : array_like
        Finite values.
    roughness : float
        Price of squared second differences; 0 gives `isotonic_l2`, a large one a straight line.
    weights : array_like, optional
        Positive weights, one per value; 1 if not given.

    Returns
    -------
    numpy.ndarray
        The unique minimiser, to about 1e-8 of the range of ``y``, float64.

    Notes
    -----
    A primal-dual interior point method (Mehrotra's predictor and corrector). Order constraints and
    second differences couple close neighbours only, so each of the 10 to 30 steps solves a system
    of five diagonals, in linear time.

    Examples
    --------
    >>> isotonic_smooth([0, 2, 1, 3], roughness=0.0).tolist()
    [0.0, 1.5, 1.5, 3.0]
    >>> isotonic_smooth([0, 0, 3, 3], roughness=1.0).round(3).tolist()
    [-0.273, 0.818, 2.182, 3.273]
    """
    y, w = check_sequence(y, weights)
    if not (np.isfinite(roughness) and roughness >= 0):
        raise BadInputError("The roughness penalty must be a finite number, zero or more.")
    start = isotonic_l2(y, w)
    scale = float(np.ptp(y)) if y.size else 0.0
    if roughness == 0 or y.size < 3 or scale == 0:
        return start
    w = np.ones_like(y) if w is None else w
    unit, origin = float(w.mean()), float(y[0])
    x = _interior_point((y - origin) / scale, w / unit, roughness / unit, (start - origin) / scale)
    return np.maximum.accumulate(x * scale + origin)


def _interior_point(y: np.ndarray, w: np.ndarray, roughness: float, x: np.ndarray) -> np.ndarray:
    """Solve the quadratic program of `isotonic_smooth` for data of unit scale, from x on."""
    gap = np.maximum(np.diff(x), 0.1)  # what the order constraints leave, and their multipliers
    price = np.full(gap.size, 0.1)
    bend = np.full(y.size - 2, roughness)
    for _ in range(60):
        dual = w * (x - y) + _transposed(np.diff(x, 2) * bend, 2) - _transposed(price, 1)
        primal = np.diff(x) - gap
        product = float(gap @ price) / gap.size
        if product < 1e-13:  # much further the systems are too ill-conditioned to gain from
            break
        factor = _factor(w, price / gap, bend)
        state = (factor, dual, primal, gap, price)
        _, dgap, dprice, reach = _newton_step(*state, gap * price)
        ahead = float((gap + reach * dgap) @ (price + reach * dprice)) / gap.size
        centre = product * (ahead / product) ** 3
        dx, dgap, dprice, reach = _newton_step(*state, gap * price + dgap * dprice - centre)
        reach *= 0.995
        x, gap, price = x + reach * dx, gap + reach * dgap, price + reach * dprice
    return x


def _newton_step(
    factor: List[List[float]],
    dual: np.ndarray,
    primal: np.ndarray,
    gap: np.ndarray,
    price: np.ndarray,
    excess: np.ndarray,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Give the step that cancels the residuals and the excess of gap * price, and how far to go."""
    dx = _solve(factor, -dual - _transposed((excess + price * primal) / gap, 1))
    dgap = np.diff(dx) + primal
    dprice = -(excess + price * dgap) / gap
    shrink = np.concatenate((-dgap / gap, -dprice / price)).max()
    return dx, dgap, dprice, 1.0 / max(1.0, float(shrink))


def _transposed(v: np.ndarray, order: int) -> np.ndarray:
    """Apply the transpose of taking differences `order` times."""
    return np.diff(np.pad(v, order), order) * (-1) ** order


def _factor(w: np.ndarray, first: np.ndarray, second: np.ndarray) -> List[List[float]]:
    """Factor diag(w) + D1' diag(first) D1 + D2' diag(second) D2 = L diag(d) L'.

    Dk takes k-th differences. Returns 1/d and the two lower diagonals of L, zeros in front.
    """
    f1, f2 = np.pad(first, 1), np.pad(second, 2)
    diagonal = w + f1[:-1] + f1[1:] + f2[:-2] + 4 * f2[1:-1] + f2[2:]
    lower = -f1[:-1] - 2 * (f2[:-2] + f2[1:-1])
    inverse, near, far = [], [], []
    d1 = d2 = below = 0.0  # d of the last two rows, entry of L next to the diagonal in the last one
    for a, b, c in zip(diagonal.tolist(), lower.tolist(), f2[:-2].tolist()):
        e = c / d2 if d2 else 0.0
        below = (b - below * c) / d1 if d1 else 0.0
        d1, d2 = a - below * below * d1 - e * c, d1
        inverse.append(1.0 / d1)
        near.append(below)
        far.append(e)
    return [inverse, near, far]


def _solve(factor: List[List[float]], right: np.ndarray) -> np.ndarray:
    """Solve the system that `_factor` has factored."""
    inverse, near, far = factor
    x1 = x2 = 0.0
    forward = []
    for value, b, c in zip(right.tolist(), near, far):
        x1, x2 = value - b * x1 - c * x2, x1
        forward.append(x1)
    x1 = x2 = 0.0
    solution = []
    shifted = zip(forward[::-1], inverse[::-1], [0.0, *near[:0:-1]], [0.0, 0.0, *far[:1:-1]])
    for value, d, b, c in shifted:
        x1, x2 = value * d - b * x1 - c * x2, x1
        solution.append(x1)
    return np.array(solution[::-1])
