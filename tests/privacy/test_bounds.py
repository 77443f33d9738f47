"""A domain drawn around the points is refused; one that knows nothing of them is not."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.cli import main
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.extent import Extent, drawn_around

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

SEEDS = st.integers(0, 2**32 - 1)
CLOUD = np.random.default_rng(5).normal((530_000, 180_000), (9_000, 7_000), (500, 2))
FRAME = gpd.GeoDataFrame(
    {"who": np.arange(500) // 2}, geometry=gpd.points_from_xy(*CLOUD.T), crs=27700
)


def box_of(xy: np.ndarray) -> np.ndarray:
    return np.concatenate([xy.min(axis=0), xy.max(axis=0)])


def around(box, xy: np.ndarray) -> bool:
    domain = dp.Domain.from_bounds(box, crs=27700, order=8)
    return drawn_around(domain, Extent.of(xy[:, 0], xy[:, 1]))


# drawn around the points --------------------------------------------------------------------------


def cloud(seed: int, digits: int | None) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(1, 5)
    xy = rng.normal(
        rng.uniform(1e5, 6e5, 2), scale * rng.uniform(0.3, 1, 2), (rng.integers(20, 2000), 2)
    )
    return xy if digits is None else np.round(xy, digits)


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.sampled_from([None, 3, 1]))
def test_the_box_of_the_points_is_refused(seed, digits):
    xy = cloud(seed, digits)
    assert around(box_of(xy), xy)


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.sampled_from([1e-3, -1e-3, 1e-6, 1.5e-3]), st.booleans())
def test_the_same_box_with_a_small_margin_is_refused(seed, margin, in_proportion):
    xy = cloud(seed, None)
    box = box_of(xy)
    side = box[2:] - box[:2] if in_proportion else np.full(2, (box[2:] - box[:2]).min())
    assert around(box + np.concatenate([-side, side]) * margin, xy)


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.sampled_from([0.01, 0.05, 0.25, -0.05]), st.booleans(), st.sampled_from([None, 3]))
def test_the_same_box_with_a_wide_margin_is_refused(seed, margin, in_proportion, digits):
    """As a habit has it: five percent on each side, or a buffer of so many metres."""
    xy = cloud(seed, digits)
    box = box_of(xy)
    side = box[2:] - box[:2] if in_proportion else np.full(2, (box[2:] - box[:2]).min())
    if digits is not None and side.min() < 100:
        return  # so many metres, written to the millimetre, may be alike by chance
    box = box + np.concatenate([-side, side]) * margin
    assert around(box if digits is None else np.round(box, digits), xy)


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.sampled_from([np.rint, np.floor, np.ceil]))
def test_the_same_box_rounded_is_refused_where_few_points_are_near_its_edges(seed, rounded):
    xy = cloud(seed, None)
    ends = [np.sort(xy[:, axis])[[0, 1, -2, -1]] for axis in (0, 1)]
    nearest = min(min(end[1] - end[0], end[3] - end[2]) for end in ends)
    size = min(end[3] - end[0] for end in ends)
    step = 10.0 ** np.floor(np.log10(min(nearest / 33, size / 1000)))
    assert around(rounded(box_of(xy) / step) * step, xy)


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.integers(0, 3), st.sampled_from([30, 3000, 100_000]))
def test_one_edge_that_is_somebodys_coordinate_to_the_last_digit_is_refused(seed, edge, n):
    xy = np.random.default_rng(seed).uniform((5e5, 1e5), (6e5, 2e5), (n, 2))
    public = np.array([480_000.0, 80_000.0, 620_000.0, 220_000.0])
    assert not around(public, xy)
    public[edge] = box_of(xy)[edge]
    assert around(public, xy)
    three = box_of(xy)
    three[edge] += (-100.5, -100.5, 100.5, 100.5)[edge]
    assert around(three, xy)


def test_publish_refuses_it_before_the_debit_however_the_points_come(tmp_path):
    ledger = tmp_path / "ledger"
    FRAME.to_parquet(tmp_path / "a.parquet")
    domain = dp.Domain.from_bounds(FRAME.total_bounds, crs=27700)
    for points in (FRAME, FRAME.geometry, tmp_path / "a.parquet", CLOUD, FRAME.to_arrow()):
        with pytest.raises(BadInputError, match="from a map"):
            dp.publish(points, 1, domain, ledger=ledger, dataset="a")
    with pytest.raises(BadInputError, match="from a map"):
        dp.publish(FRAME, 1, domain, person="who", ledger=ledger, dataset="a")
    assert not ledger.exists()


def test_publish_refuses_it_for_frames_of_dask():
    dask_geopandas = pytest.importorskip("dask_geopandas")
    domain = dp.Domain.from_bounds(FRAME.total_bounds, crs=27700)
    with pytest.raises(BadInputError, match="from a map"):
        dp.publish(dask_geopandas.from_geopandas(FRAME, 3), 1, domain)


@pytest.mark.parametrize("crs", [4326, 27700, 3857])
@pytest.mark.parametrize("points_crs", [4326, 27700])
def test_publish_refuses_it_in_the_points_crs_and_in_the_domains(crs, points_crs):
    frame = FRAME.to_crs(points_crs)
    there = frame.to_crs(crs)
    whole = gpd.GeoSeries([shapely.box(*frame.total_bounds)], crs=points_crs).to_crs(crs)
    for domain in (
        dp.Domain.from_bounds(there.total_bounds, crs=crs),
        dp.Domain.from_polygon(there.union_all().convex_hull, crs=crs),
        dp.Domain.from_polygon(whole),
    ):
        with pytest.raises(BadInputError, match="from a map"):
            dp.publish(frame, 1, domain)


def test_longitudes_beyond_the_antimeridian_are_understood():
    lon, lat = np.random.default_rng(3).normal((185, -17), 2, (300, 2)).T
    box = (lon.min(), lat.min(), lon.max(), lat.max())
    with pytest.raises(BadInputError, match="from a map"):
        dp.publish(np.column_stack([lon, lat]), 1, dp.Domain.from_bounds(box, crs=4326))


# honest domains -----------------------------------------------------------------------------------

#: what people do to points before they publish them
HABITS = {
    "as they are": lambda xy, box, digits: xy,
    "cut off": lambda xy, box, digits: xy[((xy >= box[:2]) & (xy <= box[2:])).all(axis=1)],
    "moved to the edges": lambda xy, box, digits: np.clip(xy, box[:2], box[2:]),
    "rounded": lambda xy, box, digits: np.round(xy, digits),
    "rounded, then moved": lambda xy, box, digits: np.clip(np.round(xy, digits), box[:2], box[2:]),
}


@settings(deadline=None, max_examples=600)
@given(
    SEEDS, st.sampled_from(list(HABITS)), st.integers(-2, 3), st.sampled_from([30, 3000, 100_000])
)
def test_a_box_that_knows_nothing_of_the_points_is_taken(seed, habit, digits, n):
    """Points fill the box to its very edges, many of them, also on a grid finer than the box's."""
    rng = np.random.default_rng(seed)
    step = 10.0**-digits
    corner = np.rint(rng.uniform(1e5, 6e5, 2) / step) * step
    box = np.concatenate([corner, corner + np.rint(rng.uniform(300, 3000, 2)) * step])
    middle, side = (box[:2] + box[2:]) / 2, box[2:] - box[:2]
    xy = middle + rng.uniform(-0.5, 0.5, (n, 2)) * side * rng.choice([1.0, 1.2])
    xy = HABITS[habit](xy, box, digits + 1)
    assert not around(box, xy)


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.sampled_from([30, 3000, 100_000]))
def test_a_polygon_with_many_digits_that_points_fill_is_taken(seed, n):
    rng = np.random.default_rng(seed)
    corner, side = rng.uniform(1e5, 6e5, 2), rng.uniform(1e3, 1e5, 2)
    assert not around(
        np.concatenate([corner, corner + side]), corner + rng.uniform(size=(n, 2)) * side
    )


