"""Reading the slices of an axis side by side: at every place they add up to the map of all points.

Top down, and one level after the other, the masses of all slices at a place are shared among its
four parts at once. A slice's prior is its share of all points, and what was answered about it is
weighed against that as in `prior`. Then two things must add up: the parts of a slice to its mass,
and all slices in a part to the mass of all points there. What is missing goes to each by its
variance: to the slices that are known least, and at the level at which it is missing, not only in
the end.

All points of a place are known. A slice that is nearly all of them can therefore differ but little
from them: of the chance and of the unevenness that a small slice has, one with share p of all
points has 1 - p and (1 - p)^2. Each slice learns its own unevenness on each level, beginning with
that of all slices.
"""

from __future__ import annotations

from typing import Callable, List, Tuple

import numpy as np

from .intervals import unevenness
from .tree import Tree

Array = np.ndarray

#: rounds in which parts and slices are made to add up
ROUNDS = 5
#: what is believed of the unevenness of slices before the release is seen, and the least that can
#: be found: slices differ from all points less than places do
USUAL, LEAST = 0.03, 0.005


def split_together(
    tree: Tree, totals: Array, level: Array, index: Array, prior: Callable[[Array, Array], Array]
) -> Array:
    """Mass of each root in each of the places, which are the finest leaves of all roots.

    Parameters
    ----------
    tree
        A forest, from `tree.gather`.
    totals
        The mass of every root.
    level, index
        The places: quadtree nodes.
    prior
        The mass of all points in quadtree nodes (level, index), above 0.
    """
    nodes = [_above(level, index, depth) for depth in range(int(level.max()) + 1)]
    said, variance = _answers(tree, totals.size, nodes)
    rest = 1 - totals / max(float(totals.sum()), 1e-300)
    found = np.empty((totals.size, level.size))
    mass, whole = totals[:, None], prior(np.zeros(1, np.int64), nodes[0])
    for depth, here in enumerate(nodes):
        if depth:
            above = np.searchsorted(nodes[depth - 1], here >> 2)
            own = prior(np.full(here.size, depth), here)
            part = own / whole[above]
            guess, spread = _weigh(said[depth], variance[depth], mass[:, above], part, rest)
            mass, whole = _add_up(guess, spread, mass, own, part, above), own
        last = level == depth
        found[:, last] = mass[:, np.searchsorted(here, index[last])]
    return found


def _above(level: Array, index: Array, depth: int) -> Array:
    """The nodes at a depth that are places or hold some."""
    deep = level >= depth
    return np.unique(index[deep] >> 2 * (level[deep] - depth))


def _answers(tree: Tree, roots: int, nodes: List[Array]) -> "Tuple[List[Array], List[Array]]":
    """What every root says of every node, and the variance of that; infinite where it says nothing.

    A walk may go down two levels at once: what lies between is the sum of its parts.
    """
    said, variance = [], []
    for depth, here in enumerate(nodes):
        own = np.flatnonzero(tree.level == depth)
        root = tree.index[own] >> 2 * depth
        at = np.searchsorted(here, tree.index[own] - (root << 2 * depth))
        value, spread = np.zeros((roots, here.size)), np.full((roots, here.size), np.inf)
        value[root, at], spread[root, at] = tree.below[own], tree.variance[own]
        said.append(value)
        variance.append(spread)
    for depth in range(len(nodes) - 1, 1, -1):
        above, first = np.unique(nodes[depth] >> 2, return_index=True)
        at = np.searchsorted(nodes[depth - 1], above)
        sums = [np.add.reduceat(part[depth], first, axis=1) for part in (said, variance)]
        between = np.isinf(variance[depth - 1][:, at])
        for part, whole in zip((said, variance), sums):
            part[depth - 1][:, at] = np.where(between, whole, part[depth - 1][:, at])
    return said, variance


def _weigh(
    said: Array, variance: Array, mass: Array, part: Array, rest: Array
) -> Tuple[Array, Array]:
    """Masses by what was answered and by the prior, before anything adds up; their variances."""
    seen, part = np.isfinite(variance), np.broadcast_to(part, mass.shape)
    left = np.broadcast_to(rest[:, None], mass.shape)
    answers = said[seen], variance[seen], mass[seen], part[seen], left[seen]
    every = unevenness(*answers, USUAL, LEAST)
    rho = np.empty(rest.size)
    for own, some in enumerate(seen):
        alone = said[own, some], variance[own, some], mass[own, some], part[own, some]
        rho[own] = unevenness(*alone, rest[own], every, LEAST)
    expected = np.maximum(part * (left * mass + (rho * rest**2)[:, None] * mass**2), 1e-9)
    known = np.where(seen, 1 / np.where(seen, variance, 1.0), 0.0)
    spread = 1 / (known + 1 / expected)
    return spread * (said * known + part * mass / expected), spread


def _add_up(
    guess: Array, spread: Array, mass: Array, column: Array, part: Array, above: Array
) -> Array:
    """Masses that add up to those of the node above, and nearly to those of all points."""
    first = np.flatnonzero(np.r_[True, above[1:] != above[:-1]])
    family, mass = np.cumsum(np.r_[0, above[1:] != above[:-1]]), mass[:, above[first]]
    of_place = spread / spread.sum(axis=0)
    of_slice = spread / np.add.reduceat(spread, first, axis=1)[:, family]
    for _ in range(ROUNDS):
        guess = guess + (column - guess.sum(axis=0)) * of_place
        missing = mass - np.add.reduceat(guess, first, axis=1)
        guess = np.maximum(guess + missing[:, family] * of_slice, 0.0)
    kept = np.add.reduceat(guess, first, axis=1)[:, family]
    whole = mass[:, family]
    return np.where(kept > 0, guess * whole / np.where(kept > 0, kept, 1.0), part * whole)
