"""What a mask is worth: data on land published with the land as the domain, and without it.

Every pair of points and boundary that lies in `../shared/data`, in the arena's cells: its sizes,
its epsilons, its 256 x 256 cells, six seeds independent for every cell. Once more on a grid of
4096 x 4096, as a user's would be, judged on the same 256 x 256 pixels. Points off the land of so
coarse maps are left out: the question is what the mask is worth for data that lies in it. Beyond
the size of a set its places are drawn with replacement and spread a little, as in the arena, but
not into the water. Errors: sliced earth mover's distance (32 directions) and density L1. Printed is
with / without: below 1 the mask helps.

Results are kept in benchmarks/results/mask.json.

    python benchmarks/mask.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
from arena import EPSILONS, SIZES
from arena import ORDER as PIXELS

from dpsort_geo.compare.metrics import density_l1, emd_sliced
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.curve.hilbert import encode
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.points import points as points_of

ORDERS = (PIXELS, 12)
SEEDS = 6
CASES = {
    "gb accidents": ("gb_road_accidents.parquet", "gb_50m.parquet", 27700),
    "world places": ("geonames_cities1000.parquet", "world_land_110m.parquet", 6933),
    "us places": ("geonames_cities1000.parquet", "us_conterminous_10m.parquet", 5070),
    "nyc thefts": ("nyc_vehicle_thefts.parquet", "nyc_boroughs.parquet", 32618),
    "nyc taxi": ("nyc_taxi_pickups_2009_2015.parquet", "nyc_boroughs.parquet", 32618),
}


def loaded(name: str, order: int) -> Tuple[np.ndarray, Grid]:
    """The points on land, and the square grid around the land with the land's cells."""
    import geopandas as gpd
    import pandas as pd

    file, land_file, crs = CASES[name]
    table = pd.read_parquet(datasets.DATA / file)
    at = gpd.GeoSeries(gpd.points_from_xy(table["lon"], table["lat"]), crs=4326).to_crs(crs)
    land = gpd.read_parquet(datasets.DATA / "masks" / land_file).to_crs(crs).union_all()
    west, south, east, north = land.bounds
    side = max(east - west, north - south) * 1.001
    plain = Grid(west, south, side / 2**order, order)
    parts = getattr(land, "geoms", [land])
    rings = [np.array(r.coords) for part in parts for r in (part.exterior, *part.interiors)]
    masked = replace(plain, runs=cover(rings, plain))
    xy = np.column_stack([at.x, at.y])
    return xy[lies_in(masked, xy)], masked


def lies_in(grid: Grid, xy: np.ndarray) -> np.ndarray:
    """Which points lie in allowed cells."""
    inside = ((xy >= [grid.x0, grid.y0]) & (xy < np.array([grid.x0, grid.y0]) + grid.side)).all(1)
    cell = ((xy[inside] - [grid.x0, grid.y0]) / grid.cell).astype(np.int64)
    inside[inside] = grid.is_allowed(encode(*cell.T, grid.order))
    return inside


def drawn(places: np.ndarray, grid: Grid, n: int, rng: np.random.Generator) -> np.ndarray:
    """n points on land; a step that would leave it is not made."""
    if n <= len(places):
        return places[rng.choice(len(places), n, replace=False)]
    at = places[rng.integers(len(places), size=n)]
    moved = at + datasets.JITTER * grid.side * rng.standard_normal(at.shape)
    return np.where(lies_in(grid, moved)[:, None], moved, at)


def one(true: np.ndarray, grid: Grid, epsilon: float, rng: np.random.Generator) -> Dict[str, float]:
    """Errors of one release on one grid."""
    release = publish_adaptive(
        count_cells(grid, true[:, 0], true[:, 1]), epsilon, noise=seeded_noise(rng)
    )
    decoded = decode(release)
    truth = datasets.raster((true - [grid.x0, grid.y0]) / grid.side, PIXELS)
    found = raster(decoded, PIXELS)
    return {
        "outside": float((~lies_in(grid, np.column_stack(points_of(decoded)))).sum()),
        "EMD": emd_sliced(truth, found, 32),
        "L1": density_l1(truth, found),
    }


def measured(case: Tuple[str, int]) -> List[Dict[str, Any]]:
    """All cells of one data set on one grid."""
    name, order = case
    places, masked = loaded(name, order)
    plain = replace(masked, runs=None)
    rows = []
    for n, epsilon in product(SIZES, EPSILONS):
        rng = np.random.default_rng([n, round(1000 * epsilon), order, len(places)])
        errors: Dict[str, List[Dict[str, float]]] = {"with": [], "without": []}
        for _ in range(SEEDS):
            true = drawn(places, masked, n, rng)
            errors["with"].append(one(true, masked, epsilon, rng))
            errors["without"].append(one(true, plain, epsilon, rng))
        mean = {k: {m: np.mean([r[m] for r in v]) for m in v[0]} for k, v in errors.items()}
        row: Dict[str, Any] = {"data": name, "order": order, "n": n, "epsilon": epsilon}
        for what in ("EMD", "L1"):
            row[what] = float(mean["with"][what] / mean["without"][what])
        row["outside"] = float(mean["with"]["outside"])
        rows.append(row)
    return rows


def main() -> None:
    if not datasets.DATA.is_dir():
        print("no real data beside the project (../shared/data): nothing to measure")
        return
    rows: List[Dict[str, Any]] = []
    with Pool() as pool:
        for part in pool.imap(measured, product(CASES, ORDERS)):
            rows += part
            report(f"{part[0]['data']}, order {part[0]['order']}", part)
    for order in ORDERS:
        report(f"all, order {order}", [row for row in rows if row["order"] == order])
    file = ROOT / "benchmarks" / "results" / "mask.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(rows, indent=1) + "\n")


def report(title: str, rows: List[Dict[str, Any]]) -> None:
    mean = {what: np.exp(np.mean(np.log([row[what] for row in rows]))) for what in ("EMD", "L1")}
    words = ", ".join(f"{what} {value:.3f}" for what, value in mean.items())
    outside = sum(row["outside"] for row in rows)
    print(f"{title}: with / without {words}; {outside:g} points outside", flush=True)


if __name__ == "__main__":
    main()
