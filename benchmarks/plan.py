"""Refit the law of `dpsort_geo.core.accuracy` with the real implementation on real data.

Every real data set (see `datasets`), n from 1,000 to 100,000, epsilon from 0.1 to 3 (to 10 for few
points), on a grid of order 12, sort and hybrid with their default group sizes. The error is the
earth mover's distance between the n published points and the n true ones, in sides of the domain.

It is exact (POT, point to point) for up to 4,000 points. Beyond, it is sliced (64 directions, times
pi/2, on the points themselves) and multiplied by exact / sliced. That ratio is near 1 when whole
areas have to move and 2 when points only have to find their places among their neighbours, which
a projection does not see; its logarithm is regressed, over all exact cells of the method, on
log(sliced sqrt(n)) and log(n).

The adaptive law is A (n eps)^-B + C / sqrt(n), those of sort and hybrid are A (n eps)^-B: least
squares of the logarithms. Low and high are the 5 % and 95 % quantiles of measured / law. Results
are printed and kept in benchmarks/results/plan.json; the laws in accuracy.py are changed by hand.

    python benchmarks/plan.py
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets

from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core import accuracy
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.points import points as points_of

ORDER = 12
#: number of points, seeds, and epsilons
RUNS = (
    (1_000, 2, (0.1, 0.3, 1.0, 3.0, 10.0)),
    (2_000, 1, (0.1, 0.3, 1.0, 3.0, 10.0)),
    (4_000, 1, (0.1, 1.0, 10.0)),
    (10_000, 2, (0.1, 0.3, 1.0, 3.0)),
    (30_000, 2, (0.1, 0.3, 1.0, 3.0)),
    (100_000, 2, (0.1, 0.3, 1.0, 3.0)),
)
EXACT_UP_TO = {"adaptive": 4_000, "sort": 2_000, "hybrid": 2_000}
PUBLISH = {"adaptive": publish_adaptive, "sort": publish_sorted, "hybrid": publish_hybrid}

Row = Dict[str, Any]


def sliced(a: np.ndarray, b: np.ndarray, directions: int = 64) -> float:
    """Mean distance of sorted projections, times pi/2: a mere shift costs exactly its length."""
    total = 0.0
    for angle in np.pi * np.arange(directions) / directions:
        way = np.array([np.cos(angle), np.sin(angle)])
        total += float(np.abs(np.sort(a @ way) - np.sort(b @ way)).mean())
    return total / directions * np.pi / 2


def exact(a: np.ndarray, b: np.ndarray) -> float:
    """The earth mover's distance of as many points."""
    import ot

    return float(ot.emd2([], [], ot.dist(a, b, metric="euclidean"), numItermax=1_000_000))


def measure() -> List[Row]:
    rows: List[Row] = []
    rng = np.random.default_rng(2012)
    for name in datasets.REAL:
        begin = time.perf_counter()
        for n, seeds, epsilons in RUNS:
            for epsilon in [e for e in epsilons for _ in range(seeds)]:
                true = datasets.sample(name, n, rng)
                for method in PUBLISH:
                    found = published(true, method, epsilon, rng)
                    row: Row = {"data": name, "method": method, "n": n, "epsilon": epsilon}
                    row["sliced"] = sliced(true, found)
                    if n <= EXACT_UP_TO[method]:
                        row["exact"] = exact(true, found)
                    rows.append(row)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
    return rows


def published(
    true: np.ndarray, method: str, epsilon: float, rng: np.random.Generator
) -> np.ndarray:
    """The points of a release of these points."""
    cells = count_cells(Grid(0.0, 0.0, 2.0**-ORDER, ORDER), true[:, 0], true[:, 1])
    release = PUBLISH[method](cells, epsilon, noise=seeded_noise(rng))
    return np.column_stack(points_of(decode(release)))


def fitted(rows: List[Row], method: str) -> Dict[str, float]:
    """The constants of the law of one method, and how far the law in use is off."""
    rows = [row for row in rows if row["method"] == method]
    n = np.array([row["n"] for row in rows], float)
    epsilon = np.array([row["epsilon"] for row in rows])
    error = errors(rows, n)
    old = [accuracy.expected_error(row["n"], row["epsilon"], 1.0, method) for row in rows]
    factor, power, spread = _least_squares(n, n * epsilon, error, method == "adaptive")
    law = factor * (n * epsilon) ** -power + spread / np.sqrt(n)
    result = {"factor": factor, "power": power, "spread": spread}
    for title, by in (("law", law), ("law in use", np.array(old))):
        ratio = error / by
        result[f"measured / {title}, geometric mean"] = float(np.exp(np.log(ratio).mean()))
        result[f"measured / {title}, 5 %"] = float(np.quantile(ratio, 0.05))
        result[f"measured / {title}, 95 %"] = float(np.quantile(ratio, 0.95))
    return result


def errors(rows: List[Row], n: np.ndarray) -> np.ndarray:
    """Exact where it was computed, elsewhere sliced times the ratio that is to be expected."""
    flat = np.array([row["sliced"] for row in rows])
    true = np.array([row.get("exact", np.nan) for row in rows])
    known = ~np.isnan(true)
    about = np.column_stack([np.ones(n.size), np.log(flat * np.sqrt(n)), np.log(n)])
    ratio = np.log(true[known] / flat[known])
    line = np.linalg.lstsq(about[known], ratio, rcond=None)[0]
    left = ratio - about[known] @ line
    print(f"exact / sliced: {np.round(line, 3).tolist()}, residual sd {left.std():.3f}")
    return np.where(known, true, flat * np.exp(about @ line))


def _least_squares(n: np.ndarray, wealth: np.ndarray, error: np.ndarray, with_spread: bool) -> Any:
    from scipy.optimize import least_squares

    def gap(p: np.ndarray) -> np.ndarray:
        spread = np.exp(p[2]) if with_spread else 0.0
        return np.log(np.exp(p[0]) * wealth ** -p[1] + spread / np.sqrt(n)) - np.log(error)

    start = [0.5, 0.6, -2.0] if with_spread else [-0.5, 0.25]
    p = least_squares(gap, start).x
    return float(np.exp(p[0])), float(p[1]), float(np.exp(p[2])) if with_spread else 0.0


def main() -> None:
    if not datasets.DATA.is_dir():
        print("no real data beside the project (../shared/data): nothing to fit")
        return
    rows = measure()
    laws = {method: fitted(rows, method) for method in PUBLISH}
    for method, law in laws.items():
        print(method)
        for what, value in law.items():
            print(f"  {what:40s} {value:.3f}")
    kept = ROOT / "benchmarks" / "results" / "plan.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps({"laws": laws, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
