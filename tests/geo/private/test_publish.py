"""What publish takes, what it refuses, what it warns of; and that points land where they should."""

import json
import os
import subprocess
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pyogrio
import pyproj
import pytest
import shapely

import dpsort_geo as dp

# some tests want little noise
pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

BOX = (-74.3, 40.5, -73.7, 40.95)
CITY = dp.Domain.from_bounds(BOX, crs="EPSG:4326")


def scattered(n=3000, seed=7):
    rng = np.random.default_rng(seed)
    lon = np.clip(rng.normal(-73.95, 0.05, n), BOX[0], BOX[2])
    lat = np.clip(rng.normal(40.72, 0.05, n), BOX[1], BOX[3])
    return lon, lat


LON, LAT = scattered()
FRAME = gpd.GeoDataFrame(
    {"name": [f"person {i}" for i in range(LON.size)], "home": np.arange(LON.size) // 3},
    geometry=gpd.points_from_xy(LON, LAT),
    crs="EPSG:4326",
)
TABLE = dp.count_cells(FRAME, CITY)


def same(cells):
    return np.array_equal(cells.index, TABLE.index) and np.array_equal(cells.count, TABLE.count)


class Interface:
    def __init__(self, geo):
        self.__geo_interface__ = geo


def test_every_kind_of_points_in_memory_makes_the_same_counts():
    import pyarrow as pa

    assert same(dp.count_cells(FRAME.geometry, CITY))
    assert same(dp.count_cells(np.column_stack([LON, LAT]), CITY))
    assert same(dp.count_cells(list(zip(LON, LAT)), CITY))
    assert same(dp.count_cells(Interface(FRAME.__geo_interface__), CITY))
    assert same(dp.count_cells(FRAME.to_arrow(), CITY))
    assert same(dp.count_cells(pa.table({"lon": LON, "lat": LAT}), CITY))


def write(frame, folder, kind):
    path = folder / f"points.{kind.split('-')[0]}"
    if kind == "csv":
        pd.DataFrame({"id": 1, "lon": frame.geometry.x, "lat": frame.geometry.y}).to_csv(path)
    elif kind == "parquet-wkb":
        frame.to_parquet(path)
    elif kind == "parquet-point":
        frame.to_parquet(path, geometry_encoding="geoarrow")
    else:
        frame.to_file(path)
    return path


KINDS = ["gpkg", "geojson", "shp", "csv", "parquet-wkb", "parquet-point"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("has_z", [False, True])
def test_every_kind_of_file_makes_the_same_counts(tmp_path, kind, has_z):
    if kind == "csv" and has_z:
        pytest.skip("a table of lon and lat has no third coordinate")
    frame = FRAME.copy()
    if has_z:
        frame.geometry = gpd.points_from_xy(LON, LAT, np.arange(LON.size) * 1.0)
    # GDAL writes GeoJSON with seven decimals unless asked for more
    options = {"COORDINATE_PRECISION": 15} if kind == "geojson" else {}
    if options:
        path = tmp_path / "points.geojson"
        pyogrio.write_dataframe(frame, path, **options)
    else:
        path = write(frame, tmp_path, kind)
    assert same(dp.count_cells(path, CITY))


@pytest.mark.parametrize("code", [4326, 27700, 3857, 2263])
@pytest.mark.parametrize("kind", ["gpkg", "shp", "parquet-wkb", "parquet-point"])
def test_points_come_back_where_they_were_in_every_crs(tmp_path, code, kind):
    """Three places with a thousand points each, at an epsilon so large that noise is nothing."""
    middle = {27700: (-1.5, 52.5)}.get(code, (-73.95, 40.72))
    degrees = np.array([[0, 0], [0.03, 0.02], [-0.025, 0.04]]) + middle
    # by hand, through pyproj alone
    to_crs = pyproj.Transformer.from_crs(4326, code, always_xy=True)
    x, y = to_crs.transform(degrees[:, 0], degrees[:, 1])
    points = gpd.GeoDataFrame(
        geometry=gpd.points_from_xy(np.repeat(x, 1000), np.repeat(y, 1000)), crs=code
    )
    path = write(points, tmp_path, kind)
    pad = 0.3 if code == 4326 else 20_000
    # with four margins of their own: one alike on all sides would tell where the points end
    box = (x.min() - pad, y.min() - 1.2 * pad, x.max() + 0.9 * pad, y.max() + 1.1 * pad)
    domain = dp.Domain.from_bounds(box, crs=code)
    release = dp.publish(path, 1000, domain)
    published = release.points()
    assert published.crs == pyproj.CRS(code) and len(published) == 3000
    work = pyproj.Transformer.from_crs(code, domain.working_crs, always_xy=True)
    true = np.column_stack(work.transform(np.repeat(x, 1000), np.repeat(y, 1000)))
    found = np.column_stack(work.transform(published.geometry.x, published.geometry.y))
    off = np.abs(found[:, None, :] - np.unique(true, axis=0)[None]).max(axis=2).min(axis=1)
    assert off.max() <= domain.grid.cell * 1.0001
    # and so they are in the files written from it, read back by GDAL
    for name, save in [("p.parquet", release.to_geoparquet), ("p.gpkg", release.to_gpkg)]:
        save(tmp_path / name)
        read = gpd.read_parquet if name.endswith("parquet") else gpd.read_file
        again = read(tmp_path / name)
        assert again.crs == published.crs
        np.testing.assert_allclose(again.geometry.x, published.geometry.x, rtol=1e-12)
    release.to_geojson(tmp_path / "p.geojson")
    again = gpd.read_file(tmp_path / "p.geojson").to_crs(domain.working_crs)
    off = np.abs(np.column_stack([again.geometry.x, again.geometry.y]) - found).max()
    assert off * domain.metres < 0.05


def test_points_in_another_crs_than_the_domain_are_brought_to_it():
    assert same_places(dp.count_cells(FRAME.to_crs(2263), CITY))


def same_places(cells):
    """The way through another CRS rounds by nanometres: a point in a thousand may change cell."""
    return abs(int(cells.n) - TABLE.n) == 0 and np.isin(cells.index, TABLE.index).mean() > 0.999


def test_points_outside_go_to_the_nearest_cell_silently(recwarn):
    far = np.array([[-80.0, 40.7], [-74.0, 60.0], [-73.9, 40.7]])
    cells = dp.count_cells(far, CITY)
    assert cells.n == 3
    assert not [w for w in recwarn.list if issubclass(w.category, UserWarning)]


def test_the_private_frame_is_not_changed_and_only_geometry_comes_out():
    before = FRAME.copy(deep=True)
    release = dp.publish(FRAME, 1, CITY)
    pd.testing.assert_frame_equal(pd.DataFrame(FRAME), pd.DataFrame(before))
    assert list(release.points().columns) == ["geometry"]
    assert "person 1" not in release.to_json()


BAD_GEOMETRY = {
    "null": ([shapely.Point(0, 0), None], "null and empty"),
    "empty": ([shapely.Point(0, 0), shapely.Point()], "null and empty"),
    "nan": ([shapely.Point(0, 0), shapely.Point(float("nan"), 1)], "null and empty"),
    "line": ([shapely.LineString([(0, 0), (1, 1)])], "Only points"),
    "multipoint": ([shapely.MultiPoint([(0, 0), (1, 1)])], "explode"),
}


@pytest.mark.parametrize("bad", BAD_GEOMETRY)
@pytest.mark.parametrize("rows", [1, 5])
def test_bad_geometry_is_refused_without_telling_how_many_or_where(bad, rows):
    shapes, says = BAD_GEOMETRY[bad]
    frame = gpd.GeoDataFrame(geometry=[shapes[0]] * 40 + [shapes[-1]] * rows, crs="EPSG:4326")
    with pytest.raises(dp.BadInputError, match=says) as refused:
        dp.publish(frame, 1, CITY)
    assert not any(letter.isdigit() for letter in str(refused.value))
    assert refused.value.__cause__ is None and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"epsilon": 0}, "above 0"),
        ({"epsilon": -1}, "above 0"),
        ({"epsilon": "nan"}, "(?i)epsilon"),
        ({"epsilon": float("inf")}, "(?i)epsilon"),
        ({"epsilon": "much"}, "positive number"),
        ({"domain": BOX}, "domain must be given"),
        ({"domain": None}, "domain must be given"),
        ({"method": "magic"}, "method must be"),
        ({"neighbours": "both"}, "neighbour"),
        ({"group_size": 5}, "sort"),
        ({"person": "nobody"}, "no person column"),
        ({"points": FRAME.set_crs(None, allow_override=True)}, "no CRS"),
        ({"points": FRAME.iloc[:0]}, "no points"),
        ({"points": np.zeros((0, 2))}, "no points"),
        ({"points": np.zeros((4, 3))}, r"\(n, 2\)"),
        ({"points": np.array([[0, np.nan]])}, "finite"),
        ({"points": [["a", "b"]]}, "numbers"),
        ({"points": 5}, "GeoDataFrame"),
        ({"points": "nowhere.gpkg"}, "no file"),
        ({"ledger": "book.sqlite"}, "dataset"),
        ({"domain": dp.Domain.from_polygon(shapely.box(0, 0, 1, 1), crs=3857, order=1)}, None),
    ],
)
def test_bad_input_is_refused_with_one_sentence(arguments, says):
    given = {"points": FRAME, "epsilon": 1, "domain": CITY, **arguments}
    if says is None:
        dp.publish(np.zeros((3, 2)), 1, given["domain"])  # four cells are enough
        return
    with pytest.raises(dp.BadInputError, match=says) as refused:
        dp.publish(given.pop("points"), given.pop("epsilon"), given.pop("domain"), **given)
    assert "\n" not in str(refused.value)


