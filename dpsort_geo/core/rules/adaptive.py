"""The public rule of the adaptive release: which counts to ask for, and at what rate.

The rule sees noisy answers and never a private point: `walk` takes the answers from a function
that it is given. The publisher answers with count + noise; a verifier answers with what a file
says, and finds out whether the file is what the rule asks for. Everything is done in integers,
or in single float operations that IEEE 754 rounds exactly, so it comes out the same everywhere.

Why it is private. Which nodes are asked for, and with what rate, follows from earlier noisy
answers. Along any path from the root the rates add up to at most ``budget`` units of epsilon.
So a change of one count on a path changes the likelihood of all answers by exp(budget) at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Callable, ClassVar, Dict, List, Tuple

import numpy as np

from ..curve.grid import Grid
from ..errors import BadInputError
from .budget import MOST_POINTS, PERSON_UNITS, UNITS, path_units
from .measured import Measured, refuse

if TYPE_CHECKING:
    from ..release import Release

Array = np.ndarray
#: answers the counts of nodes (level, index) with noise of the given rate
Answer = Callable[[int, Array, Array], Array]

# The constants of the mechanism: public, few, the same for everybody.
#: a node is split while the noise of its parts would stay below their counts: N r >= 4^d C / 2
C = 3
#: each step gets GAMMA times the rate of the step before, the last one KAPPA times that
GAMMA = Fraction(7, 5)
KAPPA = 4
#: C rises with n so that a release never asks for many more nodes than this
MOST_NODES = 1 << 19

#: the rule reckons with counts in this fraction of a point
FIXED = 1 << 20
#: answers beyond this many points play no part in the rule, which keeps its integers in range
_BEYOND = np.int64(1 << 57)


@dataclass(frozen=True, eq=False)
class AdaptiveCounts(Measured):
    """Counts of quadtree nodes: what was asked and answered, in the order of the rule."""

    KIND: ClassVar[str] = "adaptive"
    METHOD: ClassVar[str] = "adaptive"
    WORDS: ClassVar[str] = (
        "Noisy counts of quadtree cells, refined where they are large (adaptive)."
    )
    ERROR_LAW: ClassVar[Tuple[float, float, float]] = (1.38, 0.612, 0.033)
    PERSON: ClassVar[int] = PERSON_UNITS
    COUNTS_PLACES: ClassVar[bool] = True
    ARRAYS: ClassVar[Tuple[str, ...]] = ("level", "index", "rate", "value")

    level: Array
    index: Array
    rate: Array
    value: Array

    @property
    def answers(self) -> int:
        return len(self.value)  # all else says what was asked

    def check(self, release: Release) -> List[str]:
        """Replay the rule on the published values."""
        if len({part.shape for part in self.arrays().values()}) != 1:
            refuse("its nodes, rates and values are not equally many")
        done = 0

        def answer(level: int, index: Array, rate: Array) -> Array:
            nonlocal done
            now = slice(done, done + index.size)
            if not (
                self.level[now].size == index.size
                and np.all(self.level[now] == level)
                and np.array_equal(self.index[now], index)
                and np.array_equal(self.rate[now], rate)
            ):
                refuse("its nodes or rates are not those that follow from its earlier values")
            done += index.size
            return self.value[now]

        budget, epsilon = path_units(release.neighbours), release.exact_epsilon
        walk(
            release.grid,
            release.n,
            epsilon,
            budget,
            answer,
            self.units_of(release.unit, release.max_points),
        )
        if done != self.level.size:
            refuse("it has more nodes than the rule asks for")
        spent = most_spent(self)
        if spent > budget:
            refuse("a path spends more than its budget")
        return [
            f"All {done} counts are what the public rule asks for, at the rates that it asks for.",
            f"No path spends more than its budget (at most {spent} of {budget} units).",
        ]


MEASURED = AdaptiveCounts


def most_spent(nodes: AdaptiveCounts) -> int:
    """The largest sum of rates along any path, in units of epsilon."""
    order = int(nodes.level.max(initial=0))
    start = nodes.index << 2 * (order - nodes.level)
    stop = (nodes.index + 1) << 2 * (order - nodes.level)
    place = np.concatenate([start, stop])
    change = np.concatenate([nodes.rate, -nodes.rate])
    # where one node ends and the next begins, the end comes first
    ordered = np.lexsort((change > 0, place))
    return int(np.cumsum(change[ordered]).max(initial=0))


def walk(
    grid: Grid, n: int, epsilon: Fraction, budget: int, answer: Answer, units: int = 1
) -> AdaptiveCounts:
    """Ask level by level, from the root down; n is public (or noisy), the root is not asked.

    ``units`` is how many units of count one point or person has.
    """
    if n > MOST_POINTS:
        raise BadInputError("An adaptive release can hold up to 2^37 points.")
    n = max(n, 0)
    deepest = thresholds(n, epsilon, budget)
    root = np.array([n * FIXED]), np.array([budget], np.int64)
    return walk_forest(grid, *root, deepest, answer, units, least=1)


def walk_forest(
    grid: Grid,
    mass: Array,
    budget: Array,
    deepest: Array,
    answer: Answer,
    units: int = 1,
    least: int = 0,
) -> AdaptiveCounts:
    """The same walk from many roots, each with its mass (in FIXED) and what a path may spend.

    Each root has the whole grid below it. The index of a node is root * 4^level + its index in the
    grid; one root is the walk of an adaptive release. ``least`` is how many levels a root is split
    at least.
    """
    asked: List[Tuple[int, Array, Array, Array]] = []
    waiting: Dict[int, List[Tuple[Array, Array, Array]]] = {
        0: [(np.arange(mass.size, dtype=np.int64), mass, budget)]
    }

    def ask(level: int, index: Array, rate: Array) -> Array:
        value = answer(level, index, rate)
        asked.append((level, index, rate, value))
        return value

    for level in range(grid.order):
        if level not in waiting:
            continue
        index, mass, left = (np.concatenate(parts) for parts in zip(*waiting.pop(level)))
        depth = np.searchsorted(deepest, mass.astype(np.float64) * left.astype(np.float64), "right")
        if level == 0:
            depth = np.maximum(depth, least)
        enough = depth == 0
        if enough.any():
            ask(level, index[enough], left[enough])
        steps, step = _steps(depth, grid.order - level)
        for s in (1, 2):
            chosen = np.flatnonzero((step == s) & ~enough)
            if not chosen.size:
                continue
            share = _share(steps[chosen], left[chosen])
            child, allowed = _children(grid, level, index[chosen], s)
            rate = np.repeat(share[:, None], 4**s, axis=1)
            value = ask(level + s, child[allowed], rate[allowed])
            goes_on = share < left[chosen]
            if not goes_on.any():
                continue
            block = np.full(child.shape, -_BEYOND)
            fine = np.int64(FIXED // units)
            block[allowed] = np.clip(value, -(_BEYOND // fine), _BEYOND // fine) * fine
            parts = _project(block[goes_on], allowed[goes_on], mass[chosen][goes_on])
            rest = np.repeat((left[chosen] - share)[goes_on][:, None], 4**s, axis=1)
            kept = allowed[goes_on]
            waiting.setdefault(level + s, []).append(
                (child[goes_on][kept], parts[kept], rest[kept])
            )
    return AdaptiveCounts(
        np.concatenate([np.full(index.size, level, np.int64) for level, index, _, _ in asked]),
        *(np.concatenate([entry[part] for entry in asked]) for part in (1, 2, 3)),
    )


def thresholds(n: int, epsilon: Fraction, budget: int, least: int = C) -> Array:
    """Smallest mass times rate that is worth d = 1, 2, ... more levels.

    d = floor(log4(N r / c) + 1/2) is the largest d with N r >= c 4^d / 2; no logarithm is taken.
    """
    per_path = epsilon * budget / UNITS
    c = max(Fraction(least), n * per_path / MOST_NODES)
    one = c * FIXED * UNITS / (2 * epsilon)
    return np.array([float(one * 4**d) for d in range(1, 33)])


def _steps(depth: Array, remaining: int) -> Tuple[Array, Array]:
    """How many steps come after this one, and how many levels (1 or 2) this one goes down."""
    bottom = depth >= remaining  # rich enough to go to the bottom of the grid
    steps = np.where(bottom, (remaining + 1) // 2 - 1, depth // 2)
    odd = np.where(bottom, remaining % 2 == 1, (depth == 1) | (depth % 2 == 0))
    return steps, np.where(odd, 1, 2)


def _share(steps: Array, left: Array) -> Array:
    """Units for this step out of what the path has left; all of it when no step comes after."""
    share = left.copy()
    for k in np.unique(steps[steps > 0]).tolist():
        weight = sum((GAMMA**i for i in range(k)), Fraction(0)) + KAPPA * GAMMA ** (k - 1)
        of_this = steps == k
        share[of_this] = left[of_this] * weight.denominator // weight.numerator
    return share


def _children(grid: Grid, level: int, index: Array, s: int) -> Tuple[Array, Array]:
    """Descendants s levels down, a row a node, and which of them have an allowed cell."""
    child = index[:, None] * 4**s + np.arange(4**s)
    if grid.runs is None:
        return child, np.ones(child.shape, bool)
    span = np.int64(4 ** (grid.order - level - s))
    place = child & np.int64(4 ** (level + s) - 1)  # whatever the root
    return child, grid.allowed_before((place + 1) * span) > grid.allowed_before(place * span)


def _project(block: Array, allowed: Array, total: Array) -> Array:
    """Each row moved onto {x >= 0, sum x = total} by the shortest way, in whole numbers."""
    ranked = -np.sort(-np.where(allowed, block, -_BEYOND), axis=1)
    running = np.cumsum(ranked, axis=1)
    count = np.arange(1, block.shape[1] + 1)
    positive = (count * ranked - running + total[:, None] > 0) & (
        count <= allowed.sum(axis=1)[:, None]
    )
    kept = np.maximum(positive.sum(axis=1), 1)
    excess = np.take_along_axis(running, kept[:, None] - 1, axis=1)[:, 0] - total
    return np.where(allowed, np.maximum(block - (excess // kept)[:, None], 0), 0)
