"""How far off a count may be, from the release alone.

The variance of a count is the sum of three: what the noise leaves after the tree least squares,
exactly; where the points of a leaf that the zone cuts would lie if they were spread by chance;
and how unevenly mass really splits below a leaf, which is learned from the splits that the
release did measure.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Tuple

import numpy as np

from .decode import Decoded
from .query import Coverage
from .tree import Tree

Array = np.ndarray


def interval(
    decoded: Decoded, covered: Any, zones: int, estimate: Array, level: float
) -> Tuple[Array, Array]:
    """Whole-numbered limits around the estimates, cut to what is possible."""
    variance = variances(decoded, covered)
    reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(variance)
    low = np.clip(np.floor(estimate - reach), 0, decoded.n)
    return low, np.clip(np.ceil(estimate + reach), 0, decoded.n)


def variances(decoded: Decoded, covered: Coverage) -> Array:
    """Variance of each zone's count."""
    leaves, tree = decoded.leaves, decoded.tree
    assert leaves is not None and tree is not None
    share, mass = covered.mass, leaves.mass[covered.leaf]
    split = share * (1 - share)
    cut = mass * split + unevenness(tree) * mass**2 * split
    return noise_left(decoded, covered) + np.bincount(covered.zone, cut, covered.zones)


def noise_left(decoded: Decoded, covered: Coverage) -> Array:
    """Variance of sum(share x leaf count) under the tree least squares.

    Given a parent's count, its children have covariance diag(v) - v v' / V; the weight that the
    parent inherits is the children's mean weight in proportion to v. The root is known.
    """
    tree = decoded.tree
    assert tree is not None
    node = _leaf_nodes(tree, decoded.grid.order)[covered.leaf]
    key, weight = covered.zone * tree.level.size + node, covered.mass
    variance = np.zeros(covered.zones)
    for depth in range(int(tree.level[-1]), 0, -1):
        here = tree.level[key % tree.level.size] == depth
        if not here.any():
            continue
        zone, child = np.divmod(key[here], tree.level.size)
        w, v = weight[here], tree.variance[child]
        above, place = np.unique(zone * tree.level.size + tree.parent[child], return_inverse=True)
        place = place.reshape(-1)
        mean = np.bincount(place, w * v)
        whole = tree.children_variance[above % tree.level.size]
        spent = np.bincount(place, w * w * v) - mean**2 / whole
        variance += np.bincount(above // tree.level.size, spent, covered.zones)
        key = np.concatenate([key[~here], above])
        weight = np.concatenate([weight[~here], mean / whole])
    return np.maximum(variance, 0.0)


def unevenness(tree: Tree) -> float:
    """rho: the variance of a part's share of its whole, over f (1 - f); the noise is taken off."""
    inner = np.zeros(tree.level.size, bool)
    inner[tree.parent[1:]] = True
    child = np.flatnonzero(~inner[: tree.level.size])
    child = child[child > 0]
    parent = tree.parent[child]
    f = 0.25 ** (tree.level[child] - tree.level[parent])
    whole = np.maximum(tree.estimate[parent], 1.0)
    excess = (tree.below[child] - f * whole) ** 2 - tree.variance[child]
    measured = float((excess / whole).sum() / (whole * f * (1 - f)).sum())
    return float(np.clip(measured, 0.02, 1.0))


def _leaf_nodes(tree: Tree, order: int) -> Array:
    """Nodes of the leaves, in the order of the curve."""
    leaf = np.flatnonzero(tree.is_leaf)
    return leaf[np.argsort(tree.index[leaf] << 2 * (order - tree.level[leaf]))]
