"""What axes cost and what they bring: one release with categories and dates, and its rivals.

Rivals, in the same run, each at the same epsilon: a release without axes (the map of all points),
one release a category (which has no time; the number of each category is public), one release a
slice (category x bin), one release a category at epsilon / K, and a flat Laplace table on the very
zones that are asked. Zones are those of 12 x 12 squares, not aligned with the grid, that hold 100
records or more: empty ones would flatter us. Errors: sliced earth mover's distance (32 directions,
128 x 128 pixels) of the map of all points and of the maps of categories (weighted by their sizes,
each with its total scaled to the truth), mean absolute error of the counts zone x category x bin;
share of nominal 90 % intervals that hold the truth, over all cells, those with something in them,
and by size. Where the rule allows it, also with the zones declared beforehand: the same counts, and
the map of all points.

Constants of the rule and of its reading were chosen on the sets with dates. The others, which have
categories alone, were only judged; of two of them no category has half of all points.

Results are kept in benchmarks/results/axes.json. Runs can be cut short: what is done is kept in
build/axes.jsonl and not done again.

    python benchmarks/axes.py               24 seeds, 16 of the sets that are only judged
    python benchmarks/axes.py --minutes 8   as much as that allows, and a report of what is done
    python benchmarks/axes.py --only slices what the file says of others stays
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from datasets import DATA
from runs import carry_on

from dpsort_geo.compare.metrics import emd_sliced
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.declared import declare
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private import adaptive, views
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.counts import zone_blocks
from dpsort_geo.core.public.decode import Decoded, decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.intervals import Estimate, limits
from dpsort_geo.core.rules.axes import Axis, make_axes
from dpsort_geo.core.rules.budget import path_units
from dpsort_geo.core.rules.time_axis import TimeAxis
from dpsort_geo.core.rules.views import zone_units
from dpsort_geo.geo.domain import Domain

EPSILONS = ("0.1", "1", "3")
LEVEL = 7
ZONES = 12
#: records of a zone that is asked about
LEAST = 100
#: of cells with something in them: an empty one holds whenever its interval begins at 0
FILLED = "1 up"
SIZES = ((0, 0), (1, 9), (10, 99), (100, 10**9))
SEEDS, JUDGED_SEEDS = 24, 16
#: axes of a table, and those of the truth that are summed for it
TABLES = {"zone x category": [0], "zone x time": [1], "zone x category x time": [0, 1]}
SUMMED = {"zone x category": 2, "zone x time": 1, "zone x category x time": ()}
#: sets with one release a slice too, which takes hundreds of releases, with so many seeds
SLICED, SLICED_SEEDS = ("thefts by month", "earthquakes by two years"), 10
#: releases with the zones declared, beside as many without
DECLARED = 4


@dataclass(frozen=True)
class Case:
    """Records in the working coordinates of a grid, with a category and a date each."""

    grid: Grid
    axes: Tuple[Axis, ...]
    x: np.ndarray
    y: np.ndarray
    values: List[Any]

    @property
    def slices(self) -> List[np.ndarray]:
        """The category and the bin of each record; without dates all are in one bin."""
        found = [axis.slices(column) for axis, column in zip(self.axes, self.values)]
        return [*found, np.zeros(self.x.size, np.int64)][:2]

    @property
    def shape(self) -> Tuple[int, int]:
        """How many categories and bins there are."""
        return self.axes[0].size, self.axes[1].size if len(self.axes) == 2 else 1


def _case(
    domain: Domain, frame: Any, axes: Tuple[Axis, ...], times: int = 1, crs: str = "EPSG:4326"
) -> Case:
    rng = np.random.default_rng(7)
    frame = frame.loc[np.repeat(frame.index, times)]
    x, y = domain.project(frame["lon"].to_numpy(), frame["lat"].to_numpy(), crs)
    step = (times > 1) * domain.grid.side / 512
    x, y = x + step * rng.standard_normal(x.size), y + step * rng.standard_normal(y.size)
    return Case(domain.grid, axes, x, y, [frame[axis.column].to_numpy() for axis in axes])


def _thefts(time: TimeAxis, mask: bool = False, times: int = 1) -> Case:
    frame = pd.read_parquet(DATA / "nyc_vehicle_thefts_when_where.parquet")
    domain = Domain.from_bounds((-74.3, 40.45, -73.65, 40.95), crs="EPSG:4326")
    if mask:
        import geopandas as gpd

        domain = Domain.from_polygon(gpd.read_parquet(DATA / "masks" / "nyc_boroughs.parquet"))
    kinds = sorted(set(frame["where"]) - {"other"})
    return _case(domain, frame, make_axes({"where": [*kinds, "other"]}, time), times)


def _quakes() -> Case:
    frame = pd.read_parquet(DATA / "earthquakes_when_magnitude.parquet")
    classes = np.array(["5.5", "6", "6.5", "7"])
    frame["class"] = classes[np.searchsorted([6.0, 6.5, 7.0], frame["magnitude"], side="right")]
    domain = Domain.from_bounds((-180, -90, 180, 90), crs="EPSG:4326")
    years = TimeAxis("when", "1965-01-01", "2017-01-01", every="2 years")
    return _case(domain, frame, make_axes({"class": list(classes)}, years))


def _places(bounds: Tuple[float, ...], steps: Sequence[int]) -> Case:
    """Populated places by classes of their population."""
    frame = pd.read_parquet(DATA / "geonames_cities1000.parquet")
    west, south, east, north = bounds
    frame = frame[frame["lon"].between(west, east) & frame["lat"].between(south, north)]
    classes = np.array([f"{step} and more" for step in (0, *steps)])
    frame = frame.assign(size=classes[np.searchsorted(steps, frame["population"], side="right")])
    domain = Domain.from_bounds(bounds, crs="EPSG:4326")
    return _case(domain, frame, make_axes({"size": list(classes)}, None))


def _room() -> Case:
    """What people did where a tag in a room was, in millimetres: cells are a metre at least."""
    frame = pd.read_parquet(DATA / "kaluza_localization_A01_A03.parquet")
    frame = frame.assign(lon=1000 * frame["x"], lat=1000 * frame["y"])
    domain = Domain.from_bounds((-500, -1500, 6000, 5000), crs="EPSG:3857")
    axes = make_axes({"activity": sorted(set(frame["activity"]))}, None)
    return _case(domain, frame, axes, crs="EPSG:3857")


WORLD, EUROPE = (-180, -90, 180, 90), (-11, 35, 32, 71)
MONTHS = TimeAxis("when", "2014-01-01", "2018-01-01", every="1 month")
HOURS = TimeAxis("when", every="1 hour", cycle="week")
CASES: Dict[str, Callable[[], Case]] = {
    "thefts by month": lambda: _thefts(MONTHS),
    "thefts by month, mask": lambda: _thefts(MONTHS, mask=True),
    "thefts by hour of week": lambda: _thefts(HOURS),
    "earthquakes by two years": _quakes,
    "thefts by month, ten times": lambda: _thefts(MONTHS, times=10),
}
#: no constant was chosen on them
JUDGED: Dict[str, Callable[[], Case]] = {
    "places of the world by size": lambda: _places(WORLD, (5_000, 20_000, 100_000)),
    "places of Europe by size": lambda: _places(EUROPE, (5_000, 20_000, 100_000)),
    "places of the world in quarters": lambda: _places(WORLD, (1_500, 3_500, 11_000)),
    "a room by activity": _room,
}


def squares(grid: Grid) -> List[List[np.ndarray]]:
    edge = np.linspace(0, grid.side, ZONES + 1)
    return [
        [np.array([[a, c], [b, c], [b, d], [a, d]]) + [grid.x0, grid.y0]]
        for c, d in zip(edge[:-1], edge[1:])
        for a, b in zip(edge[:-1], edge[1:])
    ]


def truth(case: Case) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels of all, pixels by category, and counts zone x category x bin."""
    grid, (what, when) = case.grid, case.slices
    cell = grid.curve_index(case.x, case.y)
    x, y = grid.centres(grid.compress(cell))
    at = np.stack([y - grid.y0, x - grid.x0]) / grid.side
    pixel = np.ravel_multi_index((at * 2**LEVEL).astype(int), (2**LEVEL, 2**LEVEL))
    zone = np.ravel_multi_index((at * ZONES).astype(int), (ZONES, ZONES))
    kinds, bins = case.shape
    pictures = np.bincount(what * 4**LEVEL + pixel, minlength=kinds * 4**LEVEL)
    pictures = pictures.reshape(kinds, 2**LEVEL, 2**LEVEL).astype(float)
    joint = np.bincount((zone * kinds + what) * bins + when, minlength=ZONES**2 * kinds * bins)
    return pictures.sum(axis=0), pictures, joint.reshape(ZONES**2, kinds, bins)


