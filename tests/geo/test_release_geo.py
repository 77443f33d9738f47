"""Reading a release with geopandas: points, density, counts, quantiles, files."""

import dataclasses

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.cli import residents
from dpsort_geo.core.curve import hilbert
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.picture import picture
from dpsort_geo.geo.statement import read_statement

BOX = (500_000, 150_000, 540_000, 190_000)
AREA = shapely.Point(520_000, 170_000).buffer(19_000)


def people(n=20_000, seed=3):
    rng = np.random.default_rng(seed)
    centre = np.array([[515_000, 165_000], [528_000, 178_000], [521_000, 160_000]])
    return centre[rng.integers(0, 3, n)] + rng.normal(0, 1500, (n, 2))


POINTS = people()
DOMAIN = dp.Domain.from_polygon(AREA, crs="EPSG:27700")


@pytest.fixture(scope="module", params=["adaptive", "sort", "hybrid"])
def release(request):
    return dp.publish(POINTS, 1, DOMAIN, method=request.param)


@pytest.fixture(scope="module")
def adaptive():
    return dp.publish(POINTS, 1, DOMAIN)


def test_points_are_n_rows_of_geometry_in_the_users_crs(release):
    points = release.points()
    assert len(points) == len(POINTS)
    assert list(points.columns) == ["geometry"]
    assert points.crs == pyproj.CRS("EPSG:27700")


def test_every_published_point_lies_in_an_allowed_cell(release):
    for diffuse in (True, False):
        x, y = release.coordinates(diffuse)
        column, row = release.grid.columns_and_rows(x, y)
        assert column.min() >= 0 and row.min() >= 0
        index = hilbert.encode(column, row, release.grid.order)
        assert release.grid.is_allowed(index).all()


def test_reading_is_deterministic(release):
    again = dp.Release.from_json(release.to_json())
    for diffuse in (True, False):
        assert (
            release.points(diffuse).geometry.array == again.points(diffuse).geometry.array
        ).all()


def test_the_papers_points_are_repeated_and_diffusion_spreads_them():
    release = dp.publish(POINTS, 1, DOMAIN, method="sort")
    repeated = release.points(diffuse=False)
    assert len(repeated) == len(POINTS)
    places = repeated.geometry.to_wkb().nunique()
    assert places <= release.measured.settings()["groups"]
    spread = release.points()
    assert spread.geometry.to_wkb().nunique() > 20 * places


def test_diffusion_keeps_mass(adaptive):
    """Spread and repeated points have the same number in every leaf."""
    grid, leaves = adaptive.grid, adaptive.decoded.leaves
    start = leaves.index << 2 * (grid.order - leaves.level)
    counts = []
    for diffuse in (True, False):
        index = grid.curve_index(*adaptive.coordinates(diffuse))
        leaf = np.searchsorted(start, index, side="right") - 1
        counts.append(np.bincount(leaf, minlength=start.size))
    np.testing.assert_array_equal(*counts)


def test_density_cells_add_up_to_n_and_have_the_asked_size(release):
    cells = release.density(cell=500)
    assert cells["count"].sum() == pytest.approx(len(POINTS))
    assert cells.crs == pyproj.CRS("EPSG:27700")
    np.testing.assert_allclose(cells.geometry.area, 500**2)
    whole = cells[cells.geometry.within(AREA.buffer(-600))]
    np.testing.assert_allclose(whole["per_km2"], whole["count"] / 0.25, rtol=1e-9)


def test_density_is_where_the_points_are(adaptive):
    cells = adaptive.density(cell=2000)
    index = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*POINTS.T), crs=27700).sjoin(cells)
    true = index.groupby("index_right").size().reindex(cells.index, fill_value=0)
    assert np.abs(true - cells["count"]).sum() / len(POINTS) < 0.2


