"""A table of PostGIS is published like a file, and tells nobody its password or its rows."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import traceback

import geopandas as gpd
import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.database import PostGIS
from dpsort_geo.geo.private.postgis import database_batches
from tests.database import PASSWORD, ask, execute

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning"),
]

N = 20_000
BOX = (-74.3, 40.5, -73.7, 40.95)
DOMAIN = dp.Domain.from_bounds(BOX, crs="EPSG:4326", order=9)
XY = np.random.default_rng(5).normal((-74.0, 40.7), 0.1, (N, 2))
WHO = np.random.default_rng(6).integers(0, 3000, N)
KIND = np.where(WHO % 3 == 0, "theft", "fire")
WHEN = np.datetime64("2026-01-01") + np.arange(N) % 90
FRAME = gpd.GeoDataFrame(
    {"who": WHO, "kind": KIND, "seen_at": WHEN.astype("M8[us]")},
    geometry=shapely.points(XY),
    crs=4326,
)
AXES = {
    "by": {"kind": ["theft", "fire"]},
    "time": dp.TimeAxis("seen_at", "2026-01-01", "2026-04-01", every="1 month"),
}


@pytest.fixture(scope="module")
def city(database) -> str:
    """The points above, in tables of a database."""
    import pyarrow as pa
    from adbc_driver_postgresql import dbapi

    raw = pa.table(
        {"geom": shapely.to_wkb(FRAME.geometry.array).tolist(), "who": WHO, "kind": KIND,
         "seen_at": WHEN.astype("M8[us]")}
    )  # fmt: skip
    with dbapi.connect(database) as link, link.cursor() as cursor:
        cursor.adbc_ingest("raw", raw, mode="create")
        link.commit()
    point = "ST_SetSRID(ST_GeomFromWKB(geom), 4326)"
    execute(
        database,
        f"create table calls as select {point}::geometry(Point, 4326) as geom, who, kind, seen_at, "
        "md5(who::text)::uuid as uid, who::float8 as fraction, who::numeric as number, "
        "who % 2 = 0 as flag, seen_at::date as day, ST_X(ST_GeomFromWKB(geom))::numeric as lon, "
        "ST_Y(ST_GeomFromWKB(geom)) as lat from raw",
        "create schema town",
        "create view town.calls as select ST_Transform(geom, 2263) as place, who from calls",
    )
    return database


def assert_same(a: dp.Cells, b: dp.Cells) -> None:
    np.testing.assert_array_equal(a.index, b.index)
    np.testing.assert_array_equal(a.count, b.count)


@pytest.mark.parametrize("columns", ["geom, who", "geom::geography as place, who", "lon, lat, who"])
@pytest.mark.parametrize("person", [None, "who"])
def test_that_a_table_is_empty_is_not_told_where_n_is_not_public(city, columns, person):
    nobody = PostGIS(city, sql=f"select {columns} from calls where false")
    assert dp.publish(nobody, 1, DOMAIN, person=person, neighbours="add-remove").verify()


@pytest.mark.parametrize(
    "query",
    [
        {"table": "calls"},
        {"table": "public.calls"},
        {"sql": "select geom from calls;"},
        {"sql": "select geom::geography as somewhere from calls -- all of them"},
        {"sql": "select ST_Force3D(geom) as geom from calls"},
        {"sql": "select lon, lat from calls"},
        {"sql": "select ST_Transform(place, 4326) as geom from town.calls"},
    ],
)
def test_a_table_or_query_is_counted_as_the_same_frame(city, query):
    near = dp.count_cells(FRAME, DOMAIN)
    found = dp.count_cells(PostGIS(city, **query), DOMAIN)
    if "Transform" in str(query):  # there and back moves a point by less than a cell
        assert found.n == near.n and np.isin(found.index, near.index).mean() > 0.999
    else:
        assert_same(found, near)


def test_a_table_in_another_coordinate_system_is_read_in_its_own(city):
    moved = FRAME.to_crs(2263)
    found = dp.count_cells(PostGIS(city, table="town.calls"), DOMAIN)
    expected = dp.count_cells(moved, DOMAIN)
    assert found.n == N and np.isin(found.index, expected.index).mean() > 0.999


def tables_of(monkeypatch) -> list:
    from dpsort_geo.core.private import publish as core
    from dpsort_geo.geo.private import publish as door

    seen = []
    measure = core.measure

    def look(cells, *arguments):
        seen.append(cells)
        return measure(cells, *arguments)

    monkeypatch.setattr(door, "measure", look)
    return seen


@pytest.mark.parametrize("person", ["who", "uid"])
def test_persons_are_those_of_the_column_whether_numbers_text_or_uuids(city, person, monkeypatch):
    seen = tables_of(monkeypatch)
    dp.publish(PostGIS(city, table="calls"), 1, DOMAIN, person=person)
    dp.publish(PostGIS(city, sql="select geom, who::text from calls"), 1, DOMAIN, person="who")
    dp.publish(FRAME, 1, DOMAIN, person="who")
    assert_same(seen[0], seen[2])
    assert_same(seen[1], seen[2])


def test_categories_and_dates_come_with_the_types_of_the_database(city, monkeypatch):
    seen = tables_of(monkeypatch)
    dp.publish(PostGIS(city, table="calls"), 1, DOMAIN, **AXES)
    dp.publish(FRAME, 1, DOMAIN, **AXES)
    assert_same(*seen)


REFUSED = [
    ("select geom, fraction from calls", "text, whole numbers or uuids", "fraction"),
    ("select geom, flag from calls", "text, whole numbers or uuids", "flag"),
    ("select geom, day from calls", "text, whole numbers or uuids", "day"),
    ("select geom, number from calls", "text, whole numbers or uuids", "number"),
    ("select geom, nullif(who, 7) as who from calls", "value in the person column", "who"),
    ("select geom from calls", "no column 'who'", "who"),
    ("select nobody from calls", "no such column", None),
    ("select geom from nothing", "no such table", None),
    ("selec geom from calls", "SQL is not valid", None),
    ("select ST_Nothing(geom) as geom from calls", "no such function", None),
    ("select geom, geom as other from calls", "more than one column of geometries", None),
    ("select kind, kind from calls", "same name", None),
    ("select kind from calls", "No coordinates", None),
    ("select geom from calls where false", "no points", None),
    ("select nullif(geom, geom) as geom from calls", "must have a point", None),
    ("select ST_Buffer(geom, 1) as geom from calls", "Only points", None),
    ("select ST_Collect(geom) as geom from calls", "Multipoints", None),
    ("select ST_SetSRID(geom, 0) as geom from calls", "no CRS", None),
    ("select ST_SetSRID(geom, 4326 + (who = 7)::int) as g from calls", "another SRID", None),
    ("select ('secret ' || kind)::int as x, 1 as y from calls", "cannot be read", None),
    ("with a as (delete from calls returning geom) select geom from a", "cannot be run", None),
    ("select 1 / 0 as x, 2 as y", "cannot be", None),
    ("select geom from calls; drop table calls", "SQL is not valid", None),
]


@pytest.mark.parametrize(("query", "says", "person"), REFUSED)
def test_what_cannot_be_read_is_one_sentence_without_values(city, query, says, person):
    with pytest.raises(BadInputError, match=says) as refused:
        dp.publish(PostGIS(city, sql=query), 1, DOMAIN, person=person)
    assert refused.value.__context__ is None and refused.value.__cause__ is None
    assert "secret" not in str(refused.value)
    assert ask(city, "select count(*) from calls") == [(N,)]


@pytest.mark.parametrize(
    "end", ["limit 10", "order by rider\nLIMIT 10", "offset 3", "fetch first 5 rows only"]
)
def test_a_query_for_the_first_rows_is_refused_because_one_row_would_decide_about_another(end):
    source = PostGIS("postgresql://nobody@localhost/nothing", sql=f"select * from calls {end}")
    with pytest.raises(BadInputError, match="by their own values"):
        database_batches(source)


def test_the_password_is_nowhere(city, tmp_path):
    wrong = city.replace(PASSWORD, "wrong-8989")
    source = PostGIS(wrong, table="calls")
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(BadInputError, match="cannot be reached") as refused:
        dp.publish(source, 1, DOMAIN, ledger=ledger)
    text = "".join(traceback.format_exception(refused.value)) + repr(source) + str([source])
    assert "8989" not in text and refused.value.__context__ is None
    with pytest.raises(BadInputError) as refused:
        dp.publish(wrong, 1, DOMAIN, ledger=ledger)
    assert "8989" not in str(refused.value)
    with pytest.raises(BadInputError) as refused:
        dp.publish(wrong, 1, DOMAIN)
    assert "PostGIS(url" in str(refused.value) and "8989" not in str(refused.value)
    release = dp.publish(PostGIS(city, table="calls"), 1, DOMAIN, ledger=ledger)
    assert PASSWORD not in release.to_json() and PASSWORD.encode() not in ledger.read_bytes()
    entry = dp.Ledger(ledger).entries()[-1]
    assert entry.dataset == "calls" and PASSWORD not in str(entry.sources)
    with pytest.raises(dp.AnotherNameError, match="as 'calls'"):
        dp.publish(PostGIS(city, table="public.calls"), 1, DOMAIN, ledger=ledger, dataset="others")
    with pytest.raises(BadInputError, match="dataset='name'"):
        dp.publish(PostGIS(city, sql="select geom from calls"), 1, DOMAIN, ledger=ledger)
    assert pickle.loads(pickle.dumps(source)).table == "calls"


def test_a_source_that_says_nothing_or_too_much_is_refused():
    for arguments in ({}, {"table": "a", "sql": "select 1"}, {"table": "a.b.c"}):
        with pytest.raises(BadInputError):
            PostGIS("postgresql://localhost/x", **arguments)
    with pytest.raises(BadInputError, match="postgresql://"):
        PostGIS("calls.gpkg", table="calls")


def test_points_go_back_into_a_table_of_their_own(city):
    release = dp.publish(PostGIS(city, table="calls"), 1, DOMAIN)
    release.to_postgis(city, "calls_public")
    points = release.points()
    rows = ask(city, "select ST_SRID(geom), ST_X(geom), ST_Y(geom) from calls_public")
    assert {row[0] for row in rows} == {4326}
    found = np.array(rows)[:, 1:]
    theirs = points.get_coordinates().to_numpy()
    np.testing.assert_array_equal(found[np.lexsort(found.T)], theirs[np.lexsort(theirs.T)])
    (comment,) = ask(city, "select obj_description('calls_public'::regclass)")[0]
    assert json.loads(comment)["privacy_statement"] == release.statement()
    with pytest.raises(BadInputError, match="overwrite=True"):
        release.to_postgis(city, "calls_public")
    with pytest.raises(BadInputError, match="no schema of that name"):
        release.to_postgis(city, "nowhere.calls")
    release.to_postgis(city, "calls_public", overwrite=True)
    assert ask(city, "select count(*) from calls_public") == [(N,)]
    with pytest.raises(BadInputError, match="not written by dpsort-geo"):
        release.to_postgis(city, "calls", overwrite=True)
    assert ask(city, "select count(*) from calls") == [(N,)]


def test_points_with_categories_and_dates_go_back_with_them(city):
    release = dp.publish(PostGIS(city, table="calls"), 1, DOMAIN, **AXES)
    release.to_postgis(city, "town.by_kind")
    kinds = ask(city, "select distinct kind from town.by_kind")
    assert sorted(kinds) == [("fire",), ("theft",)]
    months = ask(city, "select count(distinct date_trunc('month', seen_at)) from town.by_kind")
    assert months == [(3,)]


def test_a_failure_while_writing_leaves_no_table(city, monkeypatch):
    from dpsort_geo.geo import database

    release = dp.publish(FRAME, 1, DOMAIN)
    monkeypatch.setattr(
        database, "_text", lambda words: "'" if "privacy" in words else f"'{words}'"
    )
    with pytest.raises(BadInputError, match="cannot be written"):
        release.to_postgis(city, "half")
    assert ask(city, "select to_regclass('half')") == [(None,)]


def shell(*words: str, expected: int = 0) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "dpsort_geo", *words]
    environment = {"PYTHONPATH": os.getcwd(), **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == expected, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    return done


def test_the_shell_reads_a_query_and_writes_a_table(city, tmp_path):
    out = str(tmp_path / "calls.release.json")
    where = ["--epsilon", "1", "--bounds", *map(str, BOX), "--crs", "EPSG:4326"]
    book = ["--ledger", str(tmp_path / "ledger.sqlite")]
    query = ["--sql", "select geom, kind, seen_at from calls", "--dataset", "calls"]
    slices = ["--by", "kind=theft,fire", "--time", "seen_at:2026-01-01:2026-04-01:1month"]
    shell("publish", city, out, *query, *where, *book, *slices)
    assert dp.read_release(out).n == N
    looked = shell("check", city, "--table", "calls", *where, "--person", "who").stdout
    assert f"{N:,} rows" in looked and "geometry column 'geom' in EPSG:4326" in looked
    facts = json.loads(shell("check", city, "--sql", query[1], *where, "--json").stdout)
    assert facts["rows"] == N and "--neighbours" in facts["plan"]
    flag = ["publish", city, out + ".2.json", "--table", "calls", "--by", "flag=true,false"]
    assert "no axis takes" in shell(*flag, *where, *book, expected=2).stderr
    shell("points", out, city, "--table", "from_shell")
    assert ask(city, "select count(*) from from_shell") == [(N,)]
    assert "--overwrite" in shell("points", out, city, "--table", "from_shell", expected=2).stderr
    assert "--table" in shell("publish", city, out + ".json", *where, expected=2).stderr
    other = ["publish", out, str(tmp_path / "b.json"), "--table", "x", *where]
    assert "database" in shell(*other, expected=2).stderr
    assert "both" in shell("points", out, city, expected=2).stderr
    wrong = city.replace(PASSWORD, "wrong-8989")
    done = shell("publish", wrong, out + ".2.json", "--table", "calls", *where, *book, expected=2)
    assert "cannot be reached" in done.stderr and "8989" not in done.stderr
