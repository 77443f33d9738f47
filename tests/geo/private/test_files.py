"""Point files come out as the coordinates that went in, batch by batch, or not at all."""

from __future__ import annotations

import gzip
import json
import pickle
import struct
from pathlib import Path

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import CRS

from dpsort_geo.core.errors import BadInputError, MissingPackageError
from dpsort_geo.geo.private import arrow, files, formats, point_crs, vector

N = 500


@pytest.fixture(scope="module")
def xy() -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.column_stack([rng.uniform(-74.3, -73.7, N), rng.uniform(40.5, 40.9, N)])


def frame(xy: np.ndarray, crs: str = "EPSG:4326", z: bool = False) -> gpd.GeoDataFrame:
    coords = np.column_stack([xy, np.arange(len(xy))]) if z else xy
    who = np.arange(len(xy)) // 3
    name = [f"p{i}" for i in who]
    return gpd.GeoDataFrame({"who": who, "name": name}, geometry=shapely.points(coords), crs=crs)


def read(stream: files.PointStream) -> np.ndarray:
    parts = [np.column_stack([x, y]) for x, y, _ in stream]
    return np.concatenate(parts)


def write_csv(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# the same points, whatever the file ---------------------------------------------------------------

WRITERS = {
    "wkb.parquet": lambda f, p: f.to_parquet(p),
    "point.parquet": lambda f, p: f.to_parquet(p, geometry_encoding="geoarrow"),
    "points.gpkg": lambda f, p: f.to_file(p),
    "points.geojson": lambda f, p: f.to_file(p, COORDINATE_PRECISION=15),
    "points.ndjson": lambda f, p: f.to_file(p, driver="GeoJSONSeq", COORDINATE_PRECISION=15),
    "points.geojsons": lambda f, p: f.to_file(p, driver="GeoJSONSeq", COORDINATE_PRECISION=15),
    "points.shp": lambda f, p: f.to_file(p),
    "points.fgb": lambda f, p: f.to_file(p, SPATIAL_INDEX="NO"),
}


@pytest.mark.parametrize("z", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_back_the_points_that_were_written(xy, tmp_path, name, z):
    WRITERS[name](frame(xy, z=z), tmp_path / name)
    stream = files.batches(tmp_path / name)
    assert point_crs.same_crs(stream.crs, CRS("EPSG:4326"))
    assert stream.total_rows == N
    np.testing.assert_array_equal(read(stream), xy)


@pytest.mark.parametrize("crs", ["EPSG:27700", "EPSG:3857", "EPSG:2263"])
@pytest.mark.parametrize("name", ["wkb.parquet", "point.parquet", "points.gpkg", "points.shp"])
def test_the_crs_travels_with_the_points(xy, tmp_path, name, crs):
    projected = frame(xy).to_crs(crs)
    WRITERS[name](projected, tmp_path / name)
    stream = files.batches(tmp_path / name)
    assert stream.crs.to_epsg() == int(crs[5:])
    np.testing.assert_array_equal(read(stream), projected.get_coordinates().to_numpy())


@pytest.mark.parametrize("batch", [1, 7, 64, 10_000])
def test_the_size_of_batches_changes_nothing(xy, tmp_path, monkeypatch, batch):
    monkeypatch.setattr(formats, "BATCH_ROWS", batch)
    for name in ("wkb.parquet", "point.parquet", "points.gpkg"):
        WRITERS[name](frame(xy), tmp_path / name)
        np.testing.assert_array_equal(read(files.batches(tmp_path / name)), xy)


def test_the_person_column_comes_along_when_asked_for(xy, tmp_path):
    for name in WRITERS:
        WRITERS[name](frame(xy), tmp_path / name)
        for column in ("who", "name"):
            got = np.concatenate([p for _, _, p in files.batches(tmp_path / name, person=column)])
            assert got.tolist() == frame(xy)[column].tolist()
    path = tmp_path / "points.csv"
    frame(xy).get_coordinates().assign(who=frame(xy)["who"]).to_csv(path, index=False)
    got = np.concatenate([p for _, _, p in files.batches(path, person="who")])
    assert got.tolist() == frame(xy)["who"].astype(str).tolist()


def test_only_the_columns_that_are_needed_are_read(xy, tmp_path):
    frame(xy).to_parquet(tmp_path / "a.parquet")
    (piece,) = files.pieces(tmp_path / "a.parquet")
    assert piece.layout.names == ["geometry"]


def test_without_pyarrow_gdal_formats_are_still_read(xy, tmp_path, monkeypatch):
    frame(xy).to_file(tmp_path / "a.gpkg")
    monkeypatch.setattr(vector, "have", lambda module: False)
    stream = files.batches(tmp_path / "a.gpkg", person="who")
    np.testing.assert_array_equal(read(stream), xy)


# csv ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "epsg"),
    [
        ("lon,lat", 4326),
        ("Longitude,Latitude", 4326),
        ("lng,lat", 4326),
        ("x,y", None),
        ("X,Y", None),
        ("Easting,Northing", None),
    ],
)
def test_csv_columns_are_found_by_name(tmp_path, header, epsg):
    stream = files.batches(write_csv(tmp_path / "a.csv", f"id,{header}\n1,2.5,3.5\n2,-1e1,4\n"))
    assert (stream.crs and stream.crs.to_epsg()) == epsg
    assert read(stream).tolist() == [[2.5, 3.5], [-10, 4]]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_csv_with_any_usual_delimiter_and_a_byte_order_mark(tmp_path, mark):
    text = f'\ufeff"note"{mark}lon{mark}lat\n"two\nlines"{mark}1{mark}2\n'
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    assert read(files.batches(path)).tolist() == [[1, 2]]


def test_columns_can_be_named(tmp_path):
    path = write_csv(tmp_path / "a.csv", "lon,lat,start_lng,start_lat\n9,9,1,2\n")
    stream = files.batches(path, columns=("start_lng", "start_lat"))
    assert read(stream).tolist() == [[1, 2]]


def test_parquet_without_geometry_is_read_by_column_name(tmp_path):
    pq.write_table(pa.table({"lon": [1.0, 2.0], "lat": [3.0, 4.0]}), tmp_path / "a.parquet")
    stream = files.batches(tmp_path / "a.parquet")
    assert stream.crs.to_epsg() == 4326
    assert read(stream).tolist() == [[1, 3], [2, 4]]


def test_two_possible_pairs_of_columns_are_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", "lon,lat,x,y\n1,2,3,4\n")
    with pytest.raises(BadInputError, match="columns="):
        files.batches(path)


# many files, many pieces --------------------------------------------------------------------------


def test_a_folder_and_a_glob_read_all_their_files(xy, tmp_path):
    for i, part in enumerate(np.array_split(xy, 4)):
        frame(part).to_parquet(tmp_path / f"part{i}.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("not points")
    for path in (tmp_path, f"{tmp_path}/part*.parquet"):
        stream = files.batches(path)
        assert stream.total_rows == N
        np.testing.assert_array_equal(read(stream), xy)


def test_pieces_hold_every_point_once_and_can_be_pickled(xy, tmp_path, monkeypatch):
    frame(xy).to_parquet(tmp_path / "a.parquet", row_group_size=30)
    monkeypatch.setattr(formats, "PIECE_ROWS", 100)
    found = pickle.loads(pickle.dumps(files.pieces(tmp_path / "a.parquet")))
    assert len(found) > 3
    assert sum(piece.rows for piece in found) == N
    np.testing.assert_array_equal(read(files.PointStream(None, None, found)), xy)


def test_files_with_different_crs_are_refused(xy, tmp_path):
    frame(xy).to_parquet(tmp_path / "a.parquet")
    frame(xy).to_crs(2263).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(BadInputError, match="different coordinate reference systems"):
        files.batches(tmp_path)


def test_a_folder_of_two_formats_is_refused(xy, tmp_path):
    frame(xy).to_parquet(tmp_path / "a.parquet")
    frame(xy).to_file(tmp_path / "a.gpkg")
    with pytest.raises(BadInputError, match="more than one format"):
        files.batches(tmp_path)


@pytest.mark.parametrize("other", ["a.fgb", "a.geojson", "a.shp", "old/a.shp"])
def test_a_folder_with_the_points_in_two_formats_of_one_reader_is_refused(xy, tmp_path, other):
    frame(xy).to_file(tmp_path / "a.gpkg")
    (tmp_path / other).parent.mkdir(exist_ok=True)
    frame(xy).to_file(tmp_path / other)
    with pytest.raises(BadInputError, match="more than one format"):
        files.batches(tmp_path)


def test_a_table_and_its_compressed_copy_are_refused(tmp_path):
    text = "lon,lat\n1,2\n"
    write_csv(tmp_path / "a.csv", text)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    for path in (tmp_path, tmp_path / "a.*"):
        with pytest.raises(BadInputError, match="more than one format"):
            files.batches(path)


def test_a_file_that_is_found_under_two_names_is_read_once(tmp_path):
    (tmp_path / "2024").mkdir()
    write_csv(tmp_path / "2024" / "a.csv", "lon,lat\n1,2\n")
    (tmp_path / "latest.csv").symlink_to(tmp_path / "2024" / "a.csv")
    (tmp_path / "copy.csv").hardlink_to(tmp_path / "2024" / "a.csv")
    for path in (tmp_path, tmp_path / "**" / "**" / "*.csv"):
        assert len(read(files.batches(path))) == 1


def test_hidden_folders_are_not_entered(tmp_path):
    write_csv(tmp_path / "a.csv", "lon,lat\n1,2\n")
    for hidden in (".ipynb_checkpoints", "_old"):
        (tmp_path / hidden).mkdir()
        write_csv(tmp_path / hidden / "a-checkpoint.csv", "lon,lat\n1,2\n")
    assert len(read(files.batches(tmp_path))) == 1


def test_what_gdal_says_about_a_file_is_not_passed_on(tmp_path, recwarn):
    features = [
        {
            "type": "Feature",
            "id": 424242,  # twice: GDAL warns, and quotes it
            "properties": {},
            "geometry": {"type": "Point", "coordinates": [1, 2]},
        }
    ]
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features * 2}))
    assert len(read(files.batches(path))) == 2
    assert not [warning for warning in recwarn if "424242" in str(warning.message)]


