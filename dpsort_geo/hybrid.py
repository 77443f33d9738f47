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
from typing import List, NoReturn, Tuple, Union

import numpy as np

from .budget import PERSON_POINTS, UNITS, path_units
from .curve.grid import Grid
from .errors import BadInput, NotVerified
from .grouping import balanced_sizes, group_count
from .reader.isotonic import isotonic_l1
from .release import Release

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
        raise BadInput("The variant of a hybrid must be 'width-depth' or 'depth-width'.")
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
class Blocks:
    """Quadtree blocks of one level that have an allowed cell, along the curve."""

    grid: Grid
    level: int
    index: Array
    #: allowed cells before each block, and in it
    start: Array
    width: Array

    @property
    def edges(self) -> Tuple[Array, Array]:
        """Curve indices where the blocks begin and end."""
        span = np.int64(4 ** (self.grid.order - self.level))
        return self.index * span, (self.index + 1) * span


def coarse_blocks(grid: Grid, n: int, epsilon: Fraction, neighbours: str) -> Blocks:
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
    index = _blocks_with_cells(grid, level, span)
    start = grid.allowed_before(index * span)
    width = grid.allowed_before((index + 1) * span) - start
    kept = width > 0
    return Blocks(grid, level, index[kept], start[kept], width[kept])


def _blocks_with_cells(grid: Grid, level: int, span: np.int64) -> Array:
    if grid.runs is None:
        return np.arange(4**level, dtype=np.int64)
    # a small mask in a deep grid has few blocks out of very many: look at its runs only
    first, last = grid.runs[:, 0] // span, (grid.runs[:, 1] - 1) // span
    length = last - first + 1
    offset = np.repeat(first - (np.cumsum(length) - length), length)
    return np.unique(offset + np.arange(offset.size))


def count_rates(blocks: Blocks, share: Shares) -> Array:
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
    blocks: Blocks, points: Array, share: Shares, epsilon: Fraction, size: int, per_person: int
) -> Array:
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


def variant_of(release: Release) -> str:
    """The variant of a release whose settings are what the rule asks for, or `NotVerified`."""
    settings = release.settings
    expected = {"variant", "group_size", "points_per_person", "count_units", "sum_units"}
    if set(settings) != expected or settings["variant"] not in range(len(VARIANTS)):
        _refuse("its settings are not those of a hybrid release")
    per_person = settings["points_per_person"]
    if per_person != (PERSON_POINTS if release.unit == "person" else 1):
        _refuse("the points per person do not fit what the release protects")
    if settings["group_size"] < 0:
        _refuse("its group size is negative")
    if _shares_of(release) != shares(settings["variant"], release.neighbours):
        _refuse("its stages do not divide epsilon as the rule does")
    return VARIANTS[settings["variant"]]


def _shares_of(release: Release) -> Shares:
    return Shares(release.settings["count_units"], release.settings["sum_units"])


def groups_of(release: Release) -> Tuple[Blocks, Array, Array]:
    """The blocks of a ``width-depth`` release, with the points and the groups of each."""
    settings, epsilon = release.settings, release.exact_epsilon
    blocks = coarse_blocks(release.grid, release.n, epsilon, release.neighbours)
    counts, per_person = release.measurements["counts"], settings["points_per_person"]
    if counts.size != blocks.index.size:
        _refuse("it does not have one count for each coarse block")
    points = block_points(counts, release.n, per_person)
    size, share = settings["group_size"], _shares_of(release)
    groups = block_groups(blocks, points, share, epsilon, size, per_person)
    if release.measurements["sums"].size != int(groups.sum()):
        _refuse("the number of its sums does not follow from its noisy counts")
    return blocks, points, groups


def edges_of(release: Release) -> Array:
    """The edges of the bins of a ``depth-width`` release."""
    settings, epsilon, share = release.settings, release.exact_epsilon, _shares_of(release)
    groups = curve_groups(release.n, share, epsilon, settings["group_size"])
    if release.measurements["sums"].size != groups:
        _refuse("the number of its sums does not fit the number of groups")
    per_person = settings["points_per_person"]
    sizes = balanced_sizes(release.size * per_person, groups)
    least = points_a_bin(release.n, share, epsilon, per_person)
    edges = bin_edges(release.measurements["sums"], sizes, release.grid.n_cells, least)
    if release.measurements["counts"].size != edges.size - 1:
        _refuse("the number of its counts does not follow from its noisy sums")
    return edges


def verify_hybrid(release: Release) -> List[str]:
    """Replay the rule on a hybrid release; sentences that say what was shown, or `NotVerified`."""
    sums = release.measurements["sums"].size
    if variant_of(release) == "width-depth":
        blocks, _, groups = groups_of(release)
        shown = [
            f"{groups.size} blocks of level {blocks.level} have a count, as n and epsilon ask.",
            f"{sums} sums inside the blocks follow from the noisy counts.",
        ]
    else:
        bins = edges_of(release).size - 1
        shown = [f"{bins} counts are of bins that follow from {sums} noisy sums."]
    share = _shares_of(release)
    return shown + [
        f"A count spends {share.counts} and all sums spend {share.sums} of {UNITS} units of "
        "epsilon, as the rule divides it."
    ]


def _refuse(reason: str) -> NoReturn:
    raise NotVerified(f"The release does not follow its own rule: {reason}. Do not rely on it.")
