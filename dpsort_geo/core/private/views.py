"""A release with axes: noisy counts of quadtree cells in several views of the same records.

The rule of what to ask lives in `rules.views` and sees answers only. Each answer is the true count
of a node under its root plus discrete Laplace noise of scale 1 / rate.

Why it is epsilon-DP. Fix the answers. A record (cell, joint slice) is counted by the questions that
contain it, and their rates add up to at most epsilon / 2 under ``replace``, whatever view they
belong to. A neighbour changes place, category, date or all at once: it leaves one such set of
questions and enters another, and each count changes by one at most: epsilon / 2 + epsilon / 2.
A declared zone holds a cell or not, so that its table adds one question to such a set, or none.
Under ``add-remove`` there is one set, which has epsilon (1 - 1/50), and the noisy n. A person's
mass of W units is spread over (cell, slice); each unit is a record as above with noise rate s / W.
Nothing but the total n is taken exactly, and that only under ``replace``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence

import numpy as np

from ..curve.declared import DeclaredZones
from ..curve.grid import Grid
from ..release import Release
from ..rules.axes import Axis
from ..rules.budget import EpsilonLike, path_units
from ..rules.views import View, ViewCounts, ask_views
from .adaptive import contribute
from .draw import Terms, add_noise, draw
from .slices import Forests, SlicedCells, count_slices, joint_slices

__all__ = ["contribute", "count", "publish"]

Array = np.ndarray


def count(
    grid: Grid,
    x: Array,
    y: Array,
    person: Optional[Any],
    axes: Sequence[Axis],
    values: Sequence[Any],
) -> SlicedCells:
    """The table that is measured: records, or what each person contributes, by cell and slice."""
    return count_slices(grid, axes, x, y, joint_slices(axes, values), person)


def publish(
    cells: SlicedCells,
    epsilon: EpsilonLike,
    *,
    group_size: Optional[int] = None,
    zones: Optional[DeclaredZones] = None,
    **terms: Any,
) -> Release:
    """Measure the table under epsilon-DP and return the release; ``terms`` are those of `draw`.

    ``zones`` are public; a part of the budget goes to a table of them by all slices.

    >>> from dpsort_geo.core.rules.axes import make_axes
    >>> axes, at = make_axes({"type": ["a", "b"]}), np.arange(8.0)
    >>> cells = count(Grid(0.0, 0.0, 1.0, 3), at, at, None, axes, [list("aaabbbbb")])
    >>> release = publish(cells, epsilon=1)
    >>> release.n, release.kind
    (8, 'views')
    """
    ViewCounts.check_group_size(group_size)
    made = draw(cells, epsilon, ViewCounts, lambda known: _measure(cells, known, zones), **terms)
    return made if zones is None else replace(made, zones=zones)


def _measure(cells: SlicedCells, terms: Terms, zones: Optional[DeclaredZones] = None) -> ViewCounts:
    forests, budget = Forests(cells), path_units(terms.neighbours)

    def answer(view: View, level: int, key: Array, rate: Array) -> Array:
        if view.zones is not None:
            true = forests.zone_counts(view.zones, key.size)
        else:
            true = forests.counts((view.number, view.first), view.owner, level, key)
        return add_noise(true, rate, terms)

    asked = cells.grid, cells.axes, terms.n, terms.epsilon, budget, answer, terms.units
    return ask_views(*asked, zones)
