"""What a mask is worth: land data published with the land as the domain, and without it.

Accidents of Great Britain with the coast line (Natural Earth 1:50 million, so coarse that some
accidents lie off it) and vehicle thefts of New York with the borough boundaries. Same square, same
grid of order 12, same epsilon, fresh noise for every release. Errors against the true points:
sliced earth mover's distance (64 directions, on the points) and density L1 on 256 x 256 pixels.
Beside them the same against the points moved to the nearest allowed cell, which is all that a
masked release can know. Printed is with / without: below 1 the mask helps.

Results are kept in benchmarks/results/mask.json.

    python benchmarks/mask.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets  # noqa: E402
from plan import sliced  # noqa: E402

from dpsort_geo.compare.metrics import density_l1  # noqa: E402
from dpsort_geo.compare.ours import seeded_noise  # noqa: E402
from dpsort_geo.curve.cover import cover  # noqa: E402
from dpsort_geo.curve.grid import Grid  # noqa: E402
from dpsort_geo.curve.hilbert import encode  # noqa: E402
from dpsort_geo.publisher.adaptive import publish_adaptive  # noqa: E402
from dpsort_geo.publisher.cells import count_cells  # noqa: E402
from dpsort_geo.reader.decode import decode  # noqa: E402
from dpsort_geo.reader.density import raster  # noqa: E402
from dpsort_geo.reader.diffuse import points as points_of  # noqa: E402
from dpsort_geo.reader.query import count_within  # noqa: E402

ORDER = 12
PIXELS = 8
EPSILONS = (0.1, 0.5, 1.0, 3.0)
SIZES = (10_000, 35_000)
SEEDS = 4
CASES = {
    "gb accidents": ("gb_road_accidents.parquet", "gb_50m.parquet", 27700),
    "nyc thefts": ("nyc_vehicle_thefts.parquet", "nyc_boroughs.parquet", 32618),
}


def loaded(name: str) -> Tuple[np.ndarray, Grid, np.ndarray]:
    """Points, the square grid around the land, and the runs of the land's cells."""
    import geopandas as gpd
    import pandas as pd

    file, land_file, crs = CASES[name]
    table = pd.read_parquet(datasets.DATA / file)
    at = gpd.GeoSeries(gpd.points_from_xy(table["lon"], table["lat"]), crs=4326).to_crs(crs)
    land = gpd.read_parquet(datasets.DATA / "masks" / land_file).to_crs(crs).union_all()
    west, south, east, north = land.bounds
    side = max(east - west, north - south) * 1.001
    grid = Grid(west, south, side / 2**ORDER, ORDER)
    parts = getattr(land, "geoms", [land])
    rings = [np.array(r.coords) for part in parts for r in (part.exterior, *part.interiors)]
    xy = np.column_stack([at.x, at.y])
    inside = ((xy >= [west, south]) & (xy < [west + side, south + side])).all(axis=1)
    return xy[inside], grid, cover(rings, grid)


def pixels(xy: np.ndarray, grid: Grid) -> np.ndarray:
    """Counts on the pixels of the picture, rows are y."""
    many = 1 << PIXELS
    i, j = np.clip((xy - [grid.x0, grid.y0]) / grid.side * many, 0, many - 1).astype(np.int64).T
    return np.bincount(j * many + i, minlength=many * many).reshape(many, many).astype(float)


def one(
    true: np.ndarray, moved: np.ndarray, grid: Grid, epsilon: float, rng: np.random.Generator
) -> Dict[str, float]:
    """Errors of one release on one grid, against the points as they are and as they were moved."""
    release = publish_adaptive(
        count_cells(grid, true[:, 0], true[:, 1]), epsilon, noise=seeded_noise(rng)
    )
    decoded = decode(release)
    found = np.column_stack(points_of(decoded))
    picture = raster(decoded, PIXELS)
    column, row = ((found - [grid.x0, grid.y0]) / grid.cell).astype(np.int64).T
    result = {"outside": float((~grid.is_allowed(encode(column, row, ORDER))).sum())}
    for title, against in (("", true), (", moved", moved)):
        result["EMD" + title] = sliced(against, found) / grid.side
        result["L1" + title] = density_l1(pixels(against, grid), picture)
    result["held"] = covered(decoded, true, rng)
    return result


def covered(decoded: Any, true: np.ndarray, rng: np.random.Generator) -> float:
    """Share of 60 squares around points whose 90 % interval holds the truth."""
    width = decoded.grid.side * np.exp(rng.uniform(-np.log(64), 0, 60))
    corner = true[rng.integers(len(true), size=60)] - width[:, None] / 2
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    _, low, high = count_within(decoded, [[c + w * square] for c, w in zip(corner, width)])
    truth = [((true >= c) & (true < c + w)).all(axis=1).sum() for c, w in zip(corner, width)]
    return float(((low <= truth) & (truth <= high)).mean())


def main() -> None:
    if not datasets.DATA.is_dir():
        print("no real data beside the project (../shared/data): nothing to measure")
        return
    rows: List[Dict[str, Any]] = []
    for name in CASES:
        everything, plain, runs = loaded(name)
        masked = replace(plain, runs=runs)
        rng = np.random.default_rng(50)
        index = encode_of(plain, everything)
        off = float((~masked.is_allowed(index)).mean())
        print(f"{name}: land is {masked.n_cells / 4**ORDER:.0%} of the square, {off:.1%} off it")
        for n in SIZES:
            for epsilon in EPSILONS:
                results: Dict[str, List[Dict[str, float]]] = {"with": [], "without": []}
                for _ in range(SEEDS):
                    true = everything[rng.choice(len(everything), n, replace=False)]
                    cell = masked.positions(true[:, 0], true[:, 1])
                    stays = masked.is_allowed(encode_of(plain, true))
                    moved = np.where(stays[:, None], true, np.column_stack(masked.centres(cell)))
                    results["with"].append(one(true, moved, masked, epsilon, rng))
                    results["without"].append(one(true, moved, plain, epsilon, rng))
                mean = {
                    k: {m: np.mean([r[m] for r in v]) for m in v[0]} for k, v in results.items()
                }
                row: Dict[str, Any] = {"data": name, "n": n, "epsilon": epsilon}
                for what in ("EMD", "L1", "EMD, moved", "L1, moved"):
                    row[what] = float(mean["with"][what] / mean["without"][what])
                row["outside"] = mean["with"]["outside"]
                row["held"] = mean["with"]["held"]
                rows.append(row)
                print(
                    "  " + ", ".join(f"{k} {v:.3g}" for k, v in list(row.items())[1:]), flush=True
                )
        for what in ("EMD", "L1", "EMD, moved", "L1, moved"):
            ratios = [row[what] for row in rows if row["data"] == name]
            print(f"  with / without, {what}: {np.exp(np.mean(np.log(ratios))):.3f}")
    file = ROOT / "benchmarks" / "results" / "mask.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(rows, indent=1) + "\n")


def encode_of(grid: Grid, xy: np.ndarray) -> np.ndarray:
    """Curve indices of the cells in which points lie."""
    return grid.curve_index(xy[:, 0], xy[:, 1])


if __name__ == "__main__":
    main()