def test_a_domain_of_one_cell_is_refused():
    tiny = dp.Domain.from_polygon(
        shapely.union_all([shapely.box(0, 0, 1.2, 1.2), shapely.box(0, 0, 2, 0.1)]),
        crs=3857,
        order=1,
    )
    assert tiny.grid.n_cells == 1
    with pytest.raises(dp.BadInputError, match="one cell"):
        dp.publish(np.zeros((3, 2)), 1, tiny)


def test_a_person_column_with_gaps_is_refused():
    frame = FRAME.assign(home=[None, *range(1, len(FRAME))])
    with pytest.raises(dp.BadInputError, match="person"):
        dp.publish(frame, 1, CITY, person="home")


def warnings_of(**arguments):
    given = {"points": FRAME, "epsilon": 1, "domain": CITY, **arguments}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dp.publish(given.pop("points"), given.pop("epsilon"), given.pop("domain"), **given)
    return [w for w in caught if w.category is dp.PrivacyWarning]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_usual_call_warns_of_nothing(neighbours):
    assert warnings_of(neighbours=neighbours) == []


def test_an_exact_n_is_told_where_the_release_is_shown():
    assert "exactly 3,000 points" in repr(dp.publish(FRAME, 1, CITY))
    noisy = dp.publish(FRAME, 1, CITY, neighbours="add-remove")
    assert f"about {noisy.n:,} points" in repr(noisy)


