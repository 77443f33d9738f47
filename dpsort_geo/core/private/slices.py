"""Counts by cell and slice: the table that a release with axes measures.

Like `cells`: sparse, exact, and mergeable by addition. A record is one number, its joint slice
times 4^order plus its curve index, so that one sorted column holds what, when and where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..curve.declared import DeclaredZones
from ..curve.grid import Grid
from ..errors import BadInputError
from ..rules.axes import Axis, check_axes
from ..rules.budget import PERSON_UNITS
from .packed import add_pairs
from .persons import spread_units

Array = np.ndarray

#: records that a tally gathers before it adds them to its table
_GATHERED = 1 << 22


@dataclass(frozen=True, eq=False)
class SlicedCells:
    """Counts of the non-empty (slice, cell) pairs, by increasing slice * 4^order + curve index."""

    grid: Grid
    axes: Tuple[Axis, ...]
    index: Array
    count: Array

    def __repr__(self) -> str:
        return f"<private counts on axes {', '.join(axis.name for axis in self.axes)}>"

    @property
    def n(self) -> int:
        """The total of all counts."""
        return int(self.count.sum())

    def forest(self, owner: Array) -> Tuple[Array, Array]:
        """Sorted root * 4^order + curve index, and how much comes before each and in all.

        ``owner`` is the root of every joint slice.
        """
        depth = np.int64(2 * self.grid.order)
        root = owner[self.index >> depth]
        key = (root << depth) + (self.index & ((np.int64(1) << depth) - 1))
        order = np.argsort(key, kind="stable")
        before = np.zeros(key.size + 1, np.int64)
        np.cumsum(self.count[order], out=before[1:])
        return key[order], before


def joint_slices(axes: Sequence[Axis], values: Sequence[Any]) -> Array:
    """The joint slice of every record, from a column of values for each axis, one after the other.

    >>> from dpsort_geo.core.rules.axes import make_axes
    >>> joint_slices(make_axes({"a": ["x", "y"], "b": ["1", "2", "3"]}), [["x", "y"], [3, 1]])
    array([2, 3])
    """
    joint = np.zeros(1, np.int64)
    for axis, column in zip(axes, values):
        joint = joint * np.int64(axis.size) + axis.slices(column)
    return joint


def count_slices(
    grid: Grid,
    axes: Sequence[Axis],
    x: Array,
    y: Array,
    joint: Array,
    person: Optional[Any] = None,
) -> SlicedCells:
    """Count records by cell and joint slice; a person spreads their units over both.

    >>> from dpsort_geo.core.rules.axes import make_axes
    >>> axes = make_axes({"type": ["a", "b"]})
    >>> count_slices(Grid(0.0, 0.0, 1.0, 1), axes, [0.2, 0.3], [0.5, 0.1], np.array([0, 1])).count
    array([1, 1])
    """
    tally = SlicedTally(grid, axes)
    if person is None:
        tally.add(x, y, joint)
        return tally.cells()
    key, units = spread_units(tally.keys(x, y, joint), person, PERSON_UNITS)
    return SlicedCells(grid, tuple(axes), *add_pairs(key, units))


class SlicedTally:
    """Counts records as they come, in memory that grows with the non-empty pairs alone."""

    def __init__(self, grid: Grid, axes: Sequence[Axis]) -> None:
        self._grid, self._axes = grid, check_axes(axes)
        slices = int(np.prod([axis.size for axis in axes], dtype=np.int64))
        if slices << 2 * grid.order >= 1 << 62:
            raise BadInputError(
                "The grid is too fine for so many slices; use a domain of lower order."
            )
        self._gathered: List[Array] = []
        nothing = np.zeros(0, np.int64)
        self._table = SlicedCells(grid, self._axes, nothing, nothing)

    def keys(self, x: Array, y: Array, joint: Array) -> Array:
        """Joint slice * 4^order + curve index of every record."""
        index = self._grid.curve_index(np.asarray(x), np.asarray(y))
        if np.shape(joint) != index.shape:
            raise BadInputError("There must be exactly one value of each axis for each point.")
        return (joint << np.int64(2 * self._grid.order)) + index

    def add(self, x: Array, y: Array, joint: Array) -> None:
        """Count these records, too."""
        self._gathered.append(self.keys(x, y, joint))
        if sum(part.size for part in self._gathered) >= _GATHERED:
            self.cells()

    def cells(self) -> SlicedCells:
        """All records so far."""
        key, count = np.unique(
            np.concatenate([*self._gathered, self._table.index[:0]]), return_counts=True
        )
        self._gathered = []
        latest = SlicedCells(self._grid, self._axes, key, count)
        self._table = merge_slices([self._table, latest])
        return self._table


def merge_slices(tables: Sequence[SlicedCells]) -> SlicedCells:
    """The counts of several sets of records together."""
    if not tables:
        raise BadInputError("There is no table of counts to merge.")
    grid, axes = tables[0].grid, tables[0].axes
    if any(table.grid != grid or table.axes != axes for table in tables):
        raise BadInputError("Only counts on the same grid and axes can be merged.")
    index = np.concatenate([table.index for table in tables])
    count = np.concatenate([table.count for table in tables])
    return SlicedCells(grid, axes, *add_pairs(index, count))


class Forests:
    """The counts of nodes under any roots; each forest is made once."""

    def __init__(self, cells: SlicedCells) -> None:
        self._cells = cells
        self._made: Dict[Tuple[int, int], Tuple[Array, Array]] = {}

    def counts(self, view: Tuple[int, int], owner: Array, level: int, key: Array) -> Array:
        """How much lies in nodes ``root * 4^level + index``; ``view`` names the forest."""
        if view not in self._made:
            self._made = {view: self._cells.forest(owner)}  # one after the other, never again
        index, before = self._made[view]
        depth = np.int64(2 * (self._cells.grid.order - level))
        first, last = (np.searchsorted(index, edge << depth) for edge in (key, key + 1))
        return np.asarray(before[last] - before[first])

    def zone_counts(self, zones: DeclaredZones, size: int) -> Array:
        """How much lies in every zone of every joint slice: joint slice * zones + zone."""
        depth = np.int64(2 * self._cells.grid.order)
        index = self._cells.index
        zone = zones.holding(index & ((np.int64(1) << depth) - 1))
        inside = zone >= 0
        key = (index[inside] >> depth) * np.int64(zones.size) + zone[inside]
        total = np.zeros(size, np.int64)
        np.add.at(total, key, self._cells.count[inside])  # exact, where bincount has floats
        return total
