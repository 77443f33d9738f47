"""Which share of each leaf lies in each zone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve.blocks import Blocks
from .leaves import Leaves, columns_and_rows
from .parabola import fit_parabolas

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Coverage:
    """A row a (zone, leaf) pair that overlap."""

    zones: int
    zone: Array
    leaf: Array
    #: share of the leaf's allowed cells, and of its mass
    area: Array
    mass: Array


def cover_leaves(leaves: Leaves, blocks: Blocks, zones: int) -> Coverage:
    """Share of each leaf in each zone: a block's own for leaves in it, less for one around it."""
    zone, level, index, share = blocks.parts
    order = max(leaves.grid.order, int(level.max(initial=0)))
    start = leaves.index << 2 * (order - leaves.level)
    first, last = index << 2 * (order - level), (index + 1) << 2 * (order - level)
    low = np.searchsorted(start, first)
    # blocks inside one larger leaf, the last one that begins at the block's start or before it
    around = low - (start[np.minimum(low, start.size - 1)] != first)
    hit = (around >= 0) & (leaves.level[around] < level)
    hit &= first < start[around] + (np.int64(1) << 2 * (order - leaves.level[around]))
    small = np.flatnonzero(hit)
    leaf = around[small]
    # leaves that a block holds
    many, large = np.zeros(low.size, np.int64), np.flatnonzero(~hit)
    many[large] = np.searchsorted(start, last[large]) - low[large]
    block = np.repeat(np.arange(many.size), many)
    inside = np.arange(block.size) - np.repeat(np.cumsum(many) - many, many) + low[block]
    began, ended = blocks.places(leaves.grid)
    area = (ended[small] - began[small]) / leaves.area[leaf]
    mass = area * _leaning(leaves, leaf, level[small], index[small])
    area, mass = area * share[small], mass * share[small]
    key = np.concatenate([zone[block] * start.size + inside, zone[small] * start.size + leaf])
    pair, place = np.unique(key, return_inverse=True)
    place = place.reshape(-1)
    return Coverage(
        zones,
        pair // start.size,
        pair % start.size,
        np.minimum(np.bincount(place, np.concatenate([share[block], area]), pair.size), 1.0),
        np.minimum(np.bincount(place, np.concatenate([share[block], mass]), pair.size), 1.0),
    )


def _leaning(leaves: Leaves, leaf: Array, level: Array, index: Array) -> Array:
    """How much denser than its leaf a block inside it is."""
    shape = fit_parabolas(leaves)
    found = np.ones(leaf.size)
    bent = np.flatnonzero(leaves.is_whole[leaf])
    leaf, level, index = leaf[bent], level[bent], index[bent]
    deeper = level - leaves.level[leaf]
    width = (0.5 ** np.arange(64))[deeper]
    corners = leaves.column[leaf] << deeper, leaves.row[leaf] << deeper
    for axis, own in enumerate(columns_and_rows(level, index)):
        found[bent] *= shape.density(axis, leaf, (own - corners[axis] + 0.5) * width, width)
    return found