def test_density_can_be_written_as_a_raster(adaptive, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    adaptive.density(cell=500).to_raster(tmp_path / "d.tif")
    with rasterio.open(tmp_path / "d.tif") as file:
        values = file.read(1)
        assert file.crs.to_epsg() == 27700 and file.res == (500, 500)
        assert np.isnan(values[0, 0])
        x, y = 515_000, 165_000
        assert next(file.sample([(x, y)]))[0] > np.nanmedian(values)
        assert "epsilon = 1" in file.tags()["DPSORT_GEO"]


@pytest.mark.parametrize("seed", [5, 6])
def test_density_beside_the_sea_keeps_its_mass(seed):
    """Smoothing must not give the mass of a last bit of land to the empty cells around it."""
    rng = np.random.default_rng(seed)

    def seeded(numerator, denominator, size=None):
        fall = 1 - np.exp(-np.asarray(denominator, float) / np.asarray(numerator, float))
        return rng.geometric(fall, size) - rng.geometric(fall, size)

    domain = dp.Domain.from_polygon(residents.land(), crs="EPSG:4326", order=12)
    cells = dp.count_cells(np.column_stack(residents.residents(20_000)), domain)
    mass = raster(decode(publish_adaptive(cells, 1, noise=seeded)), 9)
    assert np.isfinite(mass).all()
    assert mass.sum() == pytest.approx(20_000)


@pytest.mark.parametrize("cell", [0, -5, float("nan"), 0.01])
def test_a_useless_cell_size_is_refused(adaptive, cell):
    with pytest.raises(dp.BadInputError):
        adaptive.density(cell=cell)


def zones(crs=27700):
    squares = [
        shapely.box(x, y, x + 8000, y + 8000)
        for x in (508e3, 516e3, 524e3)
        for y in (156e3, 164e3, 172e3)
    ]
    frame = gpd.GeoDataFrame({"name": range(len(squares))}, geometry=squares, crs=27700)
    frame.geometry = frame.geometry.segmentize(100)
    return frame.to_crs(crs)


def test_counts_in_zones_are_close_and_within_their_limits(adaptive):
    found = adaptive.count_within(zones())
    own = ["estimate", "low", "high", "reliable", "covered"]
    assert list(found.columns) == ["name", "geometry", *own]
    assert ((found.low <= found.estimate) & (found.estimate <= found.high)).all()
    true = [shapely.contains_xy(zone, *POINTS.T).sum() for zone in zones().geometry]
    assert np.abs(found.estimate - true).max() < 0.02 * len(POINTS)


@pytest.mark.parametrize("crs", [4326, 3857])
def test_zones_in_any_crs_give_the_same_counts(adaptive, crs):
    here, there = adaptive.count_within(zones()), adaptive.count_within(zones(crs))
    assert there.crs == pyproj.CRS(crs)
    np.testing.assert_allclose(here.estimate, there.estimate, atol=0.002 * len(POINTS))


def test_all_zones_together_have_all_points(release):
    whole = gpd.GeoSeries([shapely.box(*BOX)], crs=27700)
    assert release.count_within(whole).estimate.iloc[0] == pytest.approx(len(POINTS), rel=1e-6)


def test_the_users_zones_are_not_changed(adaptive):
    mine = zones()
    adaptive.count_within(mine)
    assert list(mine.columns) == ["name", "geometry"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (gpd.GeoSeries([shapely.Point(0, 0)], crs=27700), "polygons"),
        (gpd.GeoSeries([shapely.box(0, 0, 1, 1)]), "no CRS"),
        (shapely.box(0, 0, 1, 1), "GeoDataFrame"),
    ],
)
def test_bad_zones_are_refused(adaptive, bad, says):
    with pytest.raises(dp.BadInputError, match=says):
        adaptive.count_within(bad)


def test_quantiles_are_points_along_the_curve(release):
    found = release.quantiles([0.25, 0.5, 0.75])
    assert found["share"].tolist() == [0.25, 0.5, 0.75]
    assert found.crs == pyproj.CRS("EPSG:27700")
    x, y = found.geometry.x.to_numpy(), found.geometry.y.to_numpy()
    position = release.grid.positions(x, y)
    assert (np.diff(position) >= 0).all()
    with pytest.raises(dp.BadInputError):
        release.quantiles([1.5])


def test_a_saved_release_reads_back_whole(release, tmp_path):
    release.save(tmp_path / "r.release.json")
    again = dp.read_release(tmp_path / "r.release.json")
    assert again.to_json() == release.to_json()
    assert again.domain == release.domain
    assert again.verify() == release.verify()
    assert str(again) == str(release)


def test_a_release_of_a_lonlat_domain_reads_back_in_lonlat(tmp_path):
    domain = dp.Domain.from_bounds((179, -20, -178, -16), crs="EPSG:4326")
    lon = np.random.default_rng(0).uniform(179.2, 181.8, 3000)
    lon = np.where(lon > 180, lon - 360, lon)
    points = np.column_stack([lon, np.random.default_rng(1).uniform(-19, -17, 3000)])
    dp.publish(points, 3, domain).save(tmp_path / "fiji.json")
    read = dp.read_release(tmp_path / "fiji.json")
    found = read.points()
    assert found.crs == pyproj.CRS("EPSG:4326")
    assert (np.abs(found.geometry.x) >= 177.9).all()
    assert ((found.geometry.x > 0).mean()) == pytest.approx((lon > 0).mean(), abs=0.1)
    read.to_geojson(tmp_path / "fiji.geojson")
    assert (gpd.read_file(tmp_path / "fiji.geojson").geometry.x.abs() <= 180).all()
    # cells stay whole at the antimeridian
    assert read.density(20_000).geometry.bounds.eval("maxx - minx").max() < 1


def test_every_file_carries_the_statement(adaptive, tmp_path):
    for name, save in [
        ("p.geojson", adaptive.to_geojson),
        ("p.parquet", adaptive.to_geoparquet),
        ("p.gpkg", adaptive.to_gpkg),
    ]:
        save(tmp_path / name)
        statement = read_statement(tmp_path / name)
        assert statement == adaptive.statement()
        assert statement["epsilon"] == "1" and "one point" in statement["summary"]


@pytest.mark.parametrize("text", [b"", b"{}", b"\xff\xfe", b'{"format": "dpsort-geo release"}'])
def test_a_file_that_is_no_release_is_refused_with_one_sentence(tmp_path, text):
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(dp.BadInputError) as refused:
        dp.read_release(tmp_path / "x.json")
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_missing_folder_are_said(adaptive, tmp_path):
    with pytest.raises(dp.BadInputError, match="cannot be read"):
        dp.read_release(tmp_path / "nothing.json")
    with pytest.raises(dp.BadInputError, match="cannot be written"):
        adaptive.save(tmp_path / "nowhere" / "r.json")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_says_what_is_protected(adaptive):
    text = adaptive._repr_html_()
    assert "epsilon = 1" in text and "<img" in text and "Note" not in text


def test_what_users_hold_is_one_class_that_type_checkers_know(release):
    assert type(release) is dp.Release and not hasattr(dp.Release, "__getattr__")
    core = release.release
    same = {
        "n": core.n, "size": core.size, "epsilon": "1", "neighbours": "replace", "private": True,
        "protects": "point", "unit": "point", "mechanism": core.kind, "kind": core.kind,
        "ledger": False, "grid": core.grid, "crs": core.crs, "working_crs": core.working_crs,
        "measured": core.measured,
    }  # fmt: skip
    for name, value in same.items():
        assert isinstance(getattr(dp.Release, name), property)
        assert getattr(release, name) == value
    said = release.statement()
    assert said.pop("expected_error") == pytest.approx(release.expected_error, rel=0.01)
    assert said == core.statement()
    assert release.verify() == core.verify()
    assert release.to_json() == core.to_json()
    with pytest.raises(AttributeError):
        _ = release.no_such_name


def test_points_with_x_and_y_swapped_are_noted(adaptive):
    assert adaptive.notes() == []
    swapped = dp.publish(POINTS[:, ::-1], 1, DOMAIN)
    (note,) = swapped.notes()
    assert "edge of the domain" in note and note in swapped._repr_html_()


def test_a_release_that_breaks_its_own_rule_is_shown_with_a_note(adaptive):
    doubled = dataclasses.replace(adaptive.measured, rate=adaptive.measured.rate * 2)
    forged = dp.Release(dataclasses.replace(adaptive.release, measured=doubled), DOMAIN)
    (note,) = forged.notes()
    assert note in forged._repr_html_()


def test_densities_in_web_mercator_are_per_square_kilometre_on_the_ground():
    # 40,000 points even on the ground, from Athens to beyond Oslo: the map enlarges the north
    rng = np.random.default_rng(2)
    lat = np.degrees(np.arcsin(rng.uniform(*np.sin(np.radians([38.0, 62.0])), 40_000)))
    points = gpd.GeoSeries(gpd.points_from_xy(rng.uniform(0, 30, 40_000), lat), crs=4326)
    west, south, east, north = (
        gpd.GeoSeries([shapely.box(0, 38, 30, 62)], crs=4326).to_crs(3857).total_bounds
    )
    domain = dp.Domain.from_bounds((west, south, east, north), crs="EPSG:3857")
    release = dp.publish(points.to_crs(3857), 3, domain)
    ground = 6371.0**2 * np.radians(30) * np.ptp(np.sin(np.radians([38.0, 62.0])))
    assert domain.area / 1e6 == pytest.approx(ground, rel=0.01)
    cells = release.density(cell=domain.side / 4)
    rich = cells[cells["count"] > 1000]  # where chance and noise are below a twentieth
    assert len(rich) >= 12
    assert rich.per_km2.to_numpy() == pytest.approx(40_000 / ground, rel=0.15)


@pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")
def test_where_a_release_has_nothing_its_density_is_zero_and_not_dust():
    rng = np.random.default_rng(3)
    domain = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    release = dp.publish(rng.uniform((0, 0), (400, 1000), (5000, 2)), 50, domain)
    filled = raster(release.decoded, domain.grid.order) > 0
    edge = np.minimum(np.arange(144) * 7, 1000) / domain.grid.cell
    first, last = np.floor(edge[:-1]).astype(int), np.ceil(edge[1:]).astype(int)
    empty = ~np.array([[filled[a:b, c:d].any() for c, d in zip(first, last)]
                       for a, b in zip(first, last)])  # fmt: skip
    shown = picture(release.decoded, domain, 7).mass
    assert shown.shape == empty.shape and empty.sum() > 500
    assert not shown[empty].any() and shown[~empty].sum() == pytest.approx(5000)
