"""The closed form is PROJ's projection, to a millimetre, all over the globe."""

from __future__ import annotations

import pickle

import numpy as np
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.geo.crs import read_crs
from dpsort_geo.geo.host import HOST
from dpsort_geo.geo.projection import Azimuthal, closed_form

GEOD = pyproj.Geod(ellps="WGS84")
CENTRES = [(0, 0), (-74, 40.7), (10, 52), (180, -17), (179.9, 65), (25, -89), (0, 90), (40, -90)]
MILLIMETRE = 1e-3


def globe(n: int = 20_000, cap: float = 89.9) -> tuple[np.ndarray, np.ndarray]:
    """Points all over, dense near the poles; PROJ itself loses millimetres beyond ``cap``."""
    rng = np.random.default_rng(5)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
    lat[: n // 4] = rng.choice([-1, 1], n // 4) * (90 - 10.0 ** rng.uniform(-1, 1, n // 4))
    lon = rng.uniform(-180, 180, n)
    lon[:2] = -180, 180
    return lon, np.clip(lat, -cap, cap)


def laea(lon: float, lat: float) -> str:
    return f"+proj=laea +lat_0={lat} +lon_0={lon} +datum=WGS84 +units=m"


def proj(source: str, target: str) -> pyproj.Transformer:
    return pyproj.Transformer.from_crs(source, target, always_xy=True)


def ours(source: str, target: str) -> Azimuthal:
    found = closed_form(pyproj.CRS(source), pyproj.CRS(target))
    assert found is not None
    return found


@pytest.mark.parametrize(("lon0", "lat0"), CENTRES)
def test_the_azimuthal_map_agrees_with_proj_to_a_millimetre(lon0, lat0):
    lon, lat = globe()
    # as far as a domain may reach: 150 degrees from the centre; PROJ is rough near the antipode
    _, _, distance = GEOD.inv(lon, lat, np.full(lon.size, lon0), np.full(lon.size, lat0))
    near = distance < 150 / 180 * 20_003_931
    lon, lat = lon[near], lat[near]
    x, y = proj("EPSG:4326", laea(lon0, lat0)).transform(lon, lat)
    found = ours("EPSG:4326", laea(lon0, lat0)).forward(lon, lat)
    np.testing.assert_allclose(found, (x, y), rtol=0, atol=MILLIMETRE)


@pytest.mark.parametrize(("lon0", "lat0"), CENTRES)
def test_there_and_back_with_proj_is_where_we_were(lon0, lat0):
    lon, lat = globe(cap=89.5)
    x, y = ours("EPSG:4326", laea(lon0, lat0)).forward(lon, lat)
    # within 110 degrees of the centre: beyond, PROJ's own way is not so exact
    ok = np.hypot(x, y) < 2 * 6.37e6 * np.sin(np.radians(55))
    back = proj("EPSG:4326", laea(lon0, lat0)).transform(x[ok], y[ok], direction="INVERSE")
    # PROJ before 9.6 inverts the authalic latitude with three terms of a series: 1.6 mm at worst
    assert GEOD.inv(lon[ok], lat[ok], *back)[2].max() < 2 * MILLIMETRE


@pytest.mark.parametrize("lat", [90.0, -90.0, 89.99999, -89.9999999])
def test_the_poles_are_places_like_others(lat):
    for lon0, lat0 in ((0, 90), (-74, 40), (30, -90), (0, 0)):
        x, y = ours("EPSG:4326", laea(lon0, lat0)).forward([20.0], [lat])
        if np.hypot(x, y)[0] > 1e7:
            continue
        pole = np.array(ours("EPSG:4326", laea(lon0, lat0)).forward([20.0], [np.sign(lat) * 90]))
        true = GEOD.inv(20.0, lat, 20.0, np.sign(lat) * 90)[2]
        # within 103 degrees of its centre the map stretches no length more than 1.7 times
        found = np.hypot(*(pole - [x, y]))[0]
        assert true / 1.7 - MILLIMETRE <= found <= 1.7 * true + MILLIMETRE


def test_other_datums_and_false_origins_have_their_closed_form_too():
    lon, lat = np.random.default_rng(1).uniform((-10, 35), (30, 70), (1000, 2)).T
    expected = proj("EPSG:4258", "EPSG:3035").transform(lon, lat)
    found = ours("EPSG:4258", "EPSG:3035").forward(lon, lat)
    np.testing.assert_allclose(found, expected, rtol=0, atol=MILLIMETRE)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("EPSG:4326", "EPSG:27700"),
        ("EPSG:4326", "EPSG:3035"),  # another datum: not ours to equate
        ("EPSG:27700", "EPSG:4326"),
        ("EPSG:4326", "EPSG:6933"),
        ("EPSG:2263", laea(-74, 40.7)),
        ("EPSG:4807", laea(2, 48)),  # grads from Paris
        ("EPSG:4326", "+proj=laea +lat_0=40 +lon_0=-74 +datum=WGS84 +units=us-ft"),
    ],
)
def test_everything_else_is_left_to_proj(source, target):
    assert closed_form(pyproj.CRS(source), pyproj.CRS(target)) is None


