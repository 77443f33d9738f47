"""The choices of the two hybrids, one at a time, and their worth: tables of docs/hybrids.md.

    python benchmarks/hybrids.py

Sliced earth mover's distance in sides of the domain, on 128 x 128 pixels, releases on order 12,
seeds independent for every case. Nothing here is private.
"""

from __future__ import annotations

import sys
import zlib
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets

from dpsort_geo.compare.metrics import emd_sliced
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.rules import hybrid as rule

PAGE = ROOT / "docs" / "hybrids.md"
GRID, LEVEL, SEEDS = Grid(0.0, 0.0, 1 / 4096, 12), 7, 2
Case = Tuple[str, int, str]
PUBLISHERS: Dict[str, Callable[..., Any]] = {
    "sort": publish_sorted,
    "width-depth": partial(publish_hybrid, variant="width-depth"),
    "depth-width": partial(publish_hybrid, variant="depth-width"),
    "adaptive": publish_adaptive,
}
#: constant, values tried (the one in use among them), and the variant that it belongs to
CHOICES: Sequence[Tuple[str, Sequence[Any], str]] = (
    ("POINTS_A_BLOCK", (2, 4, 8), "width-depth"),
    ("COUNT_SHARE", (Fraction(1, 2), Fraction(3, 4), Fraction(7, 8)), "width-depth"),
    ("LEAST_TO_SORT", (2, 8, 32), "width-depth"),
    ("SORT_SHARE", (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2)), "depth-width"),
    ("POINTS_A_BIN", (2, 4, 8), "depth-width"),
)


def error(case: Case, method: str) -> float:
    """Mean error of a method in a case."""
    name, n, epsilon = case
    errors = []
    for seed in range(SEEDS):
        rng = np.random.default_rng([zlib.crc32(repr((case, method)).encode()), seed])
        points = datasets.sample(name, n, rng)
        cells = count_cells(GRID, *points.T)
        release = PUBLISHERS[method](cells, epsilon, noise=seeded_noise(rng))
        truth = datasets.raster(points, LEVEL)
        errors.append(emd_sliced(truth, raster(decode(release), LEVEL), 16))
    return float(np.mean(errors))


def mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def choices(cases: List[Case]) -> List[str]:
    lines = ["| constant | tried: error x 1000 (in use: bold) |", "|---|---|"]
    for constant, tried, variant in CHOICES:
        used, found = getattr(rule, constant), []
        for value in tried:
            setattr(rule, constant, value)
            shown = f"{value}: {1000 * mean([error(case, variant) for case in cases]):.1f}"
            found.append(f"**{shown}**" if value == used else shown)
        setattr(rule, constant, used)
        lines.append(f"| `{constant}` ({variant}) | {', '.join(found)} |")
    return lines


def worth(cases: List[Case]) -> List[str]:
    lines = [
        "| data | n | epsilon | " + " | ".join(PUBLISHERS) + " |",
        "|---|--:|--:|" + "--:|" * 4,
    ]
    table = []
    for case in cases:
        table.append([error(case, method) for method in PUBLISHERS])
        numbers = " | ".join(f"{1000 * value:.1f}" for value in table[-1])
        lines.append(f"| {case[0]} | {case[1]:,} | {case[2]} | {numbers} |")
    sort, wide, deep, adaptive = np.array(table).T
    return [
        *lines,
        "",
        f"Geometric means: width-depth / sort {mean(wide / sort):.2f}"
        f" (worst {max(wide / sort):.2f}),"
        f" depth-width / sort {mean(deep / sort):.2f} (worst {max(deep / sort):.2f}),"
        f" adaptive / width-depth {mean(adaptive / wide):.2f},"
        f" adaptive / depth-width {mean(adaptive / deep):.2f}.",
    ]


def main() -> None:
    names = datasets.names()
    few = [(name, n, "1") for name in names for n in (10_000, 100_000)]
    tables = {
        "choices": choices(few[::2]),
        "worth": worth([*few, *((n, 10_000, "0.1") for n in names)]),
    }
    text = PAGE.read_text()
    for mark, lines in tables.items():
        begin, end = f"<!-- {mark} -->\n", f"\n<!-- end of {mark} -->"
        head, rest = text.split(begin)
        text = head + begin + "\n".join(lines) + end + rest.split(end)[1]
    PAGE.write_text(text)
    print("written: docs/hybrids.md")


if __name__ == "__main__":
    main()
