"""How often 90 % intervals hold the truth in the zones that people ask about.

Boroughs, districts on the coast and inland, hexagons large and small, for points in New York and
in Great Britain, and small hexagons on two made sets that are hard: a street grid, and a few dozen
places that hold all points. Each is published in a box, read as it is and within the land, and
published with the land as the domain; n = 3,000 to 1,000,000, epsilon 0.1, 1 and 3.

The form of the intervals along a coast was chosen on Great Britain and the United States; New York
was only judged by it. A row counts as good between 85 % and 97 %. Most small hexagons of the made
sets are empty, and the interval of an empty zone begins at 0 and holds; so each row also tells of
the zones with something in them, which are what a reader looks at.

Results are printed and kept in benchmarks/results/coverage_zones.json.

Runs can be cut short: what is done is kept in build/coverage_zones.jsonl and not done again.

    python benchmarks/coverage_zones.py              # all of it, hours
    python benchmarks/coverage_zones.py --minutes 8  # as much as that allows, and a report so far
    python benchmarks/coverage_zones.py --n 40000    # one n; what the file says of others stays
    python benchmarks/coverage_zones.py --data "forty places" "street grid"
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import pandas as pd
import shapely

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
import geopandas as gpd
from runs import carry_on

import dpsort_geo as dp
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.counts import count_within
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.within import inside_of

Array = np.ndarray
SIZES = (3_000, 40_000, 1_000_000)
EPSILONS = (0.1, 1.0, 3.0)
#: of each n, epsilon and place; the first of them are asked for hexagons too, which are many
RELEASES, ALL_KINDS, MADE_RELEASES = 8, 1, 3
DEGREES = "EPSG:4326"

PLACES = {
    "thefts in New York": ("nyc_vehicle_thefts", "nyc_boroughs", (-74.3, 40.5, -73.7, 40.95)),
    "accidents in Great Britain": ("gb_road_accidents", "gb_50m", (-7.6, 49.8, 1.9, 60.9)),
}
MADE_BOX = (-0.5, -0.5, 0.5, 0.5)


def squares_of(land: Any, parts: int) -> List[Any]:
    """Land cut into squares, so many along its longer side."""
    west, south, east, north = land.bounds
    step = max(east - west, north - south) / parts
    corners = product(np.arange(west, east, step), np.arange(south, north, step))
    cut = [shapely.intersection(land, shapely.box(x, y, x + step, y + step)) for x, y in corners]
    whole = [[p for p in shapely.get_parts(c) if p.geom_type == "Polygon"] for c in cut]
    return [shapely.multipolygons(some) for some in whole if some]


def hexagons(bounds: Tuple[float, ...], parts: int, land: Any = None) -> List[Any]:
    """Hexagons so many along the longer side; those that meet the land, whole."""
    west, south, east, north = bounds
    size = max(east - west, north - south) / parts
    turn = np.radians(60 * np.arange(6) + 30)
    ring = size / np.sqrt(3) * np.column_stack([np.cos(turn), np.sin(turn)])
    found = []
    for row, y in enumerate(np.arange(south, north + size, size * np.sqrt(3) / 2)):
        for x in np.arange(west + size / 2 * (row % 2), east + size, size):
            shape = shapely.Polygon(ring + [x, y])
            if shapely.box(*bounds).contains(shape) and (land is None or land.intersects(shape)):
                found.append(shape)
    return found


def street_grid(n: int, rng: np.random.Generator) -> Array:
    """Points on the streets of a regular town: every hundredth of the side one each way."""
    at = rng.uniform(-0.5, 0.5, (n, 2))
    axis = rng.integers(0, 2, n)
    line = (np.round(at[np.arange(n), axis] * 100) + 0.5) / 100
    at[np.arange(n), axis] = np.clip(line + 0.0002 * rng.standard_normal(n), -0.499, 0.499)
    return at


def spikes(n: int, rng: np.random.Generator) -> Array:
    """Forty places hold all points, by a power law."""
    place = np.random.default_rng(41).uniform(-0.48, 0.48, (40, 2))
    weight = 1 / np.arange(1, 41)
    return place[rng.choice(40, n, p=weight / weight.sum())]


MADE = {"street grid": street_grid, "forty places": spikes}


def tables(place: str, land: Any, boroughs: List[Any]) -> Dict[str, List[Any]]:
    found = {"districts": squares_of(land, 8)}
    if place.endswith("New York"):
        found["boroughs"] = boroughs
    found["hexagons, 16 a side"] = hexagons(land.bounds, 16, land)
    found["hexagons, 48 a side"] = hexagons(land.bounds, 48, land)
    return found


def sampled(points: Array, land: Any, n: int, rng: np.random.Generator) -> Array:
    if n <= len(points):
        return points[rng.choice(len(points), n, replace=False)]
    step = (land.bounds[2] - land.bounds[0]) / 400
    drawn = points[rng.integers(0, len(points), 2 * n)] + step * rng.standard_normal((2 * n, 2))
    return drawn[shapely.contains_xy(land, *drawn.T)][:n]


def truths(zones: List[Any], points: Array) -> Array:
    zone, _ = shapely.STRtree(shapely.points(points)).query(zones, predicate="contains")
    return np.bincount(zone, minlength=len(zones))


@dataclass(frozen=True)
class Asked:
    """A domain, and the tables of zones that are asked on it, projected once."""

    domain: Any
    tables: Dict[str, List[Any]]
    rings: Dict[str, Any]
    #: the land, as the reader of a release in a box knows it
    inside: Any = None

    @classmethod
    def on(cls, domain: Any, tables: Dict[str, List[Any]], land: Any = None) -> Asked:
        rings = {kind: domain.zone_rings(zones, DEGREES) for kind, zones in tables.items()}
        inside = None
        if land is not None:
            inside = inside_of(domain.grid, domain.zone_rings([land], DEGREES)[0])
        return cls(domain, tables, rings, inside)

    def judge(
        self, name: str, points: Array, epsilon: float, rng: Any, kinds: Any = None
    ) -> List[pd.DataFrame]:
        """One release and its zones of some kinds, read as it is and within the land."""
        domain = self.domain
        cells = count_cells(domain.grid, *domain.project(*points.T))
        release = publish(cells, epsilon, noise=seeded_noise(rng))
        readings = {name: decode(release)}
        if self.inside is not None:
            readings["within"] = decode(release, inside=self.inside)
        found = []
        for kind, zones in self.tables.items():
            if kinds is not None and kind not in kinds:
                continue
            truth = truths(zones, points)
            for reading, decoded in readings.items():
                estimate, low, high = count_within(decoded, self.rings[kind])
                columns = {"truth": truth, "estimate": estimate, "low": low, "high": high}
                columns.update(kind=kind, reading=reading, zone=range(len(zones)))
                found.append(pd.DataFrame(columns))
        return found


def kinds_of(districts: List[Any], land: Any) -> Array:
    """Districts at the shore and inland are two kinds."""
    edge = land.boundary
    shore = [shapely.intersection(shape, edge).length > 0 for shape in districts]
    return np.where(shore, "districts, coast", "districts, inland")


@cache
def place_of(name: str) -> Tuple[Array, Any, Array, Dict[str, Asked]]:
    """The points of a place, its land, the kinds of its districts, and what is asked there."""
    file, mask, box = PLACES[name]
    frame = gpd.read_parquet(datasets.DATA / "masks" / f"{mask}.parquet").to_crs(DEGREES)
    land = frame.union_all()
    shapely.prepare(land)
    points = pd.read_parquet(datasets.DATA / f"{file}.parquet")[["lon", "lat"]].to_numpy()
    points = points[shapely.contains_xy(land, *points.T)]
    asked = tables(name, land, list(frame.geometry))
    asking = {
        "box": Asked.on(dp.Domain.from_bounds(box, crs=DEGREES), asked, land),
        "mask": Asked.on(dp.Domain.from_polygon(land, DEGREES), asked),
    }
    return points, land, kinds_of(asked["districts"], land), asking


@cache
def made_place() -> Asked:
    table = {"hexagons, 48 a side": hexagons(MADE_BOX, 48)}
    return Asked.on(dp.Domain.from_bounds(MADE_BOX, crs=DEGREES), table)


def one(task: Tuple[str, int, float, int]) -> List[Dict[str, Any]]:
    """Sums over the zones of one data set, n, epsilon and seed, by kind and reading."""
    warnings.simplefilter("ignore")
    name, n, epsilon, number = task
    found: List[pd.DataFrame] = []
    if name in MADE:
        rng = np.random.default_rng([18, n, int(10 * epsilon), number])
        found = made_place().judge("box", MADE[name](n, rng), epsilon, rng)
    else:
        rng = np.random.default_rng([17, n, int(10 * epsilon), number])
        points, land, names, asking = place_of(name)
        at = sampled(points, land, n, rng)
        for reading, table in asking.items():
            kinds = None if number < ALL_KINDS else ("districts", "boroughs")
            for rows in table.judge(reading, at, epsilon, rng, kinds):
                if (rows.kind == "districts").all():
                    rows = rows.assign(kind=names[rows.zone])
                found.append(rows)
    return sums(pd.concat(found).assign(data=name, n=n, epsilon=epsilon))


KEYS = ["data", "kind", "reading", "n", "epsilon"]
COLUMNS = ["zones", "held", "above", "width", "error"]
#: the same of zones with something in them
FILLED = ["filled", "filled held", "filled above"]


def sums(rows: pd.DataFrame) -> List[Dict[str, Any]]:
    rows = rows[rows.estimate.notna()]
    rows = rows.assign(
        zones=1, held=(rows.low <= rows.truth) & (rows.truth <= rows.high),
        above=rows.truth > rows.high, width=rows.high - rows.low,
        error=(rows.estimate - rows.truth).abs(), filled=rows.truth > 0,
    )  # fmt: skip
    for column in ("held", "above"):
        rows[f"filled {column}"] = rows[column] & rows.filled
    return rows.groupby(KEYS, sort=False)[COLUMNS + FILLED].sum().reset_index().to_dict("records")


def summary(rows: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Shares and means instead of sums, all seeds taken together."""
    total = pd.DataFrame(rows).groupby(KEYS, sort=False)[COLUMNS + FILLED].sum().reset_index()
    for column in COLUMNS[1:]:
        total[column] /= total.zones
    for column in FILLED[1:]:
        total[column] /= total.filled.clip(lower=1)
    return total.to_dict("records")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "coverage_zones.jsonl")
    parser.add_argument("--n", type=int, choices=SIZES)
    parser.add_argument("--data", nargs="+", choices=[*MADE, *PLACES])
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    names = given.data or [*MADE, *(PLACES if datasets.DATA.is_dir() else ())]
    sizes = SIZES if given.n is None else (given.n,)
    tasks = [
        [name, n, epsilon, number]
        for number in range(RELEASES)
        for n, epsilon, name in product(sizes, EPSILONS, names)
        if name not in MADE or number < MADE_RELEASES
    ]
    # few zones first, so that boroughs are many; then the hexagons; the largest n last
    tasks.sort(key=lambda task: (task[1] == SIZES[-1], task[3] < ALL_KINDS, "Britain" in task[0]))
    done = carry_on(given.log, tasks, one, given.minutes, given.jobs)
    rows = summary([row for found in done for row in found])
    print(pd.DataFrame(rows).round(3).to_string(index=False))
    file = ROOT / "benchmarks" / "results" / "coverage_zones.json"
    kept = json.loads(file.read_text()) if file.exists() else {"releases": {}, "rows": []}
    for n, name in product(sizes, names):
        wanted = sum(task[:2] == [name, n] for task in tasks)
        ready = sum((found[0]["data"], found[0]["n"]) == (name, n) for found in done)
        kept["releases"].setdefault(str(n), {})[name] = {"wanted": wanted, "done": ready}
    others = [row for row in kept["rows"] if not (row["n"] in sizes and row["data"] in names)]
    file.write_text(json.dumps({**kept, "rows": [*others, *rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
