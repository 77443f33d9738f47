"""The public rule of the hybrids: blocks, groups, bins and shares of epsilon.

Everything here follows from the grid, epsilon, n (public, or noisy already) and earlier noisy
answers, never from a private point; publisher, reader and verifier all replay it. Whole numbers
and fractions decide; the one fit that is done in floats only compares and divides, so it comes
out the same everywhere. How the constants were chosen is told in docs/hybrids.md.

``width-depth`` asks for counts of equal quadtree blocks of the curve, then sorts in each block.
``depth-width`` sorts everything, then counts in bins between the positions that this gave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, List, Tuple, Union

import numpy as np

from ..curve.blocks import CoarseBlocks
from ..curve.grid import Grid
from ..errors import BadInputError
from .budget import PERSON_POINTS, UNITS, path_units
from .isotonic import isotonic_l1
from .measured import Measured, refuse
from .sort import balanced_sizes, group_count, whole_group

if TYPE_CHECKING:
    from ..release import Release

Array = np.ndarray

#: a release names its variant by the place in this list
VARIANTS = ("width-depth", "depth-width")

# The constants of the two mechanisms: public, few, the same for everybody.
#: a block has n * rate >= POINTS_A_BLOCK, where rate is what a path of the quadtree may spend
POINTS_A_BLOCK = 4
#: what the counts of the blocks get; the sums inside have the rest
COUNT_SHARE = Fraction(3, 4)
#: a block whose noisy count times the rate of its sums is smaller is left even
LEAST_TO_SORT = 8
#: what the sort release gets that cuts the curve into steps
SORT_SHARE = Fraction(1, 4)
#: a bin has (expected points) * rate >= POINTS_A_BIN
POINTS_A_BIN = 4
#: never more blocks or bins than about this
MOST_COUNTS = 1 << 18


@dataclass(frozen=True)
class Shares:
    """Rates in units of epsilon: of each count, and of each sum per width that it can move."""

    counts: int
    sums: int


def variant_number(variant: str) -> int:
    """The number of a variant in a release."""
    if variant not in VARIANTS:
        raise BadInputError("The variant of a hybrid must be 'width-depth' or 'depth-width'.")
    return VARIANTS.index(variant)


def shares(variant: int, neighbours: str) -> Shares:
    """How the two stages divide epsilon.

    A replaced point touches two blocks in both stages of ``width-depth``, so that counts and
    sums share half of epsilon. In ``depth-width`` the first stage is one sort release, which
    knows replacements already, and only the bins count twice. An added point touches one of
    each; the noisy n has been paid before.

    >>> shares(0, "replace").counts + shares(0, "replace").sums == UNITS // 2
    True
    >>> shares(1, "replace").sums + 2 * shares(1, "replace").counts == UNITS
    True
    """
    path = path_units(neighbours)
    if variant == 0:
        counts = int(path * COUNT_SHARE)
        return Shares(counts, path - counts)
    counts = int(path * (1 - SORT_SHARE))
    return Shares(counts, (path - counts) * (2 if neighbours == "replace" else 1))


@dataclass(frozen=True, eq=False)
class HybridCounts(Measured):
    """Counts of blocks with sums inside them, or sums with counts of the bins between them."""

    KIND: ClassVar[str] = "hybrid"
    METHOD: ClassVar[str] = "hybrid"
    WORDS: ClassVar[str] = "Noisy counts of cells, and sums of sorted places inside them (hybrid)."
    ERROR_LAW: ClassVar[Tuple[float, float, float]] = (2.26, 0.567, 0.0)
    HAS_GROUPS: ClassVar[bool] = True
    PERSON: ClassVar[int] = PERSON_POINTS
    ARRAYS: ClassVar[Tuple[str, ...]] = ("counts", "sums")
    SETTINGS: ClassVar[Tuple[str, ...]] = (
        "variant", "group_size", "points_per_person", "count_units", "sum_units",
    )  # fmt: skip

    counts: Array
    sums: Array
    variant: int
    #: 0 follows n and epsilon
    group_size: int
    points_per_person: int
    count_units: int
    sum_units: int

    @classmethod
    def check_group_size(cls, group_size: Union[int, str, None]) -> None:
        """A whole number of points or persons, or None for the default."""
        if group_size is not None:
            whole_group(group_size)

    @property
    def shares(self) -> Shares:
        return Shares(self.count_units, self.sum_units)

    @property
    def is_width_depth(self) -> bool:
        return VARIANTS[self.variant] == "width-depth"

    def blocks(self, release: Release) -> Tuple[CoarseBlocks, Array, Array]:
        """The blocks of a ``width-depth`` release, with the points and the groups of each."""
        epsilon, per_person = release.exact_epsilon, self.points_per_person
        blocks = coarse_blocks(release.grid, release.n, epsilon, release.neighbours)
        if self.counts.size != blocks.index.size:
            refuse("it does not have one count for each coarse block")
        points = block_points(self.counts, release.n, per_person)
        groups = block_groups(blocks, points, self.shares, epsilon, self.group_size, per_person)
        if self.sums.size != int(groups.sum()):
            refuse("the number of its sums does not follow from its noisy counts")
        return blocks, points, groups

    def edges(self, release: Release) -> Array:
        """The edges of the bins of a ``depth-width`` release."""
        epsilon, per_person = release.exact_epsilon, self.points_per_person
        groups = curve_groups(release.n, self.shares, epsilon, self.group_size)
        if self.sums.size != groups:
            refuse("the number of its sums does not fit the number of groups")
        sizes = balanced_sizes(release.size * per_person, groups)
        least = points_a_bin(release.n, self.shares, epsilon, per_person)
        edges = bin_edges(self.sums, sizes, release.grid.n_cells, least)
        if self.counts.size != edges.size - 1:
            refuse("the number of its counts does not follow from its noisy sums")
        return edges

    def check(self, release: Release) -> List[str]:
        """Replay the rule on the published counts and sums."""
        if self.variant not in range(len(VARIANTS)):
            refuse("its settings are not those of a hybrid release")
        if self.points_per_person != self.units_of(release.unit, release.max_points):
            refuse("the points per person do not fit what the release protects")
        if self.group_size < 0:
            refuse("its group size is negative")
        if self.shares != shares(self.variant, release.neighbours):
            refuse("its stages do not divide epsilon as the rule does")
        if self.is_width_depth:
            blocks, _, groups = self.blocks(release)
            shown = [
                f"{groups.size} blocks of level {blocks.level} have a count, as n and epsilon ask.",
                f"{self.sums.size} sums inside the blocks follow from the noisy counts.",
            ]
        else:
            bins = self.edges(release).size - 1
            shown = [f"{bins} counts are of bins that follow from {self.sums.size} noisy sums."]
        return shown + [
            f"A count spends {self.count_units} and all sums spend {self.sum_units} of {UNITS} "
            "units of epsilon, as the rule divides it."
        ]


MEASURED = HybridCounts


def coarse_blocks(grid: Grid, n: int, epsilon: Fraction, neighbours: str) -> CoarseBlocks:
    """The blocks of ``width-depth``: as small as n and epsilon allow.

    The level is the deepest at which n times the rate of a path gives POINTS_A_BLOCK to each
    block, on average over the allowed area; at least 1, and above the cells themselves.

    >>> blocks = coarse_blocks(Grid(0.0, 0.0, 1.0, 8), 10_000, Fraction(1), "replace")
    >>> blocks.level, blocks.index.size
    (5, 1024)
    """
    rate = epsilon * path_units(neighbours) / UNITS
    wealth = min(max(n, 0) * rate / POINTS_A_BLOCK, Fraction(MOST_COUNTS))
    level = 1
    while (
        level + 1 < grid.order and Fraction(grid.n_cells, 4 ** (grid.order - level - 1)) <= wealth
    ):
        level += 1
    span = np.int64(4 ** (grid.order - level))
    index = grid.mask.blocks_with_cells(level)
    start = grid.allowed_before(index * span)
    width = grid.allowed_before((index + 1) * span) - start
    kept = width > 0
    return CoarseBlocks(grid, level, index[kept], start[kept], width[kept])


def count_rates(blocks: CoarseBlocks, share: Shares) -> Array:
    """Rate of each block's count: a block of one cell has no sums and keeps their share."""
    return np.where(blocks.width > 1, np.int64(share.counts), np.int64(share.counts + share.sums))