def emd(true: np.ndarray, found: np.ndarray) -> float:
    total = found.sum()
    found = found * true.sum() / total if total > 0 else np.full(true.shape, true.mean())
    return emd_sliced(true, found, 32)


def alone(case: Case, chosen: np.ndarray, epsilon: str, rng: Any) -> Decoded:
    cells = count_cells(case.grid, case.x[chosen], case.y[chosen])
    return decode(adaptive.publish(cells, epsilon, noise=seeded_noise(rng)))


def maps(case: Case, epsilon: str, rng: Any, true: np.ndarray) -> float:
    """Earth mover's distance of separate releases of the categories, weighted by size."""
    what = case.slices[0]
    work = 0.0
    for kind, picture in enumerate(true):
        if picture.sum():
            found = raster(alone(case, what == kind, epsilon, rng), LEVEL)
            work += emd(picture, found) * picture.sum()
    return work / true.sum()


def run_slices(case: Case, epsilon: str, seed: int) -> Dict[str, Any]:
    """One release a category and bin, each at epsilon."""
    rng = np.random.default_rng([99 + seed, int(1000 * float(epsilon)), case.x.size, case.shape[1]])
    everything, _, joint = truth(case)
    what, when = case.slices
    total = np.zeros((2**LEVEL, 2**LEVEL))
    full = joint.sum(axis=(1, 2)) >= LEAST
    error, blocks = 0.0, None
    for kind, bin_ in product(range(joint.shape[1]), range(joint.shape[2])):
        chosen = (what == kind) & (when == bin_)
        if not chosen.any():
            continue  # so few points that nobody would publish them: nothing is nothing
        found = alone(case, chosen, epsilon, rng)
        blocks = zone_blocks(found, squares(case.grid)) if blocks is None else blocks
        total += raster(found, LEVEL)
        apart = np.abs(found.estimate_in(blocks, len(joint)).mass - joint[:, kind, bin_])
        error += apart[full].sum()
    return {
        "total": {"one release a slice": emd(everything, total)},
        "joint": {"one release a slice": error / joint[full].size},
    }


