"""A cluster counts as one process does, even when workers die."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask
import dask.dataframe as dd
import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private import cells as tables
from dpsort_geo.core.private import views
from dpsort_geo.core.private.publish import count
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.geo.domain import Domain
from dpsort_geo.geo.private import cluster, formats
from dpsort_geo.geo.private import count as counting
from dpsort_geo.geo.private.parts import Work
from dpsort_geo.geo.private.rows import Choice, choose_rows, name_persons
from dpsort_geo.geo.private.table import PLAINLY

N = 20_000
BOX = (-74.3, 40.5, -73.7, 40.9)


@pytest.fixture(scope="module")
def domain() -> Domain:
    return Domain.from_bounds(BOX, crs="EPSG:4326", order=9)


@pytest.fixture(scope="module")
def xy() -> np.ndarray:
    # some outside of the domain: they belong to the nearest cell there, too
    return np.random.default_rng(11).normal((-74.0, 40.7), 0.15, (N, 2))


@pytest.fixture(scope="module")
def expected(domain, xy) -> tables.Cells:
    return tables.count_cells(domain.grid, *domain.project(xy[:, 0], xy[:, 1]))


@pytest.fixture(scope="module")
def folder(xy, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("parts")
    for i, part in enumerate(np.array_split(xy, 3)):
        points(part).to_parquet(path / f"part{i}.parquet", row_group_size=500)
    return str(path)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        Client(local) as made,
    ):
        yield made


def points(xy: np.ndarray) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326)


def assert_same(found: tables.Cells, expected: tables.Cells) -> None:
    np.testing.assert_array_equal(found.index, expected.index)
    np.testing.assert_array_equal(found.count, expected.count)
    assert found.grid == expected.grid


def test_files_are_counted_as_in_one_process(folder, domain, expected, client, monkeypatch):
    monkeypatch.setattr(formats, "PIECE_ROWS", 1000)
    assert_same(cluster.count_cells(folder, domain, client=client), expected)
    assert_same(cluster.count_cells(folder, domain), expected)


def test_what_a_cluster_counts_can_be_published(folder, domain, client):
    for points in (folder, dp.count_cells(folder, domain, client=client)):
        release = dp.publish(points, 1, domain, client=client if points is folder else None)
        assert release.n == N and release.verify()


@pytest.mark.parametrize("names", [("lon", "lat"), ("x", "y")])
def test_frames_of_numbers_are_counted_as_in_one_process(xy, domain, expected, client, names):
    frame = dd.from_pandas(pd.DataFrame(xy, columns=list(names)).assign(other=1), npartitions=13)
    assert_same(cluster.count_cells(frame, domain, client=client), expected)
    renamed = frame.rename(columns={names[0]: "a", names[1]: "b"})
    assert_same(cluster.count_cells(renamed, domain, columns=("a", "b")), expected)


@pytest.mark.parametrize("crs", [4326, 2263])
def test_frames_of_geometries_are_counted_as_in_one_process(xy, domain, expected, client, crs):
    frame = points(xy).to_crs(crs)
    projected = frame.get_coordinates().to_numpy().T
    expected = tables.count_cells(domain.grid, *domain.project(*projected, crs=frame.crs))
    parts = dask_geopandas.from_geopandas(frame, npartitions=7)
    assert_same(cluster.count_cells(parts, domain, client=client), expected)


def _count_slowly(*arguments):
    time.sleep(0.15)
    return _count_part(*arguments)


def _place_slowly(*arguments):
    time.sleep(0.15)
    return _place_part(*arguments)


def _gather_slowly(*arguments):
    time.sleep(0.15)
    return _gather(*arguments)


_count_part, _place_part, _gather = cluster._count_part, cluster._place_part, cluster._gather


def kill_a_worker_in_the_middle(count, *phases: str):
    """What ``count(client)`` finds, though a worker dies as soon as a task is done."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        client.upload_file(__file__)
        workers = set(client.run(os.getpid).values())
        done: list[tables.Cells] = []
        counting = threading.Thread(target=lambda: done.append(count(client)))
        counting.start()
        deadline = time.monotonic() + 60
        while not _finished(client, phases) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert counting.is_alive(), "the count ended before a worker could be killed"
        os.kill(min(workers), signal.SIGKILL)
        counting.join(timeout=120)
        assert len(done) == 1
        after = set(client.run(os.getpid).values())
        assert min(workers) not in after
        return done[0]


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    folder, domain, expected, monkeypatch
):
    monkeypatch.setattr(formats, "PIECE_ROWS", 1000)
    monkeypatch.setattr(cluster, "_count_part", _count_slowly)
    found = kill_a_worker_in_the_middle(
        lambda client: cluster.count_cells(folder, domain, client=client), "_count_slowly"
    )
    assert_same(found, expected)