def test_a_high_epsilon_and_a_useless_result_are_warned_of_at_the_callers_line():
    (high,) = warnings_of(epsilon="3.5")
    assert "promises little" in str(high.message) and high.filename == __file__
    (few,) = warnings_of(points=FRAME.iloc[:20], epsilon=0.1)
    assert "tenth of the domain" in str(few.message)


def test_counted_cells_can_be_published_and_say_no_less_than_the_points():
    release = dp.publish(TABLE, "1000", CITY)
    assert release.n == 3000 and release.verify()
    # so little noise that the counts of the release are those of the points
    assert same(dp.count_cells(release.points(diffuse=False), CITY))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"domain": dp.Domain.from_bounds(BOX, crs="EPSG:4326", order=9)}, "another grid"),
        ({"person": "home"}, "whose points"),
        ({"columns": ("x", "y")}, "are counted"),
        ({"client": object()}, "are counted"),
        ({"ledger": "book.sqlite"}, "dataset"),
    ],
)
def test_counted_cells_are_refused_where_they_cannot_be_what_is_meant(arguments, says):
    given = {"domain": CITY, **arguments}
    with pytest.raises(dp.BadInputError, match=says) as refused:
        dp.publish(TABLE, 1, **given)
    assert not any(letter.isdigit() for letter in str(refused.value))


def test_the_old_name_of_what_a_plan_protects_still_works_and_says_so():
    plan = dp.plan(n=1000, epsilon=1, domain=CITY, protects="person")
    with pytest.warns(DeprecationWarning, match="protects="):
        assert dp.plan(n=1000, epsilon=1, domain=CITY, unit="person") == plan
    assert plan.protects == plan.unit == "person" and isinstance(plan, dp.Plan)


