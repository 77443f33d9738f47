"""Cells as wide as the smallest detail that readers will ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid, order_for
from dpsort_geo.core.errors import BadInputError

BAY = np.array([[3, 2], [61, 5], [50, 30], [60, 62], [20, 55]], float)


@given(st.floats(1.0, 1e7), st.floats(1e-4, 0.7))
def test_cells_are_at_most_half_an_octave_off_the_resolution(side, part):
    cell = side / 2.0 ** order_for(side, side * part)
    assert 2**-0.5001 <= cell / (side * part) <= 2**0.5001


@pytest.mark.parametrize("resolution", [0.0, -1.0, float("nan"), 1e-9, 800.0, 1e9, float("inf")])
def test_a_resolution_is_a_length_that_the_grid_can_have(resolution):
    with pytest.raises(BadInputError):
        order_for(1000.0, resolution)


@settings(deadline=None)
@given(st.integers(2, 8))
def test_a_coarser_mask_has_the_cells_whose_centres_are_in_the_polygon(order):
    fine = Grid(0.0, 0.0, 64 / 2**9, 9, cover([BAY], Grid(0.0, 0.0, 64 / 2**9, 9)))
    coarse = fine.at_order(order)
    asked = cover([BAY], Grid(0.0, 0.0, 64 / 2**order, order))
    wanted = Grid(0.0, 0.0, 64 / 2**order, order, asked)
    index = np.arange(4**order)
    differ = coarse.is_allowed(index) != wanted.is_allowed(index)
    # a centre may lie within a fine cell of the outline
    assert differ.sum() <= 0.03 * 4**order + 2
    assert (coarse.x0, coarse.side) == (fine.x0, fine.side)


def test_a_finer_mask_is_the_same_area():
    grid = Grid(0.0, 0.0, 1.0, 6, cover([BAY], Grid(0.0, 0.0, 1.0, 6)))
    finer = grid.at_order(9)
    assert finer.n_cells == 64 * grid.n_cells and finer.side == grid.side
    assert finer.at_order(9) == finer


def test_an_area_smaller_than_a_cell_is_refused():
    speck = Grid(0.0, 0.0, 1.0, 6, np.array([[0, 1]]))
    with pytest.raises(BadInputError, match="finer resolution"):
        speck.at_order(2)
