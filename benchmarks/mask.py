"""What a mask is worth: data on land published with the land as the domain, and without it.

Accidents of Great Britain with the coast line (Natural Earth 1:50 million), places of the world
with its land (1:110 million), vehicle thefts of New York with the borough boundaries. Points off
the land of so coarse a map are left out: the question is what the mask is worth for data that lies
in it. Same square, same grid of order 12, same epsilon, fresh noise for every release. Errors:
sliced earth mover's distance (64 directions, on the points) and density L1 on 256 x 256 pixels.
Printed is with / without: below 1 the mask helps.

Results are kept in benchmarks/results/mask.json.

    python benchmarks/mask.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import product
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
SEEDS = 6
CASES = {
    "gb accidents": ("gb_road_accidents.parquet", "gb_50m.parquet", 27700),
    "nyc thefts": ("nyc_vehicle_thefts.parquet", "nyc_boroughs.parquet", 32618),
    "world places": ("geonames_cities1000.parquet", "world_land_110m.parquet", 6933),
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


def one(true: np.ndarray, grid: Grid, epsilon: float, rng: np.random.Generator) -> Dict[str, float]:
    """Errors of one release on one grid."""
    release = publish_adaptive(
        count_cells(grid, true[:, 0], true[:, 1]), epsilon, noise=seeded_noise(rng)
    )
    decoded = decode(release)
    found = np.column_stack(points_of(decoded))
    column, row = ((found - [grid.x0, grid.y0]) / grid.cell).astype(np.int64).T
    return {
        "outside": float((~grid.is_allowed(encode(column, row, ORDER))).sum()),
        "EMD": sliced(true, found) / grid.side,
        "L1": density_l1(pixels(true, grid), raster(decoded, PIXELS)),
        "held": covered(decoded, true, rng),
    }


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
        on_land = masked.is_allowed(plain.curve_index(everything[:, 0], everything[:, 1]))
        land = masked.n_cells / 4**ORDER
        print(f"{name}: land is {land:.0%} of the square, {1 - on_land.mean():.1%} left out")
        for n, epsilon in product(SIZES, EPSILONS):
            rng = np.random.default_rng([n, round(1000 * epsilon), 50])
            errors: Dict[str, List[Dict[str, float]]] = {"with": [], "without": []}
            for _ in range(SEEDS):
                true = everything[rng.choice(np.flatnonzero(on_land), n, replace=False)]
                errors["with"].append(one(true, masked, epsilon, rng))
                errors["without"].append(one(true, plain, epsilon, rng))
            mean = {k: {m: np.mean([r[m] for r in v]) for m in v[0]} for k, v in errors.items()}
            row: Dict[str, Any] = {"data": name, "n": n, "epsilon": epsilon}
            for what in ("EMD", "L1"):
                row[what] = float(mean["with"][what] / mean["without"][what])
            row.update({what: float(mean["with"][what]) for what in ("outside", "held")})
            rows.append(row)
            print("  " + ", ".join(f"{k} {v:.3g}" for k, v in list(row.items())[1:]), flush=True)
        report(name, [row for row in rows if row["data"] == name])
    report("all", rows)
    file = ROOT / "benchmarks" / "results" / "mask.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(rows, indent=1) + "\n")


def report(title: str, rows: List[Dict[str, Any]]) -> None:
    for what in ("EMD", "L1"):
        mean = np.exp(np.mean(np.log([row[what] for row in rows])))
        print(f"{title}: {what} with / without: {mean:.3f}")


if __name__ == "__main__":
    main()
