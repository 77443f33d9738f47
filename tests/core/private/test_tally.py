"""Counting in pieces is counting at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private import cells as tables
from dpsort_geo.core.private import packed

RUNS = np.array([[3, 9], [20, 60], [100, 200]])


def assert_same(a: tables.Cells, b: tables.Cells) -> None:
    np.testing.assert_array_equal(a.index, b.index)
    np.testing.assert_array_equal(a.count, b.count)
    assert a.index.dtype == a.count.dtype == np.int64


@pytest.mark.parametrize("order", [4, 8, 16, 17])
@pytest.mark.parametrize("masked", [False, True])
@settings(deadline=None)  # no test is a clock
@given(st.lists(st.integers(0, 60), max_size=8), st.integers(1, 90), st.integers(0, 2**32 - 1))
def test_any_pieces_give_the_table_of_all_points(order, masked, sizes, room, seed):
    grid = Grid(0.0, 0.0, 16 / 2**order, order, RUNS if masked else None)
    rng = np.random.default_rng(seed)
    pieces = [rng.normal(8, 6, (2, size)) for size in sizes]
    x, y = np.concatenate([np.empty((2, 0)), *pieces], axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_GATHERED", room)
        patch.setattr(packed, "_BLOCK", 3)
        patch.setattr(packed, "_AT_ONCE", 2)
        tally = tables.Tally(grid)
        for piece in pieces:
            tally.add(*piece)
        found = tally.cells()
        assert_same(tally.cells(), found)
    index, count = np.unique(grid.curve_index(x, y), return_counts=True)
    assert_same(found, tables.Cells(grid, index, count))


@given(st.lists(st.lists(st.integers(0, 255), max_size=40), min_size=1, max_size=5))
def test_merging_in_blocks_is_adding_up(parts):
    grid = Grid(0.0, 0.0, 1.0, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "_BLOCK", 2)
        patch.setattr(packed, "_AT_ONCE", 2)
        merged = tables.merge_all([tables.from_index(grid, np.array(p, np.int64)) for p in parts])
    index, count = np.unique(np.array(sum(parts, []), np.int64), return_counts=True)
    assert_same(merged, tables.Cells(grid, index, count))


@pytest.mark.parametrize("few", [0, 1 << 21])
@given(st.lists(st.integers(0, 400), max_size=60), st.lists(st.integers(-3, 420), max_size=30))
def test_what_comes_before_is_added_up_from_blocks_as_from_an_open_table(few, drawn, edges):
    index, edge = np.sort(np.array(drawn, np.int64)), np.array(edges, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "_FEW", few)
        patch.setattr(packed, "_BLOCK", 3)
        patch.setattr(packed, "_AT_ONCE", 2)
        found = packed.Packed(packed.pack_sorted(index)).before(edge)
    assert found.tolist() == [sum(one < limit for one in drawn) for limit in edges]


def test_the_coarse_table_of_a_mask_forbids_what_the_mask_forbids():
    for order in (2, 8, 11):
        rng = np.random.default_rng(order)
        edges = np.unique(rng.integers(0, 4**order, 40))
        edges = edges[: edges.size // 2 * 2].reshape(-1, 2)
        grid = Grid(0.0, 0.0, 1.0, order, edges)
        index = np.concatenate([rng.integers(0, 4**order, 5000), edges[:, 0], edges[:, 1] - 1])
        np.testing.assert_array_equal(grid.mask.is_forbidden(index), ~grid.is_allowed(index))
