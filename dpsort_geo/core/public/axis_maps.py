"""Maps of the slices of one axis: each is the map of all points times a share that varies slowly.

The forest of an axis is read against the map of all points, and such that slices add up at every
level (`side_by_side`). Inside a leaf mass follows that map. The leaves of all roots together cut
the domain into *patches*, and on a patch each slice has one share of all that is there; shares of a
patch add up to one, and masses of a slice to its total (raking, three rounds). What is unknown
about a slice is that of its own tree, read against the map of all points (`prior`); where slices
and patches are too many to be read side by side, the masses come from there, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Tuple

import numpy as np

from ..curve.blocks import Blocks, room
from ..curve.grid import Grid
from ..release import Release
from ..rules.time_axis import TimeAxis
from ..rules.views import ViewCounts, block_of
from .cumulative import Cumulative
from .intervals import total_variance
from .patches import EVEN, Patches, mass_of, refine
from .prior import Leaning, lean
from .side_by_side import split_together
from .tree import Tree, gather

Array = np.ndarray

ROUNDS = 3
#: slices times patches that are read side by side; with more, memory would be the price
MOST_TOGETHER = 1 << 24
#: relative variance, beyond chance, of where in the map of its block a bin of time lies: so much,
#: and so much more for each unit by which the totals of bins differ (places that have a rhythm may
#: each have their own)
UNKNOWN, OWN_RHYTHM = 0.05, 0.25


@dataclass(frozen=True, eq=False)
class AxisMap:
    """The maps of all slices of one axis."""

    patches: Patches
    #: mass of all points in each patch; share of each slice there, a row a slice
    mass: Array
    share: Array
    #: total of each slice
    total: Array

    def marginal(
        self, blocks: Blocks, zone: Array, patch: Array, mass: Array, zones: int
    ) -> "Tuple[Array, ...]":
        """Mass, noise, cut, what is outside, and unbiased mass (`Estimate`), by zone and slice.

        A row of the arguments: so much of the mass of all points in a patch lies in a zone; rows by
        zone. The zones are made of ``blocks``.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ForestMap(AxisMap):
    """Those that a forest says, with a root a slice or a root a block of slices."""

    #: the forest, and the root of every slice in it
    leaning: Leaning
    root: Array
    #: leaf (a node of the forest) of each root on each patch, and the patch's share of its mass
    leaf: Array
    #: variance of the total of each slice, and its share of its root
    variance: Array
    part: Array
    #: relative variance, beyond chance, of where in its root's map a slice lies
    unknown: float = 0.0

    @cached_property
    def leaf_variance(self) -> Array:
        return self.leaning.leaf_variance()

    def marginal(
        self, blocks: Blocks, zone: Array, patch: Array, mass: Array, zones: int
    ) -> "Tuple[Array, ...]":
        size = self.share.shape[0]
        found = [np.zeros((zones, size)) for _ in range(4)]
        whole, whole_mass = np.bincount(zone, mass, zones), max(float(self.mass.sum()), 1e-9)
        for root in range(self.leaf.shape[0]):
            own = np.flatnonzero(self.root == root)
            estimate = by_zone(self.share[own][:, patch] * mass, zone, zones)
            noise, cut, outside = self._unknown(root, zone, patch, mass, zones)
            part = self.part[own]
            # of a slice whose total came out as nothing, a zone holds what it holds of all
            held = (estimate + EVEN * whole[:, None]) / (self.total[own] + EVEN * whole_mass)
            found[0][:, own] = estimate
            found[1][:, own] = noise[:, None] * part**2 + held**2 * self.variance[own]
            even, uneven = cut
            found[2][:, own] = even[:, None] * part + uneven[:, None] * part**2
            found[3][:, own] = outside[:, None] * part
            if own.size > 1:  # where in its block's map a bin of time lies was not measured
                found[2][:, own] += estimate * (1 - part) + self.unknown * estimate**2
        return (*found, found[0])

    def _unknown(
        self, root: int, zone: Array, patch: Array, mass: Array, zones: int
    ) -> "Tuple[Array, Tuple[Array, Array], Array]":
        """Of one root: variance of the noise, of the cut (chance, beyond chance), and outside."""
        leaf = self.leaf[root]
        if self.leaf.shape[0] == 1:  # the map of all points, whose limits know all this
            rest = np.maximum(self.mass.sum() - np.bincount(zone, mass, zones), 0.0)
            return np.zeros(zones), (np.zeros(zones), np.zeros(zones)), rest
        size = leaf.size
        node, which = np.unique(leaf, return_inverse=True)
        which = which.reshape(-1)
        whole = np.bincount(which, self.mass, node.size)
        key, place = np.unique(zone * size + which[patch], return_inverse=True)
        inside = np.bincount(place.reshape(-1), mass, key.size)
        at, of = key // size, key % size
        f = np.clip(inside / np.maximum(whole[of], 1e-300), 0.0, 1.0)
        m = self.leaning.estimate[node[of]]
        square = m**2 + self.leaf_variance[node[of]]
        split = f * (1 - f)
        noise, _ = self.leaning.noise_left(at, node[of], f, zones)
        chance = np.bincount(at, split * m, zones)
        beyond = np.bincount(at, split * self.leaning.rho[root] * square, zones)
        return noise[:, root], (chance, beyond), np.bincount(at, m * (1 - f), zones)


