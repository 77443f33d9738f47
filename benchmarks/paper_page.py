"""What the paper's experiments share: the mechanism on the unit interval, data, and the page.

Noise is seeded and floating-point here (see `dpsort_geo.compare`). Positions are parts of the
curve's length, so the sorted sequence has sensitivity 1 and the noise on a sum is Lap(1/eps).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

from dpsort_geo.compare import metrics
from dpsort_geo.core.curve.hilbert import encode
from dpsort_geo.core.public.cumulative import Cumulative
from dpsort_geo.core.public.isotonic import isotonic_l2
from dpsort_geo.core.public.sort import decode_sorted, decode_sorted_paper, sorted_points
from dpsort_geo.core.rules.sort import balanced_sizes

Array = np.ndarray
IMAGES = ROOT / "docs" / "img"
CELLS = 1 << 32  # positions on the curve of order 16
SETS = ("tweets", "gb accidents", "tags in a room", "residents")


# --- the mechanism


def equally_spaced(n: int) -> Array:
    return (np.arange(n) + 0.5) / n


def repeated(n: int) -> Array:
    return np.full(n, 0.5)


def on_curve(points: Array) -> Array:
    """Sorted positions of points of the unit square on the curve, as parts of its length."""
    i, j = (points * 65536).astype(np.int64).T
    return np.sort(encode(i, j, 16) + 0.5) / CELLS


def release(sorted_points: Array, k: int, eps: float, rng: Any) -> tuple[Array, Array]:
    """Noisy sums of balanced groups of about k, and their sizes (steps A2 and A3)."""
    sizes = balanced_sizes(sorted_points.size, -(-sorted_points.size // k))
    sums = np.add.reduceat(sorted_points, np.cumsum(sizes) - sizes)
    return (sums + rng.laplace(0, 1 / eps, sums.size)) * CELLS, sizes


def sort_function(points: Array, k: int, eps: float, rng: Any, decoder: str) -> Cumulative:
    """F of a sort release, along a curve of length 1."""
    sums, sizes = release(points, k, eps, rng)
    decode = {"paper": decode_sorted_paper, "default": decode_sorted}[decoder]
    knots = decode(sums, sizes, CELLS)
    return Cumulative(np.clip(knots.position / CELLS, 0, 1), knots.rank)


def sort_error(points: Array, k: int, eps: float, rng: Any, decoder: str) -> float:
    """The paper's error: mean distance from the k-th sorted point to the k-th published one."""
    sums, sizes = release(points, k, eps, rng)
    decode = {"paper": decode_sorted_paper, "default": decode_sorted}[decoder]
    fit = sorted_points(decode(sums, sizes, CELLS)) / CELLS
    return metrics.emd_1d(points, np.clip(fit, 0, 1) if decoder == "default" else fit)


def plain_fits(points: Array, eps: float, runs: int, rng: Any) -> Array:
    """Fits of many runs with k = 1, L2, nothing cut; runs lie too far apart to be pooled."""
    noise = rng.laplace(0, 1 / eps, (runs, points.size))
    apart = 200.0 / eps * np.arange(runs)[:, None]
    return isotonic_l2((points + noise + apart).ravel()).reshape(noise.shape) - apart


def plain_error(points: Array, eps: float, runs: int, rng: Any) -> float:
    return float(np.abs(plain_fits(points, eps, runs, rng) - points).mean())


def one_dimensional(n: int, rng: Any) -> Dict[str, Array]:
    """Sorted data on the unit interval: two made, and those real ones that can be had."""
    sets: Dict[str, Array] = {"equally spaced": equally_spaced(n), "repeated value": repeated(n)}
    for name in available():
        sets[name] = on_curve(datasets.sample(name, n, rng))
    return sets


def available() -> List[str]:
    return [name for name in SETS if name == "residents" or datasets.DATA.is_dir()]


# --- the page


class Page:
    """Text and pictures in the order in which they are made."""

    def __init__(self) -> None:
        self.lines: List[str] = []

    def text(self, *paragraphs: str) -> None:
        for paragraph in paragraphs:
            self.lines += [paragraph, ""]

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.lines.append("| " + " | ".join(head) + " |")
        self.lines.append("|" + "---|" * len(head))
        self.lines += ["| " + " | ".join(str(v) for v in row) + " |" for row in rows]
        self.lines.append("")

    def picture(self, name: str, about: str, figure: Any) -> None:
        IMAGES.mkdir(parents=True, exist_ok=True)
        figure.tight_layout()
        figure.savefig(IMAGES / f"paper_{name}.png", dpi=80)
        plt.close(figure)
        self.text(f"![{about}](img/paper_{name}.png)")


def log_axes(axes: Any, x: str, y: str, title: str = "", legend: bool = True) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10)
    if legend:
        axes.legend(fontsize=8)


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