def test_a_layer_of_a_geopackage_can_be_named(xy, tmp_path):
    path = tmp_path / "a.gpkg"
    frame(xy).to_file(path, layer="calls")
    frame(xy[:10]).to_file(path, layer="trips")
    with pytest.raises(BadInputError, match="layername"):
        files.batches(path)
    assert len(read(files.batches(f"{path}|layername=trips"))) == 10


# arrow and geo interface --------------------------------------------------------------------------


def test_an_arrow_stream_that_fails_is_not_quoted():
    def broken():
        yield pa.record_batch({"x": [1.0], "y": [2.0]})
        raise pa.ArrowInvalid("secret-7")

    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    stream = files.arrow_batches(pa.RecordBatchReader.from_batches(schema, broken()))
    with pytest.raises(BadInputError, match="The Arrow stream") as refusal:
        read(stream)
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("encoding", ["WKB", "geoarrow"])
@pytest.mark.parametrize("interleaved", [True, False])
def test_arrow_streams_of_points_are_read(xy, encoding, interleaved):
    table = frame(xy).to_arrow(geometry_encoding=encoding, interleaved=interleaved)
    stream = files.arrow_batches(table, person="who")
    assert point_crs.same_crs(stream.crs, CRS("EPSG:4326"))
    np.testing.assert_array_equal(read(stream), xy)


