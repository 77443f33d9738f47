"""How often the ranges that a map tells under the pointer hold the truth.

The page tells about squares that are chosen by their own intervals (webmap/regions.py), which
might favour those that are wrong. Six real data sets, n = 3,000 to 200,000, epsilon 0.1 and 1, a
grid of order 12; for each release every square is asked. A reader points at squares (each once), at
places (squares by their area) or at people (squares by the true number in them). A 90 % range is
good between 85 % and 97 %.

Results are printed and kept in benchmarks/results/coverage_hover.json.

    python benchmarks/coverage_hover.py [--releases 4]
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, List

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets

from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.decode import decode
from dpsort_geo.webmap.regions import find_regions

SIZES, EPSILONS = (3_000, 20_000, 200_000), (0.1, 1.0)
ORDER = 12
#: of squares by their levels, of which the page has 3 to 8
LEVELS = range(3, 9)
WAYS = ("squares", "places", "people")

Row = Dict[str, Any]


def one(name: str, n: int, epsilon: float, seed: int) -> Row:
    """One release: its squares, and whether their ranges hold the truth."""
    rng = np.random.default_rng([seed, n, *name.encode()])
    at = datasets.sample(name, n, rng)
    grid = Grid(0.0, 0.0, 2.0**-ORDER, ORDER)
    release = publish(count_cells(grid, *at.T), epsilon, noise=seeded_noise(rng))
    domain: Any = SimpleNamespace(grid=grid)
    squares, (estimate, low, high) = find_regions(decode(release), domain)
    fine = grid.curve_index(*at.T) >> 2 * (ORDER - squares.finest)
    truth = np.bincount(squares.owner[fine], minlength=estimate.size)
    held = (low <= truth) & (truth <= high)
    area = 0.25**squares.level
    weights = {"squares": np.ones(area.size), "places": area, "people": truth}
    return {
        "data": name, "n": n, "epsilon": epsilon, "count": int(held.size),
        **{way: float(np.average(held, weights=weight)) for way, weight in weights.items()},
        "levels": [
            [int(held[squares.level == k].sum()), int((squares.level == k).sum())] for k in LEVELS
        ],
        "above": float((truth > high).mean()), "below": float((truth < low).mean()),
    }  # fmt: skip


def summary(rows: List[Row]) -> Row:
    """Means over releases, and the share of all squares of each level."""
    levels = np.sum([row["levels"] for row in rows], axis=0)
    means = {way: float(np.mean([row[way] for row in rows])) for way in (*WAYS, "above", "below")}
    shares = [round(held / many, 3) if many else None for held, many in levels.tolist()]
    return {**means, "by level": shares, "squares asked": int(levels[:, 1].sum())}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=4)
    chosen = parser.parse_args()
    rows: List[Row] = []
    for name in datasets.REAL:
        cases = product(SIZES, EPSILONS, range(chosen.releases))
        rows += [one(name, n, epsilon, seed) for n, epsilon, seed in cases]
        print(name, flush=True)
    groups: Dict[str, List[Row]] = {"all": rows}
    for what in ("data", "n", "epsilon"):
        for value in dict.fromkeys(row[what] for row in rows):
            groups[f"{what} {value}"] = [row for row in rows if row[what] == value]
    for n, epsilon in product(SIZES, EPSILONS):
        own = [row for row in rows if (row["n"], row["epsilon"]) == (n, epsilon)]
        groups[f"n {n}, epsilon {epsilon}"] = own
    kept = {title: summary(own) for title, own in groups.items()}
    print(f"{'':26s}" + "".join(f"{way:>9s}" for way in (*WAYS, "above", "below")) + "   by level")
    for title, found in kept.items():
        numbers = "".join(f"{found[way]:9.3f}" for way in (*WAYS, "above", "below"))
        print(f"{title:26s}{numbers}   {found['by level']}")
    file = ROOT / "benchmarks" / "results" / "coverage_hover.json"
    file.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
