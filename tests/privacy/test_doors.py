"""Who is who is a matter of each record alone: nobody's record changes how another's is read."""

from __future__ import annotations

import datetime
import json
import tempfile
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.persons import joined_names, number_persons
from dpsort_geo.geo.private import files

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

STAMPS = [f"2024-01-01T00:00:{i % 60:02}" for i in range(8)]
#: names that a format, or Python, might take for one another
ODD = st.one_of(
    st.sampled_from(
        [
            0, 0.0, 1, 1.0, True, False, "0", "0.0", "1", "01", "true", "True", "bob", "", " bob",
            "2024-01-01", "2024/01/01", "2024-01-01T00:00:00", "2024-01-01T00:00:00Z", "12:00:00",
            2**31, 2**53, 2**53 + 1, 2**62, float(2**53), -1, 1e300, [1], [1.0], {"a": 1}, "[1]",
            b"1", b"bob", None, "NaN", "1e2", 100, 100.0,
        ]
    ),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3),
)  # fmt: skip


def partition(names) -> tuple[int, ...] | None:
    """Who is the same person as whom, as the number of the first row with that name."""
    try:
        code = number_persons(names)
    except BadInputError:
        return None
    return tuple(int(np.flatnonzero(code == c)[0]) for c in code)


def of_file(path, person="who") -> tuple[int, ...] | None:
    try:
        found = [np.asarray(who) for _, _, who in files.batches(path, person=person)]
        return partition(joined_names(found))
    except BadInputError:
        return None


def write_geojson(path: Path, names, by_line: bool) -> Path:
    features = [
        {
            "type": "Feature",
            "properties": {"who": name},
            "geometry": {"type": "Point", "coordinates": [1.5, 2.5]},
        }
        for name in names
    ]
    if by_line:
        path.write_text("\n".join(json.dumps(feature) for feature in features))
    else:
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def as_json(name):
    return name.decode() if isinstance(name, bytes) else name


TWENTY = list(range(10)) + [float(i) for i in range(10)]


@settings(deadline=None, max_examples=150)
@given(st.lists(ODD, min_size=1, max_size=6), ODD, ODD, st.booleans())
@example(STAMPS, STAMPS[0], "bob", False)
@example([f"2024-01-0{i}" for i in range(1, 9)] * 2, "2024-01-01", "bob", True)
@example(["2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00"], "2024-01-01", "bob", False)
@example(TWENTY, 0, "bob", False)
@example([True, 1], 1, "bob", False)
def test_one_record_of_geojson_does_not_change_who_the_others_are(names, one, other, by_line):
    names = [as_json(name) for name in names]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.geojsonl" if by_line else "a.geojson")
        before = of_file(write_geojson(path, [*names, as_json(one)], by_line))
        after = of_file(write_geojson(path, [*names, as_json(other)], by_line))
    if before is not None and after is not None:
        assert before[:-1] == after[:-1]


@settings(deadline=None, max_examples=150)
@given(st.lists(ODD, min_size=1, max_size=6), ODD, ODD)
@example([b"a", "a"], b"b", "b")
def test_one_value_of_an_array_does_not_change_who_the_others_are(names, one, other):
    before, after = partition([*names, one]), partition([*names, other])
    if before is not None and after is not None:
        assert before[:-1] == after[:-1]


def test_ids_that_look_like_times_are_as_many_persons_as_they_are_names(tmp_path):
    for names in (STAMPS, [*STAMPS[:-1], "bob"]):
        assert len(set(of_file(write_geojson(tmp_path / "a.geojson", names, False)))) == 8
    zones = ["2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00"]
    assert of_file(write_geojson(tmp_path / "a.geojson", zones, False)) == (0, 1)


def test_geojson_with_persons_has_the_same_places_as_without(tmp_path):
    frame = gpd.GeoDataFrame(
        {"who": ["a", "b", "a"], "east": [1, 2.5, 3], "north": [4, 5, 6]},
        geometry=shapely.points([[1, 2], [3, 4], [5.25, 6]]),
        crs=4326,
    )
    for driver, name in (("GeoJSON", "a.geojson"), ("GeoJSONSeq", "a.geojsonl")):
        frame.to_file(tmp_path / name, driver=driver)
        for columns in (None, ("east", "north")):
            ((x, y, who),) = files.batches(tmp_path / name, columns, "who")
            ((plain_x, plain_y, _),) = files.batches(tmp_path / name, columns)
            assert (x.tolist(), y.tolist()) == (plain_x.tolist(), plain_y.tolist())
            assert who.tolist() == ["a", "b", "a"]


def test_documents_of_which_a_part_would_be_left_out_are_refused(tmp_path):
    path = write_geojson(tmp_path / "a.geojsonl", ["a"], False)
    path.write_text(path.read_text() + "\n" + path.read_text())
    assert of_file(path) is None


