"""From a hybrid release to F.

``width-depth``: the counts of the blocks become masses by the same isotonic regression, over four
symmetries of the curve, as the leaves of an adaptive release. Inside a block the sums say how its
mass lies, decoded as in a sort release; a block without sums is even.

``depth-width``: the cumulative counts of the bins, made non-decreasing by isotonic regression with
weight 1/width, as narrow bins know best where their mass is. Inside a bin the mass is even.
"""

from __future__ import annotations

from typing import List

import numpy as np

from ..hybrid import Blocks, block_sizes, edges_of, groups_of, variant_of
from ..release import Release
from .decode import Decoded
from .isotonic import isotonic_l2
from .leaves import leaves_from
from .monotone import Monotone
from .sorted import decode_sorted

Array = np.ndarray


def decode_hybrid(release: Release) -> Decoded:
    """Decode a hybrid release of either variant.

    >>> from dpsort_geo.curve.grid import Grid
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> from dpsort_geo.publisher.hybrid import publish_hybrid
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> decode_hybrid(publish_hybrid(cells, epsilon=1)).cumulative.total
    8.0
    """
    if variant_of(release) == "width-depth":
        return Decoded(release, _width_depth(release))
    return Decoded(release, _depth_width(release))


def _width_depth(release: Release) -> Monotone:
    blocks, points, groups = groups_of(release)
    sums = np.split(release.measurements["sums"], np.cumsum(groups)[:-1])
    sizes = np.split(block_sizes(points, groups)[0], np.cumsum(groups)[:-1])
    mass = _block_masses(release, blocks)
    before = np.cumsum(mass) - mass
    place: List[Array] = []
    upto: List[Array] = []
    for block, start in enumerate(blocks.start.astype(np.float64).tolist()):
        place.append(np.array([start]))
        upto.append(before[block : block + 1])
        if groups[block]:
            rank, position = decode_sorted(sums[block], sizes[block], int(blocks.width[block]))
            # a position is the number of a cell, whose middle is half a cell further
            place.append(start + position + 0.5)
            upto.append(before[block] + rank * (mass[block] / rank[-1]))
    place.append(np.array([float(release.grid.n_cells)]))
    upto.append(np.array([float(release.size)]))
    return Monotone(np.concatenate(place), np.maximum.accumulate(np.concatenate(upto)))


def _block_masses(release: Release, blocks: Blocks) -> Array:
    level = np.full(blocks.index.size, blocks.level, np.int64)
    counts = release.measurements["counts"].astype(np.float64)
    estimate = counts / release.settings["points_per_person"]
    total = float(release.size)
    return leaves_from(release.grid, level, blocks.index, estimate, total).mass


def _depth_width(release: Release) -> Monotone:
    edges, total = edges_of(release), float(release.size)
    counts = release.measurements["counts"].astype(np.float64)
    upto = np.cumsum(counts / release.settings["points_per_person"])
    fitted = np.clip(isotonic_l2(upto, 1.0 / np.diff(edges)), 0.0, total)
    fitted[-1] = total
    return Monotone(edges.astype(np.float64), np.concatenate([[0.0], fitted]))
