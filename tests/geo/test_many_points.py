"""A release of a kilobyte that claims any number of points, against who reads it."""

from __future__ import annotations

import dataclasses
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import dpsort_geo as dp
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import Cells, count_cells
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.points import CHUNK, MOST_UNASKED, chunks, points, points_at, ranks
from dpsort_geo.geo.release import Release as GeoRelease
from dpsort_geo.webmap import dots
from dpsort_geo.webmap.build import points_layer
from dpsort_geo.webmap.pack import unpack
from dpsort_geo.webmap.sheet import choose_sheet

MANY = 10**8
GRID = Grid(0.0, 0.0, 4.0, 6)


def claimed(n=MANY, kind="sort", crs="EPSG:3857"):
    cells = Cells(GRID, np.arange(0, 4096, 1365), np.full(4, n // 4))
    if kind == "sort":
        core = publish_sorted(cells, 1, group_size=n // 4)
    else:
        core = publish_adaptive(cells, "0.00001")
    return dataclasses.replace(core, crs=crs, working_crs=crs)


@pytest.fixture(scope="module", params=["sort", "adaptive"])
def many(request):
    core = claimed(kind=request.param)
    assert len(core.to_json()) < 10_000
    return GeoRelease.from_json(core.to_json())


def some_release(kind, n=3 * CHUNK // 2):
    x, y = np.random.default_rng(2).normal(128, 40, (2, n))
    cells = count_cells(GRID, x, y)
    return decode(publish_sorted(cells, 1) if kind == "sort" else publish_adaptive(cells, 1))


@pytest.mark.parametrize("kind", ["sort", "adaptive"])
@pytest.mark.parametrize("spread", [True, False])
def test_chunks_and_single_points_are_those_of_the_whole(kind, spread):
    decoded = some_release(kind)
    x, y = points(decoded, spread)
    pieces = list(chunks(decoded, spread))
    assert [piece[0].size for piece in pieces] == [CHUNK, CHUNK // 2]
    assert np.array_equal(np.concatenate([piece[0] for piece in pieces]), x)
    row = np.array([0, 7, CHUNK - 1, CHUNK, decoded.n - 1])
    rank = ranks(decoded.n)[row]
    for found, all_ in zip(points_at(decoded, rank, spread), (x, y)):
        assert np.array_equal(found, all_[row])


def test_more_points_than_anybody_expects_must_be_asked_for(many, tmp_path):
    assert many.n > MOST_UNASKED
    for write in (many.to_geojson, many.to_geoparquet, many.to_gpkg):
        with pytest.raises(dp.BadInputError, match=f"most={many.n}"):
            write(tmp_path / "points")
    for make in (many.points, many.coordinates, many.geojson):
        with pytest.raises(dp.BadInputError, match=f"most={many.n}"):
            make()
        with pytest.raises(dp.BadInputError, match="100,000,000"):
            make(most=many.n - 1)
    assert not list(tmp_path.iterdir())
    pieces = list(itertools.islice(many.geojson(most=many.n), 4))
    assert pieces[2].count(b"Feature") > 1000


def test_a_map_computes_only_the_points_that_it_shows(many, tmp_path, monkeypatch):
    asked = []

    def counted(decoded, rank, spread=True):
        asked.append(rank.size)
        return points_at(decoded, rank, spread)

    monkeypatch.setattr("dpsort_geo.webmap.build.diffusion.points_at", counted)
    monkeypatch.setattr("dpsort_geo.webmap.build.diffusion.chunks", None)
    (shown,) = many.map_page().layers
    sheet = choose_sheet(many.domain)
    repeated = points_layer(many, sheet, diffuse=False)
    assert asked == [dots.MOST_DOTS, dots.MOST_COUNTED]
    assert shown["note"] == "200,000 of 100,000,000 shown."
    codes = unpack(repeated["count"])
    counts = np.exp((codes[codes > 0] - 1) / 1500 - 20)
    assert counts.sum() == pytest.approx(MANY, rel=1e-3)


MEASURED = """
import resource, sys, collections
from dpsort_geo import read_release
release = read_release(sys.argv[1])
if sys.argv[2] == "map":
    release.to_map(sys.argv[3])
else:
    collections.deque(release.geojson(most=release.n), maxlen=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def measured(tmp_path, n, what):
    path = tmp_path / f"{n}.json"
    path.write_text(claimed(n).to_json())
    command = [sys.executable, "-c", MEASURED, path, what, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_memory_does_not_grow_with_the_points_that_a_release_claims(tmp_path):
    # all of a hundred million points would take gigabytes for the map, of four million 60 MB more
    assert measured(tmp_path, MANY, "map") < measured(tmp_path, 10**6, "map") + 100
    assert measured(tmp_path, 4 * 10**6, "geojson") < measured(tmp_path, 4 * 10**5, "geojson") + 40


def test_the_shell_says_how_to_ask(tmp_path):
    (tmp_path / "r.json").write_text(claimed().to_json())
    command = [sys.executable, "-m", "dpsort_geo", "points", tmp_path / "r.json"]
    done = subprocess.run([*command, tmp_path / "o.geojson"], capture_output=True, text=True)
    assert done.returncode == 2 and "with --most 100000000" in done.stderr
    assert not (tmp_path / "o.geojson").exists()
    (tmp_path / "r.json").write_text(claimed(4000).to_json())
    done = subprocess.run([*command, "-", "--most", "4000"], capture_output=True, text=True)
    assert len(json.loads(done.stdout)["features"]) == 4000
    done = subprocess.run([*command, "-", "--most", "3999"], capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout
