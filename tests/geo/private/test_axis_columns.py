"""Columns of axes as libraries have them: gaps, odd kinds of values, names that occur twice."""

from __future__ import annotations

import datetime
import re
import sqlite3
from decimal import Decimal

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.slices import joint_slices
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.geo.private.cluster import count_points
from dpsort_geo.geo.private.parts import Work
from dpsort_geo.geo.private.points import point_stream
from dpsort_geo.geo.private.seen import Seen

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

N = 12
PLAIN = dp.Domain.from_bounds((0, 0, 1000, 1000), crs=3857, order=3)
XY = np.random.default_rng(1).uniform(0, 1000, (N, 2))
BY = {"k": ["a", "b", "other"]}
WHEN = dp.TimeAxis("when", "2026-01-01", "2027-01-01")
WHEN_OR_NOT = dp.TimeAxis("when", "2026-01-01", "2027-01-01", other=True)
KINDS = ["a"] * 6 + ["b"] * 6
DAYS = pd.Series(pd.date_range("2026-01-05", periods=N, freq="MS"))


def table(**columns):
    return pd.DataFrame({"x": XY[:, 0], "y": XY[:, 1]}).assign(**columns)


def layer(**columns):
    return gpd.GeoDataFrame(columns, geometry=shapely.points(XY), crs=3857)


def slices(points, by=None, time=None, values=None):
    """The slice of every row, read as `publish` reads it."""
    axes = make_axes(by, time)
    names = tuple(axis.column for axis in axes)
    stream = point_stream(points, PLAIN, None, None, names, values)
    return np.concatenate([joint_slices(axes, beside.values) for *_, beside in stream]).tolist()


def looked(points, by=None, time=None, values=None):
    """What a dry run says: slices that have rows, what is missing, what is of no kind."""
    (found,) = dp.check(points, PLAIN, by=by, time=time, values=values).axes
    return {k: n for k, n in found.declared.items() if n}, found.missing, found.unfit


# gaps ---------------------------------------------------------------------------------------------


def test_a_date_that_is_nat_among_python_objects_is_a_missing_one():
    gaps = DAYS.copy()
    gaps[3] = pd.NaT
    points, given = table(when=gaps.dt.date), {"when": list(gaps)}
    for these, values in ((points, None), (XY, given), (layer(when=gaps.dt.date), None)):
        with pytest.raises(BadInputError, match="'when' is missing or cannot be read"):
            dp.publish(these, 1, PLAIN, time=WHEN, values=values)
        found = slices(these, time=WHEN_OR_NOT, values=values)
        assert found[3] == 12 and found[:3] == [1, 2, 3]
        assert looked(these, time=WHEN_OR_NOT, values=values)[1:] == (1, 0)
    with pytest.raises(BadInputError, match="in the window"):
        dp.publish(points, 1, PLAIN, window=("2026-01-01", "2026-05-01"), date="when")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([pd.NaT, *KINDS[1:]], dtype=object),
        pd.Series([None, *KINDS[1:]], dtype="string"),
        pd.Series([np.nan, *KINDS[1:]], dtype="category"),
        pd.Series([pd.NA, *KINDS[1:]], dtype=pd.ArrowDtype(pa.string())),
    ],
    ids=["NaT", "string", "category", "Arrow"],
)
def test_a_category_with_a_gap_is_published_and_checked_alike(column):
    assert slices(table(k=column), BY) == [2] + [0] * 5 + [1] * 6
    assert looked(table(k=column), BY) == ({"a": 5, "b": 6}, 1, 0)
    with pytest.raises(BadInputError, match="missing or not in its public list"):
        dp.publish(table(k=column), 1, PLAIN, by={"k": ["a", "b"]})


def test_whole_numbers_with_a_gap_are_published_and_checked_alike(tmp_path):
    by = {"k": [1, 2, "other"]}
    for column in (
        pd.Series([None, *[1] * 5, *[2] * 6], dtype="Int64"),
        pd.Series([np.nan, *[1.0] * 5, *[2.0] * 6]),
        pd.Series([None, *[Decimal("1")] * 5, *[Decimal("2.00")] * 6], dtype=object),
    ):
        assert slices(table(k=column), by) == [2] + [0] * 5 + [1] * 6
        assert looked(table(k=column), by) == ({"1": 5, "2": 6}, 1, 0)
        table(k=column.astype(float)).to_csv(tmp_path / "a.csv", index=False)  # writes 1.0
        assert slices(tmp_path / "a.csv", by) == [2] + [0] * 5 + [1] * 6


# kinds of values ----------------------------------------------------------------------------------


