"""Zones along the curve: how much of each stretch between given edges lies in each zone.

For releases without a tree, sort and hybrid, whose strata are stretches of the curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve.blocks import Blocks
from ..curve.grid import Grid
from .cumulative import Cumulative

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Stretches:
    """A row a (zone, stretch) pair that overlap."""

    zone: Array
    stretch: Array
    #: share of the stretch's cells that lies in the zone, and the mass in both
    share: Array
    mass: Array


def cut_stretches(grid: Grid, f: Cumulative, blocks: Blocks, edges: Array) -> Stretches:
    """The zones' parts of each stretch."""
    start, stop = blocks.places(grid)
    first = np.clip(np.searchsorted(edges, start, side="right") - 1, 0, edges.size - 2)
    last = np.clip(np.searchsorted(edges, stop, side="left"), first + 1, edges.size - 1)
    many = last - first
    block = np.repeat(np.arange(len(blocks)), many)
    stretch = np.arange(block.size) - np.repeat(np.cumsum(many) - many, many) + first[block]
    start = np.maximum(start[block], edges[stretch])
    stop = np.maximum(np.minimum(stop[block], edges[stretch + 1]), start)
    part = blocks.share[block]
    mass = (f.upto(stop) - f.upto(start)) * part
    number = edges.size - 1
    pair, place = np.unique(blocks.zone[block] * number + stretch, return_inverse=True)
    place = place.reshape(-1)
    stretch = pair % number
    width = edges[stretch + 1] - edges[stretch]
    share = np.minimum(np.bincount(place, (stop - start) * part, pair.size) / width, 1.0)
    return Stretches(pair // number, stretch, share, np.bincount(place, mass, pair.size))


def share_of_cells(grid: Grid, blocks: Blocks, zones: int) -> Array:
    """Share of the allowed cells in each zone."""
    start, stop = blocks.places(grid)
    return np.bincount(blocks.zone, (stop - start) * blocks.share, zones) / grid.n_cells