def test_a_format_that_guesses_types_is_refused_for_persons(tmp_path):
    rings = {
        "geometryType": "esriGeometryPoint",
        "spatialReference": {"wkid": 4326},
        "fields": [{"name": "who", "type": "esriFieldTypeString", "length": 9}],
        "features": [{"attributes": {"who": "a"}, "geometry": {"x": 1, "y": 2}}],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rings))
    with pytest.raises(BadInputError, match="GeoPackage"):
        files.batches(path, person="who")


@pytest.mark.parametrize("suffix", ["gpkg", "fgb", "shp"])
def test_persons_in_a_column_of_dates_are_refused_and_of_text_or_numbers_read(tmp_path, suffix):
    day = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01"])
    frame = gpd.GeoDataFrame(
        {"day": day, "name": ["1", "01", "1"], "number": [7, 8, 7]},
        geometry=shapely.points([[1, 2]] * 3),
        crs=4326,
    )
    path = tmp_path / f"a.{suffix}"
    frame.to_file(path)
    # FlatGeobuf is sorted along its index
    assert sorted(of_file(path, "name")) in ([0, 0, 1], [0, 0, 2], [0, 1, 1])
    assert len(set(of_file(path, "number"))) == 2
    if suffix == "shp":  # geopandas writes times as text there
        return
    with pytest.raises(BadInputError, match="dates and times as text"):
        files.batches(path, person="day")


# several tables -----------------------------------------------------------------------------------

NOW = datetime.datetime(2024, 1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([NOW], pa.timestamp("us")), pa.array([NOW], pa.timestamp("ns"))),
        (pa.array(["a"]), pa.array([b"a"])),
        (pa.array([1]), pa.array(["1"])),
        (pa.array([1]), pa.array([1.0])),
        (pa.array([NOW], pa.timestamp("us")), pa.array([NOW], pa.timestamp("us", "UTC"))),
    ],
)
def test_files_whose_persons_have_different_types_are_refused(tmp_path, one, other):
    for name, who in (("a", one), ("b", other)):
        table = pa.table({"lon": [1.0], "lat": [2.0], "who": who})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    with pytest.raises(BadInputError, match="different types"):
        files.batches(tmp_path, person="who")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array(["a", "b"]), pa.array(["b", "c"], pa.large_string())),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"])),
        (pa.array([1, 2], pa.int8()), pa.array([2, 3], pa.uint64())),
    ],
)
def test_files_whose_persons_are_all_text_or_all_whole_numbers_go_together(tmp_path, one, other):
    for name, who in (("a", one), ("b", other)):
        table = pa.table({"lon": [1.0] * 2, "lat": [2.0] * 2, "who": who})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert of_file(tmp_path) == (0, 1, 1, 3)


@pytest.mark.parametrize(
    "parts",
    [
        [np.array([NOW], "M8[us]"), np.array([NOW], "M8[ns]")],
        [np.array(["a"]), np.array([b"a"])],
        [np.array([1]), np.array([1.0])],
    ],
)
def test_names_of_different_types_are_not_joined(parts):
    with pytest.raises(BadInputError, match="Some persons are text"):
        joined_names(parts)


# frames -------------------------------------------------------------------------------------------

FRAME = gpd.GeoDataFrame(
    {"who": ["a", "a", "b", "b"]},
    geometry=shapely.points([[1, 1], [2, 2], [7, 7], [8, 8]]),
    crs=3857,
)
DOMAIN = dp.Domain.from_bounds((0, 0, 16, 16), crs=3857, order=4)


def test_a_series_of_persons_with_another_index_is_refused():
    for person in (
        FRAME["who"].iloc[::-1],
        FRAME["who"].reset_index(drop=True).set_axis([4, 5, 6, 7]),
    ):
        with pytest.raises(BadInputError, match="another index"):
            dp.publish(FRAME, 1, DOMAIN, person=person)
        with pytest.raises(BadInputError, match="another index"):
            dp.publish(FRAME.geometry, 1, DOMAIN, person=person)
    assert dp.publish(FRAME, 1, DOMAIN, person=FRAME["who"]).release.n == 2
    assert dp.publish(FRAME, 1, DOMAIN, person=FRAME["who"].tolist()).release.n == 2


@pytest.mark.parametrize(
    "names", [[True, 1], [True, False], np.array([True, False]), [object(), 1]]
)
def test_values_that_are_no_names_are_refused(names):
    with pytest.raises(BadInputError, match="told apart by text or by numbers"):
        number_persons(names)


def test_whole_numbers_that_went_through_a_short_decimal_column_are_refused():
    with pytest.raises(BadInputError, match="too long for a decimal column"):
        number_persons(np.array([2**24, 2**24 + 1], np.float32))
