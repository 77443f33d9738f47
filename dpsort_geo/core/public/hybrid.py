"""Reading a hybrid release.

``width-depth``: the counts of the blocks become masses by the same isotonic regression, over four
symmetries of the curve, as the leaves of an adaptive release. Inside a block the sums say how its
mass lies, decoded as in a sort release; a block without sums is even.

``depth-width``: the cumulative counts of the bins, made non-decreasing by isotonic regression with
weight 1/width, as narrow bins know best where their mass is. Inside a bin the mass is even.

What is unknown about a zone. The blocks or bins have counts whose noise is known, less what the
known n takes off; a block that a zone cuts adds f (1 - f) (m + rho m^2) as a leaf does, see
`intervals`. What the sums say inside a block makes the estimate better, not the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple, cast

import numpy as np

from ..curve.blocks import Blocks, CoarseBlocks, room
from ..curve.grid import Grid
from ..release import Release
from ..rules.budget import UNITS
from ..rules.hybrid import HybridCounts, block_sizes, count_rates
from .cumulative import Cumulative
from .decode import Decoded, refuse_paper
from .intervals import Estimate, laplace_variance, total_variance, unclaimed, unevenness
from .isotonic import isotonic_l2
from .leaves import make_leaves
from .sort import decode_sorted
from .stretches import cut_stretches, share_of_cells
from .within import move_inside, places_inside

Array = np.ndarray


def decode(release: Release, decoder: str, inside: Grid) -> DecodedCounts:
    """F of a hybrid release of either variant."""
    refuse_paper(decoder)
    measured = cast(HybridCounts, release.measured)
    read = _width_depth if measured.is_width_depth else _depth_width
    f = move_inside(release.grid, inside, read(release, measured, inside))
    return DecodedCounts(release, inside, f, measured)


@dataclass(frozen=True, eq=False)
class DecodedCounts(Decoded):
    """What a hybrid release says: F, and counts of blocks or bins with known noise."""

    measured: HybridCounts

    def estimate_in(self, blocks: Blocks, zones: int) -> Estimate:
        edges, rate, family = self._strata()
        edges = places_inside(self.release.grid, self.grid, edges)
        kept = np.diff(edges) > 0  # the others are known zeros
        edges, rate, family = np.append(edges[:-1][kept], edges[-1]), rate[kept], family[kept]
        variance = laplace_variance(rate * float(self.release.exact_epsilon) / UNITS)
        mass, width = np.diff(self.cumulative.upto(edges)), np.diff(edges)
        counts = self.measured.counts[kept] / self.measured.points_per_person
        whole, room = (np.bincount(family, x)[family] for x in (mass, width))
        rho = unevenness(counts, variance, whole, width / room)
        found = cut_stretches(self.grid, self.cumulative, blocks, edges)
        zone, at = found.zone, found.stretch
        held = np.where(mass > 0, mass, 1.0)[at]
        share = np.clip(np.where(mass[at] > 0, found.mass / held, found.share), 0.0, 1.0)
        known = np.bincount(zone, share * variance[at], zones) ** 2 / variance.sum()
        noise = np.bincount(zone, share**2 * variance[at], zones) - known
        cut = share * (1 - share) * (mass + rho * (mass**2 + variance))[at]
        # least squares: the counts, with what they lack of n in proportion to their variances
        even = counts + (self.n - counts.sum()) / variance.sum() * variance
        bias = np.bincount(zone, share * (mass - even)[at], zones)
        estimate = self.mass_in(blocks, zones)
        part = estimate / self.n if self.n else share_of_cells(self.grid, blocks, zones)
        return Estimate(
            estimate,
            np.maximum(noise, 0.0) + part**2 * total_variance(self.release),
            np.bincount(zone, cut, zones),
            np.bincount(zone, (1 - share) * mass[at], zones),
            estimate - bias,
            unclaimed(zone, at, share, mass, zones),
        )

    def _strata(self) -> Tuple[Array, Array, Array]:
        """Edges of the blocks or bins, the rates of their counts, and which make up a whole."""
        if self.measured.is_width_depth:
            coarse = self.measured.blocks(self.release)[0]
            edges = np.append(coarse.start, self.release.grid.n_cells).astype(np.float64)
            _, family = np.unique(coarse.index >> 2, return_inverse=True)
            return edges, count_rates(coarse, self.measured.shares), family.reshape(-1)
        edges = self.measured.edges(self.release).astype(np.float64)
        bins = np.arange(edges.size - 1)
        return edges, np.full(bins.size, self.measured.count_units), bins >> 1


def _width_depth(release: Release, measured: HybridCounts, inside: Grid) -> Cumulative:
    blocks, points, groups = measured.blocks(release)
    sums = np.split(measured.sums, np.cumsum(groups)[:-1])
    sizes = np.split(block_sizes(points, groups)[0], np.cumsum(groups)[:-1])
    mass = _block_masses(release, measured, blocks, inside)
    before = np.cumsum(mass) - mass
    place: List[Array] = []
    upto: List[Array] = []
    for block, start in enumerate(blocks.start.astype(np.float64).tolist()):
        place.append(np.array([start]))
        upto.append(before[block : block + 1])
        if groups[block]:
            knots = decode_sorted(sums[block], sizes[block], int(blocks.width[block]))
            f = knots.cumulative()
            place.append(start + f.place)
            upto.append(before[block] + f.mass * (mass[block] / f.total))
    place.append(np.array([float(release.grid.n_cells)]))
    upto.append(np.array([float(release.size)]))
    return Cumulative(np.concatenate(place), np.maximum.accumulate(np.concatenate(upto)))


def _block_masses(
    release: Release, measured: HybridCounts, blocks: CoarseBlocks, inside: Grid
) -> Array:
    level = np.full(blocks.index.size, blocks.level, np.int64)
    estimate = measured.counts.astype(np.float64) / measured.points_per_person
    mass, kept = np.zeros(level.size), room(inside, level, blocks.index) > 0
    mass[kept] = make_leaves(
        inside, level[kept], blocks.index[kept], estimate[kept], float(release.size)
    ).mass
    return mass


def _depth_width(release: Release, measured: HybridCounts, inside: Grid) -> Cumulative:
    edges, total = measured.edges(release).astype(np.float64), float(release.size)
    width = np.diff(places_inside(release.grid, inside, edges))
    kept = width > 0
    counts = measured.counts[kept].astype(np.float64) / measured.points_per_person
    fitted = np.clip(isotonic_l2(np.cumsum(counts), 1.0 / width[kept]), 0.0, total)
    fitted[-1] = total
    before = np.concatenate([[0.0], fitted])
    return Cumulative(edges, before[np.concatenate([[0], np.cumsum(kept)])])
