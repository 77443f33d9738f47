"""The domain: which cells are allowed, in which projection, and what is refused."""

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.curve import hilbert
from dpsort_geo.geo.crs import crs_text
from dpsort_geo.geo.host import HOST

NYC = (-74.3, 40.5, -73.7, 40.95)


def lonlat_of_cells(domain, many=4000):
    position = np.linspace(0, domain.grid.n_cells - 1, many).astype(np.int64)
    return domain.unproject(*domain.grid.centres(position))


def test_a_city_gets_cells_of_about_ten_metres():
    domain = dp.Domain.from_bounds(NYC, crs="EPSG:4326")
    assert 5 <= domain.cell_size <= 20
    assert domain.side == pytest.approx(domain.cell_size * 2**domain.grid.order)


@pytest.mark.parametrize("side", [3.0, 40.0, 700.0, 5e4, 4e6])
def test_default_cells_are_never_below_a_metre_nor_the_order_above_16(side):
    domain = dp.Domain.from_bounds((0, 0, side, side), crs="EPSG:3857")
    assert domain.cell_size >= 1
    assert domain.grid.order <= 16


def test_a_foot_based_crs_is_measured_in_metres():
    feet = dp.Domain.from_bounds((900_000, 100_000, 1_000_000, 200_000), crs="EPSG:2263")
    assert feet.side == pytest.approx(100_000 * 1200 / 3937)
    assert feet.cell_size >= 1


@pytest.mark.parametrize(
    "bounds", [NYC, (-10, 35, 40, 71), (-125, 24, -66, 50), (100, -80, 140, -60)]
)
def test_a_lonlat_box_means_that_box_and_not_its_projected_hull(bounds):
    domain = dp.Domain.from_bounds(bounds, crs="EPSG:4326", order=9)
    west, south, east, north = bounds
    lon, lat = lonlat_of_cells(domain)
    # a cell belongs to the box by its centre; rounding of the edges is far below a cell
    slack = 0.02 * (east - west) / 2**9
    assert lon.min() >= west - slack and lon.max() <= east + slack
    assert lat.min() >= south - slack and lat.max() <= north + slack
    # and every centre in the box is allowed
    every = np.arange(4**9)
    i, j = hilbert.decode(every, 9)
    grid = domain.grid
    x, y = grid.x0 + (i + 0.5) * grid.cell, grid.y0 + (j + 0.5) * grid.cell
    lon, lat = domain.unproject(x, y)
    inside = (
        (lon > west + slack) & (lon < east - slack) & (lat > south + slack) & (lat < north - slack)
    )
    assert grid.is_allowed(every)[inside].all()


def test_the_working_projection_is_equal_area():
    domain = dp.Domain.from_bounds((-10, 35, 40, 71), crs="EPSG:4326", order=10)
    geod = pyproj.Geod(ellps="WGS84")
    box = shapely.segmentize(shapely.box(-10, 35, 40, 71), 0.1)
    # parallels are not geodesics, so the box is cut into short pieces
    area = abs(geod.geometry_area_perimeter(box)[0])
    assert domain.area == pytest.approx(area, rel=2e-3)


def test_a_projected_crs_is_used_as_it_is():
    domain = dp.Domain.from_bounds((500_000, 150_000, 560_000, 200_000), crs="EPSG:27700")
    assert domain.working_crs == domain.crs == pyproj.CRS("EPSG:27700")
    x, y = domain.project(np.array([530_000.0]), np.array([180_000.0]))
    assert (x[0], y[0]) == (530_000.0, 180_000.0)


def test_a_global_domain_works():
    domain = dp.Domain.from_bounds((-180, -90, 180, 90), crs="EPSG:4326", order=8)
    assert crs_text(domain.working_crs) == "EPSG:6933"
    lon, lat = np.array([-179.9, 0, 179.9, 0, 0]), np.array([0.0, 89.9, 0, -89.9, 0])
    x, y = domain.project(lon, lat)
    position = domain.grid.positions(x, y)
    back_lon, back_lat = domain.unproject(*domain.grid.centres(position))
    assert np.abs(back_lon - lon).max() < 2
    assert np.abs(back_lat - lat).max() < 12  # cells are tall near the poles in an equal-area map


