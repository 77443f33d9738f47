"""Reading a release that sets categories apart: a tree of each of them, and one of all others.

Each tree is held at the total of its group. The totals come from what was asked of the categories
and from the trees, and add up to n. The first category apart has half of all points or more: its
map is read first, and those of the other groups against it (`against`), as a release is read
against a public map. Where they are cut no finer, their points lie as those of the first do.
The map of all points is the mean of two readings: the sum of all maps, and one isotonic regression
of the sums of their counts. In it each group has a share of every patch, a leaf of one of the other
trees; the maps of single categories among the others are read against the others' map, as those of
an axis are otherwise against the map of all points (`axis_maps`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import List, Sequence, Tuple

import numpy as np

from ..curve.blocks import Blocks, room
from ..curve.grid import Grid
from ..release import Release
from ..rules.adaptive import AdaptiveCounts
from ..rules.views import ViewCounts
from .adaptive import DecodedTree, fit_counts
from .against import Against, pull_leaves
from .axis_maps import AxisMap, ForestMap, add_up, fit_forest
from .coverage import cover_leaves
from .intervals import Estimate, total_variance
from .leaves import Leaves, fit_masses, place_leaves
from .patches import EVEN, mass_of, refine
from .tree import gather

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Groups:
    """The categories apart, the largest first, and all others: a tree each."""

    apart: Sequence[int]
    #: each by itself
    trees: Sequence[DecodedTree]
    #: of their totals
    covariance: Array

    def join(self) -> Tuple[List[DecodedTree], Leaves]:
        """All trees, those after the first read against it; and the leaves of all points."""
        first = self.trees[0]
        alone = first.against is None
        counts = [first.tree.estimate[first.leaf_nodes] if alone else first.leaves.mass]
        read = [first]
        for tree in self.trees[1:]:
            own, count = _read_against(tree, first)
            read.append(own)
            counts.append(count)
        grid, leaves = first.grid, [tree.leaves for tree in read]
        fine = refine(grid, *((own.level, own.index) for own in leaves))
        masses = (mass_of(grid, own.cumulative, fine.level, fine.index) for own in read)
        every = place_leaves(grid, fine.level, fine.index, sum(masses, np.zeros(fine.level.size)))
        # one regression lends less to empty places than several
        count = np.zeros(every.mass.size)
        for held, counted in zip(leaves, counts):
            at = held.holding(fine.start)
            count += counted[at] * every.area / held.area[at]
        columns = every.level, every.column, every.row, every.area, count
        together = fit_masses(*columns, float(first.n), grid.order)
        return read, replace(every, mass=(every.mass + together) / 2)


def _read_against(tree: DecodedTree, first: DecodedTree) -> Tuple[DecodedTree, Array]:
    """A tree read against the map of another; and what was counted in its leaves after that."""
    grid = first.grid
    trust, _, coarse = pull_leaves(tree, first.cumulative)
    fine = refine(grid, *((own.level, own.index) for own in (first.leaves, coarse)))
    whole = coarse.holding(fine.start)
    follows = mass_of(grid, first.cumulative, fine.level, fine.index)
    area = room(grid, fine.level, fine.index) / grid.n_cells
    follows += EVEN * max(first.cumulative.total, 1.0) * area
    share = follows / np.bincount(whole, follows, coarse.mass.size)[whole]
    leaves = place_leaves(grid, fine.level, fine.index, coarse.mass[whole] * share)
    against = Against(trust, 1.0, coarse, whole, share)
    read = replace(tree, cumulative=leaves.cumulative(), leaves=leaves, against=against)
    return read, tree.tree.estimate[tree.leaf_nodes][whole] * share


def read_groups(release: Release, apart: Sequence[int], grid: Grid) -> Groups:
    """All trees, each by itself."""
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    totals, covariance = _totals(release, grid, apart)
    trees = []
    for group, total in enumerate(totals.tolist()):
        leaves, tree = fit_counts(release, counts.part(0, group), grid, total)
        doubt = float(covariance[group, group])
        upto = leaves.cumulative()
        trees.append(DecodedTree(release, grid, upto, leaves, tree, root_variance=doubt))
    return Groups(apart, trees, covariance)


def _totals(release: Release, grid: Grid, apart: Sequence[int]) -> Tuple[Array, Array]:
    """Whole totals of all groups, which add up to n; and their covariance."""
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    size = release.axes[0].size
    said, variance = [], []
    for group, own in enumerate(apart):
        parts = zip(counts.part(1, own).arrays().values(), counts.part(0, group).arrays().values())
        tree = gather(release, AdaptiveCounts(*map(np.concatenate, parts)), grid)
        said.append(tree.below[0])
        variance.append(tree.variance[0])
    rest = size - len(apart)
    tree = gather(release, counts.part(0, len(apart)), grid)
    each = gather(release, counts.others(size, apart), grid, rest)
    parts, spread = each.below[:rest].sum(), each.variance[:rest].sum()
    precise = 1 / spread + 1 / tree.variance[0]
    said.append((parts / spread + tree.below[0] / tree.variance[0]) / precise)
    variance.append(1 / precise)
    n, doubt, v = float(release.size), total_variance(release), np.array(variance)
    found, share = np.rint(add_up(np.array(said), v, n, doubt)[0]), v / v.sum()
    found[0] = max(found[0], 1.0)  # the others are read against its map
    upto = np.minimum(np.cumsum(found), n)
    upto[-1] = n
    return np.diff(upto, prepend=0.0), np.diag(v) + np.outer(share, doubt * share - v)


@dataclass(frozen=True, eq=False)
class ApartMap(AxisMap):
    """Categories apart from their own trees, each of the others as its share of them all."""

    apart: Sequence[int]
    #: the trees of the groups, read
    read: Sequence[DecodedTree]
    #: the maps of the others, and which of their patches holds each of ours
    inner: ForestMap
    inner_patch: Array

    def marginal(
        self, blocks: Blocks, zone: Array, patch: Array, mass: Array, zones: int
    ) -> "Tuple[Array, ...]":
        alone = self.share[self.apart]
        rest = mass * (1 - alone.sum(axis=0))[patch]
        among = self.inner.marginal(blocks, zone, self.inner_patch[patch], rest, zones)
        # each is a share of all the others there, which are not known exactly either; where they
        # look like none any share may be right, and an even one is taken
        every = self.read[-1].estimate_in(blocks, zones)
        whole = np.bincount(zone, rest, zones)[:, None]
        even = 1 / among[0].shape[1]
        square = np.where(whole > 0, among[0] / np.where(whole > 0, whole, 1.0), even) ** 2
        among[1][:] += square * every.noise[:, None]
        among[2][:] += square * every.cut[:, None]
        found = tuple(np.empty((zones, self.share.shape[0])) for _ in among)
        for own, part in zip(found, among):
            own[:, _others(own.shape[1], self.apart)] = part
        for share, category, tree in zip(alone, self.apart, self.read):
            held, one = (
                np.bincount(zone, mass * share[patch], zones),
                tree.estimate_in(blocks, zones),
            )
            for own, column in zip(found, (held, one.noise, one.cut, one.outside, one.unbiased)):
                own[:, category] = column
        return found


def fit_apart(release: Release, groups: Groups, read: Sequence[DecodedTree]) -> ApartMap:
    """The maps of the first axis, from the trees of the groups as `Groups.join` has read them."""
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    grid, size, apart = read[0].grid, release.axes[0].size, groups.apart
    rest, others = _others(size, apart), read[-1]
    tree = gather(release, counts.others(size, apart), grid, rest.size)
    total, doubt = float(others.tree.estimate[0]), float(groups.covariance[-1, -1])
    said, variance = tree.below[: rest.size], tree.variance[: rest.size]
    totals, variance = add_up(said, variance, total, doubt)
    inner = fit_forest(grid, tree, np.arange(rest.size), totals, variance, others.cumulative)
    coarse = [own.against.leaves if own.against else own.leaves for own in read[1:]]
    nodes = [(leaves.level, leaves.index) for leaves in coarse]
    patches = refine(grid, (inner.patches.level, inner.patches.index), *nodes)
    own = np.array([mass_of(grid, one.cumulative, patches.level, patches.index) for one in read])
    n = max(float(release.size), 1.0)
    # where nothing is, shares are those of all
    even = EVEN * room(grid, patches.level, patches.index) / grid.n_cells
    whole = np.array([one.cumulative.total for one in read])
    part = (own + whole[:, None] * even) / np.maximum(own.sum(axis=0) + n * even, 1e-300)
    part /= np.maximum(part.sum(axis=0), 1e-300)
    held = inner.patches.holding(patches.start)
    share, every = np.empty((size, held.size)), np.empty(size)
    share[apart], every[apart] = part[:-1], whole[:-1]
    share[rest], every[rest] = inner.share[:, held] * part[-1], totals
    return ApartMap(patches, own.sum(axis=0), share, every, apart, read, inner, held)


def _others(size: int, apart: Sequence[int]) -> Array:
    """The categories that are not apart."""
    return np.delete(np.arange(size), apart)


def estimate_all(
    groups: Groups, read: Sequence[DecodedTree], every: Leaves, blocks: Blocks, zones: int
) -> Estimate:
    """Mass of all points in each zone, and what is unknown about it: that of all groups."""
    covered = cover_leaves(every, blocks, zones)
    parts, held = zip(*(tree.estimate_and_held(blocks, zones) for tree in read))
    together = groups.covariance - np.diag(np.diag(groups.covariance))
    noise = sum(part.noise for part in parts)
    noise = noise + np.einsum("gz,gh,hz->z", np.array(held), together, np.array(held))
    # leaves of all trees that one outline cuts err the same way
    cut = sum(np.sqrt(part.cut) for part in parts) ** 2
    return Estimate(
        np.bincount(covered.zone, every.mass[covered.leaf] * covered.mass, zones),
        np.maximum(noise, 0.0),
        cut,
        *(
            sum(getattr(part, name) for part in parts)
            for name in ("outside", "unbiased", "unclaimed")
        ),
    )
