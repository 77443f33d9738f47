"""One door to the mechanisms, for the geopandas face, the shell and QGIS alike."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Iterable, Optional, Protocol, Tuple, Union, cast

import numpy as np

from ..curve.declared import DeclaredZones
from ..curve.grid import Grid
from ..release import Release
from ..rules import check_mechanism
from ..rules.budget import EpsilonLike, check_max_points
from .cells import Cells, Tally, count_cells, from_counts
from .persons import joined_names, names_of, take_points
from .slices import SlicedCells

Array = np.ndarray
GroupSize = Union[int, str, None]


class Publisher(Protocol):
    """What every mechanism has in ``private/X``."""

    def contribute(self, place: Array, person: Any) -> Tuple[Array, Array]: ...

    def publish(
        self, cells: Any, epsilon: EpsilonLike, *, group_size: GroupSize = None, **terms: Any
    ) -> Release: ...


def publisher(method: str) -> Publisher:
    """The mechanism of this name."""
    check_mechanism(method)
    return cast(Publisher, import_module(f".{method}", __package__))


def count(
    grid: Grid, x: Array, y: Array, person: Optional[Any] = None, method: str = "adaptive"
) -> Cells:
    """The table that ``method`` measures: points by cell, or what each person contributes."""
    if person is None:
        return count_cells(grid, x, y)
    place = grid.curve_index(np.asarray(x), np.asarray(y))
    return from_counts(grid, *contribute(place, person, method))


def contribute(
    place: Array, person: Any, method: str, max_points: Optional[int] = None
) -> Tuple[Array, Array]:
    """What persons contribute to the table that ``method`` measures: places, and how much to each.

    ``place`` is the number of the cell, or of the cell of a slice, of every point; all points of
    these persons must be here.
    """
    if max_points is None:
        return publisher(method).contribute(place, person)
    chosen = place[take_points(person, max_points)]
    return chosen, np.ones(chosen.size, np.int64)


def count_stream(
    grid: Grid,
    batches: Iterable[Tuple[Array, Array, Any]],
    persons: bool = False,
    method: str = "adaptive",
    max_points: Optional[int] = None,
) -> Cells:
    """The same for batches of x, y and whose point each is, on the grid's own coordinates.

    With ``max_points`` up to so many points of each person are counted, chosen at random.

    >>> batch = np.array([0.5, 1.5]), np.array([0.5, 0.5]), None
    >>> count_stream(Grid(0.0, 0.0, 1.0, 1), [batch, batch]).count
    array([2, 2])
    """
    if persons:
        # a person must come with all their points at once, so these are gathered first
        gathered = [(x, y, names_of(who)) for x, y, who in batches]
        xs, ys, names = zip(*gathered) if gathered else ((), (), ())
        if sum(map(len, xs)):
            x, y, person = np.concatenate(xs), np.concatenate(ys), joined_names(names)
            if max_points is None:
                return count(grid, x, y, person, method)
            kept = take_points(person, max_points)
            return count_cells(grid, x[kept], y[kept])
    else:
        tally = Tally(grid)
        for x, y, _ in batches:
            tally.add(x, y)
        return tally.cells()
    return Tally(grid).cells()


def measure(
    cells: Union[Cells, SlicedCells],
    epsilon: EpsilonLike,
    method: str = "adaptive",
    group_size: GroupSize = None,
    neighbours: str = "replace",
    unit: str = "point",
    max_points: Optional[int] = None,
    zones: Optional[DeclaredZones] = None,
) -> Release:
    """Draw the release of a table that `count` made for the same method and unit.

    ``zones`` may be declared for a table with axes.

    >>> cells = count(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> measure(cells, epsilon=1, method="sort").kind
    'sort'
    """
    check_max_points(max_points, unit, neighbours)
    declared = {} if zones is None else {"zones": zones}
    return publisher(method).publish(
        cells, epsilon, neighbours=neighbours, unit=unit, max_points=max_points,
        group_size=group_size, **declared,
    )  # fmt: skip