@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
@pytest.mark.parametrize("person", [None, "home"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_every_method_publishes_points_and_persons(method, person, neighbours):
    release = dp.publish(FRAME, 2, CITY, method=method, person=person, neighbours=neighbours)
    assert release.mechanism == release.kind == method and release.neighbours == neighbours
    assert release.protects == release.unit == ("point" if person is None else "person")
    size = LON.size if person is None else 1000
    assert release.n == size if neighbours == "replace" else abs(release.n - size) < 2000
    assert len(release.points()) == max(release.n, 0)
    assert release.verify()


def test_persons_may_come_as_an_array_or_a_column_of_a_file(tmp_path):
    FRAME.to_parquet(tmp_path / "p.parquet")
    for points, person in [(FRAME, FRAME["home"].to_numpy()), (tmp_path / "p.parquet", "home")]:
        assert dp.publish(points, 1, CITY, person=person).n == 1000


def test_the_ledger_is_debited_before_and_named_after_the_file(tmp_path):
    FRAME.to_parquet(tmp_path / "calls.parquet")
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    release = dp.publish(tmp_path / "calls.parquet", "0.5", CITY, ledger=book)
    assert release.ledger
    (entry,) = book.entries()
    assert (entry.dataset, str(entry.epsilon), entry.unit) == ("calls", "1/2", "point")
    book.limit("calls", "0.6")
    with pytest.raises(dp.BadInputError, match=r"0\.1 is left"):
        dp.publish(tmp_path / "calls.parquet", "0.5", CITY, ledger=tmp_path / "ledger.sqlite")
    assert len(book.entries()) == 1


def test_bad_points_cost_nothing(tmp_path):
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(dp.BadInputError):
        dp.publish(FRAME.iloc[:0], 1, CITY, ledger=book, dataset="calls")
    assert book.entries() == []


def test_a_plan_needs_no_data():
    plan = dp.plan(n=50_000, epsilon=1.0, domain=CITY)
    assert plan.low < plan.expected_error < plan.high < CITY.side / 10
    assert " m " in str(plan)
    wanted = dp.plan(n=50_000, target_error=250, domain=CITY)
    again = dp.plan(n=50_000, epsilon=wanted.epsilon, domain=CITY).expected_error
    assert 240 <= again <= 250


def test_a_plan_in_feet_is_in_metres():
    feet = dp.Domain.from_bounds((900_000, 100_000, 1_064_042, 264_042), crs="EPSG:2263")
    metres = dp.Domain.from_bounds((0, 0, 50_000, 50_000), crs="EPSG:3857")
    errors = [dp.plan(n=1000, epsilon=1, domain=d).expected_error for d in (feet, metres)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-4)


def test_a_geopackage_with_a_fid_and_another_layer_name_is_read(tmp_path):
    path = tmp_path / "export.gpkg"
    pyogrio.write_dataframe(
        FRAME.rename_geometry("geom"), path, layer="my layer", driver="GPKG",
        layer_options={"GEOMETRY_NAME": "geom", "FID": "fid"},
    )  # fmt: skip
    assert same(dp.count_cells(path, CITY))


QGIS_WRITER = """
import csv, sys
from qgis.core import QgsApplication, QgsCoordinateTransformContext, QgsFeature, QgsGeometry
from qgis.core import QgsPointXY, QgsVectorFileWriter, QgsVectorLayer
application = QgsApplication([], False)
application.initQgis()
layer = QgsVectorLayer("Point?crs=EPSG:4326&field=name:string", "calls", "memory")
for lon, lat in csv.reader(open(sys.argv[1])):
    feature = QgsFeature(layer.fields())
    feature.setGeometry(QgsGeometry.fromPointXY(QgsPointXY(float(lon), float(lat))))
    feature.setAttributes(["someone"])
    layer.dataProvider().addFeature(feature)
options = QgsVectorFileWriter.SaveVectorOptions()
options.driverName = "GPKG"
context = QgsCoordinateTransformContext()
QgsVectorFileWriter.writeAsVectorFormatV3(layer, sys.argv[2], context, options)
"""


def test_a_geopackage_written_by_qgis_is_read(tmp_path):
    python = "/usr/bin/python3"
    found = subprocess.run([python, "-c", "import qgis.core"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("no QGIS on this machine")
    rows = "\n".join(f"{lon!r},{lat!r}" for lon, lat in zip(LON.tolist(), LAT.tolist()))
    (tmp_path / "points.csv").write_text(rows)
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
    words = [python, "-c", QGIS_WRITER, str(tmp_path / "points.csv"), str(tmp_path / "calls.gpkg")]
    subprocess.run(words, capture_output=True, check=True, timeout=120, env=environment)
    assert same(dp.count_cells(tmp_path / "calls.gpkg", CITY))


def test_geojson_out_follows_rfc_7946(tmp_path):
    dp.publish(FRAME, 1, CITY).to_geojson(tmp_path / "p.geojson")
    document = json.loads((tmp_path / "p.geojson").read_text())
    assert document["type"] == "FeatureCollection" and "crs" not in document
    assert document["privacy_statement"]["epsilon"] == "1"
    feature = document["features"][0]
    assert feature["type"] == "Feature" and feature["geometry"]["type"] == "Point"
    assert all(-180 <= f["geometry"]["coordinates"][0] <= 180 for f in document["features"])
