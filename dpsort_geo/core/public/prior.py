"""Reading a tree, or a forest, against a prior: a map that says how mass is likely to be shared.

A category is likely to lie where everything lies, and this month's points where last month's were.
Top down, a node of mass P is shared among its children. The prior says f P for a child with share f
of the map; f (1 - f) (P + rho P^2) is how far off that is on average: chance, and beyond it an
unevenness rho which is learned from the release itself, level by level, so that a map which has
nothing to do with the data is not believed. What the child and those below it have answered is the
other opinion; the two are weighed by their variances, the children add up to P, and none is
negative. Independent children with variances f (P + rho P^2) which must add up to P have variances
f (1 - f) (P + rho P^2); so the former are used before they are made to add up.

One release against another (`pull`) knows more: how far the map is off differs from place to place,
as one town has a fair this month and the next has not. So each block of brothers has its own
unevenness, one of a few; how often each of them occurs is learned level by level, and how likely
each is in this block follows from its answers. What they say is averaged by that.

Whether to believe the map at all is learned too (`relevance`): the answers of the release are more
or less likely under the map's shares, and under shares by area alone. A map that says no more about
them than the area does is left aside, and the release is read as if there were none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Tuple

import numpy as np

from .intervals import unevenness
from .tree import Tree

Array = np.ndarray

#: logarithm of the odds against a map of which nothing is known
DOUBT = 4.0
#: share of a map that is spread by area when it is judged
NEVER_SURE = 0.05
#: unevenness that a block of brothers may have against a map, and rounds to learn how often it does
UNEVEN = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_ROUNDS = 20
#: how far shares may follow a map, the rest is by area
FOLLOWS = (0.2, 0.4, 0.6, 0.8, 0.95)
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


def pull(tree: Tree, prior: Array, area: Array, mass: Array) -> Array:
    """Counts of the nodes of a tree, pulled towards a prior.

    As `lean`, but each block of brothers by its own unevenness, and counts may be below 0: whoever
    calls makes them positive in his own way. A node that is cut at 0 lends its mass to its brothers
    for good, which costs more than the prior brings where there is little noise.

    Parameters
    ----------
    tree
        A tree of one root, fitted by least squares.
    prior, area
        The share of every node of the map, and of the area; above 0.
    mass
        What every node holds by the release alone, not below 0: how much there is to be shared.
    """
    parent = tree.parent
    added = ADDED / max(float(mass[0]), 1.0)
    share = (prior + added * area / area[parent]) / (prior[parent] + added)
    count = tree.estimate.copy()
    for here in _levels(tree):
        whole, f = np.maximum(mass[parent[here]], 1.0), share[here]
        likely, block, _ = _learn(tree, here, f, whole)
        count[here] = 0.0
        for rho, odds in zip(UNEVEN, likely):
            own, inherited, _ = _weigh(tree, here, f, whole + rho * whole**2)
            count[here] += odds[block] * (own + inherited * count[parent[here]])
    return count


def _levels(tree: Tree) -> Iterator[Array]:
    """Nodes of each level below the root."""
    for depth in range(1, int(tree.level[-1]) + 1):
        here = np.arange(*np.searchsorted(tree.level, [depth, depth + 1]))
        if here.size:
            yield here


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


def follow(tree: Tree, prior: Array, area: Array, mass: Array) -> float:
    """How far the answers of a tree follow a prior, 0 to 1; the rest is by area."""
    parent = tree.parent
    even, said = area / area[parent], prior / prior[parent]
    like = np.array([_likelihood(tree, (1 - d) * even + d * said, mass) for d in FOLLOWS])
    odds = np.exp(np.maximum(like - like.max(), -50.0))
    return float((odds * FOLLOWS).sum() / odds.sum())


def _likelihood(tree: Tree, share: Array, mass: Array) -> float:
    """Logarithm of the likelihood of all answers, up to a constant."""
    whole = np.maximum(mass[tree.parent], 1.0)
    return sum(_learn(tree, here, share[here], whole[here])[2] for here in _levels(tree))


def _learn(tree: Tree, here: Array, share: Array, whole: Array) -> "Tuple[Array, Array, float]":
    """How likely each unevenness is in each block of brothers, by their answers.

    Returns that, a row for each of `UNEVEN`; the block of each node; and the logarithm of the
    likelihood of all answers. How often each unevenness occurs is learned by expectation and
    maximisation, from one block's worth of equal shares. Brothers add up to a whole that is known
    otherwise, so what their sum says is taken off.
    """
    _, block = np.unique(tree.parent[here], return_inverse=True)
    block = block.reshape(-1)
    apart, noise = tree.below[here] - share * whole, tree.variance[here]
    together, rows = np.bincount(block, apart), []
    for rho in UNEVEN:
        variance = noise + share * (whole + rho * whole**2)
        each = np.bincount(block, np.log(variance) + apart**2 / variance)
        sums = np.bincount(block, variance)
        rows.append((np.log(sums) + together**2 / sums - each) / 2)
    best = np.max(rows, axis=0)
    fits = np.exp(np.array(rows) - best)
    often = np.full(len(UNEVEN), 1 / len(UNEVEN))
    for _ in range(_ROUNDS):
        likely = often[:, None] * fits
        likely /= likely.sum(axis=0)
        often = (likely.sum(axis=1) + 1 / len(UNEVEN)) / (fits.shape[1] + 1)
    return likely, block, float((best + np.log(often @ fits)).sum())


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
    more = (
        _likelihood_by_level(tree, inner, careful) - _likelihood_by_level(tree, inner, even) - DOUBT
    )
    return float(1 / (1 + np.exp(-np.clip(more, -50.0, 50.0))))


def _likelihood_by_level(tree: Tree, inner: Array, share: Array) -> float:
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
