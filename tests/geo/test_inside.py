"""Published points lie in the polygon itself, however odd it is and however coarse the cells."""

from __future__ import annotations

import json
from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.core.curve import hilbert

METRES, DEGREES = "EPSG:27700", "EPSG:4326"
SIDE = 100_000.0
MASKS = Path(__file__).parents[3] / "shared" / "data" / "masks"
#: thousands of kilometres wide, with long straight edges, which every map in metres bends
WIDE = {
    "United States": [[(-124.7, 48.4), (-95, 49), (-67, 47.4), (-80.5, 25.2), (-117.2, 32.5)]],
    "Eurasia": [[(-9.5, 38.7), (104, 1.3), (140, 68)]],
    "in two parts at the antimeridian": [
        [(150, -45), (180, -50), (180, 10), (160, 20)],
        [(-180, -50), (-140, -30), (-150, 15), (-180, 10)],
    ],
    "across the antimeridian": [[(150, -45), (200, -50), (215, 15), (160, 20)]],
    "high north": [[(-40, 62), (60, 64), (55, 83), (-10, 86), (-60, 80)]],
    "around the pole": [[(-180, 65), (180, 65), (180, 89.9), (-180, 89.9)]],
    "around the globe": [[(-170, -20), (170, 25), (165, 50), (-160, 40)]],
    "a city": [[(13.2, 52.38), (13.6, 52.38), (13.62, 52.6), (13.45, 52.52), (13.19, 52.6)]],
}
unit = st.floats(0, 1).map(lambda value: round(value, 3))
place = st.tuples(unit, unit)


@st.composite
def odd_polygons(draw):
    """Creeks and necks of any width, lakes and islands, most of them smaller than a cell."""
    shape = shapely.box(0, 0, 1, draw(st.floats(0.3, 1)))
    if draw(st.booleans()):
        shape = shapely.MultiPoint(draw(st.lists(place, min_size=4, max_size=6))).convex_hull
    for a, b, width in draw(st.lists(st.tuples(place, place, st.floats(-5, -1)), max_size=4)):
        shape = shape.difference(shapely.LineString([a, b]).buffer(10**width, cap_style="flat"))
    for at, width in draw(st.lists(st.tuples(place, st.floats(-4, -1)), max_size=4)):
        shape = shape.difference(shapely.Point(at).buffer(10**width, 2))
    for at, width in draw(st.lists(st.tuples(place, st.floats(-3, -1)), max_size=2)):
        island = shapely.Point(np.array(at) * 1.4 - 0.2).buffer(10**width, 2)
        shape = shape.union(island)
    assume(shape.area > 0.01)
    return shape


def polygon_of(name):
    return shapely.MultiPolygon([(ring, []) for ring in WIDE[name]])


def strays(polygon, x, y):
    """How many places lie outside of a polygon in degrees, as they are or rounded for GeoJSON."""
    shapely.prepare(polygon)
    wrong = 0
    for lon, lat in ((x, y), (np.round(x, 7), np.round(y, 7))):
        turned = [shapely.points(lon + turn, lat) for turn in (-360, 0, 360)]
        wrong += int((~np.any([shapely.covers(polygon, at) for at in turned], axis=0)).sum())
    return wrong


