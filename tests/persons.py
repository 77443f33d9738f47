"""Tables of what persons contribute, with any number of units or points, as `publish` counts them.

Names are looked up when they are used, so that a mutant of a module is what is tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private import cells, persons
from dpsort_geo.core.rules.budget import PERSON_POINTS, PERSON_UNITS

Array = np.ndarray


def count_persons(
    grid: Grid, x: Any, y: Any, person: Any, units: int = PERSON_UNITS
) -> cells.Cells:
    """Each person's mass of ``units``, spread over the cells of their points."""
    place = grid.curve_index(np.asarray(x), np.asarray(y))
    return cells.from_counts(grid, *persons.spread_units(place, person, units))


def count_person_points(
    grid: Grid, x: Any, y: Any, person: Any, points: int = PERSON_POINTS
) -> cells.Cells:
    """Exactly ``points`` points of each person, evenly through their own points on the curve."""
    place = grid.curve_index(np.asarray(x), np.asarray(y))
    return cells.from_index(grid, persons.choose_places(place, person, points))
