"""The default release as a user gets it, and one with the resolution stated, against the peers.

Each data set (see `datasets`) is published on the default grid of a city (order 13) and on one
whose cells are the pixels that are judged, 64, 256 or 1024 a side; peers see those pixels. A ratio
is the error over that of the best peer of the case, which may be another one for each measure. And
what it costs to read at finer than stated: a release on 64 x 64 cells judged on 256 x 256.

Peers are those that are best in some cell of the arena. Results are kept in
benchmarks/results/resolution.json; runs can be cut short and are carried on
(build/resolution.jsonl).

    python benchmarks/resolution.py              # all sets, some hours
    python benchmarks/resolution.py --minutes 8  # as much as that allows, smaller pictures first
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
from runs import carry_on

from dpsort_geo.compare import MECHANISMS, metrics
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.points import points

DEFAULT = 13
LEVELS = (6, 8, 10)
SIZES, EPSILONS, SEEDS = (10_000, 100_000, 1_000_000), (0.1, 1.0), 2
MEASURES = ("earth mover's distance", "random squares", "around data", "L1", "L2")
#: of a picture of 1024 x 1024 cells only the peers that are fast enough
PEERS = ("adaptive grid", "uniform grid", "quadtree", "PrivTree", "DAWA", "PMM", "identity")
FAST = ("adaptive grid", "uniform grid", "quadtree", "PrivTree", "identity")


def picture(at: np.ndarray, order: int, level: int, epsilon: float, rng: Any) -> np.ndarray:
    """A release on 2^order cells a side as a picture of 2^level."""
    grid = Grid(0.0, 0.0, 2.0**-order, order)
    decoded = decode(publish(count_cells(grid, *at.T), epsilon, noise=seeded_noise(rng)))
    if level <= order:
        return raster(decoded, level)
    return datasets.raster(np.clip(np.column_stack(points(decoded)), 0, 1 - 1e-12), level)


def one(task: Tuple[int, str, int, float, int]) -> Dict[str, Any]:
    """Errors of our releases and of the peers in one case."""
    level, name, n, epsilon, seed = task
    rng = np.random.default_rng([25, level, n, int(10 * epsilon), seed, *name.encode()])
    at = datasets.sample(name, n, rng)
    truth = datasets.raster(at, level)
    some = metrics.random_squares(2**level, 500, rng), metrics.data_rectangles(truth, 500, rng)
    found = {
        "default": picture(at, DEFAULT, level, epsilon, rng),
        "stated": picture(at, level, level, epsilon, rng),
    }
    if level == 8:
        found["64 stated"] = picture(at, 6, level, epsilon, rng)
    for peer in FAST if level > 8 else PEERS:
        found[peer] = MECHANISMS[peer](truth, epsilon, rng)
    errors = {
        title: [
            metrics.emd_sliced(truth, estimate, 16 if level <= 8 else 6),
            *(metrics.range_error(truth, estimate, squares) for squares in some),
            metrics.density_l1(truth, estimate),
            metrics.density_l2(truth, estimate),
        ]
        for title, estimate in found.items()
    }
    return {"task": task, "errors": errors}


def ratios(done: List[Dict[str, Any]], level: int, title: str, over: str = "peers") -> List[float]:
    """Geometric means over the cases of the mean error over that of the best peer, or another."""
    cases: Dict[Any, List[Dict[str, List[float]]]] = {}
    for row in done:
        if row["task"][0] == level:
            cases.setdefault(tuple(row["task"][1:4]), []).append(row["errors"])
    logs = []
    for rows in cases.values():
        mean = {by: np.mean([row[by] for row in rows], axis=0) for by in rows[0]}
        best = np.min([mean[peer] for peer in PEERS if peer in mean], axis=0)
        logs.append(np.log(mean[title] / (best if over == "peers" else mean[over])))
    return np.exp(np.mean(logs, axis=0)).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float)
    minutes = parser.parse_args().minutes
    tasks = [
        [level, name, n, epsilon, seed]
        for seed, n in product(range(SEEDS), (100_000, 10_000, 1_000_000))
        for level, epsilon, name in product((8, 6, 10), EPSILONS, datasets.names())
    ]
    done = carry_on(ROOT / "build" / "resolution.jsonl", tasks, one, minutes)
    kept: Dict[str, Any] = {"tasks": len(tasks), "done": len(done), "measures": MEASURES}
    kept["rows"] = []
    for level in LEVELS:
        here = {tuple(row["task"][1:4]) for row in done if row["task"][0] == level}
        if here:
            row = {"pixels": 2**level, "cases": len(here), "n": sorted({n for _, n, _ in here})}
            row.update({title: ratios(done, level, title) for title in ("default", "stated")})
            kept["rows"].append(row)
    kept["read finer"] = ratios(done, 8, "64 stated", "default")
    print(json.dumps(kept, indent=1))
    file = ROOT / "benchmarks" / "results" / "resolution.json"
    file.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
