"""That there is nobody at all is as private as any other number, where n is not public.

Under add-remove, no points and one point are neighbours. If no points were refused, a month without
a release would tell that nothing happened in it.
"""

from __future__ import annotations

import subprocess
import sys

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import dpsort_geo as dp
from dpsort_geo.core.private.noisy_n import publish_n, refuse_nothing
from dpsort_geo.core.private.publish import count_stream

DOMAIN = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857", order=5)
ONE = gpd.GeoDataFrame(
    {"who": ["ann"], "kind": ["fall"], "when": ["2026-01-05"]},
    geometry=gpd.points_from_xy([500.0], [501.0]),
    crs="EPSG:3857",
)
NOBODY = ONE.iloc[:0]
TABLE = pd.DataFrame(ONE.drop(columns="geometry")).assign(x=500.0, y=501.0)
CHOICES = {
    "points": {},
    "persons": {"person": "who"},
    "up to three points a person": {"person": "who", "max_points": 3},
    "several columns": {"person": ["who", "when"]},
    "axes": {"by": {"kind": ["fall", "other"]}},
    "axes and persons": {"by": {"kind": ["fall", "other"]}, "person": "who"},
    "dropped": {"outside": "drop"},
    "a window": {"window": ("2026-01-01", "2026-02-01"), "date": "when"},
}


def publish(points, **choice):
    return dp.publish(points, 1, DOMAIN, neighbours="add-remove", **choice)


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("points", [NOBODY, ONE], ids=["nobody", "one"])
def test_nobody_is_published_like_anybody(points, choice):
    release = publish(points, **choice)
    assert release.verify() and len(release.points()) == max(release.n, 0)
    assert "about" in repr(release)


@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
@pytest.mark.parametrize("person", [None, "who"])
def test_every_mechanism_publishes_nobody(method, person):
    assert publish(NOBODY, method=method, person=person).verify()


@pytest.mark.parametrize("points", [NOBODY, ONE], ids=["nobody", "one"])
def test_rows_that_are_all_left_out_are_nobody(points):
    outside = points.set_geometry(points.geometry.translate(5000.0))
    assert publish(outside, outside="drop").verify()
    assert publish(points, window=("2027-01-01", "2027-02-01"), date="when").verify()


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "gpkg", "geojson", "shp", "fgb"])
def test_files_without_rows_are_published(tmp_path, ending, person):
    path = tmp_path / f"calls.{ending}"
    if ending == "csv":
        TABLE.iloc[:0].to_csv(path, index=False)
    elif ending == "parquet":
        NOBODY.to_parquet(path)
    else:
        NOBODY.to_file(path, geometry_type="Point")
    columns = {"columns": ("x", "y"), "points_crs": "EPSG:3857"} if ending == "csv" else {}
    assert publish(path, person=person, **columns).verify()


def test_a_dask_frame_without_rows_is_published():
    dask = pytest.importorskip("dask.dataframe")
    for choice in ({}, {"person": "who"}, {"by": {"kind": ["fall", "other"]}}):
        frame = dask.from_pandas(TABLE.iloc[:0], npartitions=1)
        assert publish(frame, columns=("x", "y"), points_crs="EPSG:3857", **choice).verify()


def test_a_month_without_points_has_a_release_like_any_other(tmp_path):
    series = dp.Series(tmp_path / "calls", DOMAIN, every="1 month", epsilon="0.5", date="when")
    for month in ("2026-01", "2026-02"):
        series.append(ONE, month)
    assert list(series.releases) == ["2026-01", "2026-02"]


def test_the_shell_says_the_same_of_nobody_and_of_one(tmp_path):
    said = []
    for name, rows in (("one", TABLE), ("nobody", TABLE.iloc[:0])):
        rows.to_csv(tmp_path / "calls.csv", index=False)
        command = [
            sys.executable, "-m", "dpsort_geo", "publish", "calls.csv", f"{name}.release.json",
            "-e", "1", "--bounds", "0", "0", "1000", "1000", "--crs", "EPSG:3857",
            "--columns", "x", "y", "--neighbours", "add-remove", "--no-ledger",
        ]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        said.append(run.stderr.replace(name, ""))
    assert said[0] == said[1]


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_where_n_is_public_nobody_is_refused_before_anything_is_spent(tmp_path, choice):
    if "max_points" in choice or "outside" in choice:
        pytest.skip("these are for add-remove only")
    book = tmp_path / "ledger.sqlite"
    with pytest.raises(dp.BadInputError, match="There are no points to publish"):
        dp.publish(NOBODY, 1, DOMAIN, ledger=book, dataset="calls", **choice)
    assert not book.exists() or not dp.Ledger(book).entries("calls")


def test_the_noise_of_nobody_is_that_of_anybody():
    """The n of nobody is the noise itself: what is asked for is the same scale as for one point."""
    asked = []

    def noise(numerator, denominator, size):
        asked.append((numerator, denominator, size))
        return np.zeros(size, np.int64)

    for x in ([], [500.0]):
        cells = count_stream(DOMAIN.grid, [(np.array(x), np.array(x), None)])
        assert publish_n(cells, 1, 1, "add-remove", noise) == len(x)
    assert asked[0] == asked[1]
    with pytest.raises(dp.BadInputError):
        refuse_nothing(0, "replace")
