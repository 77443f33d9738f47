"""From a public area to a grid: what needs no GIS to be answered."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dpsort_geo.core.frame.area import choose_projection, narrowest
from dpsort_geo.core.frame.rings import box_ring, cut, rings_of, unwrapped

INTERVALS = st.lists(
    st.tuples(st.integers(-180, 179), st.integers(1, 60)).map(lambda a: (a[0], a[0] + a[1])),
    min_size=1,
    max_size=6,
)


def holds(west: float, east: float, first: int, last: int) -> bool:
    return any(west <= first + turn and last + turn <= east for turn in (-720, -360, 0, 360, 720))


@given(INTERVALS)
@example([(0, 1), (-1, 2)])
def test_the_range_of_longitudes_holds_all_intervals_and_none_is_narrower(intervals):
    first, last = (np.array(ends, float) for ends in zip(*intervals))
    west, east = narrowest(first, last)
    assert all(holds(west, east, *one) for one in intervals)
    # the narrowest begins where an interval begins; how far it must then go
    needed = [max((a - start) % 360 + (b - a) for a, b in intervals) for start, _ in intervals]
    assert east - west <= min(*needed, max(last) - min(first), 720)


@given(st.floats(-180, 180), st.floats(0.01, 360), st.floats(-90, 89), st.floats(0.01, 1))
def test_a_projection_is_centred_on_its_box_or_its_pole_or_is_a_cylinder(
    west, width, south, height
):
    chosen = choose_projection((west, south, west + width, south + height))
    assert -180 <= chosen.lon < 180
    if west + width - west > 180:
        polar = south >= 15 or south + height <= -15
        assert chosen.lat == ((90 if south > 0 else -90) if polar else None)
    else:
        off = float(unwrapped(np.array([chosen.lon]), west + width / 2)[0]) - (west + width / 2)
        assert abs(off) < 1e-4 and abs(chosen.lat - (south + height / 2)) < 1e-4


@given(st.floats(1, 1e6), st.floats(1, 1e6))
def test_cut_edges_are_short_and_go_the_same_way(width, height):
    ring = box_ring(0.0, 0.0, width, height, pieces=1)
    size = max(width, height)
    ((short,),) = cut([[ring]], size)
    assert np.hypot(*np.diff(short, axis=0).T).max() <= size / 512 * (1 + 1e-6)
    assert set(map(tuple, ring)) <= set(map(tuple, short))
    x, y = short.T
    assert abs((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2 / (width * height) - 1) < 1e-9


def test_outer_rings_turn_left_and_holes_turn_right_however_they_came():
    outer, hole = box_ring(0, 0, 9, 9, 1), box_ring(2, 2, 4, 4, 1)
    for a in (outer, outer[::-1]):
        for b in (hole, hole[::-1]):
            one, two = rings_of([[a, b]])
            np.testing.assert_array_equal(one, outer if a is outer else a[::-1])
            assert (two[1] == [2, 4]).all()
