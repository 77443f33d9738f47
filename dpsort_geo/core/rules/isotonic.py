"""Isotonic regression by least absolute deviations: the maximum likelihood fit under Laplace noise.

It lies among the rules because one of them needs it: the bins of a ``depth-width`` hybrid follow
from this fit to its noisy sums, for the publisher and for every reader alike.
"""

from __future__ import annotations

import heapq
from typing import Any, List, Optional, Tuple

import numpy as np

from ..errors import BadInputError


def isotonic_l1(y: Any, weights: Optional[Any] = None) -> np.ndarray:
    """Fit the non-decreasing sequence nearest to ``y`` in weighted absolute deviations.

    Under Laplace noise this is the maximum likelihood fit.

    Parameters
    ----------
    y : array_like
        Finite values.
    weights : array_like, optional
        Positive weights, one per value; 1 if not given.

    Returns
    -------
    numpy.ndarray
        The middle of all minimisers, float64: there is a smallest one and a largest one (in every
        entry at once), and this is their mean, so that it leans to neither side.

    Notes
    -----
    Let f_i(x) be the least cost of the first i values when the i-th fitted one is at most x:
    convex, piecewise linear, not increasing. A heap holds its breakpoints with the changes of
    slope there. Adding ``w |x - y|`` puts 2w in at y and takes w off at the upper end, which
    uncovers the interval of best places for the i-th value; the running minimum of their lower
    ends, taken backwards, is the smallest minimiser, that of their upper ends the largest.
    O(n log n).

    Examples
    --------
    >>> isotonic_l1([1, 9, 2, 3, 4]).tolist()
    [1.0, 2.5, 2.5, 3.0, 4.0]
    >>> isotonic_l1([2, 0], weights=[3, 1]).tolist()
    [2.0, 2.0]
    """
    y, w = check_sequence(y, weights)
    w = np.ones_like(y) if w is None else w
    best = np.empty((2, y.size))
    heap: List[List[float]] = []  # [-breakpoint, change of slope]
    for i, (value, weight) in enumerate(zip(y.tolist(), w.tolist())):
        heapq.heappush(heap, [-value, 2.0 * weight])
        upper = heap[0][0]
        while heap[0][1] <= weight:
            upper, change = heapq.heappop(heap)
            weight -= change
        heap[0][1] -= weight
        best[:, i] = -heap[0][0], -(heap[0][0] if weight else upper)
    smallest, largest = np.minimum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
    return smallest + (largest - smallest) / 2


def check_sequence(y: Any, weights: Optional[Any]) -> Tuple[np.ndarray, Optional[np.ndarray]]:
    """Give values and weights as float64 vectors, or say what is wrong with them."""
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise BadInputError(
            "Isotonic regression needs a one-dimensional sequence of finite numbers."
        )
    if weights is None:
        return y, None
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != y.shape or not (np.isfinite(w) & (w > 0)).all():
        raise BadInputError("The weights must be positive finite numbers, one for each value.")
    return y, w
