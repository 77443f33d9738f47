"""What an earlier release does for a later one: months chained, each read against the one before.

Four real sets. Vehicle thefts (by quarter, and 24 months) and earthquakes by four years are cut by
their own dates.
Taxi rides and road accidents have none here: each is dealt at random into twelve equal windows, so
their windows differ by chance alone, which is the best case. Windows are published under
add-remove, as a `Series` does it, and with a public n. The first window has nothing
before it and is not counted; every later one is read alone and against the readings of those
before, as a `Series` blends them.

A prior that has nothing to do with the data: a release (epsilon 1) of another place, stretched over
this one: tweets of the western USA for New York, taxi rides for Great Britain, thefts for the
globe.

Errors: sliced earth mover's distance (16 directions, 128 x 128 pixels, totals scaled to the truth),
and mean absolute error of the counts in 12 x 12 squares. Share of nominal 90 % intervals that hold
the truth in those squares that hold something.

Results are kept in benchmarks/results/series.json. Runs can be cut short: what is done is kept in
build/series.jsonl and not done again. Constants were chosen on thefts and accidents with other
seeds, one of them (half of the reading without a map) with all sets in view. With
OMP_NUM_THREADS=1 it takes a fifth of the processor time: vectors here are short.

    python benchmarks/series.py              10 seeds, all sets
    python benchmarks/series.py --minutes 8  as much as that allows, and a report of what is done
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
from axes import EPSILONS, LEVEL, ZONES, mean, squares
from datasets import DATA
from runs import carry_on

from dpsort_geo.compare.metrics import emd_sliced
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.blocks import Blocks
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.curve.overlap import overlap
from dpsort_geo.core.private import adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.cumulative import Cumulative, blend
from dpsort_geo.core.public.decode import Decoded, decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.intervals import limits
from dpsort_geo.geo.domain import Domain
from dpsort_geo.geo.series import EARLIER

WINDOWS = 12
SEEDS, NEIGHBOURS = 10, ("add-remove", "replace")
NEW_YORK = (-74.3, 40.45, -73.65, 40.95)
BRITAIN = (-7.6, 49.8, 1.9, 60.9)
GLOBE = (-180, -90, 180, 90)
THEFTS = "nyc_vehicle_thefts_when_where"


@dataclass(frozen=True)
class Case:
    """Points in windows of time, and a place that has nothing to do with them."""

    grid: Grid
    windows: List[np.ndarray]
    elsewhere: str


def _case(
    file: str, bounds: Any, number: Callable[[Any], Any], elsewhere: str, windows: int = WINDOWS
) -> Case:
    frame = pd.read_parquet(DATA / f"{file}.parquet")
    west, south, east, north = bounds
    inside = frame.lon.between(west, east) & frame.lat.between(south, north)
    frame = frame[inside]
    domain = Domain.from_bounds(bounds, crs="EPSG:4326")
    at = np.column_stack(domain.project(frame.lon.to_numpy(), frame.lat.to_numpy(), "EPSG:4326"))
    window = np.asarray(number(frame))
    return Case(domain.grid, [at[window == own] for own in range(windows)], elsewhere)


def _quarter(frame: Any) -> Any:
    return (frame.when.dt.year - 2014) * 4 + frame.when.dt.quarter - 1


def _month(frame: Any) -> Any:
    return (frame.when.dt.year - 2014) * 12 + frame.when.dt.month - 1


def _four_years(frame: Any) -> Any:
    return (frame.when.dt.year - 1965) // 4


def _dealt(frame: Any) -> Any:
    return np.random.default_rng(7).permutation(len(frame)) % WINDOWS


CASES: Dict[str, Callable[[], Case]] = {
    "thefts by quarter": lambda: _case(THEFTS, NEW_YORK, _quarter, "tweets"),
    "thefts by month": lambda: _case(THEFTS, NEW_YORK, _month, "tweets", 24),
    "earthquakes": lambda: _case("earthquakes_when_magnitude", GLOBE, _four_years, "nyc thefts"),
    "taxi rides": lambda: _case("nyc_taxi_pickups_2009_2015", NEW_YORK, _dealt, "tweets"),
    "accidents": lambda: _case("gb_road_accidents", BRITAIN, _dealt, "nyc taxi"),
}


@cache
def case_of(name: str) -> Case:
    return CASES[name]()


def published(grid: Grid, at: np.ndarray, epsilon: str, neighbours: str, rng: Any) -> Decoded:
    cells = count_cells(grid, *at.T)
    return decode(adaptive.publish(cells, epsilon, neighbours=neighbours, noise=seeded_noise(rng)))


def stretched(case: Case, rng: Any) -> Cumulative:
    """Another place's release over this one's square."""
    at = datasets.sample(case.elsewhere, 20_000, rng) * case.grid.side
    moved = at + [case.grid.x0, case.grid.y0]
    return published(case.grid, moved, "1", "replace", rng).cumulative


def truth(grid: Grid, at: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Pixels, and counts in squares."""
    x, y = grid.centres(grid.compress(grid.curve_index(*at.T)))
    share = np.stack([y - grid.y0, x - grid.x0]) / grid.side
    found = []
    for side in (2**LEVEL, ZONES):
        cell = np.ravel_multi_index((share * side).astype(int), (side, side))
        found.append(np.bincount(cell, minlength=side**2).astype(float))
    return found[0].reshape(2**LEVEL, 2**LEVEL), found[1]


