"""The public rule of a release with axes: one budget, several views of the same records.

A *view* groups the slices of all axes into roots, and each root is a quadtree over the grid. The
first view has one root, all records: it is the walk of an adaptive release. Each axis has a view
with a root a category, or a root a block of time; where there is enough to see, a small table
category x time is a view with no tree at all. So is a table of zones that were declared beforehand
by all joint slices, which takes a third of the budget before all others.

Why it is private. A record has one cell and one joint slice, so that in each view it lies under
one root and on one path, and in one zone at most. What a view asks of one path adds up to at most
its share, and the shares add up to the ``budget`` of a path: whatever the answers were, the rates
of all questions that contain one (cell, slice) add up to at most ``budget``. Which questions these
are follows from public settings and noisy answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Callable, ClassVar, List, Optional, Sequence, Tuple

import numpy as np

from ..curve.declared import DeclaredZones
from ..curve.grid import Grid
from ..errors import BadInputError
from .adaptive import FIXED, AdaptiveCounts, most_spent, thresholds, walk, walk_forest
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
#: percent of a view's budget for the totals of its slices; all of it for time in a single block
CATEGORY_TOTALS, TIME_TOTALS = 10, 50
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

    def part(self, view: int, first: int = 0, roots: int = 1) -> AdaptiveCounts:
        """What was asked under some roots of a view; indices with their roots."""
        here = (self.view == view) & (self.slice >= first) & (self.slice < first + roots)
        level = self.level[here]
        key = ((self.slice[here] - first) << 2 * level) + self.index[here]
        return AdaptiveCounts(level, key, self.rate[here], self.value[here])

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
        spent = sum(self._most_spent(number, axes) for number in range(len(axes) + 2))
        spent += int(self.rate[self.view == len(axes) + 2].max(initial=0))  # a zone, or none
        if spent > budget:
            refuse("a cell of a slice spends more than its budget")
        return [
            f"All {done} counts are what the public rule asks for, at the rates that it asks for.",
            f"No cell of any slice spends more than its budget, all views together "
            f"(at most {spent} of {budget} units).",
        ]

    def _most_spent(self, view: int, axes: Sequence[Axis]) -> int:
        """The largest sum of rates on any path of a view; bins of time and their blocks add up."""
        size = axes[view - 1].size if 0 < view <= len(axes) else int(self.slice.max(initial=0)) + 1
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
    share = shares(axes, n, epsilon, budget - own)
    whole = View(0, np.zeros(every.size, np.int64), 1)
    walk(grid, n, epsilon, share[0], lambda *node: note(whole, *node), units)
    below = every.size
    for number, axis in enumerate(axes, start=1):
        below //= axis.size
        view = View(number, every // below % axis.size, axis.size)
        _ask_axis(grid, axis, view, max(n, 0), epsilon, share[number], note, units)
    if len(share) > len(axes) + 1:
        table = View(len(share) - 1, every, every.size)
        _ask_roots(table, share[-1], note)
    if own and zones is not None:
        _ask_roots(View(len(axes) + 2, every, every.size * zones.size, 0, zones), own, note)
    return ViewCounts(*(np.concatenate(parts) for parts in zip(*asked)))


def _ask_axis(
    grid: Grid,
    axis: Axis,
    view: View,
    n: int,
    epsilon: Fraction,
    share: int,
    note: Answer,
    units: int,
) -> None:
    """Totals of the slices first, then a forest over them, or over blocks of them."""
    timed = isinstance(axis, TimeAxis)
    first = share * (TIME_TOTALS if timed else CATEGORY_TOTALS) // 100
    rest = share - first
    blocks = block_count(axis.size, n, epsilon, rest) if timed else axis.size
    if timed and blocks == 1 < axis.size:  # the map of all points is known better from its own view
        _ask_roots(view, share, note)
        return
    noisy = _ask_roots(view, first, note)
    fine = FIXED // units
    mass = np.array(project([value * fine for value in noisy.tolist()], n * FIXED), np.int64)
    if timed:
        block = block_of(axis.size, blocks)
        view = View(view.number, block[view.owner], blocks, axis.size)
        mass = np.add.reduceat(mass, np.searchsorted(block, np.arange(blocks)))
    walk_forest(
        grid,
        mass,
        np.full(mass.size, rest, np.int64),
        thresholds(n, epsilon, rest, C),
        lambda *node: note(view, *node),
        units,
        least=int(view.roots == 1),  # a single root holds all records, which is known
    )


def _ask_roots(view: View, rate: int, note: Answer) -> Array:
    key = np.arange(view.roots, dtype=np.int64)
    return note(view, 0, key, np.full(view.roots, rate, np.int64))


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