def _finished(client: Client, phases: tuple[str, ...]) -> int:
    return client.run_on_scheduler(
        lambda dask_scheduler: sum(
            task.state == "memory" and any(phase in str(task.key) for phase in phases)
            for task in dask_scheduler.tasks.values()
        )
    )


# persons and axes -------------------------------------------------------------------------------

WHO = np.random.default_rng(12).integers(0, 4000, N)
NAMES = {"number": WHO, "text": np.array([f"p{one}" for one in WHO], object)}
KIND = np.where(WHO % 3 == 0, "theft", "fire")
WHEN = np.datetime64("2026-01-01") + WHO % 90
AXES = make_axes(
    {"kind": ["theft", "fire"]},
    dp.TimeAxis("when", "2026-01-01", "2026-04-01", every="1 month"),
)


def records(xy: np.ndarray) -> pd.DataFrame:
    columns = {"lon": xy[:, 0], "lat": xy[:, 1], **NAMES}
    return pd.DataFrame({**columns, "kind": KIND, "when": WHEN.astype("M8[s]")})


@pytest.fixture(scope="module")
def rows(xy, tmp_path_factory) -> str:
    """The same records in a folder; the points of a person are in all of its files."""
    path = tmp_path_factory.mktemp("records")
    for i, part in enumerate(np.array_split(np.arange(N), 3)):
        frame = records(xy).iloc[part]
        frame.to_parquet(path / f"part{i}.parquet", row_group_size=500, index=False)
    return str(path)


def counted_here(xy, domain, method: str, axes=(), person=None):
    """The table of one machine."""
    x, y = domain.project(xy[:, 0], xy[:, 1])
    if axes:
        return views.count(domain.grid, x, y, person, axes, [KIND.tolist(), WHEN])
    return count(domain.grid, x, y, person, method)


@pytest.mark.parametrize("name", ["number", "text"])
@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
def test_persons_are_counted_as_on_one_machine(xy, rows, domain, client, method, name, monkeypatch):
    monkeypatch.setattr(formats, "PIECE_ROWS", 1000)
    expected = counted_here(xy, domain, method, person=NAMES[name])
    work = Work(domain, None, (), Choice(name), method)
    frame = dd.from_pandas(records(xy), npartitions=7)
    for source in (rows, frame):
        assert_same(cluster.count_points(source, work, client, None)[0], expected)


@pytest.mark.parametrize("name", [None, "number", "text"])
def test_records_with_axes_are_counted_as_on_one_machine(
    xy, rows, domain, client, name, monkeypatch
):
    monkeypatch.setattr(formats, "PIECE_ROWS", 1000)
    person = None if name is None else NAMES[name]
    expected = counted_here(xy, domain, "views", AXES, person)
    work = Work(domain, None, AXES, Choice(name), "views")
    frame = dd.from_pandas(records(xy), npartitions=7)
    shapes = gpd.GeoDataFrame(records(xy), geometry=points(xy).geometry)
    for source in (rows, frame, dask_geopandas.from_geopandas(shapes, npartitions=5)):
        assert_same(cluster.count_points(source, work, client, None)[0], expected)


@pytest.mark.parametrize("phase", ["_cut-", "_gather_slowly"])
def test_a_worker_that_is_killed_while_persons_meet_changes_nothing(
    xy, rows, domain, phase, monkeypatch
):
    monkeypatch.setattr(formats, "PIECE_ROWS", 2000)
    monkeypatch.setattr(cluster, "_place_part", _place_slowly)
    monkeypatch.setattr(cluster, "_gather", _gather_slowly)
    work = Work(domain, None, (), Choice("text"))
    found = kill_a_worker_in_the_middle(
        lambda client: cluster.count_points(rows, work, client, None)[0], phase
    )
    assert_same(found, counted_here(xy, domain, "adaptive", person=NAMES["text"]))


