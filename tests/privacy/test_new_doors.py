"""Every other way in: changing, adding or removing one record moves nobody else, anywhere.

One kit for all of them. A door is a function that writes records (x, y, name) to where points are
read from; what it gives back is read by the same function as `publish` does, and of every record
that stayed the place must be the same, and who is who among them.
"""

from __future__ import annotations

import io
import os
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.persons import joined_names, number_persons
from dpsort_geo.geo.private import delimited
from dpsort_geo.geo.private.points import point_stream, projected
from dpsort_geo.geo.private.table import Reading

#: for each of the doors; `make audit` looks further
EXAMPLES_EACH = int(os.environ.get("DPSORT_GEO_DOORS", "25"))
DOMAIN = dp.Domain.from_bounds((-20, 30, 40, 70), crs="EPSG:4326", order=8)
Record = tuple[float, float, Any]
Source = tuple[Any, Any, Reading]
DEGREES = Reading(crs="EPSG:4326")

#: names that a format, or a library, might take for one another
NAMES = st.one_of(
    st.sampled_from(
        [
            "0", "0.0", "1", "01", "1.0", "1e0", "true", "True", "bob", " bob", "BOB", "NaN", "nan",
            "null", "NULL", "None", "n/a", "2024-01-01", "2024-01-01T00:00:00Z", "12:00:00", "-0",
            "9007199254740992", "9007199254740993", "9007199254740993.0", "1,5", "1;5", "a\tb",
            "[1]", '{"a": 1}', "=1", "ä", "a\u0308", "\u00e4",
        ]
    ),
    st.integers(-(2**70), 2**70).map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\"'"), min_size=1, max_size=4),
)  # fmt: skip
PLACES = st.one_of(
    st.floats(-180, 180), st.sampled_from([0.0, -0.0, 5e-324, 0.1 + 0.2, 179.99999999999997, 90.0])
)
RECORDS = st.tuples(PLACES, PLACES.map(lambda y: y / 2), NAMES)
FAR = st.tuples(
    st.one_of(PLACES, st.sampled_from([1e300, -1e300, 2.0**60, 1e-300])),
    st.one_of(PLACES, st.sampled_from([1e300, 91.0, -1e9])),
    NAMES,
)


def table_of(records: list[Record], names: Any = None) -> pa.Table:
    x, y, who = zip(*records)
    return pa.table({"lon": x, "lat": y, "who": pa.array(who) if names is None else names})


def csv_of(records: list[Record], mark: str = ",", decimal: str = ".") -> str:
    rows = pd.DataFrame([(repr(x), repr(y), who) for x, y, who in records])
    for column in (0, 1):
        rows[column] = rows[column].str.replace(".", decimal)
    rows.columns = ["lon", "lat", "who"]
    out = io.StringIO()
    rows.to_csv(out, sep=mark, index=False)
    return out.getvalue()


def csv(folder: Path, records: list[Record]) -> Source:
    (folder / "a.csv").write_text(csv_of(records), encoding="utf-8")
    return folder / "a.csv", "who", Reading()


def csv_with_commas_in_utf_16(folder: Path, records: list[Record]) -> Source:
    (folder / "a.csv").write_text(csv_of(records, ";", ","), encoding="utf-16")
    return folder / "a.csv", "who", Reading(decimal=",")


def a_pipe_of_csv(folder: Path, records: list[Record]) -> Source:
    return csv_of(records).encode(), "who", Reading()


def well_known_text(folder: Path, records: list[Record]) -> Source:
    rows = pd.DataFrame([(f"POINT ({x!r} {y!r})", who) for x, y, who in records])
    rows.columns = ["WKT", "who"]
    rows.to_csv(folder / "a.csv", index=False)
    return folder / "a.csv", "who", DEGREES


def parquet_of_two_columns(folder: Path, records: list[Record]) -> Source:
    pq.write_table(table_of(records), folder / "a.parquet", row_group_size=2)
    return folder / "a.parquet", "who", Reading()


def parquet_of_ewkb(folder: Path, records: list[Record]) -> Source:
    x, y, who = zip(*records)
    shapes = shapely.set_srid(shapely.points(x, y), 4326)
    wkb = shapely.to_wkb(shapes, include_srid=True)
    pq.write_table(pa.table({"geom": wkb, "who": who}), folder / "a.parquet", row_group_size=2)
    return folder / "a.parquet", "who", Reading()


