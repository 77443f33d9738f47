"""The arena's earth mover's distance once more, by exact optimal transport instead of slices.

The same cells, seeds and releases as in `arena`. Every estimate and the truth are summed to 64 x 64
bins, and the least cost of turning one into the other is found by linear programming (POT). In each
cell the peers come by increasing sliced distance on the same bins. That is never more than the
exact one, so once it exceeds the least exact distance found, no peer that is left can be the best,
and it is not solved for: that is how the best peer of a cell is found in an hour and not in a day.

Runs can be interrupted: what is done is kept in a log (build/exact.jsonl) and not run again.
Results go to benchmarks/results/exact.json.

    python benchmarks/exact.py
    python benchmarks/exact.py --only towns
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zlib
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from arena import EPSILONS, ORDER, SIZES, estimates, progress  # noqa: I001
import datasets
import numpy as np

from dpsort_geo.compare import MECHANISMS, metrics

BINS = 64
SEEDS = 6
DIRECTIONS = 64

Cell = Tuple[str, int, float]


def run(cell: Cell) -> Dict[str, Any]:
    """Our mean exact distance in a cell, and that of the best peer."""
    name, n, eps = cell
    pairs: Dict[str, List[Tuple[np.ndarray, np.ndarray]]] = {}
    for repeat in range(SEEDS):
        seed = [zlib.crc32(name.encode()), n, round(eps * 1000), repeat]
        points = datasets.sample(name, n, np.random.default_rng(seed))
        truth = datasets.raster(points, ORDER)
        for by, estimate in estimates(points, truth, eps, seed, ["ours", *MECHANISMS]):
            pairs.setdefault(by, []).append((binned(truth), binned(estimate)))
    ours = exact(pairs.pop("ours"))
    best, peer = np.inf, ""
    for least, by in sorted((sliced(found), by) for by, found in pairs.items()):
        if least > best:
            break
        best, peer = min((best, peer), (exact(pairs[by]), by))
    return {"set": name, "n": n, "eps": eps, "ours": ours, "best": best, "peer": peer}


def binned(raster: np.ndarray) -> np.ndarray:
    """Sums of a raster in BINS x BINS bins."""
    width = raster.shape[0] // BINS
    return raster.astype(float).reshape(BINS, width, BINS, width).sum((1, 3))


def exact(pairs: List[Tuple[np.ndarray, np.ndarray]]) -> float:
    return float(np.mean([metrics.emd_exact(truth, estimate, BINS) for truth, estimate in pairs]))


def sliced(pairs: List[Tuple[np.ndarray, np.ndarray]]) -> float:
    return float(
        np.mean([metrics.emd_sliced(truth, estimate, DIRECTIONS) for truth, estimate in pairs])
    )


def report(rows: List[Dict[str, Any]]) -> None:
    ratio = {(row["set"], row["n"], row["eps"]): row["ours"] / row["best"] for row in rows}
    sets = sorted({cell[0] for cell in ratio})
    kinds = {name: [name] for name in sets}
    kinds |= {"real data": [name for name in sets if name in datasets.REAL], "all": sets}
    print(f"exact earth mover's distance on {BINS} x {BINS} bins, ours / best peer")
    for title, chosen in kinds.items():
        here = {cell: value for cell, value in ratio.items() if cell[0] in chosen}
        if here:
            worst = max(here, key=lambda cell: here[cell])
            mean = np.exp(np.mean(np.log(list(here.values()))))
            print(f"  {title:14s} {mean:.3f}   worst {here[worst]:.3f} {worst}, {len(here)} cells")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "exact.jsonl")
    parser.add_argument("--only", action="append", default=[], help="data set(s) to run")
    given = parser.parse_args()
    given.log.parent.mkdir(exist_ok=True)
    lines = given.log.read_text().splitlines() if given.log.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["set"], row["n"], row["eps"]) for row in rows}
    cells = list(product(given.only or datasets.names(), SIZES, EPSILONS))
    tasks = [cell for cell in cells if cell not in done]
    began = time.time()
    with Pool(given.jobs) as pool, given.log.open("a") as out:
        for k, row in enumerate(pool.imap_unordered(run, tasks), start=1):
            rows.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
            progress(k, len(tasks), began)
    rows = [row for row in rows if (row["set"], row["n"], row["eps"]) in cells]
    report(rows)
    if not given.only:
        rows.sort(key=lambda row: (row["set"], row["n"], row["eps"]))
        lines = [
            json.dumps({**row, "ours": rounded(row["ours"]), "best": rounded(row["best"])})
            for row in rows
        ]
        file = ROOT / "benchmarks" / "results" / "exact.json"
        file.write_text("[\n " + ",\n ".join(lines) + "\n]\n")
        print(f"stored in {file.relative_to(ROOT)}")


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


if __name__ == "__main__":
    main()
