"""The closed forms are PROJ's projections, to a millimetre, all over the globe."""

from __future__ import annotations

import pickle

import numpy as np
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.errors import BadInput
from dpsort_geo.geo.projection import Azimuthal, ByProj, Cylindrical, transformer

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


@pytest.mark.parametrize("target", ["EPSG:6933", "+proj=cea +lat_ts=30 +lon_0=150 +datum=WGS84"])
def test_the_cylinder_agrees_with_proj_to_a_millimetre(target):
    lon, lat = globe()
    ours = transformer("EPSG:4326", target)
    assert isinstance(ours, Cylindrical)
    x, y = proj("EPSG:4326", target).transform(lon, lat)
    np.testing.assert_allclose(ours.forward(lon, lat), (x, y), rtol=0, atol=MILLIMETRE)


@pytest.mark.parametrize(("lon0", "lat0"), CENTRES)
def test_the_azimuthal_map_agrees_with_proj_to_a_millimetre(lon0, lat0):
    lon, lat = globe()
    # as far as a domain may reach: 150 degrees from the centre; PROJ is rough near the antipode
    _, _, distance = GEOD.inv(lon, lat, np.full(lon.size, lon0), np.full(lon.size, lat0))
    near = distance < 150 / 180 * 20_003_931
    lon, lat = lon[near], lat[near]
    ours = transformer("EPSG:4326", laea(lon0, lat0))
    assert isinstance(ours, Azimuthal)
    x, y = proj("EPSG:4326", laea(lon0, lat0)).transform(lon, lat)
    np.testing.assert_allclose(ours.forward(lon, lat), (x, y), rtol=0, atol=MILLIMETRE)


@pytest.mark.parametrize("target", ["EPSG:6933", *(laea(*centre) for centre in CENTRES)])
def test_there_and_back_is_where_we_were_to_a_millimetre(target):
    lon, lat = globe(cap=89.5)
    there = proj("EPSG:4326", target)
    x, y = there.transform(lon, lat)
    # within 110 degrees of the centre: beyond, PROJ's own forward image is not so exact
    ok = np.hypot(x, y) < 2 * 6.37e6 * np.sin(np.radians(55))
    if target == "EPSG:6933":
        ok[:] = True
    back = transformer("EPSG:4326", target).inverse(x[ok], y[ok])
    _, _, off = GEOD.inv(lon[ok], lat[ok], *back)
    assert off.max() < MILLIMETRE
    # PROJ inverts the authalic latitude with three terms of a series: 1.6 mm off at worst
    _, _, apart = GEOD.inv(*there.transform(x[ok], y[ok], direction="INVERSE"), *back)
    assert apart.max() < 2 * MILLIMETRE


@pytest.mark.parametrize("lat", [90.0, -90.0, 89.99999, -89.9999999])
def test_the_poles_are_places_like_others(lat):
    for target in (laea(0, 90), laea(-74, 40), laea(30, -90), laea(0, 0)):
        x, y = transformer("EPSG:4326", target).forward([20.0], [lat])
        if np.hypot(x, y)[0] > 1.2e7:
            continue
        lon2, lat2 = transformer("EPSG:4326", target).inverse(x, y)
        assert GEOD.inv(20.0, lat, lon2[0], lat2[0])[2] < MILLIMETRE


def test_other_datums_and_false_origins_have_their_closed_form_too():
    ours = transformer("EPSG:4258", "EPSG:3035")
    assert isinstance(ours, Azimuthal)
    lon, lat = np.random.default_rng(1).uniform((-10, 35), (30, 70), (1000, 2)).T
    expected = proj("EPSG:4258", "EPSG:3035").transform(lon, lat)
    np.testing.assert_allclose(ours.forward(lon, lat), expected, rtol=0, atol=MILLIMETRE)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("EPSG:4326", "EPSG:27700"),
        ("EPSG:4326", "EPSG:3035"),  # another datum: not ours to equate
        ("EPSG:27700", "EPSG:4326"),
        ("EPSG:3857", "EPSG:6933"),
        ("EPSG:2263", laea(-74, 40.7)),
        ("EPSG:4807", laea(2, 48)),  # grads from Paris
        ("EPSG:4326", "+proj=laea +lat_0=40 +lon_0=-74 +datum=WGS84 +units=us-ft"),
    ],
)
def test_everything_else_is_left_to_proj(source, target):
    ours = transformer(source, target)
    assert isinstance(ours, ByProj)
    box = pyproj.CRS(source).area_of_use
    lon, lat = (
        np.random.default_rng(1)
        .uniform((box.west, max(box.south, -80)), (box.east, min(box.north, 80)), (100, 2))
        .T
    )
    geographic = pyproj.CRS(source).geodetic_crs
    x, y = proj(geographic, source).transform(lon, lat)
    np.testing.assert_array_equal(ours.forward(x, y), proj(source, target).transform(x, y))


@settings(deadline=None)
@given(st.integers(-3, 3), st.floats(-180, 180), st.floats(-80, 80))
def test_a_turn_of_the_globe_changes_nothing(turns, lon, lat):
    for target in ("EPSG:6933", laea(170, 10)):
        ours = transformer("EPSG:4326", target)
        once = np.array(ours.forward([lon], [lat]))
        again = np.array(ours.forward([lon + 360 * turns], [lat]))
        seam = abs(abs(lon) - 180) < 1e-9 and target == "EPSG:6933"
        if not seam and np.hypot(*once)[0] < 1.2e7:
            np.testing.assert_allclose(again, once, rtol=0, atol=MILLIMETRE)


def test_what_has_no_image_becomes_infinite_as_with_proj():
    for target in ("EPSG:6933", laea(0, 0)):
        ours = transformer("EPSG:4326", target)
        x, y = ours.forward([0.0, 0.0, np.nan], [91.0, 45.0, 0.0])
        assert np.isfinite(x).tolist() == [False, True, False]
        lon, _ = ours.inverse([0.0, 0.0], [3e7, 0.0])
        assert np.isfinite(lon).tolist() == [False, True]
    x, _ = transformer("EPSG:4326", laea(0, 0)).forward([180.0], [0.0])
    assert np.isinf(x).all()


def test_transformers_survive_pickling_and_keep_shapes():
    for target in ("EPSG:6933", laea(3, 4), "EPSG:27700"):
        ours = pickle.loads(pickle.dumps(transformer("EPSG:4326", target)))
        lon, lat = np.full((2, 3), -1.5), np.full((2, 3), 52.0)
        x, y = ours.forward(lon, lat)
        assert x.shape == y.shape == (2, 3)
    empty = np.empty(0)
    assert transformer("EPSG:4326", "EPSG:6933").forward(empty, empty)[0].size == 0


def test_an_unknown_crs_gets_one_sentence():
    with pytest.raises(BadInput):
        transformer("EPSG:4326", "EPSG:999999")
