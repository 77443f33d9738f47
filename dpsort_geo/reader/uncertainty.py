"""How far off a count may be, from the release alone.

The variance of a count has two parts. *Noise*: what the noise leaves after the tree least squares,
exactly. *Cut*: where the points of the leaves lie that the zone cuts. A leaf of mass m, covered to
a fraction f, adds f (1 - f) (m + rho m^2): its points would scatter even if each fell anywhere in
the leaf by chance, and mass really splits more unevenly than that, which rho tells; it is learned
from the splits that the release did measure. As m is known only up to the noise, m^2 stands for
m^2 + the variance of the leaf's own answers, so that an empty-looking leaf is not taken for empty.

Two things make the limits lopsided. People ask about zones where there is something: a zone that
is drawn in proportion to what it holds has, on average, b = cut / estimate more than the estimate,
and its variance is cut + b^2 (exactly so for shares with a gamma law); so the upper limit starts
b higher. And the isotonic step, which keeps masses positive, moves some of the mass of dense areas
to empty ones; the least squares estimate has no such bias but more noise, so the lower limit
starts from the smaller of the two, the upper one from the larger.

Everything here is a formula, instant; `strata` has the same for releases without a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Tuple

import numpy as np

from ..budget import COUNT_UNITS, UNITS
from .decode import Decoded
from .query import Coverage
from .tree import Tree

Array = np.ndarray

#: what is believed of rho before the release is seen, and how many measured parts that outweighs
USUAL_UNEVENNESS = 0.15
USUAL_WEIGHT = 4
LEAST_UNEVENNESS = 0.02


@dataclass(frozen=True, eq=False)
class Spread:
    """What is unknown about the count in each zone."""

    noise: Array
    cut: Array
    #: mass of the cut leaves outside the zone, the most that could really be inside
    outside: Array
    #: the unbiased estimate
    unbiased: Array


def interval(
    decoded: Decoded, covered: Any, zones: int, estimate: Array, level: float
) -> Tuple[Array, Array]:
    """Whole-numbered limits around the estimates, cut to what is possible."""
    if decoded.tree is None:
        from .strata import spread_on_curve

        spread = spread_on_curve(decoded, covered, zones, estimate)
    else:
        spread = spread_in_leaves(decoded, covered)
    return limits(decoded, estimate, spread, level)


def limits(decoded: Decoded, estimate: Array, spread: Spread, level: float) -> Tuple[Array, Array]:
    """The limits of a ``level`` interval; the module tells why they are lopsided."""
    reach = NormalDist().inv_cdf((1 + level) / 2)
    more = np.minimum(spread.cut / np.maximum(estimate, 1.0), spread.outside)
    below = np.sqrt(spread.noise + spread.cut)
    above = np.sqrt(spread.noise + spread.cut + more**2)
    low = np.floor(np.minimum(estimate, spread.unbiased) - reach * below)
    high = np.ceil(np.maximum(estimate, spread.unbiased) + more + reach * above)
    # a noisy n is no bound on what there is
    most = decoded.n if decoded.release.neighbours == "replace" else np.inf
    return np.clip(low, 0, decoded.n), np.clip(high, 0, most)


def spread_in_leaves(decoded: Decoded, covered: Coverage) -> Spread:
    """What is unknown about zones of an adaptive release."""
    leaves, tree = decoded.parts()
    node = leaf_nodes(tree, decoded.grid.order)[covered.leaf]
    share, mass = covered.mass, leaves.mass[covered.leaf]
    square = mass**2 + tree.variance[node]
    cut = share * (1 - share) * (mass + tree_unevenness(decoded) * square)
    return Spread(
        noise_left(decoded, covered),
        np.bincount(covered.zone, cut, covered.zones),
        np.bincount(covered.zone, mass * (1 - share), covered.zones),
        np.bincount(covered.zone, tree.estimate[node] * share, covered.zones),
    )


def noise_left(decoded: Decoded, covered: Coverage) -> Array:
    """Variance of sum(share x leaf count) under the tree least squares.

    Given a parent's count, its children have covariance diag(v) - v v' / V; the weight that the
    parent inherits is the children's mean weight in proportion to v. The root is n, as noisy as
    that is.
    """
    _, tree = decoded.parts()
    node = leaf_nodes(tree, decoded.grid.order)[covered.leaf]
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
    root = np.bincount(key // tree.level.size, weight, covered.zones)
    return np.maximum(variance, 0.0) + root**2 * total_variance(decoded)


def total_variance(decoded: Decoded) -> float:
    """Variance of n itself: none unless it was published with noise."""
    if decoded.release.neighbours == "replace":
        return 0.0
    return laplace_variance(float(decoded.release.exact_epsilon) * COUNT_UNITS / UNITS)


def laplace_variance(rate: Any) -> Any:
    """Variance of discrete Laplace noise of scale 1 / rate."""
    decay = np.exp(-rate)
    return np.maximum(2 * decay / (1 - decay) ** 2, 1e-12)


def tree_unevenness(decoded: Decoded) -> float:
    """rho from all splits that an adaptive release has measured."""
    grid, (_, tree) = decoded.grid, decoded.parts()
    span = np.int64(4) ** (grid.order - tree.level)
    area = grid.allowed_before((tree.index + 1) * span) - grid.allowed_before(tree.index * span)
    parent = tree.parent[1:]
    return unevenness(
        tree.below[1:], tree.variance[1:], tree.estimate[parent], area[1:] / area[parent]
    )


def unevenness(part: Array, variance: Array, whole: Array, share: Array) -> float:
    """rho: the variance of a part's share of its whole's mass, over f (1 - f), beyond chance.

    ``share`` is the part's share f of the whole's area. What the noise and chance add to
    (part - f whole)^2 is taken off. Parts are weighted as if their deviations were normal with
    the usual rho, so noisy ones say little.
    """
    whole = np.maximum(whole, 1.0)
    chance = whole * share * (1 - share)
    even = variance + chance
    usual = USUAL_UNEVENNESS * whole * chance
    weight = (whole * chance) / (even + usual) ** 2
    excess = float((weight * ((part - share * whole) ** 2 - even)).sum())
    seen = float((weight * whole * chance).sum())
    before = USUAL_WEIGHT / USUAL_UNEVENNESS**2
    rho = (excess + before * USUAL_UNEVENNESS) / (seen + before)
    return min(max(rho, LEAST_UNEVENNESS), 1.0)


def leaf_nodes(tree: Tree, order: int) -> Array:
    """Nodes of the leaves, in the order of the curve."""
    leaf = np.flatnonzero(tree.is_leaf)
    return leaf[np.argsort(tree.index[leaf] << 2 * (order - tree.level[leaf]))]
