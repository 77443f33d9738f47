"""A cluster counts as one process does, even when workers die."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask.dataframe as dd
import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from dpsort_geo.errors import BadInput
from dpsort_geo.geo import cluster, formats
from dpsort_geo.geo.domain import Domain
from dpsort_geo.publisher import cells as tables

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


def _count_slowly(piece, domain):
    time.sleep(0.15)
    return _count_piece(piece, domain)


_count_piece = cluster._count_piece


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    folder, domain, expected, monkeypatch
):
    monkeypatch.setattr(formats, "PIECE_ROWS", 1000)
    monkeypatch.setattr(cluster, "_count_piece", _count_slowly)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        client.upload_file(__file__)
        workers = set(client.run(os.getpid).values())
        done: list[tables.Cells] = []
        counting = threading.Thread(
            target=lambda: done.append(cluster.count_cells(folder, domain, client=client))
        )
        counting.start()
        deadline = time.monotonic() + 60
        while _finished(client) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert counting.is_alive(), "the count ended before a worker could be killed"
        os.kill(min(workers), signal.SIGKILL)
        counting.join(timeout=120)
        assert len(done) == 1
        after = set(client.run(os.getpid).values())
        assert min(workers) not in after
        assert_same(done[0], expected)


def _finished(client: Client) -> int:
    return client.run_on_scheduler(
        lambda dask_scheduler: sum(
            task.state == "memory" and "_count" in str(task.key)
            for task in dask_scheduler.tasks.values()
        )
    )


def test_what_is_not_points_is_refused_in_one_sentence(xy, domain, client, folder):
    bad = xy.copy()
    bad[5, 0] = np.nan
    frame = dd.from_pandas(pd.DataFrame(bad, columns=["lon", "lat"]), npartitions=3)
    with pytest.raises(BadInput, match="finite coordinates"):
        cluster.count_cells(frame, domain, client=client)
    text = dd.from_pandas(pd.DataFrame({"x": ["a"], "y": ["b"]}), npartitions=1)
    with pytest.raises(BadInput, match="numbers"):
        cluster.count_cells(text, domain)
    no_crs = dask_geopandas.from_geopandas(points(xy).set_crs(None, allow_override=True), 2)
    with pytest.raises(BadInput, match="set_crs"):
        cluster.count_cells(no_crs, domain)
    polygons = points(xy[:50]).to_crs(2263).buffer(1)
    with pytest.raises(BadInput, match="Only points"):
        cluster.count_cells(dask_geopandas.from_geopandas(polygons.to_frame(), 2), domain)
    with pytest.raises(BadInput, match="columns="):
        cluster.count_cells(frame.rename(columns={"lon": "a"}), domain)
    with pytest.raises(BadInput, match="'a'"):
        cluster.count_cells(frame, domain, columns=("a", "lat"))
    with pytest.raises(BadInput, match="path, or of a dask"):
        cluster.count_cells(xy, domain)
    with pytest.raises(BadInput, match="no file"):
        cluster.count_cells(folder + "/absent.parquet", domain)
