"""Isotonic regression: the best non-decreasing fit to a noisy sequence (step B1 of the paper).

Here by least squares, as the paper does it; `rules.isotonic` has the fit by least absolute
deviations, which is the maximum likelihood fit under Laplace noise.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ..rules.isotonic import check_sequence

CHUNK = 1 << 16  # values pooled at a time: a few arrays of this length stay in the cache
CHUNK_SHRINK = 1 / 4  # inside a chunk, a round that removes fewer blocks costs more than ...
SHRINK = 1 / 16  # ... a round over all chunks, and that, below this, more than a plain loop

Pools = Tuple[np.ndarray, np.ndarray, np.ndarray]  # weighted sums, weights, edges (one more)


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
    y, w = check_sequence(y, weights)
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
) -> Pools:
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


def _pool_pairs(total: np.ndarray, weight: np.ndarray, edge: np.ndarray) -> Pools:
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