def test_slices_of_arrow_arrays_keep_their_place(xy):
    for encoding in ("WKB", "geoarrow"):
        table = pa.table(frame(xy).to_arrow(geometry_encoding=encoding)).slice(13, 100)
        np.testing.assert_array_equal(read(files.arrow_batches(table)), xy[13:113])


def test_geo_interface_of_features_and_geometries(xy):
    np.testing.assert_array_equal(read(files.geo_interface_batches(frame(xy))), xy)
    assert read(files.geo_interface_batches(shapely.Point(1, 2))).tolist() == [[1, 2]]
    (who,) = [p for _, _, p in files.geo_interface_batches(frame(xy), person="name")]
    assert who.tolist() == frame(xy)["name"].tolist()


# well-known binary of every kind ------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=20),
    st.lists(st.sampled_from(["plain", "z", "big", "srid", "m"]), min_size=20, max_size=20),
)
def test_wkb_of_every_flavour_gives_the_same_coordinates(points, flavours):
    raw = [_wkb(x, y, flavour) for (x, y), flavour in zip(points, flavours)]
    x, y = arrow.from_arrow(pa.array(raw, pa.binary()))
    assert np.column_stack([x, y]).tolist() == [list(point) for point in points]


def _wkb(x: float, y: float, flavour: str) -> bytes:
    if flavour == "big":
        return struct.pack(">BIdd", 0, 1, x, y)
    if flavour == "srid":
        return struct.pack("<BIIdd", 1, 0x20000001, 4326, x, y)
    if flavour in ("z", "m"):
        return struct.pack("<BIddd", 1, {"z": 1001, "m": 2001}[flavour], x, y, 5.0)
    return struct.pack("<BIdd", 1, 1, x, y)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(21)])