def test_decimals_of_databases_are_the_whole_numbers_that_they_are(tmp_path):
    rows = duckdb.connect()
    rows.register("t", pa.table({"x": XY[:, 0], "y": XY[:, 1], "i": [1, 2] * 6}))
    for kind in ("DECIMAL(10, 2)", "HUGEINT"):
        query = f"select x, y, i::{kind} as k from t"
        assert slices(rows.sql(query), {"k": [1, 2]}) == [0, 1] * 6
        rows.execute(f"copy ({query}) to '{tmp_path / 'a.parquet'}'")
        assert slices(tmp_path / "a.parquet", {"k": [1, 2]}) == [0, 1] * 6


def test_categories_of_polars_are_read_as_their_text():
    frame = pl.DataFrame({"x": XY[:, 0], "y": XY[:, 1], "k": [None, *KINDS[1:]]})
    for kind in (pl.Categorical, pl.Enum(["b", "a", "c"]), pl.String):
        cast = frame.with_columns(pl.col("k").cast(kind))
        for points in (cast, cast.lazy(), pa.table(cast)):
            assert slices(points, BY) == [2] + [0] * 5 + [1] * 6


def test_dates_in_a_dictionary_of_arrow_are_dates():
    days = pa.array([None, *[datetime.date(2026, 2, 1)] * (N - 1)]).dictionary_encode()
    points = pa.table({"x": XY[:, 0], "y": XY[:, 1], "when": days})
    assert slices(points, time=WHEN_OR_NOT) == [12] + [1] * (N - 1)


