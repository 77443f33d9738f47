"""Isotonic regression: the best non-decreasing fit to a noisy sequence (step B1 of the paper).

Three fits, all deterministic and numpy only: least squares (what the paper uses), least absolute
deviations (the maximum likelihood fit under Laplace noise), and least squares with a penalty on
roughness (the paper's remark 4).
"""

from __future__ import annotations

import heapq
from typing import Any, List, Optional, Tuple

import numpy as np

from ..errors import BadInput

CHUNK = 1 << 16  # values pooled at a time: a few arrays of this length stay in the cache
CHUNK_SHRINK = 1 / 4  # inside a chunk, a round that removes fewer blocks costs more than ...
SHRINK = 1 / 16  # ... a round over all chunks, and that, below this, more than a plain loop

Blocks = Tuple[np.ndarray, np.ndarray, np.ndarray]  # weighted sums, weights, edges (one more)


def isotonic_l2(y: Any, weights: Optional[Any] = None) -> np.ndarray:
    """Fit the non-decreasing sequence nearest to ``y`` in weighted least squares.

    Parameters
    ----------
    y : array_like
        Finite values.
    weights : array_like, optional
        Positive weights, one per value; 1 if not given.

    Returns
    -------
    numpy.ndarray
        The unique minimiser, float64.

    Notes
    -----
    Pool adjacent violators. Neighbouring blocks in the wrong order always end in one block, so a
    whole descending run of blocks is pooled at once, in rounds over all runs of a chunk. Sequences
    made to need many rounds are finished by the classical stack, so time stays linear.

    Examples
    --------
    >>> isotonic_l2([1, 3, 2, 4]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    >>> isotonic_l2([2, 0], weights=[3, 1]).tolist()
    [1.5, 1.5]
    """
    y, w = _checked(y, weights)
    n = y.size
    if (y[1:] >= y[:-1]).all():
        return y.copy()
    wy = y if w is None else y * w
    parts = []
    for a in range(0, n, CHUNK):
        b = min(a + CHUNK, n)
        weight = None if w is None else w[a:b]
        parts.append(_pool_runs(wy[a:b], weight, np.arange(a, b + 1), CHUNK_SHRINK))
    total = np.concatenate([part[0] for part in parts])
    weight = None if w is None else np.concatenate([part[1] for part in parts])
    edge = np.concatenate([part[2][:-1] for part in parts] + [[n]])
    total, weight, edge = _pool_pairs(*_pool_runs(total, weight, edge, SHRINK))
    return np.repeat(total / weight, np.diff(edge))


def _pool_runs(
    total: np.ndarray, weight: Optional[np.ndarray], edge: np.ndarray, shrink: float
) -> Blocks:
    """Pool every descending run of blocks, in rounds, while a round removes the part `shrink`.

    Block i has the values from edge[i] to edge[i+1]; a weight of None is the number of values.
    """
    unit = weight is None
    weight = np.diff(edge) if weight is None else weight
    busy = True
    while busy:
        mean = total / weight
        rise = np.flatnonzero(mean[1:] > mean[:-1])
        keep = np.zeros(rise.size + 2, dtype=np.int64)
        np.add(rise, 1, out=keep[1:-1])
        keep[-1] = mean.size
        busy = mean.size - rise.size - 1 > shrink * mean.size
        edge = edge[keep]
        total = np.add.reduceat(total, keep[:-1])
        weight = np.diff(edge) if unit else np.add.reduceat(weight, keep[:-1])
    return total, weight.astype(np.float64), edge


def _pool_pairs(total: np.ndarray, weight: np.ndarray, edge: np.ndarray) -> Blocks:
    """Pool what is left, pair by pair, touching only the neighbourhood of the places out of order.

    The finished blocks to the left of such a place form the stack of the classical algorithm; here
    it is the array itself, with the pools (from, to, sum, weight, mean) lying over it.
    """
    mean = total / weight
    falls = np.flatnonzero(mean[1:] <= mean[:-1]).tolist()
    if not falls:
        return total, weight, edge
    size = total.size
    t, w, m = total.data, weight.data, mean.data  # memory views are quicker to index
    pools: List[Tuple[int, int, float, float, float]] = []
    right = 0
    for fall in falls:
        if fall < right:
            continue  # it went into a pool that an earlier place out of order had started
        left, right, pt, pw, pm = fall, fall + 1, t[fall], w[fall], m[fall]
        while True:
            if right < size and m[right] <= pm:
                pt += t[right]
                pw += w[right]
                right += 1
            elif pools and pools[-1][1] == left:
                if pools[-1][4] < pm:
                    break
                left, _, qt, qw, _ = pools.pop()
                pt += qt
                pw += qw
            elif left and m[left - 1] >= pm:
                left -= 1
                pt += t[left]
                pw += w[left]
            else:
                break
            pm = pt / pw
        pools.append((left, right, pt, pw, pm))
    start, stop, total[start], weight[start], _ = (np.array(column) for column in zip(*pools))
    inside = np.zeros(size + 1, dtype=np.int8)
    inside[start + 1] = 1
    inside[stop] -= 1
    kept = np.cumsum(inside, dtype=np.int8) == 0
    return total[kept[:-1]], weight[kept[:-1]], edge[kept]


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
    y, w = _checked(y, weights)
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
    y, w = _checked(y, weights)
    if not (np.isfinite(roughness) and roughness >= 0):
        raise BadInput("The roughness penalty must be a finite number, zero or more.")
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


def _checked(y: Any, weights: Optional[Any]) -> Tuple[np.ndarray, Optional[np.ndarray]]:
    """Give values and weights as float64 vectors, or say what is wrong with them."""
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise BadInput("Isotonic regression needs a one-dimensional sequence of finite numbers.")
    if weights is None:
        return y, None
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != y.shape or not (np.isfinite(w) & (w > 0)).all():
        raise BadInput("The weights must be positive finite numbers, one for each value.")
    return y, w