def by_zone(values: Array, zone: Array, zones: int) -> Array:
    """Columns added up by zone: a row a zone."""
    total = np.zeros((zones, values.shape[0]))
    if zone.size:  # sorted
        first = np.flatnonzero(np.r_[True, zone[1:] != zone[:-1]])
        total[zone[first]] = np.add.reduceat(values, first, axis=1).T
    return total


def fit_axis(release: Release, number: int, total: Cumulative, grid: Grid) -> ForestMap:
    """The maps of an axis, from its view of a release and the map of all points.

    ``grid`` may have fewer allowed cells than the release's own. A node without any of them is a
    known zero: its answers are noise and are left out.
    """
    axis = release.axes[number - 1]
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    roots, size = axis.size, axis.size
    root, unknown = np.arange(size), 0.0
    asked = counts.part(number, 0, size)
    if isinstance(axis, TimeAxis):
        blocks = int(counts.slice[counts.view == number].max()) + 1 - size
        roots = max(blocks, 1)  # without blocks, all bins have the map of all points
        root = block_of(size, roots)
        tree = gather(release, counts.part(number, size, blocks), grid, roots)
        slices = gather(release, asked, grid, size)
        said, spread = slices.below[:size], slices.variance[:size]
        totals, variance, apart = _bins(release, root, said, spread, tree)
        unknown = UNKNOWN + OWN_RHYTHM * apart
    else:
        tree = gather(release, asked, grid, roots)
        totals, variance = add_up(tree.below[:size], tree.variance[:size], *_known(release))
    found = fit_forest(grid, tree, root, totals, variance, total)
    return replace(found, unknown=unknown)


def fit_forest(
    grid: Grid,
    tree: Tree,
    root: Array,
    totals: Array,
    variance: Array,
    total: Cumulative,
) -> ForestMap:
    """The maps of slices from their forest, their totals, and the map of all points."""
    above = np.bincount(root, totals, int(root[-1]) + 1)
    index = tree.index & ((np.int64(1) << 2 * tree.level) - 1)
    area = room(grid, tree.level, index) / grid.n_cells
    prior = mass_of(grid, total, tree.level, index) + EVEN * max(total.total, 1.0) * area
    leaning = lean(tree, above, prior)
    return _on_patches(grid, leaning, index, prior, root, totals, variance, total)


def _on_patches(
    grid: Grid,
    leaning: Leaning,
    index: Array,
    prior: Array,
    root: Array,
    totals: Array,
    variance: Array,
    total: Cumulative,
) -> ForestMap:
    tree = leaning.tree
    leaves = np.flatnonzero(leaning.children_variance == 0)
    patches = refine(grid, (tree.level[leaves], index[leaves]))
    mass = mass_of(grid, total, patches.level, patches.index)
    even = EVEN * max(total.total, 1.0)
    roots = int(root[-1]) + 1
    owner = tree.index[leaves] >> 2 * tree.level[leaves]
    start = index[leaves] << 2 * (grid.order - tree.level[leaves])
    leaf = np.zeros((roots, mass.size), np.int64)
    for number in range(roots):
        own = np.flatnonzero(owner == number)
        own = own[np.argsort(start[own])]
        at = np.searchsorted(start[own], patches.start, side="right") - 1
        leaf[number] = leaves[own[np.maximum(at, 0)]]
    above = np.bincount(root, totals, roots)
    part = totals / np.maximum(above[root], 1e-300)
    if 1 < roots <= MOST_TOGETHER // mass.size:

        def whole(level: Array, index: Array) -> Array:
            area = room(grid, level, index) / grid.n_cells
            return mass_of(grid, total, level, index) + even * area

        masses = split_together(tree, above, patches.level, patches.index, whole)
    else:  # inside a leaf mass follows the prior
        masses = (mass + even / mass.size)[None, :] * (leaning.estimate / prior)[leaf]
    share = rake(masses[root] * part[:, None], mass, totals)
    return ForestMap(patches, mass, share, totals, leaning, root, leaf, variance, part)