def emd(true: np.ndarray, found: np.ndarray) -> float:
    """A noisy n may even be 0: then everything is everywhere."""
    total = found.sum()
    found = found * true.sum() / total if total > 0 else np.full(true.shape, true.mean())
    return emd_sliced(true, found, 16)


def judge(decoded: Decoded, pixels: np.ndarray, counts: np.ndarray, zones: Blocks) -> Any:
    found = decoded.estimate_in(zones, ZONES**2)
    low, high = limits(decoded.release, found, 0.9)
    some = counts > 0
    return {
        "emd": emd(pixels, raster(decoded, LEVEL)),
        "counts": float(np.abs(found.mass - counts).mean()),
        "held": float(((low <= counts) & (counts <= high))[some].mean()),
        "width": float((high - low)[some].mean()),
    }


def chain(case: Case, epsilon: str, neighbours: str, seed: int) -> Dict[str, Dict[str, float]]:
    """All windows, one after the other: alone, against the one before, against another place."""
    seeds = [seed, int(1000 * float(epsilon)), len(case.windows[0]), len(neighbours)]
    rng = np.random.default_rng(seeds)
    grid = case.grid
    pixels = Grid(grid.x0, grid.y0, grid.side / 2**LEVEL, LEVEL)
    zones, elsewhere = overlap(squares(grid), pixels), stretched(case, rng)
    found: Dict[str, List[Dict[str, float]]] = {"alone": [], "chained": [], "elsewhere": []}
    before: List[Cumulative] = []
    for at in case.windows:
        alone = published(grid, at, epsilon, neighbours, rng)
        reading = alone
        if before:
            reading = alone.read_against(blend(before[-EARLIER:]))
            readings = {"alone": alone, "chained": reading}
            readings["elsewhere"] = alone.read_against(elsewhere)
            for name, decoded in readings.items():
                found[name].append(judge(decoded, *truth(grid, at), zones))
        before += [reading.cumulative] if reading.cumulative.total > 0 else []
    return {name: mean(rows) for name, rows in found.items()}


def one(task: Sequence[Any]) -> Dict[str, Any]:
    """One chain, and what it is of."""
    name, neighbours, epsilon, seed = task
    return {"task": task, "errors": chain(case_of(name), epsilon, neighbours, seed)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"left out: no folder {DATA.name} beside the project")
        return
    kinds = product(range(SEEDS), NEIGHBOURS, EPSILONS, CASES)
    tasks = [[name, neighbours, epsilon, seed] for seed, neighbours, epsilon, name in kinds]
    done = carry_on(ROOT / "build" / "series.jsonl", tasks, one, given.minutes, given.jobs)
    kept: Dict[str, Any] = {"tasks": len(tasks), "done": len(done), "cases": {}}
    for name, neighbours, epsilon in product(CASES, NEIGHBOURS, EPSILONS):
        rows = [row["errors"] for row in done if row["task"][:3] == [name, neighbours, epsilon]]
        if rows:
            cell = kept["cases"].setdefault(name, {}).setdefault(neighbours, {})
            cell[epsilon] = {"seeds": len(rows), **mean(rows)}
            print(f"{name}, {neighbours}, epsilon {epsilon}:", words(cell[epsilon]))
    for neighbours, epsilon in product(NEIGHBOURS, EPSILONS):
        cells = [case.get(neighbours, {}).get(epsilon) for case in kept["cases"].values()]
        print(f"geometric means, {neighbours}, epsilon {epsilon}:", *geometric(cells))
    (ROOT / "benchmarks" / "results" / "series.json").write_text(json.dumps(kept, indent=1) + "\n")


def geometric(cells: Sequence[Any]) -> List[str]:
    """Ratios of the errors with a prior to those without, over the sets."""
    logs = [np.log(each["chained"]["emd"] / each["alone"]["emd"]) for each in cells if each]
    return [f"{np.exp(np.mean(logs)):.3f} of {len(logs)} sets"]


def words(found: Any) -> str:
    alone = found["alone"]
    parts = []
    for name in ("chained", "elsewhere"):
        own = found[name]
        ratios = [own[error] / alone[error] for error in ("emd", "counts", "width")]
        parts.append("{} emd {:.3f} counts {:.3f} width {:.2f}".format(name, *ratios))
        parts.append(f"hold {100 * own['held']:.0f} %")
    return ", ".join([*parts, f"alone hold {100 * alone['held']:.0f} %"])


if __name__ == "__main__":
    main()
