"""Tree least squares: the best estimate of every node's count from all counts around it.

Answers about a node, its parent and its parts overlap. One pass up gathers what the parts say
about the whole, one pass down shares what the whole says among the parts; together they are the
weighted least squares solution, exact because the measurements form a tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import List, Optional

import numpy as np

from ..curve.blocks import room
from ..curve.grid import Grid
from ..release import Release
from ..rules.adaptive import AdaptiveCounts
from ..rules.budget import UNITS

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes by level, then index; node 0 is the root. Counts are in points (or persons)."""

    level: Array
    index: Array
    parent: Array
    #: estimate and variance from the node's own answers and those below it
    below: Array
    variance: Array
    #: sums of ``below`` and ``variance`` over the children; 0 for a leaf
    children_below: Array
    children_variance: Array
    #: the least squares estimate from all answers
    estimate: Array

    @property
    def is_leaf(self) -> Array:
        return self.children_variance == 0

    def sum_up(self, node: Array, mass: Array) -> Array:
        """Mass of every node, from that of disjoint nodes that hold all."""
        total = np.zeros(self.level.size)
        total[node] = mass
        for depth in range(int(self.level[-1]), 0, -1):
            here = np.arange(*np.searchsorted(self.level, [depth, depth + 1]))
            total += np.bincount(self.parent[here], total[here], total.size)
        return total


def fit_tree(
    release: Release, counts: AdaptiveCounts, inside: Grid, total: Optional[float] = None
) -> Tree:
    """The tree of an adaptive release, with the root's count held at n, or at another total.

    A node without a cell of ``inside`` is a known zero: its answers are noise and are left out.
    """
    tree = gather(release, counts, inside)
    level, parent, below, variance = tree.level, tree.parent, tree.below, tree.variance
    s, v, estimate = tree.children_below, tree.children_variance, tree.estimate
    estimate[0] = release.size if total is None else total
    for depth in range(1, int(level[-1]) + 1):
        here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
        above = parent[here]
        gap = (estimate[above] - s[above]) / v[above]
        estimate[here] = below[here] + gap * variance[here]
    return tree


def gather(
    release: Release, counts: AdaptiveCounts, inside: Optional[Grid] = None, roots: int = 1
) -> Tree:
    """The way up alone, for a forest of so many roots: what each node and those below it say.

    Indices of nodes are root * 4^level + index. The roots come first; what they say themselves is
    in ``below`` and ``variance`` only where they were asked or have children. Nodes without a cell
    of ``inside`` are left out.
    """
    if inside is not None and inside is not release.grid:
        place = counts.index & ((np.int64(1) << 2 * counts.level) - 1)
        some = room(inside, counts.level, place) > 0
        counts = AdaptiveCounts(*(part[some] for part in counts.arrays().values()))
    level, index, precision, weighted = _own_answers(release, counts, roots)
    parent = _parents(level, index)
    below, variance, s, v = _up(level, parent, precision, weighted)
    return Tree(level, index, parent, below, variance, s, v, np.zeros(level.size))


def noise_variance(release: Release, rate: Array) -> Array:
    """Variance of the noise of each answer, in points (or persons)."""
    units = AdaptiveCounts.units_of(release.unit, release.max_points)
    scale = float(release.exact_epsilon) / UNITS / units
    distinct, which = np.unique(rate, return_inverse=True)
    # numpy's own exp differs in the last bit from processor to processor, and points would move
    decay = np.array([math.exp(-each * scale) for each in distinct.tolist()])
    # noise that is never seen still has a variance here: weights are its inverse
    return (np.maximum(2 * decay / (1 - decay) ** 2, 1e-12) / units**2)[which.reshape(rate.shape)]


def _own_answers(
    release: Release, counts: AdaptiveCounts, roots: int
) -> "tuple[Array, Array, Array, Array]":
    """Distinct nodes with the roots before them, their precision, and precision x answer."""
    units, none = AdaptiveCounts.units_of(release.unit, release.max_points), np.zeros(roots)
    precision = np.concatenate([none, 1 / noise_variance(release, counts.rate)])
    weighted = precision * np.concatenate([none, counts.value / units]).astype(np.float64)
    level = np.concatenate([np.zeros(roots, np.int64), counts.level])
    index = np.concatenate([np.arange(roots), counts.index])
    order = np.lexsort((index, level))
    level, index = level[order], index[order]
    first = np.flatnonzero(np.r_[True, (level[1:] != level[:-1]) | (index[1:] != index[:-1])])
    return (
        level[first],
        index[first],
        np.add.reduceat(precision[order], first),
        np.add.reduceat(weighted[order], first),
    )


def _parents(level: Array, index: Array) -> Array:
    """Nearest ancestor among the nodes: one or two levels up, or the root."""
    parent = np.zeros(level.size, np.int64)
    bounds = np.searchsorted(level, np.arange(int(level[-1]) + 2))
    for depth in range(1, int(level[-1]) + 1):
        here = slice(bounds[depth], bounds[depth + 1])
        for up in (2, 1):
            if depth - up < 0:
                continue
            first, last = bounds[depth - up], bounds[depth - up + 1]
            if first == last:
                continue
            wanted = index[here] >> 2 * up
            place = np.minimum(np.searchsorted(index[first:last], wanted), last - first - 1)
            found = index[first:last][place] == wanted
            parent[here] = np.where(found, place + first, parent[here])
    return parent


def _up(level: Array, parent: Array, precision: Array, weighted: Array) -> "List[Array]":
    size = level.size
    below, variance = np.zeros(size), np.zeros(size)
    s, v = np.zeros(size), np.zeros(size)
    for depth in range(int(level[-1]), -1, -1):
        here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
        if not here.size:
            continue
        inner = v[here] > 0
        apart = np.where(inner, v[here], 1.0)
        information = precision[here] + np.where(inner, 1 / apart, 0.0)
        said = np.where(information > 0, information, 1.0)
        below[here] = (weighted[here] + np.where(inner, s[here] / apart, 0.0)) / said
        variance[here] = 1 / said
        if depth:
            np.add.at(s, parent[here], below[here])
            np.add.at(v, parent[here], variance[here])
    return [below, variance, s, v]