def run_declared(case: Case, epsilon: str, seed: int) -> Dict[str, Any]:
    """With a table of the zones that are asked, and without; nothing where the rule forbids it."""
    rng = np.random.default_rng([seed, int(1000 * float(epsilon)), case.x.size, case.shape[1]])
    everything, _, joint = truth(case)
    full = joint.sum(axis=(1, 2)) >= LEAST
    asked = [square for square, some in zip(squares(case.grid), full) if some]
    zones, budget = declare(asked, case.grid), path_units("replace")
    if not zone_units(zones.size, case.axes, case.x.size, Fraction(epsilon), budget):
        return {}
    cells = views.count(case.grid, case.x, case.y, None, case.axes, case.values)
    found: Dict[str, Any] = {}
    for name, own in (("maps", None), ("declared", zones)):
        release = views.publish(cells, epsilon, zones=own, noise=seeded_noise(rng))
        decoded: Any = decode(release)
        counts = decoded.estimate_slices(zone_blocks(decoded, asked), len(asked), [0, 1])
        true = joint[full].reshape(len(asked), -1)
        found[name] = {
            "joint": float(np.abs(counts.mass - true).mean()),
            "total": emd(everything, decoded.raster(LEVEL)),
            "held": held(release, counts, true)[FILLED],
        }
    return {"declared": found}


def held(release: Any, found: Estimate, true: np.ndarray) -> Dict[str, float]:
    low, high = limits(release, found, 0.9)
    inside = (low <= true) & (true <= high)
    result = {"all": float(inside.mean()), FILLED: float(inside[true > 0].mean())}
    for least, most in SIZES:
        here = (true >= least) & (true <= most)
        if here.sum() >= 20:
            result[f"{least} to {most}" if most < 10**9 else f"{least} up"] = float(
                inside[here].mean()
            )
    return result


def run(case: Case, epsilon: str, seed: int) -> Dict[str, Any]:
    rng = np.random.default_rng([seed, int(1000 * float(epsilon)), case.x.size, case.shape[1]])
    everything, pictures, joint = truth(case)
    cells = views.count(case.grid, case.x, case.y, None, case.axes, case.values)
    release = views.publish(cells, epsilon, noise=seeded_noise(rng))
    decoded: Any = decode(release)
    blocks = zone_blocks(decoded, squares(case.grid))
    zones, kinds = joint.shape[:2]
    tables = {
        name: decoded.estimate_slices(blocks, zones, axes)
        for name, axes in TABLES.items()
        if max(axes) < len(case.axes)
    }
    *_, last = tables.values()
    every = np.ones(case.x.size, bool)
    without = alone(case, every, epsilon, rng)
    ours_maps = sum(
        emd(picture, decoded.select({0: [kind]}).raster(LEVEL)) * picture.sum()
        for kind, picture in enumerate(pictures)
        if picture.sum()
    )
    full = joint.sum(axis=(1, 2)) >= LEAST
    noisy = np.maximum(joint + rng.laplace(0, 2 / float(epsilon), joint.shape), 0)
    result = {
        "total": {
            "ours": emd(everything, decoded.raster(LEVEL)),
            "without axes": emd(everything, raster(without, LEVEL)),
        },
        "categories": {
            "ours": ours_maps / everything.sum(),
            "one release a category": maps(case, epsilon, rng, pictures),
            "epsilon / K each": maps(case, str(round(float(epsilon) / kinds, 6)), rng, pictures),
        },
        "joint": {
            "ours": float(np.abs(last.mass.reshape(joint.shape) - joint)[full].mean()),
            "flat table": float(np.abs(noisy - joint)[full].mean()),
        },
        "held": {
            name: held(release, found, joint.sum(axis=SUMMED[name]).reshape(zones, -1))
            for name, found in tables.items()
        },
    }
    return result


