"""The curve is geopandas' curve, at every order, in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.curve.hilbert import MAX_ORDER, decode, encode
from dpsort_geo.core.errors import BadInputError

ORDERS = range(1, MAX_ORDER + 1)


def all_cells(order):
    side = np.arange(1 << order)
    return np.repeat(side, side.size), np.tile(side, side.size)


def some_cells(order, n=5_000):
    i, j = np.random.default_rng(order).integers(0, 1 << order, size=(2, n))
    corner = (1 << order) - 1
    i[:4], j[:4] = [0, 0, corner, corner], [0, corner, 0, corner]
    return i, j


@pytest.mark.parametrize("order", range(1, 17))
def test_the_curve_is_the_one_of_geopandas(order):
    peer = pytest.importorskip("geopandas.tools.hilbert_curve")
    i, j = all_cells(order) if order <= 8 else some_cells(order)
    np.testing.assert_array_equal(encode(i, j, order), peer._encode(order, i, j))


@pytest.mark.parametrize("order", ORDERS)
def test_decode_inverts_encode(order):
    i, j = some_cells(order)
    back_i, back_j = decode(encode(i, j, order), order)
    np.testing.assert_array_equal(back_i, i)
    np.testing.assert_array_equal(back_j, j)


@pytest.mark.parametrize("order", range(1, 9))
def test_every_position_is_taken_exactly_once(order):
    np.testing.assert_array_equal(np.sort(encode(*all_cells(order), order)), np.arange(4**order))


@pytest.mark.parametrize("order", ORDERS)
def test_consecutive_positions_are_neighbouring_cells(order):
    first = np.random.default_rng(order).integers(0, 4**order - 1, size=5_000)
    middle = 4**order // 2
    first[:3] = 0, middle - 1, 4**order - 2
    i, j = decode(first, order)
    next_i, next_j = decode(first + 1, order)
    np.testing.assert_array_equal(abs(next_i - i) + abs(next_j - j), 1)


@pytest.mark.parametrize("order", ORDERS)
def test_a_quadtree_node_is_one_interval_of_positions(order):
    i, j = some_cells(order)
    position = encode(i, j, order)
    for level in range(1, order):
        below = order - level
        node = encode(i >> below, j >> below, level)
        np.testing.assert_array_equal(position >> 2 * below, node)


@given(
    st.integers(1, MAX_ORDER).flatmap(
        lambda order: st.tuples(st.just(order), st.integers(0, 4**order - 1))
    )
)
def test_encode_inverts_decode(case):
    order, position = case
    assert int(encode(*decode(position, order), order)) == position


def test_the_curve_starts_lower_left_and_ends_lower_right():
    for order in ORDERS:
        i, j = decode([0, 4**order - 1], order)
        assert (i[0], j[0], i[1], j[1]) == (0, 0, 2**order - 1, 0)


def test_shapes_broadcast_and_chunks_join():
    order, side = 9, np.arange(1 << 9)
    table = encode(side[:, None], side, order)  # 2^18 cells: several chunks
    assert table.shape == (512, 512) and table.dtype == np.int64
    i, j = decode(table, order)
    assert (i == side[:, None]).all() and (j == side).all()
    assert encode([], [], 4).shape == (0,)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint32", "uint64"])
def test_any_integer_type_gives_the_same_positions(dtype):
    i, j = some_cells(7)
    np.testing.assert_array_equal(encode(i.astype(dtype), j.astype(dtype), 7), encode(i, j, 7))


@pytest.mark.parametrize(
    "i, j",
    [([4], [0]), ([0], [4]), ([-1], [0]), ([0], [-1]), ([0.5], [0]), ([np.nan], [0])]
    + [(np.array([2**64 - 1], np.uint64), [0]), ([2**70], [0]), ([True], [0])],
)
def test_cells_off_the_grid_are_refused(i, j):
    with pytest.raises(BadInputError):
        encode(i, j, 2)


@pytest.mark.parametrize("position", [[16], [-1], [1.0], np.array([2**63], np.uint64)])
def test_positions_off_the_curve_are_refused(position):
    with pytest.raises(BadInputError):
        decode(position, 2)


@pytest.mark.parametrize("order", [0, 32, -1, 2.0, "3"])
def test_orders_out_of_range_are_refused(order):
    with pytest.raises(BadInputError):
        encode([0], [0], order)
    with pytest.raises(BadInputError):
        decode([0], order)
