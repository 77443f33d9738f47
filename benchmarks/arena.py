"""Every mechanism on every data set: ours against the best peer of each cell.

A cell is a data set, a number of points n and an epsilon. In each cell and for each seed the points
are drawn anew (see `datasets`), counted on 256 x 256, and every mechanism estimates that raster.
All of them get the same cells of 256 x 256 ("ours, finer grid" has 1024 x 1024, and so spends part
of its budget below what is measured). Seeds are independent for every cell and every mechanism.
Errors are averaged over the seeds; the ratio of a cell is ours over the *least* of the peers, which
may be a different peer for each cell and each measure. Reported are geometric means over the cells,
and the worst cell.

Measures (all in `dpsort_geo.compare.metrics`): sliced 2-D earth mover's distance (32 directions),
counts in 500 random squares, counts in 500 data-centred rectangles, density L1 and L2.

Runs can be interrupted: what is done is kept in a log (build/arena.jsonl) and not run again.
Results go to benchmarks/results/arena.json and docs/img/arena.png. `--quick` is a small part of it.

    python benchmarks/arena.py --quick
    python benchmarks/arena.py
    python benchmarks/arena.py --again ours          # after a change of ours: peers are kept
    python benchmarks/arena.py --report              # of what the log has so far
    python benchmarks/arena.py --add HTF --add HDPView --minutes 8

The last one runs peers that came later, in a part of the cells (n = 10,000 and 100,000, epsilon 0.1
and 1, one seed), and keeps their errors over those of the best peer of the stored cells, in
benchmarks/results/arena_added.json.
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
from typing import Any, Dict, Iterator, List, Optional, Tuple

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # one process a core is faster than many threads

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
from runs import carry_on

from dpsort_geo.compare import MECHANISMS, UNPROVEN, metrics
from dpsort_geo.compare.isotonic import isotonic_masses
from dpsort_geo.compare.ours import ours

Raster = np.ndarray
Cell = Tuple[str, int, float, int]

ORDER = 8
SIZES = (10_000, 100_000, 1_000_000)
EPSILONS = (0.1, 0.5, 1.0, 3.0)
MEASURES = ("emd", "squares", "rectangles", "L1", "L2")
NAMES = {
    "emd": "2-D earth mover's distance",
    "squares": "counts, random squares",
    "rectangles": "counts, data-centred",
    "L1": "density L1",
    "L2": "density L2",
}
#: our default first; then on a grid of 1024 x 1024, like a user's, where part of the budget goes
#: below what is measured; then the paper's two kinds with our group sizes and decoder
OURS = {
    "ours": ("adaptive", ORDER),
    "ours, finer grid": ("adaptive", 10),
    "sort": ("sort", ORDER),
    "hybrid": ("hybrid", ORDER),
}
ISOTONIC = " + isotonic"


def estimates(
    points: Raster, truth: Raster, eps: float, seed: List[int], wanted: List[str]
) -> Iterator[Tuple[str, Raster]]:
    """Estimates by the mechanisms wanted, each with a generator of its own."""
    for name in wanted:
        base = name.removesuffix(ISOTONIC)
        rng = np.random.default_rng([*seed, zlib.crc32(base.encode())])
        if name in OURS:
            method, order = OURS[name]
            yield name, ours(datasets.raster(points, order), eps, rng, method, level=ORDER)
            continue
        mechanism = {**MECHANISMS, **UNPROVEN}[base]
        if name == base:
            yield name, mechanism(truth, eps, rng)
        else:
            yield name, isotonic_masses(mechanism(truth, eps, rng, raw=True), truth.sum())


def run(task: Tuple[Cell, List[str]]) -> List[Dict[str, Any]]:
    """All errors of one cell and seed."""
    (name, n, eps, repeat), wanted = task
    seed = [zlib.crc32(name.encode()), n, round(eps * 1000), repeat]
    rng = np.random.default_rng(seed)
    points = datasets.sample(name, n, rng)
    truth = datasets.raster(points, ORDER)
    squares = metrics.random_squares(truth.shape[0], 500, rng)
    rectangles = metrics.data_rectangles(truth, 500, rng)
    rows = []
    for mechanism, estimate in estimates(points, truth, eps, seed, wanted):
        errors = (
            metrics.emd_sliced(truth, estimate, 32),
            metrics.range_error(truth, estimate, squares),
            metrics.range_error(truth, estimate, rectangles),
            metrics.density_l1(truth, estimate),
            metrics.density_l2(truth, estimate),
        )
        short = [float(f"{error:.4g}") for error in errors]
        rows.append({"cell": [name, n, eps, repeat], "by": mechanism, "errors": short})
    return rows


def all_mechanisms() -> List[str]:
    """Our releases, the peers, and the peers with our decoder."""
    peers = [*MECHANISMS, *UNPROVEN]
    return [*OURS, *peers, *(peer + ISOTONIC for peer in peers)]


def read_log(path: Path, drop: List[str]) -> List[Dict[str, Any]]:
    """What was done before, without the mechanisms that shall run again."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [row for row in rows if row["by"] not in drop]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def progress(done: int, todo: int, began: float) -> None:
    """A bar, on terminals only."""
    if sys.stderr.isatty():
        left = (time.time() - began) / max(done, 1) * (todo - done)
        bar = "#" * (40 * done // max(todo, 1))
        print(f"\r[{bar:40s}] {done}/{todo}, {left / 60:.1f} min left ", end="", file=sys.stderr)


def cell_means(rows: List[Dict[str, Any]]) -> Dict[Tuple[Any, ...], Dict[str, np.ndarray]]:
    """Mean errors over seeds: {(set, n, eps): {mechanism: errors}}."""
    kept: Dict[Tuple[Any, ...], Dict[str, List[List[float]]]] = {}
    for row in rows:
        kept.setdefault(tuple(row["cell"][:3]), {}).setdefault(row["by"], []).append(row["errors"])
    return {
        cell: {by: np.mean(errors, axis=0) for by, errors in found.items()}
        for cell, found in sorted(kept.items())
    }


def ratios(
    means: Dict[Tuple[Any, ...], Dict[str, np.ndarray]], peers: List[str], mine: str = "ours"
) -> Dict[Any, Any]:
    """{cell: [(ratio, best peer) for each measure]} for cells where ours and all peers have run."""
    table = {}
    for cell, found in means.items():
        if mine not in found or not set(peers) <= set(found):
            continue
        best = [min(peers, key=lambda peer: found[peer][m]) for m in range(len(MEASURES))]
        table[cell] = [
            (float(found[mine][m] / found[peer][m]), peer) for m, peer in enumerate(best)
        ]
    return table


def summary(table: Dict[Any, Any]) -> Dict[str, Any]:
    """Geometric mean and worst cell of each measure."""
    result = {}
    for m, measure in enumerate(MEASURES):
        values = {cell: row[m] for cell, row in table.items()}
        worst = max(values, key=lambda cell: values[cell][0])
        result[measure] = {
            "geometric mean": round(
                float(np.exp(np.mean(np.log([r for r, _ in values.values()])))), 3
            ),
            "worst": round(values[worst][0], 3),
            "worst cell": [*worst, values[worst][1]],
        }
    return result


def show(title: str, found: Dict[str, Any], cells: int) -> None:
    print(f"\n{title} ({cells} cells): ours / best peer")
    for measure, row in found.items():
        name, n, eps, peer = row["worst cell"]
        print(
            f"  {NAMES[measure]:28s} {row['geometric mean']:6.3f}   worst {row['worst']:6.3f}"
            f"  ({name}, n={n:,}, eps={eps}, {peer})"
        )


def report(rows: List[Dict[str, Any]], store: Path | None, picture: Path | None) -> Dict[str, Any]:
    means = cell_means(rows)
    peers = list(MECHANISMS)
    real = {cell: found for cell, found in means.items() if cell[0] in datasets.REAL}
    tables = {
        "best peer": ratios(means, peers),
        "best peer, real data only": ratios(real, peers),
        "best peer, ours on a grid 4 x 4 times as fine": ratios(means, peers, "ours, finer grid"),
        "best peer with our isotonic decoder": ratios(means, [p + ISOTONIC for p in peers]),
        "DAWA as published, not eps-DP": ratios(means, list(UNPROVEN)),
        "the paper's sort release": ratios(means, ["sort"]),
        "the paper's hybrid": ratios(means, ["hybrid"]),
    }
    seeds = [row["cell"][3] for row in rows if row["by"] == "ours"]
    fewest = min(seeds.count(seed) for seed in set(seeds))
    result: Dict[str, Any] = {"seeds": len(set(seeds)), "summary": {}}
    if fewest < len(means):
        print(f"unfinished: the last seed has run in {fewest} of {len(means)} cells")
    for title, table in tables.items():
        if table:
            result["summary"][title] = summary(table)
            show(title, result["summary"][title], len(table))
    if tables["best peer"]:
        result["cells"] = [
            {
                "set": cell[0],
                "n": cell[1],
                "eps": cell[2],
                **{m: [round(r, 3), peer] for m, (r, peer) in zip(MEASURES, row)},
                "ours": [float(f"{e:.4g}") for e in means[cell]["ours"]],
            }
            for cell, row in tables["best peer"].items()
        ]
        how_often(tables["best peer"])
    if store:
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_text(_compact(result))
        print(f"\nstored in {store.relative_to(ROOT)}")
    if picture and tables["best peer"]:
        draw(tables["best peer"], picture)
    return result


def _compact(result: Dict[str, Any]) -> str:
    """JSON with one line for each cell."""
    head = json.dumps({k: v for k, v in result.items() if k != "cells"}, indent=1)
    lines = ",\n".join("  " + json.dumps(cell) for cell in result.get("cells", []))
    return head[:-2] + ',\n "cells": [\n' + lines + "\n ]\n}\n"


def how_often(table: Dict[Any, Any]) -> None:
    """Which peers are the ones to beat."""
    print("\nbest peer of how many cells:")
    for m, measure in enumerate(MEASURES):
        names = [row[m][1] for row in table.values()]
        often = sorted({(names.count(name), name) for name in names}, reverse=True)
        print(f"  {NAMES[measure]:28s} " + ", ".join(f"{name} {k}" for k, name in often))


def draw(table: Dict[Any, Any], path: Path) -> None:
    """One dot for each cell, one column for each measure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 3.6), dpi=100)
    sets = sorted({cell[0] for cell in table})
    colours = dict(zip(sets, plt.get_cmap("tab10").colors))
    for m in range(len(MEASURES)):
        for k, name in enumerate(sets):
            here = [row[m][0] for cell, row in table.items() if cell[0] == name]
            x = m + (k - (len(sets) - 1) / 2) * 0.09
            label = name if m == 0 else None
            axes.plot([x] * len(here), here, "o", ms=3, color=colours[name], alpha=0.8, label=label)
        mean = np.exp(np.mean([np.log(row[m][0]) for row in table.values()]))
        axes.plot([m - 0.42, m + 0.42], [mean, mean], "k-", lw=1.5)
        axes.annotate(f"{mean:.2f}", (m + 0.43, mean), va="center", fontsize=8, weight="bold")
    axes.axhline(1, color="grey", lw=0.8)
    axes.set_yscale("log")
    ticks = [0.3, 0.5, 0.7, 1, 1.4, 2]
    axes.set_yticks(ticks, [str(t) for t in ticks])
    axes.minorticks_off()
    axes.set_xticks(
        range(len(MEASURES)),
        [NAMES[m].replace(", ", ",\n").replace("2-D ", "2-D\n") for m in MEASURES],
        fontsize=8,
    )
    axes.set_ylabel("error, ours / best peer\n(below 1: ours is better)", fontsize=9)
    axes.legend(fontsize=7, ncols=5, loc="upper center", bbox_to_anchor=(0.5, 1.18), frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"drawn in {path.relative_to(ROOT)}")


def add(names: List[str], minutes: Optional[float]) -> None:
    """Peers that came later, against the best peer that the stored cells know."""
    stored = json.loads((ROOT / "benchmarks/results/arena.json").read_text())["cells"]
    cells = {(cell["set"], cell["n"], cell["eps"]): cell for cell in stored}
    tasks = [
        [[name, n, eps, 0], [by]]
        for n, by, eps, name in product(SIZES[:2], names, (1.0, 0.1), datasets.names())
    ]
    found = carry_on(ROOT / "build" / "arena_added.jsonl", tasks, run, minutes)
    kept: Dict[str, Any] = {}
    for (row,) in found:
        cell = cells[tuple(row["cell"][:3])]
        best = [cell["ours"][m] / cell[measure][0] for m, measure in enumerate(MEASURES)]
        kept.setdefault(row["by"], []).append([e / b for e, b in zip(row["errors"], best)])
    result = {
        by: {
            "cells": len(rows),
            **{
                measure: {
                    "geometric mean": float(np.exp(np.mean(np.log([row[m] for row in rows])))),
                    "least": float(min(row[m] for row in rows)),
                }
                for m, measure in enumerate(MEASURES)
            },
        }
        for by, rows in kept.items()
    }
    print(json.dumps(result, indent=1))
    (ROOT / "benchmarks/results/arena_added.json").write_text(json.dumps(result, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small part, within 3 minutes")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--report", action="store_true", help="run nothing, report what the log has"
    )
    parser.add_argument("--again", action="append", default=[], help="mechanism to run anew")
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "arena.jsonl")
    parser.add_argument("--add", action="append", default=[], help="peers that came later")
    parser.add_argument("--minutes", type=float, help="with --add: begin nothing after that")
    parser.add_argument("--only", action="append", default=[], help="data set(s) to run")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.add:
        add(given.add, given.minutes)
        return
    quick = given.quick
    sizes, seeds = ((10_000, 100_000), range(2)) if quick else (SIZES, range(given.seeds))
    cells = list(product(given.only or datasets.names(), sizes, EPSILONS, seeds))
    if quick:
        cells = [cell for cell in cells if cell[2] in (0.5, 1.0)]
    mechanisms = all_mechanisms()
    if quick:
        mechanisms = [name for name in mechanisms if not name.endswith(ISOTONIC)]
    log = given.log.with_name("arena-quick.jsonl") if quick else given.log
    log.parent.mkdir(exist_ok=True)
    rows = read_log(log, all_mechanisms() if quick else given.again)
    done = {(*row["cell"], row["by"]) for row in rows}
    tasks = []
    for cell in sorted(cells, key=lambda cell: cell[3]):  # a whole seed of all cells first
        wanted = [name for name in mechanisms if (*cell, name) not in done]
        if wanted and not given.report:
            tasks.append((cell, wanted))
    began = time.time()
    with Pool(given.jobs) as pool, log.open("a") as out:
        for k, found in enumerate(pool.imap_unordered(run, tasks), start=1):
            rows += found
            out.write("".join(json.dumps(row) + "\n" for row in found))
            out.flush()
            progress(k, len(tasks), began)
    wanted_cells = {tuple(cell) for cell in cells}
    rows = [row for row in rows if tuple(row["cell"]) in wanted_cells]
    whole = not quick and not given.only
    report(
        rows,
        ROOT / "benchmarks/results/arena.json" if whole else None,
        ROOT / "docs/img/arena.png" if whole else None,
    )
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