def mean(results: Sequence[Any]) -> Any:
    if isinstance(results[0], dict):
        keys = dict.fromkeys(key for result in results for key in result)
        return {key: mean([one[key] for one in results if key in one]) for key in keys}
    return float(np.mean(results))


@lru_cache(maxsize=1)
def case_of(name: str) -> Case:
    return {**CASES, **JUDGED}[name]()


#: what a task does, and the first of its seeds
KINDS: Dict[str, Tuple[Callable[[Case, str, int], Dict[str, Any]], int]] = {
    "run": (run, 0),
    "declared": (run_declared, SEEDS + 1),
    "slices": (run_slices, 0),
}


def work(task: Tuple[str, str, str, int]) -> Dict[str, Any]:
    what, name, epsilon, seed = task
    do, first = KINDS[what]
    return {"task": task, **do(case_of(name), epsilon, first + seed)}


def all_tasks() -> List[List[Any]]:
    tasks: List[List[Any]] = []
    for seed in range(SEEDS):
        names = [*CASES, *(JUDGED if seed < JUDGED_SEEDS else ())]
        tasks += [["run", *one, seed] for one in product(names, EPSILONS)]
    tasks += [["declared", *one] for one in product(CASES, EPSILONS, range(DECLARED))]
    return tasks + [["slices", *one] for one in product(SLICED, EPSILONS, range(SLICED_SEEDS))]


def update(kept: Dict[str, Any], found: Dict[str, Any]) -> None:
    """What was found in the place of what was kept, part by part."""
    for key, value in found.items():
        if isinstance(value, dict) and key in kept:
            update(kept[key], value)
        else:
            kept[key] = value


def report(name: str, epsilon: str, found: Dict[str, Any]) -> None:
    total, maps_, joint = found["total"], found["categories"], found["joint"]
    print(f"{name}, epsilon {epsilon}, {found['seeds']} seeds:")
    print(f"  map of all / without axes        {total['ours'] / total['without axes']:.2f}")
    one = maps_["one release a category"]
    print(f"  maps of categories / one release {maps_['ours'] / one:.2f}")
    print(f"  counts / flat table              {joint['ours'] / joint['flat table']:.2f}")
    if "one release a slice" in joint:
        ratio = joint["ours"] / joint["one release a slice"]
        print(f"  counts / one release a slice     {ratio:.2f}")
    if "declared" in found:
        with_, without = found["declared"]["declared"], found["declared"]["maps"]
        ratios = (with_[part] / without[part] for part in ("joint", "total"))
        print("  zones declared: counts, map of all  " + ", ".join(f"{r:.2f}" for r in ratios))
    for table, shares in found["held"].items():
        words = ", ".join(f"{size}: {100 * share:.0f}" for size, share in shares.items())
        print(f"  {table} intervals hold (%)  {words}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "axes.jsonl")
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"left out: no folder {DATA.name} beside the project")
        return
    tasks = [task for task in all_tasks() if given.only in (None, task[0])]
    done = carry_on(given.log, tasks, work, given.minutes)
    where = ROOT / "benchmarks" / "results" / "axes.json"
    groups = {"cases": CASES, "judged": JUDGED}
    kept = json.loads(where.read_text()) if given.only else {group: {} for group in groups}
    for group, names in groups.items():
        for name, epsilon in product(names, EPSILONS):
            some = [one for one in done if one["task"][1:3] == [name, epsilon]]
            if len(some) < 2:
                continue
            found = mean([{key: one[key] for key in one if key != "task"} for one in some])
            for what, title in (("run", "seeds"), ("slices", "slice seeds")):
                if seeds := sum(one["task"][0] == what for one in some):
                    found[title] = seeds
            update(kept[group].setdefault(name, {}).setdefault(epsilon, {}), found)
            report(name, epsilon, kept[group][name][epsilon])
    where.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