def rake(masses: Array, column: Array, row: Array) -> Array:
    """Shares of rows in each column, such that columns and (nearly) rows have the given sums.

    >>> four = np.array([4.0, 4.0])
    >>> rake(np.array([[1.0, 1.0], [1.0, 3.0]]), four, four).sum(axis=0)
    array([1., 1.])
    """
    share = masses / np.maximum(masses.sum(axis=0), 1e-300)
    for _ in range(ROUNDS):
        found = share @ column
        share = share * (row / np.maximum(found, 1e-300))[:, None]
        share /= np.maximum(share.sum(axis=0), 1e-300)
    empty = share.sum(axis=0) <= 0
    share[:, empty] = (row / max(float(row.sum()), 1e-300))[:, None]
    return share


def add_up(said: Array, variance: Array, total: float, doubt: float) -> Tuple[Array, Array]:
    """Totals that add up to another with variance ``doubt``, none negative; and theirs."""
    whole = float(variance.sum())
    moved = said + (total - said.sum()) * variance / whole
    left = variance - variance**2 / whole
    totals = np.maximum(to_simplex(moved, total), EVEN * total)  # no slice is impossible
    totals *= total / max(float(totals.sum()), 1e-300)
    return totals, left + (variance / whole) ** 2 * doubt


def _known(release: Release) -> Tuple[float, float]:
    """The number of all points, and its variance."""
    return float(release.size), total_variance(release)


def _bins(
    release: Release, root: Array, said: Array, spread: Array, tree: Tree
) -> Tuple[Array, Array, float]:
    """Totals of bins of time, to which their blocks have their say; how far apart they are."""
    roots = int(root[-1]) + 1
    sums, sums_spread = np.bincount(root, said, roots), np.bincount(root, spread, roots)
    blocks: Array = sums
    variance: Array = sums_spread
    if tree.level.size > roots or tree.below.any():
        own, own_spread = tree.below[:roots], tree.variance[:roots]
        variance = 1 / (1 / sums_spread + 1 / own_spread)
        blocks = variance * (sums / sums_spread + own / own_spread)
    totals, left = add_up(blocks, variance, *_known(release))
    gap = (totals - sums) / sums_spread
    share = spread / sums_spread[root]
    bins, noise = said + gap[root] * spread, spread * (1 - share)
    # towards an even share of the block, as far as bins differ by no more than the noise
    even: Array = (totals / np.bincount(root, minlength=roots))[root]
    excess = float(((bins - even) ** 2 - noise - even).sum()) / max(float((even**2).sum()), 1e-300)
    excess = max(excess, 0.0)
    usual = even + excess * even**2
    weight = usual / np.maximum(usual + noise, 1e-300)
    bins = np.maximum(to_simplex(even + weight * (bins - even), float(release.size)), EVEN)
    return bins, weight * noise + share**2 * left[root], excess


def to_simplex(values: Array, total: float) -> Array:
    """Values moved onto {x >= 0, sum x = total} by the shortest way.

    >>> to_simplex(np.array([3.0, 1.0, -2.0]), 3.0).tolist()
    [2.5, 0.5, 0.0]
    """
    ranked = np.sort(values)[::-1]
    excess = (np.cumsum(ranked) - total) / np.arange(1, values.size + 1)
    last = int(np.flatnonzero(ranked > excess)[-1]) if (ranked > excess).any() else 0
    return np.maximum(values - excess[last], 0.0)


def even_out(values: Array, total: int) -> Array:
    """Whole numbers that add up to ``total``, as near to the values' shares as may be.

    >>> even_out(np.array([1.0, 1.0, 2.0]), 5).tolist()
    [1, 1, 3]
    """
    whole = float(values.sum())
    exact = values * (total / whole) if whole > 0 else np.full(values.size, total / values.size)
    found = np.floor(exact).astype(np.int64)
    missing = total - int(found.sum())
    most = np.argsort(found - exact, kind="stable")[: max(missing, 0)]
    found[most] += 1
    return found