ODD = {
    "true and false": pd.Series([None] + [True] * (N - 1), dtype=object),
    "categories of true and false": pd.Series([True, False] * 6).astype("category"),
    "bytes": pd.Series([b"a"] * N, dtype=object),
    "bytes of Arrow": pd.Series([b"a"] * N, dtype=pd.ArrowDtype(pa.binary())),
    "times of day": pd.Series([datetime.time(1)] * N, dtype=object),
    "stretches of time": pd.Series(pd.to_timedelta(range(N), "D")),
    "intervals": pd.cut(pd.Series(range(N)), 3),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_column_of_an_odd_kind_is_refused_and_does_not_become_other(kind):
    for column in (ODD[kind], ODD[kind].to_numpy(), ODD[kind].tolist()):
        values = {"k": column}
        for points, given in ((table(k=column), None), (XY, values), (layer().geometry, values)):
            with pytest.raises(BadInputError) as refused:
                dp.publish(points, 1, PLAIN, by=BY, values=given)
            said = str(refused.value)
            assert "an axis takes text, whole numbers or dates" in said
            assert not re.search("[0-9]", said) and refused.value.__context__ is None
        gaps = sum(one is None for one in ODD[kind])
        found = dp.check(XY, PLAIN, by=BY, values=values)
        assert (found.axes[0].unfit, found.axes[0].missing) == (N - gaps, gaps)
        assert any("of a kind that the axis does not take" in one for one in found.problems)
        assert f"another kind that an axis takes: {N - gaps}" in str(found)


def test_arrays_of_bytes_and_of_true_and_false_are_refused():
    for column in (np.array([b"a"] * N), np.array([True] * N), DAYS.to_numpy()):
        with pytest.raises(BadInputError, match="text, whole numbers or dates"):
            dp.publish(XY, 1, PLAIN, by=BY, values={"k": column})


@pytest.mark.parametrize("column", [range(2000, 2000 + N), np.full(N, 1.77e9), [Decimal(5)] * N])
def test_numbers_are_no_dates_even_where_there_is_a_bin_for_other_ones(column, tmp_path):
    points = table(when=column)
    pq.write_table(pa.Table.from_pandas(points), tmp_path / "a.parquet")
    for these in (points, tmp_path / "a.parquet"):
        with pytest.raises(BadInputError, match="no dates, such as numbers"):
            dp.publish(these, 1, PLAIN, time=WHEN_OR_NOT)
        assert looked(these, time=WHEN_OR_NOT) == ({}, 0, N)


def test_true_and_false_of_geojson_are_refused_value_by_value():
    features = [
        {"type": "Feature", "properties": {"k": k, "when": k}, "geometry": one.__geo_interface__}
        for k, one in zip([True, "a"] * 6, shapely.points(XY / 100))
    ]
    points = {"type": "FeatureCollection", "features": features}
    for options in ({"by": BY}, {"time": WHEN_OR_NOT}):
        with pytest.raises(BadInputError, match="true and false"):
            dp.publish(points, 1, PLAIN, **options)


@pytest.mark.parametrize("ending", ["gpkg", "fgb", "shp"])
def test_true_and_false_of_a_layer_are_refused_by_their_declared_type(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    layer(k=[True, False] * 6, i=[1, 2] * 6).to_file(path)
    with pytest.raises(BadInputError, match="'k' is of a type that no axis takes"):
        dp.publish(path, 1, PLAIN, by={"k": ["1", "0", "other"]})
    assert sorted(slices(path, {"i": [1, 2]})) == [0] * 6 + [1] * 6


def test_bytes_of_a_layer_are_refused_by_their_declared_type(tmp_path):
    layer(k=KINDS).to_file(tmp_path / "a.gpkg", layer="calls")
    with sqlite3.connect(tmp_path / "a.gpkg") as database:
        database.execute("alter table calls add column raw blob")
    with pytest.raises(BadInputError, match="'raw' is of a type that no axis takes"):
        dp.publish(tmp_path / "a.gpkg", 1, PLAIN, by={"raw": ["61", "other"]})


def test_a_dry_run_says_when_no_date_can_be_read(tmp_path):
    table(when=[1770000000] * N).to_csv(tmp_path / "a.csv", index=False)
    (problem,) = dp.check(tmp_path / "a.csv", PLAIN, time=WHEN_OR_NOT).problems
    assert "No 'when' can be read, and all become 'other'" in problem


def test_a_dry_run_adds_up_batches_and_tells_true_from_one():
    axes = make_axes({"k": [1, "other"]})
    seen = Seen(point_stream(XY, PLAIN, None, None), PLAIN, axes, False)
    for batch in ([1, 1.0, "1", None], [True, 1, "x"], np.array([1.0, np.nan])):
        seen._columns[0].add(batch)
    (found,) = seen.axes()
    assert found.declared == {"1": 5, "other": 1} and found.strange == {"x": 1}
    assert (found.missing, found.unfit) == (2, 1)


# names, and values beside points ------------------------------------------------------------------


def test_a_name_of_two_columns_is_refused_in_one_sentence():
    twice = layer(k=KINDS, b=KINDS).rename(columns={"b": "k"})
    bare = table(k=KINDS, b=KINDS).rename(columns={"b": "k"})
    places = pd.DataFrame(np.column_stack([XY, XY[:, :1]]), columns=["x", "y", "x"])
    arrow = pa.table([XY[:, 0], XY[:, 1], XY[:, 0]], names=["x", "y", "x"])
    for points, options in (
        (twice, {"by": BY}), (twice, {"person": "k"}), (bare, {"by": BY}), (bare, {"person": "k"}),
        (places, {}), (arrow, {}),
    ):  # fmt: skip
        with pytest.raises(BadInputError, match="more than one column|exactly one column"):
            dp.publish(points, 1, PLAIN, **options)


def test_a_name_of_two_columns_is_refused_on_a_cluster():
    dask = pytest.importorskip("dask.dataframe")
    places = pd.DataFrame(np.column_stack([XY, XY[:, :1]]), columns=["x", "y", "x"])
    with pytest.raises(BadInputError, match="more than one column"):
        count_points(dask.from_pandas(places, npartitions=2), Work(PLAIN, None), None, None)


def test_a_series_of_points_takes_values_like_an_array():
    points = layer().geometry
    for values in (KINDS, np.array(KINDS), pd.Series(KINDS, dtype="category")):
        assert slices(points, BY, values={"k": values}) == [0] * 6 + [1] * 6
    aware = DAYS.dt.tz_localize("Asia/Tokyo")
    for one in (points, XY):
        assert slices(one, time=WHEN, values={"when": aware}) == [*range(1, 12), 11]
    with pytest.raises(BadInputError, match="have no columns: give values="):
        slices(points, BY)


def test_values_with_another_index_than_the_points_are_refused():
    """By position, another order would give the values of others."""
    points, values = layer().geometry, pd.Series(KINDS)
    with pytest.raises(BadInputError, match="another index"):
        slices(points, BY, values={"k": values[::-1]})
    assert slices(points[::-1], BY, values={"k": values[::-1]}) == [1] * 6 + [0] * 6


def test_values_beside_points_with_columns_are_refused_and_not_ignored(tmp_path):
    values, path = {"k": KINDS[::-1]}, tmp_path / "a.parquet"
    table(k=KINDS).to_parquet(path)
    dask = pytest.importorskip("dask.dataframe").from_pandas(table(k=KINDS), npartitions=2)
    for points in (layer(k=KINDS), table(k=KINDS), pl.DataFrame(table(k=KINDS)), path, dask):
        with pytest.raises(BadInputError, match="leave values= out"):
            dp.publish(points, 1, PLAIN, by=BY, values=values)


@pytest.mark.parametrize("name", ["estimate", "covered", "low_rate", "geometry"])
def test_an_axis_that_readers_could_not_count_by_is_refused_before_anything_is_spent(
    tmp_path, name
):
    ledger = dp.Ledger(tmp_path / "ledger.db")
    with pytest.raises(BadInputError, match=f"called {name!r}.*rename the column"):
        dp.publish(
            XY, 1, PLAIN, by={name: ["a", "b"]}, values={name: KINDS}, ledger=ledger, dataset="d"
        )
    assert ledger.spent("d") == 0