def test_wkb_in_every_arrow_type(kind):
    column = pa.array([_wkb(1, 2, "plain"), _wkb(3, 4, "plain")], kind)
    x, y = arrow.from_arrow(column)
    assert (x.tolist(), y.tolist()) == ([1, 3], [2, 4])


def test_plain_points_never_become_shapely_objects(xy, tmp_path, monkeypatch):
    for name in ("wkb.parquet", "point.parquet", "points.gpkg", "points.fgb"):
        WRITERS[name](frame(xy), tmp_path / name)

    def refuse(*args, **kwargs):
        raise AssertionError("a shapely object was made")

    for function in ("from_wkb", "points", "get_x"):
        monkeypatch.setattr(shapely, function, refuse)
    for name in ("wkb.parquet", "point.parquet", "points.gpkg", "points.fgb"):
        assert len(read(files.batches(tmp_path / name))) == N


# refusals -----------------------------------------------------------------------------------------

BAD = {
    "null": (None, "null and empty"),
    "empty": (shapely.Point(), "null and empty"),
    "line": (shapely.LineString([(0, 0), (1, 1)]), "Only points"),
    "multipoint": (shapely.MultiPoint([(0, 0), (1, 1)]), "explode"),
    "collection": (shapely.GeometryCollection([shapely.Point(0, 0)] * 9), "explode"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("suffix", ["parquet", "gpkg", "geojson", "fgb"])
def test_what_is_not_a_point_is_refused_without_telling_how_many_or_where(
    xy, tmp_path, kind, suffix
):
    bad, message = BAD[kind]
    if (kind, suffix) == ("empty", "fgb"):
        pytest.skip("FlatGeobuf cannot hold empty geometries")
    geometry = [*shapely.points(xy[:20]), bad]
    table = gpd.GeoDataFrame(geometry=geometry, crs=4326)
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        table.to_parquet(path)
    else:
        table.to_file(path, **({"SPATIAL_INDEX": "NO"} if suffix == "fgb" else {}))
    with pytest.raises(BadInputError, match=message) as refusal:
        read(files.batches(path))
    assert not any(char.isdigit() for char in str(refusal.value).replace(path.name, ""))


@pytest.mark.parametrize("row", ["nan,2", ",2", "inf,2"])
def test_csv_rows_without_a_place_are_refused(tmp_path, row):
    path = write_csv(tmp_path / "a.csv", f"lon,lat\n1,2\n{row}\n")
    with pytest.raises(BadInputError, match="finite coordinates"):
        read(files.batches(path))


def test_a_message_about_text_among_numbers_does_not_quote_it(tmp_path):
    path = write_csv(tmp_path / "a.csv", "lon,lat\n1,2\nsecret-7,2\n")
    with pytest.raises(BadInputError) as refusal:
        read(files.batches(path))
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None and refusal.value.__context__ is None


def test_a_missing_person_is_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", "lon,lat,who\n1,2,a\n3,4,\n")
    table = pa.table({"lon": [1.0, 2.0], "lat": [1.0, 2.0], "who": [1, None]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(BadInputError, match="person column 'who'"):
        read(files.batches(tmp_path / "a.parquet", person="who"))
    with pytest.raises(BadInputError, match="person column 'who'"):
        read(files.batches(path, person="who"))
    with pytest.raises(BadInputError, match="'name'"):
        files.batches(path, person="name")


def test_files_that_cannot_be_read_get_one_sentence(tmp_path):
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 but not really")
    (tmp_path / "broken.gpkg").write_bytes(b"not a database")
    (tmp_path / "broken.geojson").write_text('{"type": "FeatureCollection", "features": [')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "names.csv").write_text("a,b\n1,2\n")
    (tmp_path / "header.csv").write_text("")
    (tmp_path / "nothing").mkdir()
    for name in (
        "absent.parquet", "empty.parquet", "broken.parquet", "broken.gpkg", "broken.geojson",
        "picture.png", "names.csv", "header.csv", "nothing", "*.nothing",
    ):  # fmt: skip
        with pytest.raises(BadInputError) as refusal:
            read(files.batches(tmp_path / name))
        assert str(refusal.value).count("\n") == 0
        assert refusal.value.__cause__ is None


def test_missing_pyarrow_is_said_with_the_fix(xy, tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    frame(xy).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("dpsort_geo.geo._optional.import_module", absent)
    with pytest.raises(
        MissingPackageError, match=r"GeoParquet needs pyarrow: pip install 'dpsort-geo\[par"
    ):
        files.batches(tmp_path / "a.parquet")
