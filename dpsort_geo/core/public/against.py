"""An adaptive release read against a public map: an earlier release, a population.

The counts of its tree are pulled towards the map (`pull`) and made positive by isotonic regression,
as without one. All of it counts only as far as the release itself speaks for it (`relevance`), and
up to half of the reading stays that without a map, the less the measured splits follow it, the
more. docs/series.md tells what else was tried.

Inside a leaf nothing was measured. There mass follows the map as far as the measured splits did,
the rest is even.

Intervals are those of the release alone around the new estimate, and know no more of what a zone
cuts than before: a map that is wrong in one place may be right in all others, and nothing here
would tell. Narrower ones were tried, and held the truth too seldom at small epsilon.

All of this is post-processing: the release, its rule and its proof stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Tuple

import numpy as np

from ..curve.blocks import Blocks, room
from ..errors import BadInputError
from .coverage import Coverage, cover_leaves
from .cumulative import Cumulative
from .leaves import Leaves, fit_masses, place_leaves
from .patches import EVEN, mass_of
from .prior import follow, pull, relevance

if TYPE_CHECKING:
    from .adaptive import DecodedTree

Array = np.ndarray

#: a leaf is cut where the map is uneven by this share, if this many points or more are there
_UNEVEN, _SOME_POINTS = 0.02, 0.5
#: a leaf is cut so many times, into so many leaves in all
_CUTS, _MOST_LEAVES = 8, 1 << 18
#: what is followed less than this is not followed
_HARDLY = 0.05


@dataclass(frozen=True, eq=False)
class Against:
    """What a map has made of a tree: kept beside it, for the intervals."""

    #: 0 to 1: how much of the reading is the map's doing, and of the detail inside leaves
    trust: float
    detail: float
    #: the leaves of the tree, before they were cut
    leaves: Leaves
    #: of each leaf after that: which one it was cut from, and its share of that one's mass
    whole: Array
    share: Array

    def cover(self, cut: Leaves, blocks: Blocks, zones: int) -> Coverage:
        """Which share of each leaf of the tree lies in each zone, when mass follows the map."""
        found, size = cover_leaves(cut, blocks, zones), self.leaves.level.size
        pair, place = np.unique(found.zone * size + self.whole[found.leaf], return_inverse=True)
        share, place = self.share[found.leaf], place.reshape(-1)
        area = cut.area[found.leaf] / self.leaves.area[self.whole[found.leaf]]
        parts = (
            np.minimum(np.bincount(place, part, pair.size), 1.0)
            for part in (area * found.area, share * found.mass)
        )
        return Coverage(zones, pair // size, pair % size, *parts)


def read_tree(decoded: DecodedTree, prior: Cumulative) -> DecodedTree:
    """Read a tree against a map, given as its F on the same grid."""
    trust, follows, leaves = pull_leaves(decoded, prior)
    detail = trust * follows
    cut, whole, share = _cut(leaves, prior, detail)
    against = Against(trust, detail, leaves, whole, share)
    return replace(decoded, cumulative=cut.cumulative(), leaves=cut, against=against)


def pull_leaves(decoded: DecodedTree, prior: Cumulative) -> Tuple[float, float, Leaves]:
    """The leaves of a tree, pulled towards a map; how far it is believed, and followed."""
    tree, grid, leaves = decoded.tree, decoded.grid, decoded.leaves
    if not prior.total > 0:
        raise BadInputError("The prior has no weight inside the domain; check its CRS.")
    area = room(grid, tree.level, tree.index) / grid.n_cells
    map_ = mass_of(grid, prior, tree.level, tree.index) / prior.total + EVEN * area
    alone = tree.sum_up(decoded.leaf_nodes, leaves.mass)
    trust = relevance(tree, map_, area) if tree.level.size > 1 else 0.0
    follows = follow(tree, map_, area, alone)
    count = pull(tree, map_, area, alone)
    columns = leaves.level, leaves.column, leaves.row, leaves.area, count[decoded.leaf_nodes]
    mass = fit_masses(*columns, float(tree.estimate[0]), grid.order)
    weight = trust * (1 + follows) / 2
    return trust, follows, replace(leaves, mass=(1 - weight) * leaves.mass + weight * mass)


def _cut(leaves: Leaves, prior: Cumulative, detail: float) -> Tuple[Leaves, Array, Array]:
    """Leaves cut where the map is uneven inside; of which leaf each is, and its share of it."""
    grid, whole = leaves.grid, np.arange(leaves.level.size)
    level, index = leaves.level, leaves.index
    held = mass_of(grid, prior, level, index)
    per_map = leaves.mass * detail / np.maximum(held, 1e-300)
    done = []
    for _ in range(_CUTS if detail >= _HARDLY else 0):
        here = mass_of(grid, prior, level, index)
        rich = (level < grid.order) & (here * per_map[whole] >= _SOME_POINTS)
        parts = np.flatnonzero(np.repeat(rich, 4))
        child = (4 * np.repeat(index, 4) + np.tile(np.arange(4), index.size))[parts]
        deeper, above = np.repeat(level, 4)[parts] + 1, parts // 4
        its_room = room(grid, deeper, child)
        area = its_room / room(grid, level, index)[above]
        apart = np.abs(mass_of(grid, prior, deeper, child) / np.maximum(here[above], 1e-300) - area)
        split = np.zeros(index.size, bool)
        np.logical_or.at(split, above, apart > _UNEVEN)
        if not split.any() or index.size + 3 * int(split.sum()) > _MOST_LEAVES:
            break
        done.append((level[~split], index[~split], whole[~split]))
        kept = split[above] & (its_room > 0)
        level, index, whole = deeper[kept], child[kept], whole[above[kept]]
    done.append((level, index, whole))
    level, index, whole = (np.concatenate(column) for column in zip(*done))
    even = room(grid, level, index) / leaves.area[whole]
    said = mass_of(grid, prior, level, index) / np.where(held > 0, held, 1.0)[whole]
    share = np.where(held[whole] > 0, (1 - detail) * even + detail * said, even)
    order = np.argsort(index << 2 * (grid.order - level))
    cut = place_leaves(grid, level, index, leaves.mass[whole] * share)
    return cut, whole[order], share[order]
