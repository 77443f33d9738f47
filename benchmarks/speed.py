"""How fast it is: ours and the peer in one run, best of several, in processor time.

Ours and the peer take turns, so that what else the machine does falls on both. Each result has
the ratio and the target that the project set itself, met or not. Peak memory is that of a process
that does nothing else. Results go to benchmarks/results/speed.json, the plot of how each step grows
to docs/img/scale_growth.png, the tables to docs/scale.md.

    python benchmarks/speed.py --quick       # a tenth of the sizes, no plot, nothing stored
    python benchmarks/speed.py               # everything: about ten minutes and 10 GB of memory
    python benchmarks/speed.py --only noise positions
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Optional

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # processor time of idle threads would count

import geopandas as gpd
import numpy as np
import pyproj

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dpsort_geo as dp
from dpsort_geo.core.curve import hilbert
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import Cells, count_cells
from dpsort_geo.core.private.noise import discrete_laplace
from dpsort_geo.core.public import points as diffuse
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.isotonic import isotonic_l2
from dpsort_geo.geo import write

RESULTS = ROOT / "benchmarks" / "results" / "speed.json"
PAGE = ROOT / "docs" / "scale.md"
#: of a plain point in a GeoParquet file with the usual compression
FILE_BYTES = 17
#: bytes of a cell in the widest table: offsets of four bytes and counts of two, or the reverse
WIDEST = 6
PLOT = ROOT / "docs" / "img" / "scale_growth.png"
BOX = (-74.3, 40.5, -73.7, 40.95)
Work = Callable[[], Any]


@dataclass(frozen=True)
class Result:
    """One line of the table. ``ratio`` is compared with ``target``: at least, or at most."""

    name: str
    ours: float
    peer: Optional[float]
    unit: str
    ratio: float
    target: float
    at_least: bool

    @property
    def is_met(self) -> bool:
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target

    def __str__(self) -> str:
        peer = "" if self.peer is None else f"{self.peer:10.4g}"
        sign = ">=" if self.at_least else "<="
        verdict = "met" if self.is_met else "MISSED"
        return (
            f"{self.name:<58}{self.ours:10.4g}{peer:>10} {self.unit:<3}"
            f"{self.ratio:9.2f} ({sign} {self.target:g}, {verdict})"
        )


def clock(*works: Work, rounds: int = 7) -> list[float]:
    """Least processor time of each piece of work; they take turns."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - start)
    return best


def faster(name: str, ours: Work, peer: Work, target: float, rounds: int = 7) -> Result:
    """Peer's time over ours."""
    a, b = clock(ours, peer, rounds=rounds)
    return Result(name, a, b, "s", b / a, target, at_least=True)


def within(name: str, ours: Work, peer: Work, target: float, rounds: int = 7) -> Result:
    """Ours over the peer's time."""
    a, b = clock(ours, peer, rounds=rounds)
    return Result(name, a, b, "s", a / b, target, at_least=False)


def limit(name: str, ours: float, target: float, unit: str, peer: Optional[float] = None) -> Result:
    """A figure that must stay below a limit, whatever the peer's is."""
    return Result(name, ours, peer, unit, ours, target, at_least=False)