def scales(
    moved: Union[int, Array], rate: Union[int, Array], epsilon: Fraction, points_per_person: int
) -> Tuple[Array, Array]:
    """Numerators and denominators of noise scales: what one party can move over its rate.

    >>> [part.tolist() for part in scales(np.array([1, 15]), UNITS // 4, Fraction(1, 2), 1)]
    [[8, 120], 1]
    """
    unit = Fraction(points_per_person * UNITS * epsilon.denominator, epsilon.numerator)
    rate = np.asarray(rate, object)
    common = math.gcd(unit.numerator, *rate.reshape(-1).tolist())
    numerator = np.asarray(moved, object) * (unit.numerator // common)
    return np.asarray(numerator, object), np.asarray(rate // common * unit.denominator, object)


def block_points(counts: Array, n: int, per_person: int) -> Array:
    """How many points each block is padded or cut to: its noisy count, from 0 to all there are."""
    return np.clip(counts, 0, max(n, 0) * per_person).astype(np.int64)


def block_groups(
    blocks: CoarseBlocks, points: Array, share: Shares, epsilon: Fraction, size: int,
    per_person: int,
) -> Array:  # fmt: skip
    """Number of groups in each block; none where there is too little to sort."""
    rate = epsilon * share.sums / UNITS
    parties, same = np.unique(-(-points // per_person), return_inverse=True)
    worth = [
        group_count(value, rate, size or None) if value * rate >= LEAST_TO_SORT else 0
        for value in parties.tolist()
    ]
    groups = np.array(worth, np.int64)[same.reshape(-1)]
    return np.where(blocks.width > 1, groups, 0)


def block_sizes(points: Array, groups: Array) -> Tuple[Array, Array]:
    """Sizes of all groups along the curve, and the block of each."""
    filled = np.flatnonzero(groups)
    parts = [balanced_sizes(int(points[block]), int(groups[block])) for block in filled]
    return np.concatenate([np.zeros(0, np.int64), *parts]), np.repeat(filled, groups[filled])


def curve_groups(n: int, share: Shares, epsilon: Fraction, size: int) -> int:
    """Number of groups on the whole curve, the first stage of ``depth-width``."""
    return group_count(max(n, 0), epsilon * share.sums / UNITS, size or None)


def points_a_bin(n: int, share: Shares, epsilon: Fraction, per_person: int) -> Fraction:
    """How many points are worth a bin."""
    least = Fraction(POINTS_A_BIN * UNITS, share.counts) / epsilon
    return max(least, Fraction(max(n, 0), MOST_COUNTS)) * per_person


def steps(sums: Array, sizes: Array, n_cells: int) -> Array:
    """Where the sort release sees groups: sorted whole positions 0 to n_cells - 1, one a group."""
    fitted = isotonic_l1(np.asarray(sums, np.float64) / sizes, sizes)
    return np.clip(np.rint(fitted), 0, n_cells - 1).astype(np.int64)


def bin_edges(sums: Array, sizes: Array, n_cells: int, points_a_bin: Fraction) -> Array:
    """Edges of the bins of ``depth-width``, positions from 0 to n_cells.

    The positions of the groups cut the curve into steps. Each is cut evenly into as many bins as
    fit, with that many points a bin, into the mass between its ends. Of groups that share a
    position, half lie to its left and half to its right.

    >>> bin_edges(np.array([8, 24]), np.array([4, 4]), 8, Fraction(2)).tolist()
    [0, 2, 4, 6, 8]
    """
    position = steps(sums, sizes, n_cells)
    corner = np.concatenate([[0], position, [n_cells]]).astype(np.int64)
    # in quarters of a point all of this is whole
    centre = 2 * (2 * np.cumsum(sizes) - sizes)
    upto = np.concatenate([[0], centre, [4 * int(sizes.sum())]])
    first = np.flatnonzero(np.r_[True, np.diff(corner) > 0])
    last = np.append(first[1:] - 1, corner.size - 1)
    middle = (upto[first] + upto[last]) // 2
    middle[0], middle[-1] = 0, upto[-1]
    width = np.diff(corner[first])
    bins = np.clip(np.diff(middle) // math.ceil(4 * points_a_bin), 1, width)
    step = np.repeat(np.arange(bins.size), bins)
    nth = np.arange(step.size) - np.repeat(np.cumsum(bins) - bins, bins)
    whole, part = np.divmod(width, bins)
    edges = corner[first][step] + nth * whole[step] + nth * part[step] // bins[step]
    return np.append(edges, np.int64(n_cells))