@pytest.mark.parametrize(
    "bounds",
    [(-180, 60, 180, 90), (-180, -90, 180, -60), (0, 66, 360, 82), (-180, 15, 180, 84)],
)
def test_an_area_around_a_pole_is_published_as_seen_from_it(bounds):
    domain = dp.Domain.from_bounds(bounds, crs="EPSG:4326", order=8)
    pole = 90 if bounds[1] > 0 else -90
    assert float(HOST.parameters(domain.working_crs)["lat_0"]) == pole
    if bounds[:1] == (-180,):  # as QGIS writes it too
        assert crs_text(domain.working_crs) == ("EPSG:6931" if pole > 0 else "EPSG:6932")
    lon, lat = lonlat_of_cells(domain)
    # a cell has its centre in the box, or it would not be allowed
    assert lat.min() > bounds[1] - 0.01 and lat.max() < bounds[3] + 0.01
    sphere = 2 * np.pi * 6371007.2**2 * np.ptp(np.sin(np.radians([bounds[1], bounds[3]])))
    assert domain.area == pytest.approx(sphere, rel=0.01)
    # neighbours on the grid are neighbours on the ground: no cell is drawn out along a parallel
    x, y = domain.project(lon, lat)
    for step in ((domain.grid.cell, 0.0), (0.0, domain.grid.cell)):
        near = np.array(domain.unproject(x + step[0], y + step[1]))
        *_, apart = pyproj.Geod(ellps="WGS84").inv(lon, lat, *near)
        assert 0.75 < apart.min() / domain.grid.cell and apart.max() / domain.grid.cell < 1.35


def test_points_around_a_pole_are_counted_where_they_are():
    rng = np.random.default_rng(7)
    up = np.degrees(np.arcsin(rng.uniform(np.sin(np.radians(62)), 1, 20_000)))
    points = np.column_stack([rng.uniform(-180, 180, up.size), up])
    domain = dp.Domain.from_bounds((-180, 60, 180, 90), crs="EPSG:4326")
    release = dp.publish(points, 5, domain)
    zones = gpd.GeoSeries(
        [
            shapely.box(-180, 80, 180, 90),
            shapely.box(170, 62, 180, 75),
            shapely.box(-60, 60, 60, 90),
        ],
        crs="EPSG:4326",
    )
    true = [
        ((points[:, 0] >= w) & (points[:, 0] <= e) & (up >= s) & (up <= n)).sum()
        for w, s, e, n in zones.bounds.to_numpy()
    ]
    found = release.count_within(zones)
    assert (found["covered"] == 1).all()
    np.testing.assert_allclose(found["estimate"], true, rtol=0.03)
    out = release.points().geometry
    assert len(out) == up.size and out.y.min() > 59.99
    assert (out.y > 85).sum() == pytest.approx((up > 85).sum(), rel=0.1)


@pytest.mark.parametrize(
    "bounds", [(170, -50, -170, -30), (170, -50, 190, -30), (-190, -50, -170, -30)]
)
def test_a_box_across_the_antimeridian_works(bounds):
    domain = dp.Domain.from_bounds(bounds, crs="EPSG:4326", order=9)
    assert domain.side < 3e6
    assert domain.bounds == (170, -50, -170, -30)
    lon, lat = lonlat_of_cells(domain)
    assert (np.abs(lon) >= 169.9).all() and (np.abs(lon) <= 180).all()
    assert (lon > 0).any() and (lon < 0).any()


def test_a_wide_box_across_the_antimeridian_works():
    domain = dp.Domain.from_bounds((90, -60, 300, 60), crs="EPSG:4326", order=8)
    lon, _ = lonlat_of_cells(domain)
    assert (((lon - 90) % 360) <= 210.5).all()


def test_a_polygon_in_two_parts_at_the_antimeridian_is_one_place():
    fiji = shapely.union_all([shapely.box(177, -19, 180, -16), shapely.box(-180, -19, -178, -16)])
    domain = dp.Domain.from_polygon(fiji, crs="EPSG:4326")
    assert domain.side < 600_000
    assert domain.bounds == (177, -19, -178, -16)


def test_a_polygon_is_the_mask_holes_too():
    park = shapely.box(0, 0, 800, 800).difference(shapely.box(200, 200, 600, 600))
    domain = dp.Domain.from_polygon(park, crs="EPSG:27700", order=6)
    assert domain.area == pytest.approx(park.area)
    x, y = domain.grid.centres(np.arange(domain.grid.n_cells))
    assert shapely.contains_xy(park, x, y).all()


def test_a_frame_a_series_and_a_shape_make_the_same_domain():
    shape = shapely.Point(0, 0).buffer(500)
    series = gpd.GeoSeries([shape], crs="EPSG:3857")
    made = [
        dp.Domain.from_polygon(shape, crs="EPSG:3857"),
        dp.Domain.from_polygon(series),
        dp.Domain.from_polygon(series.to_frame("geometry")),
    ]
    assert made[0] == made[1] == made[2]


