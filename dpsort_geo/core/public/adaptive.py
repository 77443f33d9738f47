"""Reading an adaptive release: tree least squares, then masses of leaves, then all else.

What is unknown about a zone. *Noise*: what the noise leaves after the tree least squares, exactly.
*Cut*: where the points of the leaves lie that the zone cuts, see `intervals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Optional, Tuple, cast

import numpy as np

from ..curve.blocks import Blocks, room
from ..curve.grid import Grid
from ..release import Release
from ..rules.adaptive import AdaptiveCounts
from .against import Against, read_tree
from .coverage import Coverage, cover_leaves
from .cumulative import Cumulative
from .decode import Decoded, refuse_paper
from .density import raster_of_leaves
from .intervals import Estimate, drawn, total_variance, unclaimed, unevenness
from .leaves import Leaves, make_leaves
from .parabola import Parabolas, fit_parabolas
from .points import locate_in_leaves
from .tree import Tree, fit_tree

Array = np.ndarray


def decode(release: Release, decoder: str, inside: Grid) -> DecodedTree:
    """The tree of an adaptive release, its leaves, and F along them."""
    refuse_paper(decoder)
    leaves, tree = fit_counts(release, cast(AdaptiveCounts, release.measured), inside)
    return DecodedTree(release, inside, leaves.cumulative(), leaves, tree)


def fit_counts(
    release: Release, counts: AdaptiveCounts, inside: Grid, total: Optional[float] = None
) -> Tuple[Leaves, Tree]:
    """Leaves with their masses, and the tree that they belong to; of n points, or of a total."""
    tree = fit_tree(release, counts, inside, total)
    leaf, total = np.flatnonzero(tree.is_leaf), float(tree.estimate[0])
    leaves = make_leaves(inside, tree.level[leaf], tree.index[leaf], tree.estimate[leaf], total)
    return leaves, tree


@dataclass(frozen=True, eq=False)
class DecodedLeaves(Decoded):
    """What is read from leaves with their masses alone."""

    leaves: Leaves

    def _locate(self, mass: Array, diffuse: bool) -> Tuple[Array, Array]:
        shape = self.parabolas if diffuse else None
        return locate_in_leaves(self.leaves, self.cumulative.mass, mass, shape)

    @cached_property
    def parabolas(self) -> Parabolas:
        """How the density leans inside each leaf."""
        return fit_parabolas(self.leaves)

    def raster(self, level: int) -> Array:
        return raster_of_leaves(self.leaves, level)


@dataclass(frozen=True, eq=False)
class DecodedTree(DecodedLeaves):
    """What an adaptive release says: a tree of counts, and leaves with their masses.

    So is the tree of some of its categories read, whose total is not n and not known exactly.
    """

    tree: Tree
    #: the public map that it is read against, if any
    against: Optional[Against] = None
    #: of the total that the tree is held at, where that is not n
    root_variance: Optional[float] = None

    def read_against(self, prior: Cumulative) -> DecodedTree:
        """The same, read against a public map."""
        return read_tree(self, prior)

    def estimate_in(self, blocks: Blocks, zones: int) -> Estimate:
        return self.estimate_and_held(blocks, zones)[0]

    def estimate_and_held(self, blocks: Blocks, zones: int) -> Tuple[Estimate, Array]:
        """The same, and how much of a change of the total each zone has."""
        leaves = self.leaves
        if self.against is None:
            covered = cover_leaves(leaves, blocks, zones)
        else:
            covered = self.against.cover(leaves, blocks, zones)
            leaves = self.against.leaves
        node, share = self.leaf_nodes[covered.leaf], covered.mass
        mass = leaves.mass[covered.leaf]
        square = mass**2 + self.tree.variance[node]
        cut = share * (1 - share) * (mass + self.unevenness * square)
        inside, cut = (np.bincount(covered.zone, part, zones) for part in (mass * share, cut))
        outside = np.bincount(covered.zone, mass * (1 - share), zones)
        more = drawn(self.unevenness) * cut / np.maximum(inside, 1.0)
        noise, held = self._noise_left(covered)
        known = self.root_variance
        estimate = Estimate(
            inside,
            noise + held**2 * (total_variance(self.release) if known is None else known),
            cut,
            np.minimum(outside, more),
            np.bincount(covered.zone, self.tree.estimate[node] * share, zones),
            unclaimed(covered.zone, covered.leaf, share, leaves.mass, zones),
        )
        return estimate, held

    @cached_property
    def leaf_nodes(self) -> Array:
        """Nodes of the leaves, in the order of the curve."""
        tree, order = self.tree, self.grid.order
        leaf = np.flatnonzero(tree.is_leaf)
        return leaf[np.argsort(tree.index[leaf] << 2 * (order - tree.level[leaf]))]

    @cached_property
    def unevenness(self) -> float:
        """rho from all splits that the release has measured."""
        tree = self.tree
        area = room(self.grid, tree.level, tree.index)
        parent = tree.parent[1:]
        return unevenness(
            tree.below[1:], tree.variance[1:], tree.estimate[parent], area[1:] / area[parent]
        )

    def _noise_left(self, covered: Coverage) -> Tuple[Array, Array]:
        """Variance of sum(share x leaf count) under the tree least squares, given the root's count.

        Given a parent's count, its children have covariance diag(v) - v v' / V; the weight that the
        parent inherits is the children's mean weight in proportion to v. The second result is what
        the root inherits.
        """
        tree = self.tree
        key = covered.zone * tree.level.size + self.leaf_nodes[covered.leaf]
        weight = covered.mass
        variance = np.zeros(covered.zones)
        for depth in range(int(tree.level[-1]), 0, -1):
            here = tree.level[key % tree.level.size] == depth
            if not here.any():
                continue
            zone, child = np.divmod(key[here], tree.level.size)
            w, v = weight[here], tree.variance[child]
            above, place = np.unique(
                zone * tree.level.size + tree.parent[child], return_inverse=True
            )
            place = place.reshape(-1)
            mean = np.bincount(place, w * v)
            whole = tree.children_variance[above % tree.level.size]
            spent = np.bincount(place, w * w * v) - mean**2 / whole
            variance += np.bincount(above // tree.level.size, spent, covered.zones)
            key = np.concatenate([key[~here], above])
            weight = np.concatenate([weight[~here], mean / whole])
        root = np.bincount(key // tree.level.size, weight, covered.zones)
        return np.maximum(variance, 0.0), root
