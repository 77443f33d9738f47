"""DAWA on the Hilbert curve: buckets of like counts first, then their totals.

Li, Hay, Miklau, Wang: A data- and workload-aware algorithm for range queries under differential
privacy (VLDB 2014). Not private here: see `raster`. With ``raw`` a method stops before making
counts non-negative.

Two partitions. `published_partition` has the noise of the authors' own program: Lap(2/e1) on the
cost of a bucket longer than one cell, none on single cells, costs cut off below. That spends more
than e1: of four empty cells, one point in the second makes the partition into single cells
exp(1.75 e1) times as likely (tests/compare counts it). `dawa` and `dawa_plain` therefore draw the
partition by the exponential mechanism, which is e1-DP; `dawa_published` is there to compare with,
and its estimates are better than its epsilon allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from .raster import Array, Generator, checked, consistent_tree, fitted, from_curve, to_curve

Starts = NDArray[np.int64]

#: each bucket is worth this factor before data is seen. 1/4 is where buckets neither multiply nor
#: die out, whatever the size of the domain; a little less keeps empty land in large buckets.
BUCKET_LOG_PRIOR = -1.43


def dawa(counts: Any, eps: float, rng: Generator, ratio: float = 0.5, raw: bool = False) -> Array:
    """Private partition with `ratio` of the budget, then a binary tree of counts over the buckets.

    The tree stands in for the paper's GreedyH on a workload of all ranges: levels over the buckets
    with geometric budgets, least squares, non-negative with total n. Half of the budget for the
    partition (the paper: a quarter) is better with the honest partition.

    >>> dawa(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    flat = to_curve(checked(counts, eps))
    start = partition(flat, ratio * eps, rng)
    totals = np.add.reduceat(flat, start)
    depth = max(int(np.ceil(np.log2(totals.size))), 1)
    leaves = np.zeros(1 << depth)
    leaves[: totals.size] = totals
    share = 2.0 ** (np.arange(depth) / 3)
    rates = (1 - ratio) * eps / 2 * share / share.sum()
    noisy, variance = [], []
    for level, rate in enumerate(rates, start=1):
        exact = leaves.reshape(1 << level, -1).sum(1)
        used = np.arange(exact.size) << (depth - level) < totals.size  # others are known zeros
        noisy.append(exact + np.where(used, rng.laplace(0, 1 / rate, exact.size), 0.0))
        variance.append(np.where(used, 2 / rate**2, 0.0))
    mass = consistent_tree(noisy, variance, flat.sum(), raw)[: totals.size]
    return _spread(fitted(mass, flat.sum(), raw), start, flat.size)


def dawa_plain(
    counts: Any, eps: float, rng: Generator, ratio: float = 0.5, raw: bool = False
) -> Array:
    """Private partition as `dawa`, then Lap(2/eps2) on each bucket's total.

    >>> dawa_plain(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    flat = to_curve(checked(counts, eps))
    start = partition(flat, ratio * eps, rng)
    return _plain_totals(flat, start, (1 - ratio) * eps, rng, raw)


def dawa_published(
    counts: Any, eps: float, rng: Generator, ratio: float = 0.25, raw: bool = False
) -> Array:
    """As the authors' program partitions, which is NOT eps-DP; then Lap(2/eps2) on the totals.

    >>> dawa_published(np.ones((4, 4)), 1e9, np.random.default_rng(0)).round(3)[0]
    array([1., 1., 1., 1.])
    """
    flat = to_curve(checked(counts, eps))
    start = published_partition(flat, ratio * eps / 2, (1 - ratio) * eps / 2, rng)
    return _plain_totals(flat, start, (1 - ratio) * eps, rng, raw)


def partition(flat: Array, eps: float, rng: Generator) -> Starts:
    """Where the buckets of a partition drawn by the exponential mechanism begin.

    Buckets are dyadic intervals, their cost the L1 deviation of their counts from the mean. Each
    point lies in one bucket of a partition, and to add or remove one changes a bucket's deviation
    by less than 2, so to replace one changes the total by less than 4: drawing with probability
    ~ prior * exp(-eps cost / 8) is eps-DP. Sums over all partitions go up the binary tree, and the
    draw comes down it.

    >>> 4 in partition(np.repeat([50.0, 0.0], 4), 1.0, np.random.default_rng(0))
    True
    """
    whole = [np.full(flat.size, BUCKET_LOG_PRIOR)]  # log weight of a node as one bucket
    every = [whole[0]]  # log weight of all partitions of a node
    while every[-1].size > 1:
        block = flat.reshape(every[-1].size // 2, -1)
        deviation = np.abs(block - block.mean(1)[:, None]).sum(1)
        whole.append(BUCKET_LOG_PRIOR - eps / 8 * deviation)
        every.append(np.logaddexp(whole[-1], every[-1].reshape(-1, 2).sum(1)))
    starts, node = [], np.array([0])
    for level in range(len(whole) - 1, -1, -1):
        chance = whole[level][node] - every[level][node]
        kept = np.log(1.0 - rng.random(node.size)) <= chance
        starts.append(node[kept] << level)
        node = (2 * node[~kept][:, None] + np.arange(2)).ravel()
    return np.sort(np.concatenate(starts))


def published_partition(flat: Array, e1: float, e2: float, rng: Generator) -> Starts:
    """Where the buckets of the cheapest noisy partition begin.

    A bucket costs the L1 deviation of its counts plus the expected noise of its total, 1/e2.
    Lengths are powers of two, at every position up to 16 and at eighths of their length beyond.

    >>> 4 in published_partition(np.repeat([50.0, 0.0], 4), 0.25, 0.75, np.random.default_rng(0))
    True
    """
    ends, lengths, costs = [], [], []
    length = 2
    while length <= flat.size:
        stride = 1 if length <= 16 else length // 8
        window = sliding_window_view(flat, length)[::stride]
        deviation = np.abs(window - window.mean(1)[:, None]).sum(1)
        deviation = np.maximum(deviation + rng.laplace(0, 2 / e1, deviation.size), 0.0)
        ends.append(np.arange(deviation.size) * stride + length)
        lengths.append(np.full(deviation.size, length))
        costs.append(deviation + 1 / e2)
        length *= 2
    ended = np.concatenate(ends)
    along = np.argsort(ended, kind="stable")
    first = np.searchsorted(ended[along], np.arange(flat.size + 2)).tolist()
    length_at = np.concatenate(lengths)[along].tolist()
    cost_at = np.concatenate(costs)[along].tolist()
    return _cheapest(flat.size, first, length_at, cost_at, 1 / e2)


def _cheapest(
    size: int, first: list[int], length_at: list[int], cost_at: list[float], single: float
) -> Starts:
    """Dynamic programme: the least cost of the cells before each end, and its last bucket."""
    least, chosen = [0.0] * (size + 1), [1] * (size + 1)
    for end in range(1, size + 1):
        best, pick = least[end - 1] + single, 1
        for k in range(first[end], first[end + 1]):
            total = least[end - length_at[k]] + cost_at[k]
            if total <= best:
                best, pick = total, length_at[k]
        least[end], chosen[end] = best, pick
    starts, end = [], size
    while end > 0:
        end -= chosen[end]
        starts.append(end)
    return np.array(starts[::-1], np.int64)


def _plain_totals(flat: Array, start: Starts, eps: float, rng: Generator, raw: bool) -> Array:
    totals = np.add.reduceat(flat, start)
    noisy = totals + rng.laplace(0, 2 / eps, totals.size)
    return _spread(fitted(noisy, flat.sum(), raw), start, flat.size)


def _spread(totals: Array, start: Starts, size: int) -> Array:
    width = np.diff(np.append(start, size))
    return from_curve(np.repeat(totals / width, width))
