"""How often the 90 % intervals of counts hold the truth, and how wide they are.

Every data set (see `datasets`) x 3,000 to 1,000,000 points x epsilon 0.1 and 1, two releases
of each kind, the adaptive one on grids of order 8 and 12, the others of order 10. On each, 100
squares of log-uniform width from 1/64 of the side to all of it; half of them anywhere, half around
a point of the data. Width class k has squares of 2^-k to 2^-(k+1) of the side. Wanted: at least
88 % overall and no width class below 80 %. The mean width of the intervals is in shares of n, and
beside it the width that 90 % intervals would have if the errors of that release were normal with
their true variance: what nobody can know who sees the release alone.

Results are printed and kept in benchmarks/results/coverage.json.

    python benchmarks/coverage.py
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets

from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.counts import count_within
from dpsort_geo.core.public.decode import decode

SIZES = (3_000, 10_000, 40_000, 1_000_000)
EPSILONS = (0.1, 1.0)
RELEASES = 2
SQUARES = 100
CLASSES = 6
KINDS: Dict[str, Tuple[int, Callable[..., Any]]] = {
    "adaptive, order 8": (8, publish_adaptive),
    "adaptive, order 12": (12, publish_adaptive),
    "sort": (10, publish_sorted),
    "width-depth": (10, partial(publish_hybrid, variant="width-depth")),
    "depth-width": (10, partial(publish_hybrid, variant="depth-width")),
}

Row = Dict[str, Any]


def squares(at: np.ndarray, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray]:
    """Lower left corners and widths."""
    width = np.exp(rng.uniform(-np.log(64), 0, SQUARES))
    corner = rng.random((SQUARES, 2)) * (1 - width[:, None])
    around = at[rng.integers(len(at), size=SQUARES)] - width[:, None] / 2
    corner[::2] = around[::2]
    return corner, width


def ring(corner: np.ndarray, width: float) -> np.ndarray:
    return corner + width * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])


def one(name: str, n: int, epsilon: float, kind: str, rng: np.random.Generator) -> Row:
    """One release and its squares."""
    order, publish = KINDS[kind]
    at = datasets.sample(name, n, rng)
    grid = Grid(0.0, 0.0, 2.0**-order, order)
    release = publish(count_cells(grid, at[:, 0], at[:, 1]), epsilon, noise=seeded_noise(rng))
    corner, width = squares(at, rng)
    inside = [((at >= c) & (at < c + w)).all(axis=1).sum() for c, w in zip(corner, width)]
    truth = np.array(inside)
    zones = [[ring(c, w)] for c, w in zip(corner, width)]
    estimate, low, high = count_within(decode(release), zones)
    return {
        "data": name,
        "n": n,
        "epsilon": epsilon,
        "kind": kind,
        "class": np.minimum(-np.log2(width), CLASSES - 1).astype(int),
        "held": (low <= truth) & (truth <= high),
        "width": float((high - low).mean() / n),
        "needed": float(2 * 1.645 * np.sqrt(np.square(estimate - truth).mean()) / n),
    }


def summary(rows: List[Row]) -> Dict[str, Any]:
    held = np.concatenate([row["held"] for row in rows])
    width_class = np.concatenate([row["class"] for row in rows])
    classes = [float(held[width_class == k].mean()) for k in range(CLASSES)]
    return {
        "covered": float(held.mean()),
        "by width class": classes,
        "mean width": float(np.mean([row["width"] for row in rows])),
        "normal width": float(np.mean([row["needed"] for row in rows])),
        "squares": int(held.size),
    }


def measured(name: str) -> List[Row]:
    """All releases of one data set."""
    rng = np.random.default_rng([90, *name.encode()])
    cases = product(KINDS, SIZES, EPSILONS, range(RELEASES))
    return [one(name, n, epsilon, kind, rng) for kind, n, epsilon, _ in cases]


def main() -> None:
    rows: List[Row] = []
    begin = time.perf_counter()
    with Pool() as pool:
        for part in pool.imap(measured, datasets.names()):
            rows += part
            print(f"{part[0]['data']}: {time.perf_counter() - begin:.0f} s so far", flush=True)
    kept: Dict[str, Any] = {}
    print(f"{'':20s} covered   by width class (wide to narrow)             width  normal width")
    for kind in KINDS:
        own = [row for row in rows if row["kind"] == kind]
        kept[kind] = {"all": summary(own)}
        for what in ("data", "n", "epsilon"):
            for value in dict.fromkeys(row[what] for row in own):
                part = [row for row in own if row[what] == value]
                kept[kind][f"{what} = {value}"] = summary(part)
        for title, s in kept[kind].items():
            classes = "  ".join(f"{share:.3f}" for share in s["by width class"])
            head = kind if title == "all" else "   " + title
            widths = f"{s['mean width']:.4f}  {s['normal width']:.4f}"
            print(f"{head:22s} {s['covered']:.3f}   {classes}   {widths}")
    file = ROOT / "benchmarks" / "results" / "coverage.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
