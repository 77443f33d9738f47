"""One door to the mechanisms, for the geopandas face, the shell and QGIS alike."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from ..budget import PERSON_POINTS, EpsilonLike
from ..curve.grid import Grid
from ..errors import BadInput
from ..release import Release
from .adaptive import publish_adaptive
from .cells import Cells, count_cells
from .hybrid import publish_hybrid
from .persons import count_person_points, count_persons
from .sort import publish_sorted

Array = np.ndarray

METHODS = ("adaptive", "sort", "hybrid")


def count(
    grid: Grid, x: Array, y: Array, person: Optional[Any] = None, method: str = "adaptive"
) -> Cells:
    """The table that ``method`` measures: points by cell, or what each person contributes."""
    if person is None:
        return count_cells(grid, x, y)
    if method == "adaptive":
        return count_persons(grid, x, y, person)
    return count_person_points(grid, x, y, person)


def measure(
    cells: Cells,
    epsilon: EpsilonLike,
    method: str = "adaptive",
    group_size: Union[int, str, None] = None,
    neighbours: str = "replace",
    unit: str = "point",
) -> Release:
    """Draw the release of a table that `count` made for the same method and unit.

    >>> cells = count(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> measure(cells, epsilon=1, method="sort").kind
    'sort'
    """
    if method == "adaptive":
        return publish_adaptive(cells, epsilon, neighbours=neighbours, unit=unit)
    per_person = PERSON_POINTS if unit == "person" else 1
    if method == "sort":
        return publish_sorted(cells, epsilon, group_size, neighbours, per_person)
    if method == "hybrid" and not isinstance(group_size, str):
        return publish_hybrid(
            cells,
            epsilon,
            group_size=group_size,
            neighbours=neighbours,
            points_per_person=per_person,
        )
    raise BadInput("The method is 'adaptive', 'sort' or 'hybrid'; only sort has the paper's sizes.")
