"""Reading a tree, or a forest, against a prior: a map that says how mass is likely to be shared.

A category is likely to lie where everything lies, and this month's points where last month's were.
Top down, a node of mass P is shared among its children. The prior says f P for a child with share f
of the map; f (1 - f) (P + rho P^2) is how far off that is on average: chance, and beyond it an
unevenness rho which is learned from the release itself, level by level, so that a map which has
nothing to do with the data is not believed. What the child and those below it have answered is the
other opinion; the two are weighed by their variances, the children add up to P, and none is
negative. Independent children with variances f (P + rho P^2) which must add up to P have variances
f (1 - f) (P + rho P^2); so the former are used before they are made to add up.

Whether to believe the map at all is learned too (`relevance`): the answers of the release are more
or less likely under the map's shares, and under shares by area alone. A map that says no more about
them than the area does is left aside, and the release is read as if there were none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from .intervals import unevenness
from .tree import Tree

Array = np.ndarray

#: logarithm of the odds against a map of which nothing is known
DOUBT = 4.0
#: share of a map that is spread by area when it is judged
NEVER_SURE = 0.05
#: points that are spread by area over each node of a map of n points: what it says of a place where
#: it holds less is hardly more than chance
ADDED = 0.25


@dataclass(frozen=True, eq=False)
class Leaning:
    """A tree read against a prior; nodes as in its `Tree`, masses in points (or persons)."""

    tree: Tree
    estimate: Array
    #: variance of a node given its parent, before brothers add up; the sum over a node's children
    variance: Array
    children_variance: Array
    #: how much of a change of its parent's mass a node inherits
    gain: Array
    #: unevenness of each root against the prior, over all levels
    rho: Array
    #: the estimate before masses below 0 are cut off, which lends no mass to empty places
    uncut: Array

    def leaf_variance(self) -> Array:
        """What the noise leaves of each node, given its root."""
        total = np.zeros(self.variance.size)
        level, parent = self.tree.level, self.tree.parent
        for depth in range(1, int(level[-1]) + 1):
            here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
            v, whole = self.variance[here], self.children_variance[parent[here]]
            own = v - v**2 / np.where(whole > 0, whole, 1.0)
            total[here] = np.maximum(own, 0) + self.gain[here] ** 2 * total[parent[here]]
        return total

    def noise_left(
        self, zone: Array, node: Array, weight: Array, zones: int
    ) -> "tuple[Array, Array]":
        """Variance of sum(weight x node) by zone and root, and the weight that each root gets.

        Given a parent's mass, its children have covariance diag(v) - v v' / V.
        """
        level, parent = self.tree.level, self.tree.parent
        size, roots = level.size, int(np.searchsorted(level, 1))
        root = roots_of(self.tree)
        variance = np.zeros(zones * roots)
        key = zone * size + node
        for depth in range(int(level[-1]), 0, -1):
            here = level[key % size] == depth
            if not here.any():
                continue
            place, child = np.divmod(key[here], size)
            w, v = weight[here], self.variance[child]
            above, which = np.unique(place * size + parent[child], return_inverse=True)
            which = which.reshape(-1)
            whole = self.children_variance[above % size]
            shared = np.bincount(which, w * v, above.size) ** 2 / np.where(whole > 0, whole, 1.0)
            spent = np.bincount(which, w * w * v, above.size) - shared
            variance += np.bincount(
                above // size * roots + root[above % size], np.maximum(spent, 0), zones * roots
            )
            inherited = np.bincount(which, w * self.gain[child], above.size)
            key = np.concatenate([key[~here], above])
            weight = np.concatenate([weight[~here], inherited])
        held = np.bincount(key // size * roots + key % size, weight, zones * roots)
        return variance.reshape(zones, roots), held.reshape(zones, roots)


def roots_of(tree: Tree) -> Array:
    """The root above every node."""
    root = np.arange(tree.level.size)
    for depth in range(1, int(tree.level[-1]) + 1):
        here = np.arange(*np.searchsorted(tree.level, [depth, depth + 1]))
        root[here] = root[tree.parent[here]]
    return root


def lean(tree: Tree, total: Array, prior: Array) -> Leaning:
    """Read a forest against a prior.

    Parameters
    ----------
    tree
        What the nodes have answered, from `tree.gather`.
    total
        The mass of every root.
    prior
        The mass of every node on the prior map, above 0; only its shares matter.
    """
    level, parent, size = tree.level, tree.parent, tree.level.size
    estimate = np.concatenate([total, np.zeros(size - total.size)])
    uncut = estimate.copy()
    variance, whole, gain = np.zeros(size), np.zeros(size), np.zeros(size)
    for depth in range(1, int(level[-1]) + 1):
        here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
        if not here.size:
            continue
        above = parent[here]
        mass, share = estimate[above], prior[here] / prior[above]
        rho = unevenness(tree.below[here], tree.variance[here], mass, share)
        own, inherited, v = _weigh(tree, here, share, mass + rho * mass**2)
        uncut[here] = own + inherited * uncut[above]
        moved = np.maximum(own + inherited * mass, 0.0)
        kept = np.bincount(above, moved, size)[above]
        safe = np.where(kept > 0, kept, 1.0)
        estimate[here] = np.where(kept > 0, moved * mass / safe, share * mass)
        variance[here], gain[here] = v, inherited
        whole += np.bincount(above, v, size)
    root, learned = roots_of(tree), []
    for number in range(total.size):
        inner = np.flatnonzero((root == number) & (level > 0))
        whole_mass, share = estimate[parent[inner]], prior[inner] / prior[parent[inner]]
        learned.append(unevenness(tree.below[inner], tree.variance[inner], whole_mass, share))
    return Leaning(tree, estimate, variance, whole, gain, np.array(learned), uncut)


def pull(tree: Tree, prior: Array, area: Array, mass: Array) -> "Tuple[Array, float]":
    """Counts of the nodes of a tree, pulled towards a prior, and the unevenness against it.

    As `lean`, but counts may be below 0: whoever calls makes them positive in his own way. A node
    that is cut at 0 lends its mass to its brothers for good, which costs more than the prior brings
    where there is little noise.

    Parameters
    ----------
    tree
        A tree of one root, fitted by least squares.
    prior, area
        The share of every node of the map, and of the area; above 0.
    mass
        What every node holds by the release alone, not below 0: how much there is to be shared.
    """
    level, parent = tree.level, tree.parent
    added = ADDED / max(float(mass[0]), 1.0)
    share = (prior + added * area / area[parent]) / (prior[parent] + added)
    count = tree.estimate.copy()
    for depth in range(1, int(level[-1]) + 1):
        here = np.arange(*np.searchsorted(level, [depth, depth + 1]))
        if not here.size:
            continue
        above = parent[here]
        whole, f = mass[above], share[here]
        rho = unevenness(tree.below[here], tree.variance[here], whole, f)
        own, inherited, _ = _weigh(tree, here, f, whole + rho * whole**2)
        count[here] = own + inherited * count[above]
    inner = np.flatnonzero(level > 0)
    said, above = prior[inner] / prior[parent[inner]], parent[inner]
    return count, unevenness(tree.below[inner], tree.variance[inner], mass[above], said)


def _weigh(tree: Tree, here: Array, share: Array, spread: Array) -> "Tuple[Array, Array, Array]":
    """Brothers by what was answered, and by what follows from their parent's mass.

    Returns what a node has of its own, the part of the parent's mass that it inherits beside, and
    its variance before brothers add up. ``spread``: the prior's variance, over share (1 - share).
    """
    above, size = tree.parent[here], tree.level.size
    expected = np.maximum(share * spread, 1e-9)
    v = 1 / (1 / tree.variance[here] + 1 / expected)
    answered, follows = v * tree.below[here] / tree.variance[here], v * share / expected
    sums = (np.bincount(above, part, size)[above] for part in (answered, v, follows))
    all_answered, all_v, all_follow = sums
    own, inherited = answered - all_answered * v / all_v, follows + (1 - all_follow) * v / all_v
    return own, inherited, v


def relevance(tree: Tree, prior: Array, area: Array) -> float:
    """How much a tree of one root, fitted by least squares, speaks for a prior: 0 to 1.

    The probability that the answers follow the prior's shares and not those of the area, when both
    are given their best unevenness on each level. A map of the area itself says nothing, and is
    believed once in e^DOUBT.
    """
    inner, parent = np.flatnonzero(tree.level > 0), tree.parent
    even = area[inner] / area[parent[inner]]
    said = prior[inner] / prior[parent[inner]]
    # a map may say that a place is empty; being wrong there once must not decide everything
    careful = (1 - NEVER_SURE) * said + NEVER_SURE * even
    more = _likelihood(tree, inner, careful) - _likelihood(tree, inner, even) - DOUBT
    return float(1 / (1 + np.exp(-np.clip(more, -50.0, 50.0))))


def _likelihood(tree: Tree, inner: Array, share: Array) -> float:
    """Logarithm of the likelihood of all answers, up to a constant."""
    total = 0.0
    for depth in np.unique(tree.level[inner]).tolist():
        some = tree.level[inner] == depth
        here, f = inner[some], share[some]
        mass = np.maximum(tree.estimate[tree.parent[here]], 1.0)
        said, noise = tree.below[here], tree.variance[here]
        rho = unevenness(said, noise, mass, f)
        variance = noise + f * (1 - f) * (mass + rho * mass**2)
        total -= float((np.log(variance) + (said - f * mass) ** 2 / variance).sum()) / 2
    return total
