"""Reading a release that sets one category apart: a tree of it, and one of all others.

Each tree is held at the total of its group. The totals come from what was asked of the categories
and from the trees, and add up to n. The category apart has half of all points or more, and the
larger budget: its map is read first, and that of the others against it (`against`), as a release is
read against a public map. Where they are cut no finer, the others lie as the category apart does.
The map of all points is the mean of two readings: the sum of both maps, and one isotonic regression
of the sums of their counts. In it each group has a share of every patch, a leaf of
the others' tree; the maps of single categories among the others are read against the others' map,
as those of an axis are otherwise against the map of all points (`axis_maps`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Tuple

import numpy as np

from ..curve.blocks import Blocks, room
from ..curve.grid import Grid
from ..release import Release
from ..rules.adaptive import AdaptiveCounts
from ..rules.views import ViewCounts
from .adaptive import DecodedTree, fit_counts
from .against import Against, pull_leaves
from .axis_maps import AxisMap, ForestMap, add_up, fit_forest, trust_of
from .coverage import cover_leaves
from .intervals import Estimate, total_variance
from .leaves import Leaves, fit_masses, place_leaves
from .patches import EVEN, mass_of, refine
from .tree import gather

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Groups:
    """The category apart and all others: a tree each."""

    apart: int
    first: DecodedTree
    #: before it is read against the first
    others: DecodedTree
    #: covariance of the two totals
    together: float

    def join(self) -> "Tuple[DecodedTree, Leaves]":
        """The others, read against the first; and the leaves of all points."""
        first, others, grid = self.first, self.others, self.first.grid
        trust, _, coarse = pull_leaves(others, first.cumulative)
        fine = refine(
            grid,
            np.concatenate([first.leaves.level, coarse.level]),
            np.concatenate([first.leaves.index, coarse.index]),
        )
        start = coarse.index << 2 * (grid.order - coarse.level)
        whole = np.searchsorted(start, fine.start, side="right") - 1
        own = mass_of(grid, first.cumulative, fine.level, fine.index)
        area = room(grid, fine.level, fine.index) / grid.n_cells
        follows = own + EVEN * max(first.cumulative.total, 1.0) * area
        share = follows / np.bincount(whole, follows, coarse.mass.size)[whole]
        rest = place_leaves(grid, fine.level, fine.index, coarse.mass[whole] * share)
        against = Against(trust, 1.0, coarse, whole, share)
        read = replace(others, cumulative=rest.cumulative(), leaves=rest, against=against)
        mass = (rest.mass + own + self._fit_together(rest, whole, share)) / 2
        return read, replace(rest, mass=mass)

    def _fit_together(self, fine: Leaves, whole: Array, share: Array) -> Array:
        """Masses of all points by one regression: it lends less to empty places than two."""
        first, others, grid = self.first, self.others, self.first.grid
        leaves, counts = first.leaves, first.leaves.mass
        if first.against is None:
            counts = first.tree.estimate[first.leaf_nodes]
        start = leaves.index << 2 * (grid.order - leaves.level)
        at = np.searchsorted(start, fine.index << 2 * (grid.order - fine.level), side="right") - 1
        every = counts[at] * fine.area / leaves.area[at]
        every += others.tree.estimate[others.leaf_nodes][whole] * share
        columns = fine.level, fine.column, fine.row, fine.area, every
        return fit_masses(*columns, float(first.n), grid.order)


def read_groups(release: Release, apart: int, grid: Grid) -> Groups:
    """Both trees, each by itself."""
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    trees = counts.part(0, 0, 1), counts.part(0, 1, 1)
    totals, variances, together = _totals(release, grid, apart)
    found = []
    for tree, total, variance in zip(trees, totals.tolist(), variances.tolist()):
        leaves, fitted = fit_counts(release, tree, grid, total)
        found.append(
            DecodedTree(release, grid, leaves.cumulative(), leaves, fitted, root_variance=variance)
        )
    return Groups(apart, found[0], found[1], together)


def _totals(release: Release, grid: Grid, apart: int) -> "Tuple[Array, Array, float]":
    """Whole totals of both groups, which add up to n; their variances, and their covariance."""
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    size = release.axes[0].size
    own = counts.part(1, apart, 1)
    first = counts.part(0, 0, 1)
    together = AdaptiveCounts(
        *(np.concatenate(pair) for pair in zip(own.arrays().values(), first.arrays().values()))
    )
    each = gather(release, counts.others(size, apart), grid, size - 1)
    first_tree, tree = (gather(release, one, grid) for one in (together, counts.part(0, 1, 1)))
    parts, spread = each.below[: size - 1].sum(), each.variance[: size - 1].sum()
    precise = 1 / spread + 1 / tree.variance[0]
    others = (parts / spread + tree.below[0] / tree.variance[0]) / precise
    said = np.array([first_tree.below[0], others])
    variance = np.array([first_tree.variance[0], 1 / precise])
    n, doubt = float(release.size), total_variance(release)
    totals, left = add_up(said, variance, n, doubt)
    largest = max(np.rint(totals[0]), 1.0)  # the others are read against its map
    share = variance / variance.sum()
    covariance = doubt * share[0] * share[1] - variance[0] * share[1]
    return np.array([largest, n - largest]), left, float(covariance)


@dataclass(frozen=True, eq=False)
class ApartMap(AxisMap):
    """The category apart from its own tree, each of the others as its share of them all."""

    apart: int
    first: DecodedTree
    others: DecodedTree
    #: the maps of the others, and which of their patches holds each of ours
    inner: ForestMap
    inner_patch: Array

    def marginal(
        self, blocks: Blocks, zone: Array, patch: Array, mass: Array, zones: int
    ) -> "Tuple[Array, ...]":
        share = self.share[self.apart]
        own = self.first.estimate_in(blocks, zones)
        held = np.bincount(zone, mass * share[patch], zones)
        rest = mass * (1 - share)[patch]
        found = self.inner.marginal(blocks, zone, self.inner_patch[patch], rest, zones)
        # each is a share of all the others there, which are not known exactly either
        every = self.others.estimate_in(blocks, zones)
        square = (found[0] / np.maximum(np.bincount(zone, rest, zones), 1e-9)[:, None]) ** 2
        found[1][:] += square * every.noise[:, None]
        found[2][:] += square * every.cut[:, None]
        columns = held, own.noise, own.cut, own.outside, own.unbiased
        return tuple(
            np.insert(part, self.apart, column, axis=1) for part, column in zip(found, columns)
        )


def fit_apart(release: Release, groups: Groups, others: DecodedTree) -> ApartMap:
    """The maps of the first axis."""
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    grid, first, size = others.grid, groups.first, release.axes[0].size
    tree = gather(release, counts.others(size, groups.apart), grid, size - 1)
    total, doubt = float(others.tree.estimate[0]), groups.others.root_variance or 0.0
    said, variance = tree.below[: size - 1], tree.variance[: size - 1]
    totals, variance = add_up(said, variance, total, doubt)
    root, trust = np.arange(size - 1), trust_of(release, total)
    inner = fit_forest(grid, tree, root, totals, variance, others.cumulative, trust)
    coarse = others.against.leaves if others.against else others.leaves
    patches = refine(
        grid,
        np.concatenate([coarse.level, inner.patches.level]),
        np.concatenate([coarse.index, inner.patches.index]),
    )
    own, rest = (
        mass_of(grid, each.cumulative, patches.level, patches.index) for each in (first, others)
    )
    area = room(grid, patches.level, patches.index) / grid.n_cells
    even = EVEN * max(float(release.size), 1.0) * area  # where nothing is, shares are those of all
    n = max(float(release.size), 1e-9)
    part = (own + even * first.cumulative.total / n) / np.maximum(own + rest + even, 1e-300)
    part = np.clip(part, 0.0, 1.0)
    held = inner.patches.holding(patches.start)
    share = np.insert(inner.share[:, held] * (1 - part), groups.apart, part, axis=0)
    every = np.insert(totals, groups.apart, first.cumulative.total)
    return ApartMap(patches, own + rest, share, every, groups.apart, first, others, inner, held)


def estimate_all(
    groups: Groups, others: DecodedTree, every: Leaves, blocks: Blocks, zones: int
) -> Estimate:
    """Mass of all points in each zone, and what is unknown about it: that of both groups."""
    covered = cover_leaves(every, blocks, zones)
    first, held = groups.first.estimate_and_held(blocks, zones)
    second, also = others.estimate_and_held(blocks, zones)
    noise = first.noise + second.noise + 2 * held * also * groups.together
    return Estimate(
        np.bincount(covered.zone, every.mass[covered.leaf] * covered.mass, zones),
        np.maximum(noise, 0.0),
        first.cut + second.cut,
        first.outside + second.outside,
        first.unbiased + second.unbiased,
        first.unclaimed + second.unclaimed,
    )