def centres_at_edge(domain, most=40_000):
    """Where the points of cells at the edge of a mask sit, or of a sample of such cells."""
    grid = domain.grid
    index = np.unique(np.concatenate([grid.runs[:, 0], grid.runs[:, 1] - 1]))
    index = index[:: max(1, index.size // most)]
    edge = grid.at_edge(*hilbert.decode(index, grid.order))
    return domain.unproject(*grid.centres(grid.compress(index[edge])))


def outside(domain, polygon):
    """Of the cells of a domain, how many have a place outside where a point could be published."""
    grid = domain.grid
    if grid.runs is None:
        return not polygon.equals(shapely.box(*polygon.bounds))
    i, j = hilbert.decode(grid.expand(np.arange(grid.n_cells)), grid.order)
    edge = grid.at_edge(i, j)
    # a cell in which points may lie anywhere: its outline is as good as all of it, and its middle
    step = np.linspace(1e-6, 1 - 1e-6, 5)
    corners = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
    x, y = grid.x0 + grid.cell * (i + 0.5)[edge], grid.y0 + grid.cell * (j + 0.5)[edge]
    far = [shapely.points(*domain.unproject(x, y))]
    for dx, dy in corners:
        x, y = grid.x0 + grid.cell * (i + dx)[~edge], grid.y0 + grid.cell * (j + dy)[~edge]
        far.append(shapely.points(*domain.unproject(x, y)))
    # a centre on a slanting outline lies on it to the last digit, which may be on either side
    west, south, east, north = polygon.bounds
    grown = polygon.buffer(1e-9 * max(east - west, north - south))
    shapely.prepare(grown)
    wrong = int((~shapely.covers(grown, np.concatenate(far))).sum())
    if domain.crs == domain.working_crs:  # the cells are squares in the polygon's own CRS
        low = np.stack([grid.x0 + grid.cell * i, grid.y0 + grid.cell * j])[:, ~edge]
        whole = shapely.box(*low, *(low + grid.cell))
        wrong += int((~shapely.covers(grown, whole)).sum())
    return wrong


@settings(deadline=None, max_examples=60)
@given(odd_polygons(), st.integers(1, 7), st.sampled_from([METRES, DEGREES]))
@example(shapely.Polygon([(0, 0.5), (0.5, 0), (0, 0)]), 6, METRES)  # centres on the outline
def test_no_cell_has_room_for_a_point_outside_of_the_polygon(shape, order, crs):
    scale, origin = (SIDE, [0, 0]) if crs == METRES else (0.3, [-3, 40])
    polygon = shapely.transform(shape, lambda at: at * scale + origin)
    try:
        domain = dp.Domain.from_polygon(polygon, crs=crs, order=order)
        again = dp.Domain.from_polygon(polygon, crs=crs, order=5).at_resolution(domain.cell_size)
    except dp.BadInputError:
        assume(False)  # smaller than a cell
    assert not outside(domain, polygon)
    assert again.grid == domain.grid


@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_creek_narrower_than_a_cell_holds_no_published_point(method):
    creek = shapely.LineString([(0, 51_000), (80_000, 53_500)]).buffer(150)
    land = shapely.box(0, 0, SIDE, SIDE).difference(creek)
    domain = dp.Domain.from_polygon(land, crs=METRES)
    points = np.random.default_rng(1).uniform([0, 48_000], [SIDE, 56_000], (3000, 2))
    release = dp.publish(points, 1, domain, resolution=2000, method=method)
    for diffuse in (True, False):
        assert shapely.covers(land, release.points(diffuse).geometry.array).all()


def test_a_polygon_full_of_holes_keeps_most_of_its_cells():
    at = np.stack(np.meshgrid(np.arange(64), np.arange(64)), axis=-1).reshape(-1, 2) * 1000 + 200
    holes = shapely.union_all(shapely.box(*at.T, *(at + 100).T))
    domain = dp.Domain.from_polygon(shapely.box(0, 0, 64_000, 64_000).difference(holes), METRES, 6)
    assert 0.7 * 64**2 < domain.grid.n_cells < 64**2


@pytest.mark.parametrize("order", [6, 11, 16])
@pytest.mark.parametrize("name", WIDE)
def test_in_a_wide_polygon_the_cells_at_the_edge_have_their_points_inside(name, order):
    polygon = polygon_of(name)
    assert not strays(polygon, *centres_at_edge(dp.Domain.from_polygon(polygon, DEGREES, order)))


@pytest.mark.parametrize("name", ["nyc_boroughs", "gb_50m", "us_conterminous_10m"])
def test_on_real_coasts_the_cells_at_the_edge_have_their_points_inside(name):
    coast = gpd.read_parquet(MASKS / f"{name}.parquet").to_crs(DEGREES)
    domain = dp.Domain.from_polygon(coast)
    assert not strays(shapely.union_all(coast.geometry.array), *centres_at_edge(domain, 10**9))


@pytest.mark.filterwarnings("ignore:Epsilon 20")
@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
@pytest.mark.parametrize("name", ["United States", "across the antimeridian", "a city"])
def test_points_along_a_bent_outline_are_published_and_written_inside(name, method, tmp_path):
    polygon = polygon_of(name)
    rng = np.random.default_rng(1)
    # the lower half of an outline holds all points, so that most cells along it have some
    along = shapely.line_interpolate_point(
        polygon.boundary, rng.uniform(0, 1, 20_000), normalized=True
    )
    points = shapely.get_coordinates(along)
    points = points[points[:, 1] < np.quantile(points[:, 1], 0.5)]
    release = dp.publish(points, 20, dp.Domain.from_polygon(polygon, DEGREES), method=method)
    for diffuse in (True, False):
        at = release.points(diffuse).geometry
        assert not strays(polygon, at.x.to_numpy(), at.y.to_numpy())
    release.to_geojson(tmp_path / "points.geojson")
    features = json.loads((tmp_path / "points.geojson").read_text())["features"]
    written = np.array([feature["geometry"]["coordinates"] for feature in features])
    assert not strays(polygon, *written.T)


@pytest.mark.filterwarnings("ignore:Epsilon 20")
@pytest.mark.parametrize("name", ["United States", "across the antimeridian", "a city"])
@pytest.mark.parametrize("resolution", [None, 0.01])
def test_points_read_within_a_wide_polygon_lie_inside_it(name, resolution):
    polygon = polygon_of(name)
    low, high = np.array(polygon.bounds[:2]), np.array(polygon.bounds[2:])
    more = 0.1 * (high - low)
    box = dp.Domain.from_bounds((*(low - more), *(high + more)), DEGREES)
    along = shapely.line_interpolate_point(
        polygon.boundary, np.linspace(0, 1, 9000), normalized=True
    )
    points = shapely.get_coordinates(along)
    asked = None if resolution is None else resolution * box.side
    within = dp.publish(points, 20, box, resolution=asked).within(polygon, crs=DEGREES)
    for diffuse in (True, False):
        at = within.points(diffuse).geometry
        assert not strays(polygon, at.x.to_numpy(), at.y.to_numpy())