def test_overlapping_polygons_count_once():
    twice = gpd.GeoSeries([shapely.box(0, 0, 80, 80), shapely.box(40, 0, 160, 80)], crs="EPSG:3857")
    domain = dp.Domain.from_polygon(twice, order=5)
    assert domain.area == pytest.approx(160 * 80)


def test_a_square_box_has_no_mask():
    assert dp.Domain.from_bounds((0, 0, 100, 100), crs="EPSG:3857").grid.runs is None


def test_another_datum_is_kept():
    domain = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4269")
    assert domain.working_crs.geodetic_crs == pyproj.CRS("EPSG:4269")
    x, y = domain.project(np.array([-74.0]), np.array([40.7]))
    lon, lat = domain.unproject(x, y)
    # the way back is PROJ's, whose latitude was up to 1.6 mm off before version 9.6
    assert (lon[0], lat[0]) == pytest.approx((-74.0, 40.7), abs=2e-8)
    assert (
        dp.Domain.of_grid(domain.grid, crs_text(domain.crs), crs_text(domain.working_crs)) == domain
    )


def test_a_room_with_a_local_crs_works_but_has_no_longitudes():
    room = dp.Domain.from_bounds((0, 0, 6, 4), crs=pyproj.CRS('LOCAL_CS["room",UNIT["metre",1]]'))
    release = dp.publish(np.full((500, 2), 2.0), 1, room)
    again = dp.Release.from_json(release.to_json())
    assert again.domain == room and len(again.points()) == 500
    with pytest.raises(dp.BadInputError):
        release.map_page()


def test_a_domain_can_be_rebuilt_from_what_a_release_carries():
    domain = dp.Domain.from_bounds(NYC, crs="EPSG:4326")
    again = dp.Domain.of_grid(domain.grid, crs_text(domain.crs), crs_text(domain.working_crs))
    assert again == domain
    assert again.bounds == pytest.approx(NYC, abs=2e-3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dp.Domain.from_bounds(NYC, crs=None), "CRS is missing"),
        (lambda: dp.Domain.from_bounds((0, 0, 0, 1), crs="EPSG:3857"), "empty"),
        (lambda: dp.Domain.from_bounds((1, 0, 0, 1), crs="EPSG:3857"), "inverted"),
        (lambda: dp.Domain.from_bounds((10, 50, 0, 60), crs="EPSG:4326"), "inverted"),
        (lambda: dp.Domain.from_bounds((0, 60, 10, 50), crs="EPSG:4326"), "inverted"),
        (lambda: dp.Domain.from_bounds((0, 0, float("nan"), 1), crs="EPSG:3857"), "finite"),
        (lambda: dp.Domain.from_bounds((0, 0, 1), crs="EPSG:3857"), "four numbers"),
        (lambda: dp.Domain.from_bounds((500000, 150000, 560000, 200000), crs=4326), "degrees"),
        (lambda: dp.Domain.from_bounds(NYC, crs="EPSG:1"), "not a CRS"),
        (lambda: dp.Domain.from_polygon(shapely.box(0, 0, 1, 1)), "CRS is missing"),
        (lambda: dp.Domain.from_polygon(shapely.Polygon(), crs=3857), "no area"),
        (lambda: dp.Domain.from_polygon(shapely.box(0, 0, 5, 0), crs=3857), "no area"),
        (lambda: dp.Domain.from_polygon(shapely.Point(0, 0), crs=3857), "polygons"),
        (
            lambda: dp.Domain.from_polygon(
                gpd.GeoSeries([shapely.box(0, 0, 1, 1)], crs=3857), crs=4326
            ),
            "to_crs",
        ),
        (lambda: dp.Domain.from_polygon("city", crs=3857), "GeoDataFrame"),
    ],
)
def test_a_bad_domain_is_refused_with_one_sentence(make, says):
    with pytest.raises(dp.BadInputError, match=says) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_a_notebook_shows_the_mask():
    text = dp.Domain.from_polygon(shapely.Point(0, 0).buffer(500), crs="EPSG:3857")._repr_html_()
    assert "data:image/png;base64," in text and "EPSG:3857" in text


@pytest.mark.parametrize("crs", ["EPSG:5703", '{"type":"GeographicCRS","name":' + "[" * 5000])
def test_a_crs_without_a_map_or_of_endless_depth_is_refused_in_a_sentence(crs):
    with pytest.raises(dp.BadInputError):
        dp.Domain.from_bounds((0, 0, 1, 1), crs=crs)