def city(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes around forty centres: a place like any city, of nobody."""
    rng = np.random.default_rng(seed)
    centre = rng.uniform((-74.25, 40.55), (-73.75, 40.9), (40, 2))
    lon, lat = (centre[rng.integers(0, 40, n)] + rng.normal(0, 0.02, (n, 2))).T
    return np.ascontiguousarray(lon), np.ascontiguousarray(lat)


def unit_square(n: int, order: int) -> tuple[Grid, np.ndarray, np.ndarray]:
    """The same points in the unit square, and a grid without a mask."""
    lon, lat = city(n)
    x, y = (lon - BOX[0]) / (BOX[2] - BOX[0]), (lat - BOX[1]) / (BOX[3] - BOX[1])
    return Grid(0.0, 0.0, 2.0**-order, order), x, y


def domain() -> dp.Domain:
    return dp.Domain.from_bounds(BOX, crs="EPSG:4326")


# the core ---------------------------------------------------------------------------------------


def bench_hilbert(small: int) -> Iterator[Result]:
    from geopandas.tools.hilbert_curve import _encode

    for n, target in ((1_000_000 // small, 4), (10_000_000 // small, 6)):
        i, j = np.random.default_rng(1).integers(0, 1 << 16, (2, n))
        a, b = i.astype(np.uint32), j.astype(np.uint32)
        yield faster(
            f"Hilbert positions, order 16, {n:.0e} cells / geopandas",
            lambda i=i, j=j: hilbert.encode(i, j, 16),
            lambda a=a, b=b: _encode(16, a, b),
            target,
        )


def bench_positions(small: int) -> Iterator[Result]:
    n = 1_000_000 // small
    grid, x, y = unit_square(n, 16)
    series = gpd.GeoSeries(gpd.points_from_xy(x, y))
    yield faster(
        f"positions of {n:.0e} coordinates / GeoSeries.hilbert_distance",
        lambda: grid.positions(x, y),
        lambda: series.hilbert_distance(total_bounds=(0, 0, 1, 1), level=16),
        6,
        rounds=9,
    )


def bench_noise(small: int) -> Iterator[Result]:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l1_distance(T=int)
    theirs = opendp.m.make_laplace(*space, scale=10.0)
    n = 100_000 // small
    zeros = [0] * n
    yield faster(
        f"discrete Laplace, {n:.0e} draws / OpenDP",
        lambda: discrete_laplace(10, 1, n),
        lambda: theirs(zeros),
        15,
    )


def bench_isotonic(small: int) -> Iterator[Result]:
    from scipy.optimize import isotonic_regression

    n = 1_000_000 // small
    y = np.sort(np.random.default_rng(1).random(n)) + np.random.default_rng(2).laplace(0, 0.1, n)
    yield within(
        f"isotonic regression, {n:.0e} values / scipy",
        lambda: isotonic_l2(y),
        lambda: isotonic_regression(y),
        5,
    )


def bench_projection(small: int) -> Iterator[Result]:
    n = 1_000_000 // small
    lon, lat = city(n)
    place = domain()
    proj = pyproj.Transformer.from_crs(place.crs, place.working_crs, always_xy=True)
    yield faster(
        f"projection of {n:.0e} points to LAEA / pyproj",
        lambda: place.project(lon, lat),
        lambda: proj.transform(lon, lat),
        1,
    )


# publishing -------------------------------------------------------------------------------------


def bench_publish(small: int) -> Iterator[Result]:
    n = 10_000_000 // small
    grid, x, y = unit_square(n, 13)
    positions = grid.positions(x, y)
    yield within(
        f"publish {n:.0e} coordinates (positions, table, release) / np.sort",
        lambda: publish_adaptive(count_cells(grid, x, y), "1"),
        lambda: np.sort(positions),
        3,
    )


def bench_stream(small: int) -> Iterator[Result]:
    n = 10_000_000 // small
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "points.parquet")
        _write_points(path, n)
        runs = [_in_a_process(what, path) for what in ("stream", "frame") * 2]
        ours, peer = (min(run["cpu"] for run in runs[k::2]) for k in (0, 1))
        name = f"WKB GeoParquet of {n:.0e} points to release / GeoDataFrame"
        yield Result(name, ours, peer, "s", peer / ours, 6, at_least=True)
        ours, peer = (max(run["peak"] for run in runs[k::2]) for k in (0, 1))
        yield limit(f"peak memory, {n:.0e} points streamed", ours, 600, "MB", peer)


def bench_stream_of_ten_files(small: int) -> Iterator[Result]:
    n = 10_000_000 // small
    with tempfile.TemporaryDirectory() as folder:
        for i in range(10):
            # different files, 1.7 GB in all: a folder reads a file that is in it twice only once
            _write_points(Path(folder, f"part{i}.parquet"), n, jitter=i + 1)
        ours, plain = (_in_a_process(what, Path(folder)) for what in ("stream", "plain"))
        name = f"peak memory, {10 * n:.0e} points in ten files / with 16 bytes a cell"
        yield limit(name, ours["peak"], 600, "MB", plain["peak"])
        name = f"WKB GeoParquet of {10 * n:.0e} points in ten files to release / 16 bytes a cell"
        ratio = ours["cpu"] / plain["cpu"]
        yield Result(name, ours["cpu"], plain["cpu"], "s", ratio, 1.2, at_least=False)
        yield limit(f"a cell in that table of {ours['cells']:.0e}", ours["bytes"], 6, "B", 16)


def _write_points(path: Path, n: int, jitter: int = 0) -> None:
    lon, lat = city(n)
    if jitter:  # by a hundred metres or so, each time others
        rng = np.random.default_rng(jitter)
        lon, lat = lon + rng.normal(0, 1e-3, n), lat + rng.normal(0, 1e-3, n)
    write.write_geoparquet(path, [(lon, lat)], pyproj.CRS("EPSG:4326"), {})


def _in_a_process(what: str, path: Path) -> dict[str, float]:
    """Processor time and peak memory of publishing in a process of its own."""
    command = [sys.executable, __file__, "--alone", what, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def publish_alone(what: str, path: str) -> None:
    """What `_in_a_process` runs; imports are not timed, for they are the same on both sides."""
    place = domain()
    if what == "spark":
        return _publish_with_spark(path, place)
    dp.publish(np.zeros((10, 2)), 1, place)  # load all modules, build all tables
    start, clock_start = time.process_time(), time.perf_counter()
    count = _count_plainly if what == "plain" else dp.count_cells
    cells = count(_source(what, path), place)
    dp.publish(cells, 1, place)
    cpu, wall = time.process_time() - start, time.perf_counter() - clock_start
    blocks = cells.packed.blocks
    stored = sum(block.offset.nbytes + block.count.nbytes for block in blocks)
    size = {"cells": len(cells.packed), "bytes": stored / len(cells.packed)}
    print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak_memory(), **size}))


def _count_plainly(path: str, place: dp.Domain) -> Cells:
    """The same with eight bytes a position and eight a count, as the table was before."""
    from dpsort_geo.geo.private.files import batches

    table = np.empty(0, np.int64), np.empty(0, np.int64)
    gathered, used, stream = np.empty(1 << 24, np.uint32), 0, batches(path)
    for x, y, _ in stream:
        if used + x.size > gathered.size:
            table, used = _add_plainly(table, gathered[:used]), 0
        here = slice(used, used + x.size)
        place.grid.curve_index(*place.project(x, y, stream.crs), out=gathered[here])
        used += x.size
    return Cells(place.grid, *_add_plainly(table, gathered[:used]))


def _add_plainly(
    table: tuple[np.ndarray, np.ndarray], latest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merged block by block, so that what is sorted stays in the cache."""
    latest.sort()
    first = np.flatnonzero(np.append(True, latest[1:] != latest[:-1]))
    key, number = latest[first].astype(np.int64), np.diff(np.append(first, latest.size))
    old, had = table
    made: list[tuple[np.ndarray, np.ndarray]] = []
    a = b = 0
    for edge in np.append(old[1 << 16 :: 1 << 16], np.int64(1) << 62):
        c, d = np.searchsorted(old, edge), np.searchsorted(key, edge)
        both = np.concatenate([old[a:c], key[b:d]])
        order = np.argsort(both, kind="stable")
        both, counts = both[order], np.concatenate([had[a:c], number[b:d]])[order]
        begin = np.flatnonzero(np.append(True, both[1:] != both[:-1]))
        made.append((both[begin], np.add.reduceat(counts, begin)))
        a, b = c, d
    index, count = (np.concatenate([part[i] for part in made]) for i in (0, 1))
    return index, count


def _publish_with_spark(path: str, place: dp.Domain) -> None:
    from tests.spark import session

    with session() as spark:
        frame = spark.read.parquet(path)
        dp.publish(frame.sample(1e-3), 1, place)  # Java and its Python are started on all cores
        runs = []
        # the files as they are, and rows that Spark itself must read
        for rows in (*[frame] * 3, *[frame.where("lat < 90")] * 3):
            before, start = processor_time(), time.perf_counter()
            dp.publish(rows, 1, place)
            runs.append((time.perf_counter() - start, processor_time() - before))
    wall, cpu = runs[2]
    told = {"first": runs[0][0], "rows": runs[-1][0], "peak": peak_memory()}
    print(json.dumps({"cpu": cpu, "wall": wall, **told}))


def processor_time() -> float:
    """Of this process and all that come from it and still run, such as Java and its Python."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended meanwhile
            continue
        number = int(status.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        spent[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    total, todo = 0.0, [os.getpid()]
    while todo:
        number = todo.pop()
        total += spent.get(number, 0.0)
        todo += children.get(number, [])
    return total


def _source(what: str, path: str) -> Any:
    if what == "postgis":
        return dp.PostGIS(path, table="calls")
    if what == "read_postgis":
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(path) as link:
            return gpd.read_postgis("select geom from calls", link)
    if what == "dask":
        import dask.dataframe as dd

        return dd.read_parquet(path)
    return path if what in ("stream", "plain") else gpd.read_parquet(path)


def peak_memory() -> float:
    """Most memory that this process ever held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage counts from before the start of the program, when it still was its parent
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def bench_postgis(small: int) -> Iterator[Result]:
    from tests.database import serve

    n = 1_000_000 // small
    with serve() as url:
        _fill_table(url, n)
        runs = [_in_a_process(what, url) for what in ("postgis", "read_postgis") * 3]
        ours, peer = (min(run["cpu"] for run in runs[k::2]) for k in (0, 1))
        name = f"PostGIS table of {n:.0e} points to release / geopandas.read_postgis"
        yield Result(name, ours, peer, "s", peer / ours, 3, at_least=True)


def bench_postgis_at_length(small: int) -> Iterator[Result]:
    from tests.database import serve

    n = 10_000_000 // small
    with serve() as url:
        _fill_table(url, n)
        large = _in_a_process("postgis", url)
        yield limit(f"peak memory, {n:.0e} points from PostGIS", large["peak"], 600, "MB")


def _fill_table(url: str, n: int) -> None:
    import pyarrow as pa
    from adbc_driver_postgresql import dbapi

    from tests.database import execute

    lon, lat = city(n)
    with dbapi.connect(url) as link, link.cursor() as cursor:
        cursor.adbc_ingest("raw", pa.table({"lon": lon, "lat": lat}), mode="replace")
        link.commit()
    point = "ST_SetSRID(ST_MakePoint(lon, lat), 4326)::geometry(Point, 4326)"
    execute(
        url, "drop table if exists calls", f"create table calls as select {point} as geom from raw"
    )


def bench_dask(small: int) -> Iterator[Result]:
    yield from _compare_engine("dask", 10_000_000 // small)


def bench_spark(small: int) -> Iterator[Result]:
    """Without the start of Java: the third count of a session, and the first in a row of its own.

    Files are read by the workers; of a frame that Spark has filtered, every row goes through Java.
    """
    yield from _compare_engine("spark", 10_000_000 // small)


def _compare_engine(engine: str, n: int) -> Iterator[Result]:
    """By the clock: an engine has more than one process."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        lon, lat = city(n)
        for i, part in enumerate(np.array_split(np.arange(n), 4)):
            table = pa.table({"lon": lon[part], "lat": lat[part]})
            pq.write_table(table, Path(folder, f"part{i}.parquet"), row_group_size=1 << 18)
        runs = [
            {name: _in_a_process(name, Path(folder)) for name in ("stream", engine)}
            for _ in range(3)
        ]
    ours, stream = (min(run[name]["wall"] for run in runs) for name in (engine, "stream"))
    name = f"{engine} on one machine, {n:.0e} points, by the clock / one process"
    yield Result(name, ours, stream, "s", ours / stream, 3, at_least=False)
    more = {"first": "the first count of a session", "rows": "rows that Java has filtered"}
    for key, words in more.items():
        if key in runs[0][engine]:
            ours = min(run[engine][key] for run in runs)
            name = f"{engine}, the same, {words} / one process"
            yield Result(name, ours, stream, "s", ours / stream, 3, at_least=False)
    ours, stream = (min(run[name]["cpu"] for run in runs) for name in (engine, "stream"))
    name = f"{engine}, the same, processor time of all its processes / one process"
    yield Result(name, ours, stream, "s", ours / stream, 6, at_least=False)


# the shell --------------------------------------------------------------------------------------

_AREA = {
    "type": "Polygon",
    "coordinates": [[[-74.2, 40.5], [-73.7, 40.5], [-73.7, 40.9], [-74.0, 40.95], [-74.2, 40.5]]],
}


def bench_start(small: int) -> Iterator[Result]:
    """What a command that reads no points costs, from the start of Python to its end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dp.publish(np.column_stack(city(50_000)), 1, domain()).save(folder / "r.json")
        (folder / "area.geojson").write_text(json.dumps(_AREA))
        box = ["--bounds", *map(str, BOX), "--crs", "EPSG:4326"]
        for words in (
            ["plan", "--n", "5e4", "--epsilon", "1", *box],
            ["plan", "--n", "5e4", "--epsilon", "1", "--polygon", "area.geojson"],
            ["verify", "r.json"],
            ["inspect", "r.json"],
            ["ledger", "show", "--ledger", "ledger.sqlite"],
        ):
            spent = min(_run_command(words, folder) for _ in range(6))
            polygon = " --polygon" if "--polygon" in words else ""
            yield limit(f"dpsort-geo {words[0]}{polygon}, from start to end", spent, 0.4, "s")


def _run_command(words: list[str], folder: Path) -> float:
    """Processor time of a command whose modules are compiled, as those of an installed one are."""
    import resource

    compiled = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment = {**os.environ, **compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dpsort_geo", *words]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# reading ----------------------------------------------------------------------------------------


def bench_read(small: int) -> Iterator[Result]:
    n = 1_000_000 // small
    release = dp.publish(np.column_stack(city(n)), 1, domain())
    (points,) = clock(lambda: diffuse.points(decode(release.release)), rounds=3)
    yield limit(f"release to F and {n:.0e} points", points, 1, "s")
    rng = np.random.default_rng(3)
    zones = gpd.GeoSeries(gpd.points_from_xy(*rng.uniform(BOX[:2], BOX[2:], (1000, 2)).T), crs=4326)
    zones = zones.to_crs(domain().working_crs).buffer(rng.uniform(200, 2000, 1000))
    release.count_within(zones[:1])  # decoding is timed above
    (count,) = clock(lambda: release.count_within(zones), rounds=3)
    yield limit("count in 1,000 polygons", count, 1, "s")


def bench_hexes(small: int) -> Iterator[Result]:
    """Hexagons beside the zones of any other shape that cost the most: each counted by itself."""
    release = dp.publish(np.column_stack(city(1_000_000 // small)), 1, domain())
    every = release.hexes(9)
    zones = every[every["covered"] == 1][: 8000 // small]
    some = zones[:: max(1, len(zones) // 100)]
    together, alone = clock(
        lambda: release.count_within(zones),
        lambda: [release.count_within(some[k : k + 1]) for k in range(len(some))],
        rounds=3,
    )
    each = alone / len(some) * len(zones)
    name = f"count in {len(zones):,} hexagons / one by one"
    yield Result(name, together, each, "s", each / together, 10, at_least=True)
    yield limit(f"count in {len(zones):,} hexagons", together, 2, "s")
    part = dp.Domain.from_bounds((-74.15, 40.58, -73.85, 40.87), crs="EPSG:4326")
    release = dp.publish(np.column_stack(city(400_000 // small)), 1, part)
    cells = len(release.hexes(9))
    (whole,) = clock(lambda: release.hexes(9), rounds=3)
    yield limit(f"hexes(9) as a whole, {cells:,} hexagons", whole, 2, "s")


def bench_write(small: int) -> Iterator[Result]:
    n = 1_000_000 // small
    lon, lat = city(n)
    crs = pyproj.CRS("EPSG:4326")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(lon, lat), crs=crs)
        yield faster(
            f"GeoJSON of {n:.0e} points / GeoDataFrame.to_file",
            lambda: write.write_geojson(folder / "a.geojson", [(lon, lat)], {}),
            lambda: frame.to_file(folder / "b.geojson"),
            3,
            rounds=2,
        )

        def frame_to_parquet() -> None:
            made = gpd.GeoDataFrame(geometry=gpd.points_from_xy(lon, lat), crs=crs)
            made.to_parquet(folder / "b.parquet")

        yield faster(
            f"GeoParquet of {n:.0e} points / GeoDataFrame(...).to_parquet",
            lambda: write.write_geoparquet(folder / "a.parquet", [(lon, lat)], crs, {}),
            frame_to_parquet,
            5,
        )


# growth -----------------------------------------------------------------------------------------


def steps(n: int, order: int) -> dict[str, float]:
    """Processor time of each step from coordinates to points."""
    grid, x, y = unit_square(n, order)
    cells = count_cells(grid, x, y)
    release = publish_adaptive(cells, "1")
    decoded = decode(release)
    works: dict[str, Work] = {
        "positions": lambda: grid.positions(x, y),
        "positions and table": lambda: count_cells(grid, x, y),
        "noisy release": lambda: publish_adaptive(Cells(grid, cells.index, cells.count), "1"),
        "decode": lambda: decode(release),
        "points": lambda: diffuse.points(decoded),
    }
    return dict(zip(works, clock(*works.values(), rounds=3)))


def growth(small: int) -> dict[str, Any]:
    sizes = [n // small for n in (100_000, 1_000_000, 10_000_000)]
    by_n = {str(n): steps(n, 13) for n in sizes}
    by_order = {str(order): steps(sizes[1], order) for order in (8, 12, 16)}
    return {"by_n": by_n, "by_order": by_order, "n_of_order": sizes[1]}


def plot(found: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    for axes, part in ((left, "by_n"), (right, "by_order")):
        place = [int(key) for key in found[part]]
        for step in next(iter(found[part].values())):
            axes.plot(place, [times[step] for times in found[part].values()], "o-", label=step)
        axes.set_yscale("log")
        axes.grid(alpha=0.3)
    left.set(xscale="log", xlabel="points (grid of order 13)", ylabel="seconds of processor time")
    right.set(xlabel=f"order of the grid ({found['n_of_order']:,} points)")
    right.set_xticks([int(key) for key in found["by_order"]])
    left.legend(fontsize=8)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOT, dpi=130)


BENCHES = {
    "hilbert": bench_hilbert,
    "positions": bench_positions,
    "noise": bench_noise,
    "isotonic": bench_isotonic,
    "projection": bench_projection,
    "publish": bench_publish,
    "stream": bench_stream,
    "ten-files": bench_stream_of_ten_files,
    "postgis": bench_postgis,
    "postgis-at-length": bench_postgis_at_length,
    "dask": bench_dask,
    "spark": bench_spark,
    "start": bench_start,
    "read": bench_read,
    "hexes": bench_hexes,
    "write": bench_write,
}


def machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "geopandas": gpd.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def write_page(stored: dict[str, Any]) -> None:
    """Put the measured numbers into docs/scale.md, between its marks."""
    rows = [result for name in BENCHES for result in stored["results"].get(name, [])]
    lines = ["| what | ours | peer | ratio | target |", "|---|--:|--:|--:|---|"]
    for row in rows:
        peer = "" if row["peer"] is None else f"{row['peer']:.3g} {row['unit']}"
        ratio = "" if row["peer"] is None or row["unit"] in ("MB", "B") else f"{row['ratio']:.2g}"
        sign = ">=" if row["at_least"] else "<="
        ours = f"{row['ours']:.3g} {row['unit']}"
        lines.append(f"| {row['name']} | {ours} | {peer} | {ratio} | {sign} {row['target']} |")
    stream = next(row for row in rows if row["name"].startswith("WKB GeoParquet of 1e+07"))
    each = stream["ours"] / 1e7
    cell = next(row["ours"] for row in rows if row["name"].startswith("a cell in that table"))
    cost = [
        f"The stream above takes {each * 1e9:.0f} ns of processor time a point, and a cell of the "
        f"table of 1e8 points {cell:.1f} bytes:",
        "",
        "| points | file | one core | 64 cores | table at order 13 | at order 16 |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for n in (1e8, 1e9, 1e12):
        tables = [min(n, 4.0**order) * WIDEST / 1e9 for order in (13, 16)]
        cost.append(
            f"| {n:.0e} | {n * FILE_BYTES / 1e9:,.1f} GB | {n * each / 60:,.1f} min |"
            f" {n * each / 64 / 60:,.2f} min | <= {tables[0]:.2g} GB | <= {tables[1]:.2g} GB |"
        )
    text = PAGE.read_text()
    for mark, body in (("speed", lines), ("cost", cost)):
        begin, end = f"<!-- {mark} -->\n", f"\n<!-- end of {mark} -->"
        head, rest = text.split(begin)
        text = head + begin + "\n".join(body) + end + rest.split(end)[1]
    PAGE.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, nothing stored")
    parser.add_argument("--only", nargs="+", choices=[*BENCHES, "growth"], help="some of them")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # on what a small epsilon means
    if options.alone:
        publish_alone(*options.alone)
        return
    if options.quick:
        print("A tenth of the sizes that the targets are for.")
    small = 10 if options.quick else 1
    chosen = options.only or [*BENCHES, *([] if options.quick else ["growth"])]
    for name in chosen:
        if name == "growth":
            found: Any = growth(small)
        else:
            found = []
            for result in BENCHES[name](small):
                print(result, flush=True)
                found.append({**asdict(result), "met": result.is_met})
        if not options.quick:
            store(name, found)


def store(name: str, found: Any) -> None:
    """Keep what was found, beside what others found meanwhile, and write the page anew."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"results": {}}
    if name == "growth":
        stored["growth"] = found
        plot(found)
    else:
        stored["results"][name] = found
    stored["machine"] = machine()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
    write_page(stored)


if __name__ == "__main__":
    main()