def test_what_a_cluster_counts_of_persons_and_slices_can_be_published(xy, rows, domain, client):
    axes = {"by": {"kind": ["theft", "fire"]}}
    persons = np.unique(WHO).size
    frame = dd.from_pandas(records(xy), npartitions=3)
    assert dp.publish(rows, 1, domain, person="text", client=client).n == persons
    assert dp.publish(frame, 1, domain, person="number").n == persons
    assert dp.publish(rows, 1, domain, client=client, **axes).n == N
    release = dp.publish(frame, 1, domain, person="text", **axes)
    assert release.n == persons and release.verify()


def test_windows_days_and_several_points_a_person_are_chosen_as_on_one_machine(
    xy, rows, domain, client
):
    here = gpd.GeoDataFrame(records(xy), geometry=points(xy).geometry)
    march = {"window": ("2026-03-01", "2026-04-01"), "date": "when"}
    for asked in (
        march,
        {**march, "person": ["number", "when"], "outside": "drop", "neighbours": "add-remove"},
        {"person": ["text", "kind"]},
    ):
        choice = choose_rows(
            name_persons(asked.get("person"), here), None, asked.get("outside", "nearest"),
            asked.get("window"), asked.get("date"), asked.get("neighbours", "replace"), (),
        )  # fmt: skip
        expected = counting._count(here, domain, choice, "adaptive", None, None, None, PLAINLY)
        work = Work(domain, None, (), choice)
        for source in (rows, dd.from_pandas(records(xy), npartitions=4)):
            assert_same(cluster.count_points(source, work, client, None)[0], expected)
    owned = np.unique(WHO, return_counts=True)[1]
    work = Work(domain, None, (), Choice("number", 3))
    assert cluster.count_points(rows, work, client, None)[0].n == np.minimum(owned, 3).sum()


def test_persons_that_workers_might_understand_differently_are_refused(xy, domain):
    frame = records(xy).iloc[:100]
    for name in (
        frame["number"] + 0.5,
        frame["number"] > 5,
        frame["when"],
        frame["text"].where(frame["number"] > 2000),
        pd.Series([1, "1"] * 50, dtype=object),
        pd.Series(["a"] * 50 + [1] * 50, dtype=object),
    ):
        with (
            # dask would turn all of a column into text, whoever it is
            dask.config.set({"dataframe.convert-string": False}),
            pytest.raises(BadInputError, match="person"),
        ):
            bad = dd.from_pandas(frame.assign(who=name), npartitions=2)
            dp.publish(bad, 1, domain, person="who")
    for who in (list(NAMES["text"]), NAMES["number"]):
        with pytest.raises(BadInputError, match="name of a column"):
            dp.publish(dd.from_pandas(frame, npartitions=2), 1, domain, person=who)
    with pytest.raises(BadInputError, match="'nobody'"):
        dp.publish(dd.from_pandas(frame, npartitions=2), 1, domain, person="nobody")


def test_what_is_not_points_is_refused_in_one_sentence(xy, domain, client, folder):
    bad = xy.copy()
    bad[5, 0] = np.nan
    frame = dd.from_pandas(pd.DataFrame(bad, columns=["lon", "lat"]), npartitions=3)
    with pytest.raises(BadInputError, match="finite coordinates"):
        cluster.count_cells(frame, domain, client=client)
    text = dd.from_pandas(pd.DataFrame({"x": ["a"], "y": ["b"]}), npartitions=1)
    with pytest.raises(BadInputError, match="numbers"):
        cluster.count_cells(text, domain)
    no_crs = dask_geopandas.from_geopandas(points(xy).set_crs(None, allow_override=True), 2)
    with pytest.raises(BadInputError, match="set_crs"):
        cluster.count_cells(no_crs, domain)
    polygons = points(xy[:50]).to_crs(2263).buffer(1)
    with pytest.raises(BadInputError, match="Only points"):
        cluster.count_cells(dask_geopandas.from_geopandas(polygons.to_frame(), 2), domain)
    with pytest.raises(BadInputError, match="columns="):
        cluster.count_cells(frame.rename(columns={"lon": "a"}), domain)
    with pytest.raises(BadInputError, match="'a'"):
        cluster.count_cells(frame, domain, columns=("a", "lat"))
    with pytest.raises(BadInputError, match="path, or of a dask"):
        cluster.count_cells(xy, domain)
    with pytest.raises(BadInputError, match="no file"):
        cluster.count_cells(folder + "/absent.parquet", domain)
