"""Tree least squares: the best estimate of every node's count from all counts around it.

Answers about a node, its parent and its parts overlap. One pass up gathers what the parts say
about the whole, one pass down shares what the whole says among the parts; together they are the
weighted least squares solution, exact because the measurements form a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List

import numpy as np

from ..budget import PERSON_UNITS, UNITS
from ..release import Release

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


def grown(release: Release) -> Tree:
    """The tree of an adaptive release, with the root's count held at n."""
    level, index, precision, weighted = _own_answers(release)
    parent = _parents(level, index)
    below, variance, s, v = _up(level, parent, precision, weighted)
    estimate = np.empty(level.size)
    estimate[0] = release.size
    for depth in range(1, int(level[-1]) + 1):
        here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
        above = parent[here]
        gap = (estimate[above] - s[above]) / v[above]
        estimate[here] = below[here] + gap * variance[here]
    return Tree(level, index, parent, below, variance, s, v, estimate)


def noise_variance(release: Release, rate: Array) -> Array:
    """Variance of the noise of each answer, in points (or persons)."""
    units = PERSON_UNITS if release.unit == "person" else 1
    decay = np.exp(-rate * (float(release.exact_epsilon) / UNITS / units))
    # noise that is never seen still has a variance here: weights are its inverse
    return np.maximum(2 * decay / (1 - decay) ** 2, 1e-12) / units**2


def _own_answers(release: Release) -> "tuple[Array, Array, Array, Array]":
    """Distinct nodes with the root before them, their precision, and precision x answer."""
    m = release.measurements
    units = PERSON_UNITS if release.unit == "person" else 1
    precision = 1 / noise_variance(release, m["rate"])
    order = np.lexsort((m["index"], m["level"]))
    level, index = m["level"][order], m["index"][order]
    first = np.flatnonzero(np.r_[True, (level[1:] != level[:-1]) | (index[1:] != index[:-1])])
    total = np.add.reduceat(precision[order], first)
    weighted = np.add.reduceat((precision * (m["value"] / units))[order], first)
    zero = np.zeros(1, np.int64)
    return (
        np.concatenate([zero, level[first]]),
        np.concatenate([zero, index[first]]),
        np.concatenate([[0.0], total]),
        np.concatenate([[0.0], weighted]),
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
    for depth in range(int(level[-1]), 0, -1):
        here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
        if not here.size:
            continue
        inner = v[here] > 0
        apart = np.where(inner, v[here], 1.0)
        information = precision[here] + np.where(inner, 1 / apart, 0.0)
        below[here] = (weighted[here] + np.where(inner, s[here] / apart, 0.0)) / information
        variance[here] = 1 / information
        np.add.at(s, parent[here], below[here])
        np.add.at(v, parent[here], variance[here])
    return [below, variance, s, v]
