"""From a release to F, the monotone function that everything else is read from (step B1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from ..curve.grid import Grid
from ..errors import BadInput
from ..grouping import balanced_sizes
from ..release import Release
from .leaves import Leaves, leaves_from
from .monotone import Monotone
from .sorted import decode_sorted, decode_sorted_paper
from .tree import Tree, grown

DECODERS = ("default", "paper")


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a release says: F along the curve; for an adaptive release its tree and leaves too."""

    release: Release
    cumulative: Monotone
    leaves: Optional[Leaves] = None
    tree: Optional[Tree] = None

    @property
    def grid(self) -> Grid:
        return self.release.grid

    @property
    def n(self) -> int:
        """Number of points that the release stands for."""
        return self.release.size

    def parts(self) -> Tuple[Leaves, Tree]:
        """The leaves and the tree of an adaptive release."""
        if self.leaves is None or self.tree is None:
            raise BadInput("Only an adaptive release has leaves and a tree.")
        return self.leaves, self.tree


def decode(release: Release, decoder: str = "default") -> Decoded:
    """Decode any release; "paper" gives the paper's own decoder of a sort release.

    A release that does not follow its own rule is refused.

    >>> from dpsort_geo.publisher.adaptive import publish_adaptive
    >>> from dpsort_geo.publisher.cells import count_cells
    >>> cells = count_cells(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> decode(publish_adaptive(cells, epsilon=1)).cumulative.total
    8.0
    """
    if decoder not in DECODERS:
        raise BadInput("The decoder must be 'default' or 'paper'.")
    release.verify()  # whoever made the file: below, all numbers fit together
    if release.kind == "sort":
        return _decode_sort(release, decoder)
    if decoder == "paper":
        raise BadInput("Only a sort release has the paper's decoder.")
    if release.kind == "adaptive":
        return _decode_adaptive(release)
    from .hybrid import decode_hybrid

    return decode_hybrid(release)


def _decode_adaptive(release: Release) -> Decoded:
    tree = grown(release)
    leaf = np.flatnonzero(tree.is_leaf)
    leaves = leaves_from(
        release.grid, tree.level[leaf], tree.index[leaf], tree.estimate[leaf], float(release.size)
    )
    return Decoded(release, leaves.cumulative(), leaves, tree)


def _decode_sort(release: Release, decoder: str) -> Decoded:
    n, per_person = release.size, release.settings["points_per_person"]
    if n == 0:
        place = np.array([0.0, float(release.grid.n_cells)])
        return Decoded(release, Monotone(place, np.zeros(2)))
    sizes = balanced_sizes(n * per_person, release.settings["groups"])
    decoders = {"default": decode_sorted, "paper": decode_sorted_paper}
    rank, position = decoders[decoder](release.measurements["sums"], sizes, release.grid.n_cells)
    # a position is the number of a cell; on the line, that cell's middle is half a cell further
    return Decoded(release, Monotone(position + 0.5, rank / per_person))