def parquet_of_uuids(folder: Path, records: list[Record]) -> Source:
    names = pa.array(
        [uuid.uuid5(uuid.NAMESPACE_OID, who).bytes for _, _, who in records], pa.uuid()
    )
    pq.write_table(table_of(records, names), folder / "a.parquet")
    return folder / "a.parquet", "who", Reading()


def parquet_of_json(folder: Path, records: list[Record]) -> Source:
    names = pa.array([who for _, _, who in records], pa.json_())
    pq.write_table(table_of(records, names), folder / "a.parquet")
    return folder / "a.parquet", "who", Reading()


def duckdb_with_native_geometry(folder: Path, records: list[Record]) -> Source:
    connection = duckdb.connect()
    x, y, who = zip(*records)
    wkt = [f"POINT ({a!r} {b!r})" for a, b in zip(x, y)]
    connection.register("t", pa.table({"wkt": wkt, "who": who}))
    to = f"(select wkt::geometry as place, who from t) to '{folder / 'a.parquet'}'"
    connection.execute(f"copy {to} (format parquet, geoparquet_version 'NONE')")
    return folder / "a.parquet", "who", Reading()


def feather_file(folder: Path, records: list[Record]) -> Source:
    feather.write_feather(table_of(records), folder / "a.feather", chunksize=2)
    return folder / "a.feather", "who", Reading()


def an_arrow_stream_on_disk(folder: Path, records: list[Record]) -> Source:
    table = table_of(records)
    with pa.ipc.new_stream(folder / "a.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return folder / "a.arrows", "who", Reading()


def an_opaque_column(folder: Path, records: list[Record]) -> Source:
    x, y, who = zip(*records)
    kind = pa.opaque(pa.binary(), "geometry", "PostgreSQL")
    wkb = pa.array(shapely.to_wkb(shapely.points(x, y)))
    column = pa.ExtensionArray.from_storage(kind, wkb)
    return pa.table({"place": column, "who": who}), "who", DEGREES


def pandas(folder: Path, records: list[Record]) -> Source:
    frame = pd.DataFrame({"lon": [r[0] for r in records], "lat": [r[1] for r in records]})
    frame["who"] = pd.Series([r[2] for r in records], dtype=object)
    return frame, "who", Reading()


def polars(folder: Path, records: list[Record]) -> Source:
    return pl.from_arrow(table_of(records)), "who", Reading()


def polars_categories(folder: Path, records: list[Record]) -> Source:
    frame = pl.DataFrame(table_of(records)).with_columns(pl.col("who").cast(pl.Categorical))
    return frame, "who", Reading()


def a_lazy_frame(folder: Path, records: list[Record]) -> Source:
    pq.write_table(table_of(records), folder / "a.parquet")
    return pl.scan_parquet(folder / "a.parquet"), "who", Reading()


def a_relation(folder: Path, records: list[Record]) -> Source:
    connection = duckdb.connect()
    connection.register("t", table_of(records))
    return connection.sql("select * from t"), "who", Reading()


def a_result(folder: Path, records: list[Record]) -> Source:
    connection = duckdb.connect()
    connection.register("t", table_of(records))
    return connection.execute("select * from t"), "who", Reading()


def a_list_of_points(folder: Path, records: list[Record]) -> Source:
    return [shapely.Point(x, y) for x, y, _ in records], [who for *_, who in records], Reading()


def a_layer(folder: Path, records: list[Record]) -> Source:
    x, y, who = zip(*records)
    frame = gpd.GeoDataFrame({"who": who}, geometry=shapely.points(x, y), crs=4326)
    frame.to_file(folder / "a.gpkg", layer="calls")
    frame.iloc[:1].to_file(folder / "a.gpkg", layer="others")
    return folder / "a.gpkg", "who", Reading(layer="calls")


def kml(folder: Path, records: list[Record]) -> Source:
    x, y, who = zip(*records)
    if max(map(abs, x)) > 180 or max(map(abs, y)) > 90:
        raise OverflowError("GDAL writes another place")
    frame = gpd.GeoDataFrame({"Name": who}, geometry=shapely.points(x, y), crs=4326)
    frame.to_file(folder / "a.kml", driver="KML")
    return folder / "a.kml", None, Reading()


WAYS = (
    csv,
    csv_with_commas_in_utf_16,
    a_pipe_of_csv,
    well_known_text,
    parquet_of_two_columns,
    parquet_of_ewkb,
    parquet_of_uuids,
    parquet_of_json,
    duckdb_with_native_geometry,
    feather_file,
    an_arrow_stream_on_disk,
    an_opaque_column,
    pandas,
    polars,
    polars_categories,
    a_lazy_frame,
    a_relation,
    a_result,
    a_list_of_points,
    a_layer,
    kml,
)
DOORS: dict[str, Callable[[Path, list[Record]], Source]] = {way.__name__: way for way in WAYS}
#: doors that open a database or write a file with GDAL, each of which takes a while
SLOW = {"a_layer", "kml", "duckdb_with_native_geometry", "a_relation", "a_result"}


def cells_and_persons(way: str, records: list[Record]) -> Optional[list[tuple[Any, Any]]]:
    """Cell of every record, and the first record of the same person; None if it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            source, person, how = DOORS[way](Path(folder), records)
        except (OverflowError, duckdb.Error):  # what cannot be written is nobody's door
            return None
        try:
            stream = point_stream(source, DOMAIN, person, None, how=how)
            parts = [(*projected(DOMAIN, stream, x, y), who) for x, y, who in stream]
        except BadInputError:
            return None
        x, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        cell = DOMAIN.grid.curve_index(x, y).tolist()
        if person is None:
            return [(one, None) for one in cell]
        try:
            code = number_persons(joined_names([np.asarray(part[2]) for part in parts]))
        except BadInputError:
            return None
    first = {c: i for i, c in reversed(list(enumerate(code.tolist())))}
    assert len(cell) == len(records)
    return [(one, first[c]) for one, c in zip(cell, code.tolist())]


def check_door(way: str, records: list[Record], one: Record, other: Record) -> None:
    """The last record is changed, and taken away: all others stay what they were."""
    found = [
        cells_and_persons(way, several) for several in ([*records, one], [*records, other], records)
    ]
    kept = [some[: len(records)] for some in found if some is not None]
    assert all(some == kept[0] for some in kept)


EXAMPLES = [(1.0, 50.0, "0"), (2.0, 51.0, "00"), (3.0, 52.0, "1"), (4.0, 53.0, "1.0")]


@pytest.mark.parametrize("way", sorted(set(DOORS) - SLOW))
@settings(deadline=None, max_examples=EXAMPLES_EACH)
@given(st.lists(RECORDS, min_size=1, max_size=5), FAR, FAR)
@example(EXAMPLES, (5.0, 54.0, "2"), (5.0, 54.0, "bob"))
@example(EXAMPLES, (5.0, 54.0, "2024-01-01"), (1e300, 54.0, "n/a"))
def test_one_record_moves_nobody_else_through(way, records, one, other):
    check_door(way, records, one, other)


@pytest.mark.parametrize("way", sorted(SLOW))
@settings(deadline=None, max_examples=3)
@given(st.lists(RECORDS, min_size=1, max_size=5), FAR, FAR)
@example(EXAMPLES, (5.0, 54.0, "2"), (5.0, 54.0, "bob"))
def test_one_record_moves_nobody_else_through_slow(way, records, one, other):
    check_door(way, records, one, other)


@pytest.mark.parametrize("way", sorted(DOORS))
def test_every_door_keeps_names_apart_that_differ_and_together_that_do_not(way):
    if way == "kml":  # has no types, so that persons in it are refused
        pytest.skip("KML has no persons")
    records = [*EXAMPLES, (9.0, 40.0, "0"), (-5.0, 35.0, "00")]
    found = cells_and_persons(way, records)
    assert found is not None
    assert [who for _, who in found] == [0, 1, 2, 3, 0, 1]
    assert found[0][0] == int(DOMAIN.grid.curve_index(*DOMAIN.project([1.0], [50.0]))[0])


@settings(deadline=None, max_examples=EXAMPLES_EACH)
@given(st.lists(RECORDS, min_size=1, max_size=5), FAR, FAR)
@example(EXAMPLES, (5.0, 54.0, "2"), (5.0, 54.0, "bob"))
def test_one_record_moves_nobody_else_in_csv_without_pyarrow(records, one, other):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "have", lambda module: False)
        check_door("csv", records, one, other)


def test_a_reader_that_guessed_types_would_be_caught(monkeypatch):
    guess = pd.read_csv

    def guessing(*arguments, **more):
        more.pop("dtype")
        for rows in guess(*arguments, **more):
            yield rows.astype({"who": str, "lon": str, "lat": str})

    monkeypatch.setattr(delimited, "have", lambda module: False)
    monkeypatch.setattr(pd, "read_csv", guessing)
    numbers = [(1.0, 50.0, "1"), (2.0, 51.0, "01"), (3.0, 52.0, "1.0")]
    with pytest.raises(AssertionError):
        check_door("csv", numbers, (5.0, 54.0, "2"), (5.0, 54.0, "bob"))