@settings(deadline=None, max_examples=600)
@given(SEEDS, st.integers(0, 2), st.sampled_from([30, 3000]))
def test_a_box_with_margins_that_happen_to_be_alike_is_taken(seed, digits, n):
    """Round numbers are alike now and then, and so are the margins of an invented square."""
    rng = np.random.default_rng(seed)
    step = 10.0**-digits
    xy = np.round(rng.uniform(1e5, 1e5 + 5000 * step, (n, 2)) / step) * step
    margin = step * rng.integers(20, 900)
    assert not around(box_of(xy) + np.array([-1, -1, 1, 1]) * margin, xy)
    square = np.array([1e5, 1e5, 2e5, 2e5])
    assert not around(square, rng.uniform(1.1e5, 1.9e5, (n, 2)))


@pytest.mark.parametrize("points_crs", [3857, 32631, 4326])
@pytest.mark.parametrize("habit", HABITS)
def test_a_box_in_degrees_that_points_of_another_crs_fill_is_taken(points_crs, habit):
    box = np.array([2.2, 48.8, 2.5, 48.95])
    lonlat = np.random.default_rng(8).uniform(box[:2] - 0.001, box[2:] + 0.001, (50_000, 2))
    lonlat = HABITS[habit](lonlat, box, 4)
    frame = gpd.GeoSeries(gpd.points_from_xy(*lonlat.T), crs=4326).to_crs(points_crs)
    domain = dp.Domain.from_bounds(box, crs=4326)
    assert dp.publish(frame, 1, domain, neighbours="add-remove").epsilon == "1"


def test_points_at_the_end_of_the_world_do_not_tell_of_themselves():
    lon = np.append(np.random.default_rng(2).uniform(-180, 180, 300), [-180.0, 180.0])
    frame = gpd.GeoSeries(gpd.points_from_xy(lon, lon / 3), crs=4326).to_crs(3857)
    half = 20037508.342789244
    assert frame.total_bounds[0] == -half
    domain = dp.Domain.from_bounds((-half, -half, half, half), crs=3857)
    assert dp.publish(frame, 1, domain).epsilon == "1"


def test_a_single_point_in_the_middle_is_taken():
    assert not around((0, 0, 100, 100), np.array([[50.0, 50.0]]))


def test_the_shell_refuses_it_too(tmp_path, capsys):
    FRAME.to_file(tmp_path / "a.gpkg")
    bounds = [repr(float(value)) for value in FRAME.total_bounds]
    files = [str(tmp_path / "a.gpkg"), str(tmp_path / "out.json")]
    area = ["--bounds", *bounds, "--crs", "EPSG:27700"]
    with pytest.raises(SystemExit) as exit:
        main(["publish", *files, "--epsilon", "1", *area, "--no-ledger"])
    assert exit.value.code == 2 and "from a map" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()
