"""Spark counts as one process does, even when tasks fail; nobody's row moves another's."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

pytest.importorskip("pyspark")

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private import views
from dpsort_geo.core.private.publish import count
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.geo.private import spark as engine
from dpsort_geo.geo.private import spark_files
from dpsort_geo.geo.private.parts import Work
from dpsort_geo.geo.private.rows import Choice
from tests.spark import session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning"),
]

N = 5000
DOMAIN = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.9), crs="EPSG:4326", order=9)
XY = np.random.default_rng(11).normal((-74.0, 40.7), 0.15, (N, 2))
WHO = np.random.default_rng(12).integers(0, 900, N)
KIND = np.where(WHO % 3 == 0, "theft", "fire")
WHEN = np.datetime64("2026-01-01T12:00") + (WHO % 90).astype("m8[D]")
SHAPES = shapely.points(XY)
FRAME = pd.DataFrame(
    {
        "lon": XY[:, 0], "lat": XY[:, 1], "number": WHO, "text": [f"p{one}" for one in WHO],
        "kind": KIND, "when": WHEN.astype("M8[us]"), "half": WHO + 0.5,
        "wkb": shapely.to_wkb(SHAPES), "ewkb": shapely.to_wkb(
            shapely.set_srid(SHAPES, 4326), include_srid=True
        ),
    }
)  # fmt: skip
AXES = make_axes(
    {"kind": ["theft", "fire"]}, dp.TimeAxis("when", "2026-01-01", "2026-04-01", every="1 month")
)


@pytest.fixture(scope="module")
def spark():
    with session() as made:
        yield made


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(FRAME).repartition(3).cache()


def expected(method: str = "adaptive", person=None, axes=()):
    x, y = DOMAIN.project(XY[:, 0], XY[:, 1])
    if axes:
        return views.count(DOMAIN.grid, x, y, person, axes, [KIND.tolist(), WHEN])
    return count(DOMAIN.grid, x, y, person, method)


def assert_same(found, wanted) -> None:
    np.testing.assert_array_equal(found.index, wanted.index)
    np.testing.assert_array_equal(found.count, wanted.count)


def test_columns_wkb_ewkb_and_geometries_of_spark_are_counted_as_in_one_process(frame):
    assert_same(dp.count_cells(frame, DOMAIN, columns=("lon", "lat")), expected())
    for name in ("lon as x, lat as y", "ewkb as geometry"):
        chosen = frame.selectExpr(*name.split(", "))
        assert_same(dp.count_cells(chosen, DOMAIN), expected())
    bare = frame.selectExpr("wkb as geometry")
    assert_same(dp.count_cells(bare, DOMAIN, points_crs="EPSG:4326"), expected())
    with pytest.raises(BadInputError, match="no CRS"):
        dp.count_cells(bare, DOMAIN)
    native = frame.selectExpr("st_geomfromwkb(wkb, 4326) as place", "kind")
    assert_same(dp.count_cells(native, DOMAIN), expected())


@pytest.mark.parametrize(
    ("name", "method"), [("number", "adaptive"), ("text", "sort"), ("text", "adaptive")]
)
def test_persons_are_brought_together_and_counted_as_on_one_machine(frame, name, method):
    work = Work(DOMAIN, None, (), Choice(name), method)
    found, _ = engine.count_points(frame, work, ("lon", "lat"))
    assert_same(found, expected(method, FRAME[name].to_numpy(object)))


@pytest.mark.parametrize("name", [None, "text"])
def test_records_with_axes_are_counted_as_on_one_machine(frame, name):
    work = Work(DOMAIN, None, AXES, Choice(name), "views")
    found, _ = engine.count_points(frame, work, ("lon", "lat"))
    assert_same(found, expected("views", None if name is None else FRAME[name], AXES))


def test_a_spark_frame_can_be_published(frame):
    places = frame.drop("wkb", "ewkb")
    assert dp.publish(places, 1, DOMAIN).n == N
    release = dp.publish(places, 1, DOMAIN, person="number", by={"kind": ["theft", "fire"]})
    assert release.n == np.unique(WHO).size and release.verify()
    kept = {"person": "text", "max_points": 2, "neighbours": "add-remove"}
    assert abs(dp.publish(places, 1, DOMAIN, **kept).n - 2 * np.unique(WHO).size) < 900


def test_files_that_are_all_of_a_frame_are_read_by_the_workers_and_counted_alike(spark, tmp_path):
    files = tmp_path / "a folder"
    spark.createDataFrame(FRAME).drop("half").repartition(3).write.parquet(str(files))
    whole = spark.read.parquet(str(files))
    for chosen in (
        whole.select("lon", "lat"),
        whole.selectExpr("number", "lat", "lon"),
        whole.selectExpr("ewkb").withColumnRenamed("ewkb", "geometry").drop("number"),
    ):
        assert_same(dp.count_cells(chosen, DOMAIN), expected())
    assert sum(piece.rows for piece in groups_of(whole)) == N


def groups_of(frame):
    return spark_files.row_groups(*engine._select(frame, Work(DOMAIN, None), ("lon", "lat")))


def test_rows_that_a_file_does_not_have_as_they_are_go_through_spark(spark, tmp_path):
    files = str(tmp_path / "files")
    plain = spark.createDataFrame(FRAME[["lon", "lat", "number", "wkb"]])
    plain.write.parquet(files)
    whole = spark.read.parquet(files)
    assert groups_of(whole)
    changed = [
        whole.where("number > 5"),
        whole.limit(100),
        whole.sample(0.5, seed=1),
        whole.distinct(),
        whole.union(whole),
        whole.selectExpr("lon + 0.1 as lon", "lat"),
        whole.selectExpr("lat as lon", "lon as lat"),
        whole.orderBy("number").limit(7),
        whole.select("lon", "lat").join(whole.select("lon"), "lon"),
        spark.read.parquet(files, files),
    ]
    for frame in changed[:-1]:
        assert groups_of(frame) == []
    for frame in changed:
        found = dp.count_cells(frame, DOMAIN, columns=("lon", "lat"))
        assert_same(found, table_of(frame))
    kept = whole.select("lon", "lat").cache()
    kept.count()
    assert groups_of(kept) == []
    folder = str(tmp_path / "parted")
    plain.selectExpr("lon", "lat", "number % 2 as half").write.partitionBy("half").parquet(folder)
    assert sum(piece.rows for piece in groups_of(spark.read.parquet(folder))) == N
    folder = str(tmp_path / "narrow")
    plain.selectExpr("cast(lon as float) lon", "cast(lat as float) lat").write.parquet(folder)
    assert groups_of(spark.read.parquet(folder))
    assert groups_of(spark.read.schema("lon double, lat double").parquet(folder)) == []


def table_of(frame):
    rows = frame.select("lon", "lat").toPandas().to_numpy()
    return count(DOMAIN.grid, *DOMAIN.project(*rows.T), None, "adaptive")


def write_parquet(path, start=0, stop=N, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {"lon": XY[start:stop, 0], "lat": XY[start:stop, 1]}
    pq.write_table(pa.table(rows), path, row_group_size=700, **more)


def test_the_workers_read_the_files_that_spark_lists_and_no_others(spark, tmp_path):
    """Beside them lie summaries, hidden files, other folders; names may need escapes in a URI."""
    files, noted = tmp_path / "50%20 of #1?ü+;'", []
    for name, ends in {"0": (0, 900), "1'": (900, 2500)}.items():
        write_parquet(files / f"{name}.parquet", *ends, metadata_collector=noted)
        noted[-1].set_file_path(f"{name}.parquet")
    pq.write_metadata(noted[0].schema.to_arrow_schema(), files / "_metadata", noted)
    for name in ("_0.parquet", ".0.parquet", "below/2.parquet"):
        write_parquet(files / name)
    os.utime(files / "0.parquet", (1e9, 1e9))
    for options, rows in (
        ({}, 2500),
        ({"recursiveFileLookup": "true"}, 2500 + N),
        ({"pathGlobFilter": "0*"}, 900),
        ({"modifiedBefore": "2010-01-01T00:00:00"}, 900),
        ({"mergeSchema": "true"}, 2500),
    ):
        frame = spark.read.options(**options).parquet(str(files))
        assert sum(piece.rows for piece in groups_of(frame)) == rows
        assert_same(dp.count_cells(frame, DOMAIN, columns=("lon", "lat")), table_of(frame))


def test_what_a_folder_is_called_goes_before_what_stands_in_its_files(spark, tmp_path):
    for at, folder in enumerate(("lat=40.6", "lat=40.8")):
        write_parquet(tmp_path / folder / "a.parquet", at * 2500, at * 2500 + 2500)
    frame = spark.read.parquet(str(tmp_path))
    assert groups_of(frame) == []
    assert_same(dp.count_cells(frame, DOMAIN, columns=("lon", "lat")), table_of(frame))


def test_files_that_spark_reads_in_part_are_left_to_it(spark, tmp_path):
    whole, spoilt = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_parquet(whole, 0, 2000)
    frame = spark.read.parquet(str(tmp_path))
    write_parquet(whole)  # which has grown since it was listed
    assert groups_of(frame) == []
    assert_same(dp.count_cells(frame, DOMAIN, columns=("lon", "lat")), table_of(frame))
    write_parquet(spoilt, compression="none", use_dictionary=False)
    text = bytearray(spoilt.read_bytes())
    text[4:200] = b"\xff" * 196
    spoilt.write_bytes(text)
    lenient = spark.read.option("ignoreCorruptFiles", "true").parquet(str(tmp_path))
    assert_same(dp.count_cells(lenient, DOMAIN, columns=("lon", "lat")), expected())
    with pytest.raises(BadInputError, match="damaged") as refused:
        dp.count_cells(spark.read.parquet(str(tmp_path)), DOMAIN, columns=("lon", "lat"))
    assert refused.value.__context__ is None
    for name in spark_files._SETTINGS:
        spark.conf.set(name, "true")
        assert groups_of(spark.read.parquet(str(whole))) == []
        spark.conf.unset(name)
    assert groups_of(spark.read.parquet(str(whole)))


def test_files_that_lie_on_no_disk_are_left_to_spark(spark, tmp_path):
    write_parquet(tmp_path / "a.parquet")
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set("fs.viewfs.mounttable.far.link./away", tmp_path.as_uri())
    frame = spark.read.parquet("viewfs://far/away")
    assert groups_of(frame) == []
    assert_same(dp.count_cells(frame, DOMAIN), expected())


def _fail_after_files(batches, found, work):
    yield from _fail_at_first(engine._count_groups(batches, found, work))


def test_files_of_tasks_that_are_tried_again_count_once(spark, tmp_path, monkeypatch):
    write_parquet(tmp_path / "a.parquet")
    frame = spark.read.parquet(str(tmp_path))
    monkeypatch.setattr(engine, "_count_groups", _fail_after_files)
    assert_same(dp.count_cells(frame, DOMAIN), expected())


def test_other_columns_may_be_called_anything(frame):
    others = frame.selectExpr("lon", "lat", "text as `a``b`", "kind as `c.d`")
    twice = others.join(frame.selectExpr("text as id", "kind as Id").limit(1))
    assert_same(dp.count_cells(twice, DOMAIN), expected())
    who = others.withColumnRenamed("a`b", "`who.")
    assert dp.publish(who, 1, DOMAIN, person="`who.").n == np.unique(WHO).size
    where = frame.selectExpr("lon as `a.x`", "lat as `a.y`")
    assert_same(dp.count_cells(where, DOMAIN, columns=("a.x", "a.y")), expected())
    with pytest.raises(BadInputError, match="exactly one column named 'id'"):
        dp.publish(twice, 1, DOMAIN, person="id")


@pytest.mark.parametrize("dropped", [("wkb", "ewkb"), ("lon", "lat", "wkb")])
@pytest.mark.parametrize("person", [None, "number"])
def test_that_a_frame_is_empty_is_not_told_where_n_is_not_public(frame, dropped, person):
    nobody = frame.drop(*dropped).withColumnRenamed("ewkb", "geometry").where("false")
    assert dp.publish(nobody, 1, DOMAIN, person=person, neighbours="add-remove").verify()


def _fail_at_first(batches):
    from pyspark import TaskContext

    context = TaskContext.get()
    yield from batches
    if context is not None and context.attemptNumber() == 0:
        raise RuntimeError("this attempt fails after all of its rows were read")


@pytest.mark.parametrize("person", [None, "text"])
def test_tasks_that_fail_and_are_tried_again_count_once(frame, spark, person):
    shaky = frame.select("lon", "lat", "text").mapInArrow(
        _fail_at_first, "lon double, lat double, text string"
    )
    work = Work(DOMAIN, None, (), Choice(person))
    found, _ = engine.count_points(shaky, work, None)
    assert_same(found, expected(person=None if person is None else FRAME[person]))


def test_what_cannot_be_counted_is_one_sentence(frame, spark):
    places = frame.select("lon", "lat", "half", "text")
    for asked, says in (
        ({"person": "half"}, "text or of whole numbers"),
        ({"person": ["text", "half"]}, "one column"),
        ({"person": "nobody"}, "nobody"),
        ({"client": object()}, "client="),
    ):
        with pytest.raises(BadInputError, match=says):
            dp.publish(places, 1, DOMAIN, **asked)
    missing = places.selectExpr("lon", "nullif(lat, lat) as lat")
    for bad in (missing, places.where("lon > 500"), places.select("half")):
        with pytest.raises(BadInputError) as refused:
            dp.publish(bad, 1, DOMAIN)
        assert refused.value.__context__ is None and refused.value.__cause__ is None
    nobody = places.selectExpr("lon", "lat", "case when text <> 'p7' then text end as who")
    with pytest.raises(BadInputError, match="person column"):
        dp.publish(nobody, 1, DOMAIN, person="who")
    failing = places.selectExpr("raise_error(concat('secret', text)) as lon", "lat")
    with pytest.raises(BadInputError) as refused:
        dp.publish(failing.selectExpr("cast(lon as double) as lon", "lat"), 1, DOMAIN)
    assert "secret" not in str(refused.value) and refused.value.__context__ is None


def test_one_row_does_not_change_who_the_others_are_or_where(spark):
    """What each row contributes does not depend on the others."""
    rows = [(-74.0, 40.7, "1"), (-74.1, 40.6, "01"), (-73.9, 40.8, " 1"), (-74.0, 40.6, "1")]
    others = [(-74.2, 40.55, "1"), (-73.8, 40.85, "bob"), (-99.0, 10.0, "2024-01-01")]
    work = Work(DOMAIN, None, (), Choice("who"))

    def table(records):
        made = spark.createDataFrame(records, "lon double, lat double, who string").coalesce(2)
        return engine.count_points(made, work, None)[0]

    def alone(records):
        x, y = DOMAIN.project(*np.array([row[:2] for row in records]).T)
        return count(DOMAIN.grid, x, y, np.array([row[2] for row in records], object))

    assert_same(table(rows), alone(rows))
    for other in others:
        assert_same(table([*rows, other]), alone([*rows, other]))


LOGS = """
import sys
from tests.spark import session
from dpsort_geo.core.errors import BadInputError
import dpsort_geo as dp

with session() as spark:
    spark.sparkContext.setLogLevel("INFO")
    domain = dp.Domain.from_bounds((0, 0, 1000, 1000), crs=27700)
    rows = [(777.123, 777.456, "secret"), (float("nan"), 1.0, "secret2")]
    frame = spark.createDataFrame(rows, "x double, y double, who string")
    text = frame.selectExpr("concat(who, '777.123') as x", "who as y")
    shape = frame.selectExpr("cast(concat(who, '777.123') as binary) as geometry")
    for bad, asked in ((frame, {}), (frame, {"person": "who"}), (text, {}),
                       (shape, {"points_crs": 27700})):
        try:
            dp.publish(bad, 1, domain, **asked)
        except BadInputError as refused:
            assert "777" not in str(refused) and refused.__context__ is None
        else:
            raise AssertionError(asked)
"""


def test_no_point_is_in_what_spark_writes():
    done = subprocess.run(
        [sys.executable, "-c", LOGS],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for written in (done.stdout, done.stderr):
        assert "777.1" not in written and "777.4" not in written and "secret" not in written
