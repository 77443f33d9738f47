"""What is wrong with a point is said to the client, and not written where the workers run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("distributed")

#: numbers and text that are in the points and nowhere else
SCRIPT = """
import sys
import dask.dataframe as dd, dask_geopandas, geopandas as gpd, numpy as np, pandas as pd, shapely
from distributed import Client, LocalCluster
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.private import cluster
from dpsort_geo.geo.domain import Domain

def shapes(*geometry):
    return dask_geopandas.from_geopandas(gpd.GeoSeries(geometry, crs=27700).to_frame("geometry"), 1)

if __name__ == "__main__":
    domain = Domain.from_bounds((0, 0, 1000, 1000), crs=27700)
    numbers = pd.DataFrame({"x": [777.123, np.nan], "y": [777.456, 1.0]})
    text = pd.DataFrame({"x": ["777.123", "secret"], "y": ["777.456", "2"]})
    bad = {
        "finite": dd.from_pandas(numbers, npartitions=1),
        "numbers": dd.from_pandas(text, npartitions=1),
        "Only points": shapes(shapely.LineString([(777.123, 1), (2, 777.456)])),
        "null": shapes(shapely.Point(777.123, 777.456), None),
        "somewhere there is text": sys.argv[1],
    }
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as local:
        with Client(local) as client:
            for words, points in bad.items():
                try:
                    cluster.count_cells(points, domain, client=client, columns=None)
                except BadInputError as refused:
                    assert words in str(refused), (words, str(refused))
                    assert refused.__context__ is None and refused.__cause__ is None
                else:
                    raise AssertionError(words)
            print(client.get_worker_logs(), client.get_scheduler_logs(), client.get_events())
"""


def test_no_point_is_in_what_workers_and_scheduler_write(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "points.csv").write_text("x,y\n777.123,777.456\nsecret,2\n")
    environment = {"PYTHONPATH": os.getcwd(), **os.environ}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "points.csv")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for written in (done.stdout, done.stderr):
        assert "777.1" not in written and "777.4" not in written and "secret" not in written
        assert "Compute Failed" not in written
