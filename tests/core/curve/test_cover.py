"""Cells near an outline, beside what a slow and simple way finds."""

from __future__ import annotations

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.core.curve.cover import centres_near
from dpsort_geo.core.curve.grid import Grid

GRID = Grid(3.0, -7.0, 0.5, 4)
#: in cells; whole halves make outlines that pass centres and corners
corner = st.tuples(*2 * [st.integers(-8, 40).map(lambda value: value / 2) | st.floats(-2, 18)])


@settings(max_examples=200)
@given(st.lists(corner, min_size=3, max_size=7), st.sampled_from([1e-6, 0.01, 0.25]))
def test_all_centres_within_the_margin_of_an_outline_are_found_and_no_far_ones(corners, margin):
    ring = np.array(corners) * GRID.cell + [GRID.x0, GRID.y0]
    found = np.zeros(GRID.n_cells, bool)
    found[centres_near([ring], GRID, margin)] = True
    centres = shapely.points(*GRID.centres(np.arange(GRID.n_cells)))
    far = shapely.distance(shapely.linearrings(ring), centres) / GRID.cell
    assert found[far <= margin * (1 - 1e-9)].all()
    assert not found[far > 1.5 * margin + 1e-9].any()