@settings(deadline=None)
@given(st.integers(-3, 3), st.floats(-180, 180), st.floats(-80, 80))
def test_a_turn_of_the_globe_changes_nothing(turns, lon, lat):
    there = ours("EPSG:4326", laea(170, 10))
    once, again = (np.array(there.forward([at], [lat])) for at in (lon, lon + 360 * turns))
    if np.hypot(*once)[0] < 1.2e7:
        np.testing.assert_allclose(again, once, rtol=0, atol=MILLIMETRE)


def test_what_has_no_image_becomes_infinite_as_with_proj():
    x, _ = ours("EPSG:4326", laea(0, 0)).forward([0.0, 0.0, np.nan, 180.0], [91.0, 45.0, 0.0, 0.0])
    assert np.isfinite(x).tolist() == [False, True, False, False]


def test_domains_survive_pickling_and_project_any_shape():
    domain = dp.Domain.from_bounds((-5, 50, 0, 55), crs="EPSG:4326")
    again = pickle.loads(pickle.dumps(domain))
    lon, lat = np.full((2, 3), -1.5), np.full((2, 3), 52.0)
    assert again == domain and again.project(lon, lat)[0].shape == (2, 3)
    assert domain.project(np.empty(0), np.empty(0))[0].size == 0


@pytest.mark.parametrize(("source", "target"), [(4267, 4326), (4326, 27700), (4230, 3035)])
def test_where_a_point_goes_depends_on_that_point_alone(source, target):
    """PROJ has several operations for these, and chooses one for each point by where it lies."""
    rng = np.random.default_rng(4)
    x, y = rng.uniform((-180, -85), (180, 85), (300, 2)).T
    x[::7], y[::11] = 1e300, np.inf
    crs = read_crs(source), read_crs(target)
    together = np.array(HOST.transform(x, y, *crs))
    order = rng.permutation(300)
    assert np.array_equal(np.array(HOST.transform(x[order], y[order], *crs)), together[:, order])
    alone = [HOST.transform(x[i : i + 1], y[i : i + 1], *crs) for i in range(300)]
    assert np.array_equal(np.array(alone)[:, :, 0].T, together)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(-720, 720), st.floats(-90, 90)), min_size=2, max_size=9))
def test_the_closed_form_of_a_point_depends_on_that_point_alone(places):
    lon, lat = np.array(places).T
    form = Azimuthal(6378137.0, 0.0066943799901413165, 10.0, 52.0)
    together = form.forward(lon, lat)
    alone = [form.forward(lon[i : i + 1], lat[i : i + 1]) for i in range(lon.size)]
    assert np.array_equal(np.array(alone)[:, :, 0].T, np.array(together))
