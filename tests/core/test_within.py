"""A release read inside a boundary that was given afterwards."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import shapely

from dpsort_geo.core.curve.blocks import room
from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.compare import compare_zones
from dpsort_geo.core.public.counts import count_within
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.points import points
from dpsort_geo.core.public.tree import fit_tree
from dpsort_geo.core.public.within import inside_of, places_inside

N = 4000
SIDE = 64.0
#: a bay takes a third of the square
LAND = np.array([[0, 0], [64, 0], [64, 20.3], [30.7, 41.1], [12.2, 64], [0, 64]], float)
WEST, EAST = (
    np.array([[0, 0], [22, 0], [22, 64], [0, 64]], float),
    np.array([[22, 0], [64, 0], [64, 64], [22, 64]], float),
)


def on_land(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    after = np.roll(LAND, -1, axis=0)
    crossed = np.zeros(x.size, bool)
    for (ax, ay), (bx, by) in zip(LAND, after):
        spans = (ay > y) != (by > y)
        crossed ^= spans & (x < ax + (y - ay) / np.where(by == ay, 1, by - ay) * (bx - ax))
    return crossed


def private_points() -> np.ndarray:
    rng = np.random.default_rng(3)
    at = rng.random((4 * N, 2)) * SIDE
    return at[on_land(*at.T)][:N]


@pytest.fixture(params=["adaptive", "sort", "hybrid"])
def kind(request) -> str:
    return str(request.param)


def measured(kind: str, seeded, order: int = 6, runs=None, epsilon="1"):
    mechanism = import_module(f"dpsort_geo.core.private.{kind}")
    grid = Grid(0.0, 0.0, SIDE / 2**order, order, runs)
    return mechanism.publish(count_cells(grid, *private_points().T), epsilon, noise=seeded(5))


def test_all_mass_lies_inside_the_boundary(kind, seeded):
    release = measured(kind, seeded)
    inside = decode(release, inside=inside_of(release.grid, [LAND]))
    x, y = points(inside)
    assert x.size == N and on_land(x, y).all()
    assert not on_land(*points(decode(release))).all()
    picture = raster(inside, 6)
    assert picture.sum() == pytest.approx(N)
    assert picture[50:, 50:].sum() == 0
    estimate, low, high = count_within(inside, [[LAND]])
    assert estimate[0] == pytest.approx(N, rel=0.01)


def test_a_boundary_around_everything_changes_nothing(kind, seeded):
    release = measured(kind, seeded)
    square = np.array([[-1, -1], [65, -1], [65, 65], [-1, 65]], float)
    plain, inside = decode(release), decode(release, inside=inside_of(release.grid, [square]))
    for a, b in zip(count_within(plain, [[WEST]]), count_within(inside, [[WEST]])):
        assert a == pytest.approx(b, abs=1)
    assert raster(plain, 5) == pytest.approx(raster(inside, 5), abs=1e-6)


def test_a_boundary_keeps_the_mask_of_the_release(seeded):
    grid = Grid(0.0, 0.0, 1.0, 6)
    release = measured("adaptive", seeded, runs=cover([WEST], grid))
    x, y = points(decode(release, inside=inside_of(release.grid, [LAND])))
    assert (x <= 22).all() and on_land(x, y).all()


def test_answers_of_nodes_in_the_water_do_not_move_the_land(seeded):
    # known zeros: whatever noise the answers in the water have, the land's masses are the same
    release = measured("adaptive", seeded)
    inside = inside_of(release.grid, [LAND])
    nodes = release.measured
    wet = room(inside, nodes.level, nodes.index) == 0
    assert wet.any()
    louder = replace(nodes, value=nodes.value + np.where(wet, 1000, 0))
    a, b = fit_tree(release, nodes, inside), fit_tree(release, louder, inside)
    assert np.array_equal(a.estimate, b.estimate)


def test_no_mass_is_lost_to_the_water_inside_the_boundary(seeded):
    coast = [[_cut_to_land(WEST)], [_cut_to_land(EAST)]]
    release = measured("adaptive", seeded)
    lost = N - count_within(decode(release), coast)[0].sum()
    inside = decode(release, inside=inside_of(release.grid, [LAND]))
    assert lost > 10
    assert abs(N - count_within(inside, coast)[0].sum()) < 0.2 * lost


def _cut_to_land(zone: np.ndarray) -> np.ndarray:
    cut = shapely.intersection(shapely.Polygon(zone), shapely.Polygon(LAND))
    return shapely.get_coordinates(shapely.get_exterior_ring(cut))


def test_places_keep_their_order_inside(seeded):
    grid = Grid(0.0, 0.0, 1.0, 6)
    inside = inside_of(grid, [LAND])
    place = np.linspace(0, 4096, 1001)
    moved = places_inside(grid, inside, place)
    assert (np.diff(moved) >= 0).all() and moved[0] == 0 and moved[-1] == inside.n_cells


def test_a_boundary_elsewhere_is_refused(seeded):
    grid = Grid(0.0, 0.0, 1.0, 6)
    with pytest.raises(BadInputError, match="no cell|covers no cell"):
        inside_of(grid, [LAND + 1000])
    with pytest.raises(BadInputError, match="too fine"):
        inside_of(Grid(0.0, 0.0, 1.0, 25), [LAND])


def test_the_unclaimed_mass_of_a_coast_widens_the_upper_limit_only(seeded):
    decoded = decode(measured("adaptive", seeded))
    coast = [_cut_to_land(WEST)], [_cut_to_land(EAST)]
    both = count_within(decoded, coast)
    alone = [count_within(decoded, [zone]) for zone in coast]
    rest = [LAND, np.array([[0, 0], [64, 0], [64, 64], [0, 64]], float)]
    claimed = count_within(decoded, [*coast, rest])
    for i in (0, 1):
        assert both[1][i] == claimed[1][i] == alone[i][1][0]
        assert both[2][i] > claimed[2][i]


def _strips():
    edges = [(x, x + 16) for x in (0, 16, 32, 48)]
    return [[_cut_to_land(np.array([[a, 0], [b, 0], [b, 64], [a, 64.0]]))] for a, b in edges]


EVERYTHING = np.array([[-9, -9], [99, -9], [99, 99], [-9, 99.0]])


@pytest.mark.parametrize(
    "more",
    [[[EVERYTHING]], _strips, [[EVERYTHING / 99 + [1000 + far, 0]] for far in range(4100)]],
    ids=["a row for all", "nested zones", "zones far away"],
)
@pytest.mark.parametrize("first", [True, False])
def test_other_rows_of_a_table_take_no_coast_away(kind, seeded, more, first):
    more = more() if callable(more) else more
    decoded = decode(measured(kind, seeded, epsilon="0.05"))
    coast = [[_cut_to_land(WEST)], [_cut_to_land(EAST)]]
    water = [LAND, np.array([[0, 0], [64, 0], [64, 64], [0, 64]], float)]
    claimed = count_within(decoded, [*coast, water])[2][:2]
    _, low, high = count_within(decoded, coast)
    _, also_low, also_high = count_within(decoded, [*coast, *more] if first else [*more, *coast])
    at = slice(0, 2) if first else slice(-2, None)
    # outlines are followed a little more or less finely, as many as there are
    assert also_low[at] == pytest.approx(low, abs=2)
    assert also_high[at] - claimed == pytest.approx(high - claimed, rel=0.05)
    assert (high - claimed > 10).any()


def _circles():
    turn = np.linspace(0, 2 * np.pi, 17)[:-1]
    return [
        [at + radius * np.column_stack([np.cos(turn), np.sin(turn)])]
        for at, radius in zip(private_points()[:60], np.linspace(2, 9, 60))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_of_a_table_changes_no_interval(kind, seeded, seed):
    decoded = decode(measured(kind, seeded, epsilon="0.05"))
    zones = [[_cut_to_land(WEST)], *_circles(), [_cut_to_land(EAST)]]
    order = np.random.default_rng(seed).permutation(len(zones))
    in_order, shuffled = (
        np.array(count_within(decoded, [zones[number] for number in numbers]))
        for numbers in (np.arange(len(zones)), order)
    )
    assert shuffled == pytest.approx(in_order[:, order], abs=1e-6)


def test_a_zone_that_stands_in_many_rows_has_the_same_interval_in_each(kind, seeded):
    decoded = decode(measured(kind, seeded, epsilon="0.05"))
    coast = [[_cut_to_land(WEST)], [_cut_to_land(EAST)]]
    once = np.array(count_within(decoded, coast))
    many = np.array(count_within(decoded, coast * 2100))
    assert np.array_equal(many, np.tile(once, 2100))


def test_the_parts_of_a_known_whole_err_against_each_other(seeded):
    decoded = decode(measured("adaptive", seeded))
    found = compare_zones(decoded, [[WEST], [EAST]], (0, 1))
    assert found.correlation == pytest.approx(-1)
    (west, east), low, high = count_within(decoded, [[WEST], [EAST]])
    # so the distances from the limits add up
    assert found.difference == pytest.approx((west - east, low[0] - high[1], high[0] - low[1]))
    assert found.ratio == pytest.approx((west / east, low[0] / high[1], high[0] / low[1]))


def test_intervals_of_differences_and_ratios_hold_the_truth(seeded):
    at = private_points()
    grid = Grid(0.0, 0.0, 1.0, 6)
    zones = [
        np.array([[5, 5], [20, 5], [20, 30], [5, 30.0]]),
        np.array([[20, 5], [29, 5], [29, 30], [20, 30.0]]),
    ]
    a, b = (int(((at >= z.min(axis=0)) & (at < z.max(axis=0))).all(axis=1).sum()) for z in zones)
    held = []
    for seed in range(40):
        found = compare_zones(
            decode(publish(count_cells(grid, *at.T), "0.5", noise=seeded(200 + seed))),
            [[zones[0]], [zones[1]]],
            (0, 1),
        )
        for truth, (_, low, high) in ((a - b, found.difference), (a / b, found.ratio)):
            held.append(low <= truth <= high)
    # 90 % intervals: 80 of them, in pairs; below 24 of 40 pairs has a chance of less than 1e-6
    assert np.mean(held) > 0.6


def test_zones_outside_cannot_be_compared(seeded):
    decoded = decode(measured("adaptive", seeded))
    with pytest.raises(BadInputError, match="outside"):
        compare_zones(decoded, [[WEST], [EAST + 1000]], (0, 1))
