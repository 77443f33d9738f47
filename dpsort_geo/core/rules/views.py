"""The public rule of a release with axes: one budget, several views of the same records.

A *view* groups the slices of all axes into roots, and each root is a quadtree over the grid. The
first view has one root, all records: it is the walk of an adaptive release. Each axis has a view
with a root a category, or a root a block of time; where there is enough to see, a small table
category x time is a view with no tree at all. So is a table of zones that were declared beforehand
by all joint slices, which takes a third of the budget before all others.

Where the noisy totals say that one category of the first axis has half of all points, it is set
*apart*, and then also the next one, if it has a third of what is left. The first view then has a
root for each of them and one for all others, and the axis's view has trees for the others alone. A
record lies under one root of the first view, so a category apart spends on its own tree what the
others share between a tree of them all and one of each.

Why it is private. A record has one cell and one joint slice, so that in each view it lies under
one root and on one path, and in one zone at most. What a view asks of one path adds up to at most
its share, and the shares add up to the ``budget`` of a path; of categories apart the first view has
the share of the axis, too, which then asks nothing of them but their totals. Whatever the answers
were, the rates of all questions that contain one (cell, slice) add up to at most ``budget``. Which
questions these are follows from public settings and noisy answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Callable, ClassVar, List, Optional, Sequence, Tuple

import numpy as np

from ..curve.declared import DeclaredZones
from ..curve.grid import Grid
from ..errors import BadInputError
from .adaptive import FIXED, AdaptiveCounts, most_spent, thresholds, walk_forest
from .adaptive import C as ALL
from .axes import Axis
from .budget import MOST_POINTS, PERSON_UNITS, UNITS, path_units
from .measured import Measured, refuse
from .time_axis import TimeAxis

if TYPE_CHECKING:
    from ..release import Release

Array = np.ndarray

# The constants of the mechanism: public, few, the same for everybody.
#: what a view of an axis needs to split a node, instead of 3: its maps lean on the map of all
C = 10
#: percent of a path's budget for the axes; from RICH points times epsilon of a path on, the error
#: of the map of all points falls faster with its own share, and the axes get less
AXES, RICH_AXES, RICH = 33, 28, 25_000
#: percent of it for time beside categories; bins that would drown in noise get only a little
TIME, LITTLE_TIME = 5, 2
#: percent that the table category x time takes from each of the two, where n is worth it
TABLE = 1
#: points times epsilon of a path that a bin beside categories and a cell of the table must be worth
WORTH_A_BIN, WORTH_A_CELL = 60, 250
#: a category is apart with one part of so many of all points; the next one, of what is left
APART = (2, 3)
#: what the tree of the first category apart needs to split a node, and what the trees that are read
#: against it need, instead of 3
C_APART, C_AGAINST = 4, 8
#: percent of a path of its others, where a category is apart, for the tree of them all, and not for
#: one of each
OTHERS = 85
#: percent of a view's budget for the totals of its slices; all of it for time in a single block
CATEGORY_TOTALS, TIME_TOTALS = 8, 50
#: levels that every category is split at least: how many there are is known already, where is not
LEAST_LEVELS = 2
#: a block of time is worth so many nodes
NODES_A_BLOCK = 64
#: one part of so many of a path's budget for a table of declared zones; points times epsilon that
#: a cell of it must be worth; cells that it may have
ZONE_PART, WORTH_A_ZONE, MOST_ZONE_CELLS = 3, Fraction(1, 2), 1 << 18


@dataclass(frozen=True, eq=False)
class View:
    """How the joint slices of a record become roots; in a file, root i is slice ``first + i``.

    Of a table of declared ``zones`` a question is joint slice * zones + zone; in a file the joint
    slice is the slice, and the zone the index.
    """

    number: int
    owner: Array
    roots: int
    first: int = 0
    zones: Optional[DeclaredZones] = None


#: answers the counts of nodes of a view: level, root * 4^level + index, rate
Answer = Callable[[View, int, Array, Array], Array]


@dataclass(frozen=True, eq=False)
class ViewCounts(Measured):
    """Counts of quadtree nodes in all views: what was asked and answered, in order."""

    KIND: ClassVar[str] = "views"
    METHOD: ClassVar[str] = AdaptiveCounts.METHOD
    WORDS: ClassVar[str] = (
        "Noisy counts of quadtree cells: of all points, by category, by time (views)."
    )
    #: of the map of all points, at its share of epsilon
    ERROR_LAW: ClassVar[Tuple[float, float, float]] = AdaptiveCounts.ERROR_LAW
    PERSON: ClassVar[int] = PERSON_UNITS
    COUNTS_PLACES: ClassVar[bool] = True
    HAS_AXES: ClassVar[bool] = True
    ARRAYS: ClassVar[Tuple[str, ...]] = ("view", "slice", "level", "index", "rate", "value")

    view: Array
    slice: Array
    level: Array
    index: Array
    rate: Array
    value: Array

    @property
    def answers(self) -> int:
        return len(self.value)  # all else says what was asked

    def part(self, view: int, first: int = 0, roots: int = 1) -> AdaptiveCounts:
        """What was asked under some roots of a view; indices with their roots."""
        here = (self.view == view) & (self.slice >= first) & (self.slice < first + roots)
        level = self.level[here]
        key = ((self.slice[here] - first) << 2 * level) + self.index[here]
        return AdaptiveCounts(level, key, self.rate[here], self.value[here])

    def apart(self, release: Release) -> List[int]:
        """The categories of the first axis that are apart, if any are; the largest first."""
        if isinstance(release.axes[0], TimeAxis):
            return []
        size = release.axes[0].size
        total = (self.view == 1) & (self.level == 0) & (self.slice < size)
        units = self.units_of(release.unit, release.max_points)
        return set_apart(masses(self.value[total][:size], release.size, units), release.size)

    def others(self, size: int, apart: Sequence[int]) -> AdaptiveCounts:
        """What was asked of each of the other categories: their totals, then their trees."""
        rank = np.delete(np.arange(size), apart)
        total, trees = self.part(1, 0, size), self.part(1, size, rank.size)
        kept = np.isin(total.index, rank)
        root = np.searchsorted(rank, total.index[kept])
        return AdaptiveCounts(
            np.concatenate([total.level[kept], trees.level]),
            np.concatenate([root, trees.index]),
            np.concatenate([total.rate[kept], trees.rate]),
            np.concatenate([total.value[kept], trees.value]),
        )

    def check(self, release: Release) -> List[str]:
        """Replay the rule on the published values."""
        if len({part.shape for part in self.arrays().values()}) != 1:
            refuse("its nodes, rates and values are not equally many")
        done = 0

        def answer(view: View, level: int, key: Array, rate: Array) -> Array:
            nonlocal done
            now = slice(done, done + key.size)
            asked = _asked(view, level, key, rate)
            if not all(
                np.array_equal(part[now], wanted)
                for part, wanted in zip(list(self.arrays().values())[:5], asked)
            ):
                refuse("its nodes or rates are not those that follow from its earlier values")
            done += key.size
            return self.value[now]

        budget, epsilon = path_units(release.neighbours), release.exact_epsilon
        units, axes = self.units_of(release.unit, release.max_points), release.axes
        ask_views(release.grid, axes, release.n, epsilon, budget, answer, units, release.zones)
        if done != self.level.size:
            refuse("it has more nodes than the rule asks for")
        spent = self._most_spent_first(axes[0].size, self.apart(release))
        spent += sum(self._most_spent(number, axes) for number in range(2, len(axes) + 2))
        spent += int(self.rate[self.view == len(axes) + 2].max(initial=0))  # a zone, or none
        if spent > budget:
            refuse("a cell of a slice spends more than its budget")
        return [
            f"All {done} counts are what the public rule asks for, at the rates that it asks for.",
            f"No cell of any slice spends more than its budget, all views together "
            f"(at most {spent} of {budget} units).",
        ]

    def _most_spent_first(self, size: int, apart: Sequence[int]) -> int:
        """The largest sum of rates on any path of the first two views together."""
        every = np.iinfo(np.int64).max
        if not apart:
            return most_spent(self.part(0)) + self._most_spent_of(1, size)
        *alone, others = (most_spent(self.part(0, group)) for group in range(len(apart) + 1))
        others += most_spent(self.part(1, size, every - size))
        return most_spent(self.part(1, 0, size)) + max(*alone, others)

    def _most_spent(self, view: int, axes: Sequence[Axis]) -> int:
        """The largest sum of rates on any path of a view; bins of time and their blocks add up."""
        every = int(self.slice.max(initial=0)) + 1
        return self._most_spent_of(view, axes[view - 1].size if view <= len(axes) else every)

    def _most_spent_of(self, view: int, size: int) -> int:
        rest = int(self.slice.max(initial=0)) + 1 - size
        parts = [self.part(view, 0, size), self.part(view, size, max(rest, 0))]
        return sum(most_spent(part) for part in parts)


MEASURED = ViewCounts


def shares(axes: Sequence[Axis], n: int, epsilon: Fraction, budget: int) -> List[int]:
    """Units of a path for each view: all records, the axes, and the table (or nothing)."""
    worth = max(n, 0) * epsilon * budget / UNITS
    every = AXES if worth < RICH else RICH_AXES
    percent = [Fraction(every, len(axes))] * len(axes)
    if isinstance(axes[-1], TimeAxis) and len(axes) == 2:
        time = TIME if worth >= WORTH_A_BIN * axes[1].size else LITTLE_TIME
        percent = [Fraction(every - time), Fraction(time)]
        if worth >= WORTH_A_CELL * axes[0].size * axes[1].size:
            percent = [*(part - TABLE for part in percent), Fraction(2 * TABLE)]
    units = [budget * part.numerator // (100 * part.denominator) for part in percent]
    return [budget - sum(units), *units]


def zone_units(zones: int, axes: Sequence[Axis], n: int, epsilon: Fraction, budget: int) -> int:
    """Units of a path for the table of so many declared zones; none where noise would drown it.

    >>> from dpsort_geo.core.rules.axes import make_axes
    >>> [zone_units(40, make_axes({"type": ["a", "b"]}), n, Fraction(1), 600) for n in (0, 10**9)]
    [0, 200]
    """
    units = budget // ZONE_PART
    cells = zones * int(np.prod([axis.size for axis in axes], dtype=np.int64))
    worth = max(n, 0) * epsilon * units / UNITS
    return units if zones and worth >= WORTH_A_ZONE * cells else 0


def all_shares(
    axes: Sequence[Axis], n: int, epsilon: Fraction, budget: int, zones: int
) -> List[int]:
    """The same as `shares`, and at the end what a table of declared zones has, where it is asked.

    ``zones`` is how many there are.
    """
    own = zone_units(zones, axes, n, epsilon, budget)
    return [*shares(axes, n, epsilon, budget - own), *([own] if own else [])]


def check_zone_cells(zones: int, axes: Sequence[Axis]) -> None:
    """Refuse a table of more cells than a file can hold."""
    if zones * int(np.prod([axis.size for axis in axes], dtype=np.int64)) > MOST_ZONE_CELLS:
        raise BadInputError(
            f"A table of declared zones has up to {MOST_ZONE_CELLS:,} cells, zones times "
            "categories times bins of time: declare fewer zones, or longer bins."
        )


def ask_views(
    grid: Grid,
    axes: Sequence[Axis],
    n: int,
    epsilon: Fraction,
    budget: int,
    answer: Answer,
    units: int = 1,
    zones: Optional[DeclaredZones] = None,
) -> ViewCounts:
    """Ask all views in their order; n is public (or noisy) and not asked."""
    if n > MOST_POINTS:
        raise BadInputError("A release with axes can hold up to 2^37 points.")
    sizes = [axis.size for axis in axes]
    if max(sizes) * 2 << 2 * grid.order >= 1 << 62:
        raise BadInputError("The grid is too fine for so many slices; use a domain of lower order.")
    asked: List[Tuple[Array, ...]] = []

    def note(view: View, level: int, key: Array, rate: Array) -> Array:
        value = answer(view, level, key, rate)
        asked.append((*_asked(view, level, key, rate), value))
        return value

    every = np.arange(int(np.prod(sizes)), dtype=np.int64)
    own = 0
    if zones is not None:
        check_zone_cells(zones.size, axes)
        own = zone_units(zones.size, axes, n, epsilon, budget)
    path = budget - own
    share = shares(axes, n, epsilon, path)
    ask = _Questions(grid, max(n, 0), epsilon, units, note)
    below = every.size
    for number, axis in enumerate(axes, start=1):
        below //= axis.size
        view = View(number, every // below % axis.size, axis.size)
        if number == 1 and isinstance(axis, TimeAxis):
            ask.all_records(every, share[0])
        if isinstance(axis, TimeAxis):
            ask.times(view, share[number])
        elif number == 1:
            ask.first_categories(view, share[0], share[1])
        else:
            ask.categories(view, share[number])
    if len(share) > len(axes) + 1:
        ask.roots(View(len(share) - 1, every, every.size), share[-1])
    if own and zones is not None:
        ask.roots(View(len(axes) + 2, every, every.size * zones.size, 0, zones), own)
    return ViewCounts(*(np.concatenate(parts) for parts in zip(*asked)))


@dataclass(frozen=True, eq=False)
class _Questions:
    """Public settings, and who answers; every method asks a view, or a part of one."""

    grid: Grid
    n: int
    epsilon: Fraction
    units: int
    note: Answer

    def all_records(self, slices: Array, share: int) -> None:
        """The map of all points."""
        mass = np.array([self.n * FIXED], np.int64)
        self._forest(View(0, np.zeros(slices.size, np.int64), 1), mass, [share], ALL, least=1)

    def first_categories(self, view: View, all_share: int, own_share: int) -> None:
        """The first axis and the map of all points, which are divided otherwise with some apart."""
        first = own_share * CATEGORY_TOTALS // 100
        mass, rest = self._totals(view, first), own_share - first
        apart = set_apart(mass, self.n)
        if not apart:
            self.all_records(view.owner, all_share)
            self._forest(view, mass, [rest] * view.roots, C, LEAST_LEVELS)
            return
        others = np.delete(np.arange(view.roots), apart)
        group, root = np.full(view.roots, len(apart)), np.full(view.roots, -1)
        group[apart], root[others] = np.arange(len(apart)), np.arange(others.size)
        whole = all_share + rest
        tree = others_units(others.size, whole)
        for number in range(len(apart) + 1):
            own = View(0, np.where(group == number, 0, -1)[view.owner], 1, number)
            share = tree if number == len(apart) else whole
            c = C_AGAINST if number else C_APART
            self._forest(own, mass[group == number].sum()[None], [share], c, least=1)
        if tree < whole:
            view = View(view.number, root[view.owner], others.size, view.roots)
            self._forest(view, mass[others], [whole - tree] * others.size, C, LEAST_LEVELS)

    def categories(self, view: View, share: int) -> None:
        """Totals of the categories first, then a forest over them."""
        first = share * CATEGORY_TOTALS // 100
        mass, rest = self._totals(view, first), [share - first] * view.roots
        self._forest(view, mass, rest, C, LEAST_LEVELS)

    def times(self, view: View, share: int) -> None:
        """Totals of the bins first, then a forest over blocks of them."""
        bins, first = view.roots, share * TIME_TOTALS // 100
        blocks = block_count(bins, self.n, self.epsilon, share - first)
        if blocks == 1 < bins:  # the map of all points is known better from its own view
            self.roots(view, share)
            return
        mass, block = self._totals(view, first), block_of(bins, blocks)
        mass = np.add.reduceat(mass, np.searchsorted(block, np.arange(blocks)))
        view = View(view.number, block[view.owner], blocks, bins)
        self._forest(view, mass, [share - first] * blocks, C, least=int(blocks == 1))

    def roots(self, view: View, rate: int) -> Array:
        """All roots once."""
        key = np.arange(view.roots, dtype=np.int64)
        return self.note(view, 0, key, np.full(view.roots, rate, np.int64))

    def _totals(self, view: View, rate: int) -> Array:
        return masses(self.roots(view, rate), self.n, self.units)

    def _forest(self, view: View, mass: Array, budget: Sequence[int], c: int, least: int) -> None:
        walk_forest(
            self.grid,
            mass,
            np.array(budget, np.int64),
            thresholds(self.n, self.epsilon, max(budget), c),
            lambda *node: self.note(view, *node),
            self.units,
            least,
        )


def masses(noisy: Array, n: int, units: int) -> Array:
    """Masses of roots that add up to n, in FIXED, from their noisy totals."""
    fine = FIXED // units
    return np.array(project([value * fine for value in noisy.tolist()], n * FIXED), np.int64)


def set_apart(mass: Array, n: int) -> List[int]:
    """The roots of n points that are set apart, the largest first, as long as others are left.

    >>> [set_apart(np.array(mass) * FIXED, sum(mass)) for mass in ([1, 3], [1, 6, 2, 1], [1, 1, 1])]
    [[1], [1, 2], []]
    """
    found: List[int] = []
    masses, left = mass.tolist(), n * FIXED
    for part in APART:
        largest = max(masses)
        if left <= 0 or part * largest < left or mass.size - len(found) == 1:
            break
        found.append(masses.index(largest))
        masses[found[-1]], left = -1, left - largest
    return found


def others_units(others: int, whole: int) -> int:
    """Units of a path for the tree of all others of the categories apart; the rest is for each.

    Of a single other there is nothing else to ask.

    >>> others_units(1, 100), others_units(2, 100)
    (100, 85)
    """
    return whole if others == 1 else whole * OTHERS // 100


def block_count(bins: int, n: int, epsilon: Fraction, rate: int) -> int:
    """How many blocks of time there is enough to see for: 1, 2, 4, ... or one a bin.

    >>> [block_count(24, n, Fraction(1), UNITS // 20) for n in (10**4, 10**5, 10**6)]
    [1, 4, 24]
    """
    worth = n * epsilon * rate / (UNITS * C * NODES_A_BLOCK)
    if worth >= bins:
        return bins
    blocks = 1
    while 2 * blocks < bins and 2 * blocks <= worth:
        blocks *= 2
    return blocks


def block_of(bins: int, blocks: int) -> Array:
    """The block of every bin.

    >>> block_of(7, 2).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    return np.arange(bins, dtype=np.int64) * blocks // bins


def project(values: Sequence[int], total: int) -> List[int]:
    """Values moved onto {x >= 0, sum x = total} by the shortest way, in whole numbers.

    >>> project([5, -3, 1], 4)
    [4, 0, 0]
    """
    running, excess = 0, values[0] - total
    for count, value in enumerate(sorted(values, reverse=True), start=1):
        running += value
        if count * value - running + total <= 0 and count > 1:
            break
        excess = (running - total) // count
    return [max(value - excess, 0) for value in values]


def _asked(view: View, level: int, key: Array, rate: Array) -> Tuple[Array, ...]:
    """The questions as a file writes them: view, slice, level, index, rate."""
    depth = np.int64(2 * level)
    if view.zones is not None:
        number, nothing = np.full(key.size, view.number, np.int64), np.zeros(key.size, np.int64)
        joint, zone = np.divmod(key, np.int64(view.zones.size))
        return number, joint, nothing, zone, rate
    return (
        np.full(key.size, view.number, np.int64),
        view.first + (key >> depth),
        np.full(key.size, level, np.int64),
        key & ((np.int64(1) << depth) - 1),
        rate,
    )
