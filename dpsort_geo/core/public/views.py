"""Reading a release with axes: the map of all points, and the maps of its slices.

All points are read from the first view alone, as from a release without axes; where categories are
apart, that view has several trees, and all points are their sum (`apart`). Every slice is that map
times a share: of an axis as `axis_maps` has it, of several axes the product of their shares (as if,
at each place, what and when were independent), corrected by the table category x time where the
release has one. So the slices add up to the whole, and none is negative. Counts in zones that were
declared beforehand are corrected by their own table (`zone_table`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ..curve.blocks import Blocks
from ..curve.grid import Grid
from ..release import Release
from ..rules.views import ViewCounts
from .adaptive import DecodedLeaves, DecodedTree, fit_counts
from .apart import Groups, estimate_all, fit_apart, read_groups
from .axis_maps import AxisMap, by_zone, even_out, fit_axis
from .compare import slice_correlation
from .coverage import cover_leaves
from .cumulative import Cumulative
from .decode import refuse_paper
from .intervals import Estimate, total_variance
from .leaves import Leaves, place_leaves
from .patches import Patches, mass_of, refine
from .tree import noise_variance
from .zone_table import ZoneTable, correct, read_table

Array = np.ndarray
#: relative variance, beyond chance, of what axes do together at one place
TOGETHER = 0.05
#: limits are lopsided because zones are drawn in proportion to what they hold (`intervals`); most
#: cells of a table of slices are asked about because their neighbours are, so it is so much there
DRAWN = 0.5
#: rounds in which the table is fitted to the maps of both axes
_ROUNDS = 10
#: slices chosen of some axes, by the number of the axis
Chosen = Mapping[int, Sequence[int]]


def decode(release: Release, decoder: str, inside: Grid) -> DecodedViews:
    """The map of all points; those of slices are made when they are asked for."""
    refuse_paper(decoder)
    counts: ViewCounts = release.measured  # type: ignore[assignment]
    apart = counts.apart(release)
    if apart:
        return _joined(read_groups(release, apart, inside))
    leaves, tree = fit_counts(release, counts.part(0), inside)
    return _alone(DecodedTree(release, inside, leaves.cumulative(), leaves, tree))


def _alone(tree: DecodedTree) -> DecodedViews:
    return DecodedViews(tree.release, tree.grid, tree.cumulative, tree.leaves, tree)


def _joined(groups: Groups) -> DecodedViews:
    read, leaves = groups.join()
    first = groups.trees[0]
    upto = leaves.cumulative()
    return DecodedViews(first.release, first.grid, upto, leaves, first, groups, read)


@dataclass(frozen=True, eq=False)
class DecodedViews(DecodedLeaves):
    """What a release with axes says about all points, and about slices of them."""

    #: the tree of all points, or of the first category that is apart
    first: DecodedTree
    #: the trees of categories apart and of all others; and how they are read together
    groups: Optional[Groups] = None
    read: Sequence[DecodedTree] = ()

    def read_against(self, prior: Cumulative) -> DecodedViews:
        first = self.first.read_against(prior)
        if self.groups is None:
            return _alone(first)
        return _joined(replace(self.groups, trees=(first, *self.groups.trees[1:])))

    def estimate_in(self, blocks: Blocks, zones: int) -> Estimate:
        if self.groups is None:
            return self.first.estimate_in(blocks, zones)
        return estimate_all(self.groups, self.read, self.leaves, blocks, zones)

    @cached_property
    def maps(self) -> List[AxisMap]:
        """The maps of each axis."""
        found: List[AxisMap] = []
        for number in range(1, len(self.release.axes) + 1):
            if number == 1 and self.groups is not None:
                found.append(fit_apart(self.release, self.groups, self.read))
            else:
                found.append(fit_axis(self.release, number, self.cumulative, self.grid))
        return found

    @cached_property
    def patches(self) -> Patches:
        """Where no slice changes its share."""
        parts = [each.patches for each in self.maps]
        return refine(self.grid, *((part.level, part.index) for part in parts))

    @cached_property
    def patch_mass(self) -> Array:
        """Mass of all points in each patch."""
        return mass_of(self.grid, self.cumulative, self.patches.level, self.patches.index)

    @cached_property
    def fine_leaves(self) -> Leaves:
        """The leaves of all points, cut where a patch is finer, which is rare."""
        leaves, patches, grid = self.leaves, self.patches, self.grid
        fine = refine(grid, (leaves.level, leaves.index), (patches.level, patches.index))
        if np.array_equal(fine.index, leaves.index) and np.array_equal(fine.level, leaves.level):
            return leaves
        mass = mass_of(grid, self.cumulative, fine.level, fine.index)
        return place_leaves(grid, fine.level, fine.index, mass)

    @cached_property
    def _leaf_patch(self) -> Array:
        leaves = self.fine_leaves
        return self.patches.holding(leaves.index << 2 * (self.grid.order - leaves.level))

    def slice_correlation(self, axis: int, one: Sequence[int], two: Sequence[int]) -> float:
        """Correlation of the errors of slices of an axis at one place, none of them in both."""
        size, many = self.release.axes[axis].size, [len(one), len(two)]
        if axis == 0 and self.groups is not None:  # trees whose noise is independent
            size -= len(self.groups.apart)
            many = [len(set(own) - set(self.groups.apart)) for own in (one, two)]
        return slice_correlation(many[0], many[1], size) if all(many) else 0.0

    def axis_share(self, number: int) -> Array:
        """Share of each slice of an axis on each patch."""
        own = self.maps[number]
        return own.share[:, own.patches.holding(self.patches.start)]

    @cached_property
    def table(self) -> "Optional[Tuple[Array, Array, Array]]":
        """Factors of category x time, and for each patch those of categories and of times.

        The product of the three is the joint share; by either axis it adds up to the axis's own.
        """
        counts, axes = self.release.measured, self.release.axes
        asked = counts.part(len(axes) + 1, 0, np.iinfo(np.int64).max)  # type: ignore[attr-defined]
        if not asked.value.size:
            return None
        shape = axes[0].size, axes[1].size
        units = self.release.measured.units_of(self.release.unit, self.release.max_points)
        said = asked.value.reshape(shape) / units
        noise = float(noise_variance(self.release, asked.rate[:1])[0])
        what, when = self.axis_share(0), self.axis_share(1)
        model = np.maximum((what * self.patch_mass) @ when.T, 1e-9)
        # how far the table is from independence, beyond noise and chance
        excess = float(((said - model) ** 2 - noise - model).sum() / (model**2).sum())
        spread = model + min(max(excess, 0.0), 1.0) * model**2
        shrunk = np.maximum(model + (said - model) * spread / (spread + noise), 0.0)
        factor = np.maximum(shrunk / model, 1e-6)
        of_what, of_when = what, when
        for _ in range(_ROUNDS):
            of_what = what / np.maximum(factor @ of_when, 1e-300)
            of_when = when / np.maximum(factor.T @ of_what, 1e-300)
        return factor, of_what, of_when

    def share_of(self, chosen: Chosen) -> Array:
        """Share of all points, on each patch, that lies in the chosen slices of some axes."""
        chosen = {axis: list(own) for axis, own in chosen.items()}
        if self.table is not None and len(chosen) == 2:
            factor, what, when = self.table
            part = factor[np.ix_(chosen[0], chosen[1])]
            return np.asarray((what[chosen[0]] * (part @ when[chosen[1]])).sum(axis=0))
        share = np.ones(self.patches.start.size)
        for axis, own in chosen.items():
            share = share * self.axis_share(axis)[own].sum(axis=0)
        return share

    def select(self, chosen: Chosen) -> DecodedSlice:
        """What the release says about the points in chosen slices."""
        leaves = self.fine_leaves
        share = self.share_of(chosen)
        leaves = replace(leaves, mass=leaves.mass * share[self._leaf_patch])
        place = np.append(leaves.start, leaves.start[-1] + leaves.area[-1]).astype(np.float64)
        upto = Cumulative(place, np.concatenate([[0.0], np.cumsum(leaves.mass)]))
        return DecodedSlice(self.release, self.grid, upto, leaves, self, dict(chosen))

    @cached_property
    def zone_table(self) -> Optional[ZoneTable]:
        """What the table of declared zones says, if there is one."""
        return read_table(self)

    def estimate_slices(self, blocks: Blocks, zones: int, axes: Sequence[int]) -> Estimate:
        """Masses and what is unknown, for every joint slice of some axes: a row a zone."""
        found = self.from_maps(blocks, zones, axes)
        if self.zone_table is not None:
            found = correct(self, self.zone_table, found, blocks, zones, axes)
        outside = np.minimum(found.outside, DRAWN * found.cut / np.maximum(found.mass, 1.0))
        return replace(found, outside=outside)

    def from_maps(self, blocks: Blocks, zones: int, axes: Sequence[int]) -> Estimate:
        """The same from the maps of slices alone."""
        zone, patch, mass = self._covered(blocks, zones)
        whole = np.maximum(np.bincount(zone, mass, zones), 1e-9)
        parts = []
        for axis in axes:
            own = self.maps[axis].patches.holding(self.patches.start)
            parts.append(self.maps[axis].marginal(blocks, zone, own[patch], mass, zones))
        shape = [self.release.axes[axis].size for axis in axes]
        joint = np.empty((zones, int(np.prod(shape))))
        for number, slices in enumerate(np.ndindex(*shape[:-1])):
            chosen = {axis: [own] for axis, own in zip(axes, slices)}
            last = shape[-1]
            shares = self._last_axis(chosen, axes[-1])
            joint[:, number * last : (number + 1) * last] = by_zone(
                shares[:, patch] * mass, zone, zones
            )
        every = self.estimate_in(blocks, zones)
        part = joint / whole[:, None]
        # along a coast a slice has its share of what no zone claims
        found = replace(
            self._joint(joint, parts, shape, whole), unclaimed=part * every.unclaimed[:, None]
        )
        if axes[0] == 0 and self.groups is not None:  # its maps know how far all points are known
            return found
        # a slice is a share of all that is there, which itself is not known exactly
        square = part**2
        noise = found.noise + square * every.noise[:, None]
        cut = found.cut + square * every.cut[:, None]
        return replace(found, noise=noise, cut=cut)

    def _last_axis(self, chosen: Chosen, axis: int) -> Array:
        """Shares of every slice of an axis within chosen slices of others."""
        if self.table is not None and len(chosen) == 1:
            factor, what, when = self.table
            own = chosen[0][0]
            return np.asarray(what[own] * factor[own][:, None] * when)
        share = self.axis_share(axis)
        return np.asarray(share * self.share_of(chosen)) if chosen else share

    def _joint(
        self, joint: Array, parts: "List[Tuple[Array, ...]]", shape: List[int], whole: Array
    ) -> Estimate:
        """Variances of products: each axis brings its own, and what they do together is unknown."""
        noise, cut = np.zeros_like(joint), np.zeros_like(joint)
        outside = np.full(joint.shape, np.inf)
        for number, part in enumerate(parts):
            spread = [self._spread_out(value, number, shape) for value in part]
            ratio = np.ones_like(joint)
            for other, (others, *_) in enumerate(parts):
                if other != number:
                    ratio *= self._spread_out(others, other, shape) / whole[:, None]
            noise += ratio**2 * spread[1]
            cut += ratio**2 * spread[2]
            outside = np.minimum(outside, spread[0] + spread[3])
        unbiased = joint
        if len(parts) == 1:
            outside, unbiased = parts[0][3:]
        else:
            cut += joint + TOGETHER * joint**2
        n = max(self.release.size, 1)
        noise += (joint / n) ** 2 * total_variance(self.release)
        return Estimate(joint, noise, cut, outside, unbiased, np.zeros_like(joint))

    @staticmethod
    def _spread_out(values: Array, axis: int, shape: List[int]) -> Array:
        """Values of one axis as values of all joint slices."""
        before, after = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
        return np.tile(np.repeat(values, after, axis=1), (1, before))

    def _covered(self, blocks: Blocks, zones: int) -> "Tuple[Array, Array, Array]":
        """How much of the mass of all points in each patch lies in each zone."""
        leaves, patches = self.fine_leaves, self.patches.start.size
        covered = cover_leaves(leaves, blocks, zones)
        key = covered.zone * patches + self._leaf_patch[covered.leaf]
        pair, place = np.unique(key, return_inverse=True)
        part = np.bincount(place.reshape(-1), leaves.mass[covered.leaf] * covered.mass, pair.size)
        return pair // patches, pair % patches, part

    def labels(self, points: Optional[int] = None) -> List[Array]:
        """The slice of each axis for each published point, in their order along the curve.

        ``points`` asks for so many of them only, evenly along the curve.

        The k-th point of a slice belongs where the slice's own mass along the curve passes
        k - 1/2. All these places are sorted, and the j-th of them labels the j-th point. The
        second axis is then done within each slice of the first, and so on.
        """
        mass = self.patch_mass
        upto = np.concatenate([[0.0], np.cumsum(mass)])
        n = self.n if points is None else points
        found = [np.zeros(n, np.int64) for _ in self.release.axes]
        groups: Dict[Tuple[int, ...], Array] = {(): np.arange(n)}
        for axis in range(len(found)):
            finer: Dict[Tuple[int, ...], Array] = {}
            for before, member in groups.items():
                chosen = {number: [own] for number, own in enumerate(before)}
                shares = self._last_axis(chosen, axis) * mass
                label = _label(shares, upto, member.size)
                found[axis][member] = label
                for own in np.unique(label).tolist():
                    finer[before + (own,)] = member[label == own]
            groups = finer
        return found


def _label(masses: Array, upto: Array, points: int) -> Array:
    """Labels of so many points along the curve, from the masses of slices between corners."""
    each = even_out(masses.sum(axis=1), points)
    crossing, label = [], np.repeat(np.arange(each.size), each)
    for own, number in zip(masses, each.tolist()):
        if number:
            f = Cumulative(upto, np.concatenate([[0.0], np.cumsum(own)]))
            crossing.append(f.at((np.arange(number) + 0.5) * (f.total / number)))
    if not crossing:
        return label
    return np.asarray(label[np.argsort(np.concatenate(crossing), kind="stable")])


@dataclass(frozen=True, eq=False)
class DecodedSlice(DecodedLeaves):
    """What a release says about the points in some slices; read like any other."""

    whole: DecodedViews
    chosen: Chosen

    @property
    def n(self) -> int:
        """Number of points that the slices stand for."""
        return int(np.rint(self.cumulative.total))

    @property
    def is_n_public(self) -> bool:
        """Never: only the number of all points may be."""
        return False

    def estimate_in(self, blocks: Blocks, zones: int) -> Estimate:
        axes = sorted(self.chosen)
        every = self.whole.estimate_slices(blocks, zones, axes)
        shape = [self.release.axes[axis].size for axis in axes]
        picked = np.ix_(*(list(self.chosen[axis]) for axis in axes))
        columns = np.arange(int(np.prod(shape))).reshape(shape)[picked].reshape(-1)
        parts = (
            every.mass, every.noise, every.cut, every.outside, every.unbiased, every.unclaimed,
        )  # fmt: skip
        return Estimate(*(part[:, columns].sum(axis=1) for part in parts))

    def _locate(self, mass: Array, diffuse: bool) -> Tuple[Array, Array]:
        return super()._locate(mass * (self.cumulative.total / max(self.n, 1)), diffuse)
