"""How near the map's picture of the density is to the truth, for several strengths of smoothing.

Colours follow the square root of the density, so that is compared: the mean absolute difference of
the roots over all pixels, beside the mean root itself. Points are drawn from a larger set, and the
truth is the density of that set, seen through a bell of three pixels of 512. Data sets on which the
constants were not chosen by eye; n = 5,000 and 50,000, epsilon 0.1 and 1.

    python benchmarks/smoothing.py [--releases 3]
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

import dpsort_geo as dp
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core import accuracy
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.decode import decode
from dpsort_geo.webmap import field

#: what surroundings hold at least, and how much more for each 1 / epsilon
STRENGTHS = ((2, 4), (4, 7), (8, 14), (15, 25), (25, 45), (40, 80))
DATA = ("tweets", "nyc thefts", "towns")
SIZES, EPSILONS = (5_000, 50_000), (0.1, 1.0)
SIDE = 100_000.0
#: points that stand for the truth
WHOLE = 400_000


def errors(name: str, n: int, epsilon: float, seed: int) -> List[float]:
    """For each strength, the difference of the roots beside the mean root."""
    rng = np.random.default_rng([seed, n, *name.encode()])
    at = datasets.sample(name, n, rng) * SIDE
    domain = dp.Domain.from_bounds((0, 0, SIDE, SIDE), crs="EPSG:6933")
    grid = domain.grid
    release = publish(count_cells(grid, *at.T), epsilon, noise=seeded_noise(rng))
    decoded = decode(release)
    rate, *more = accuracy.terms_of(release, domain.side)
    error = accuracy.expected_error(n, rate, *more)
    pixel = SIDE / 512
    every = datasets.sample(name, WHOLE, np.random.default_rng(1)) * SIDE
    true, *_ = np.histogram2d(every[:, 1], every[:, 0], 512, [(0, SIDE), (0, SIDE)])
    wanted = np.sqrt(np.maximum(field.blur(true * (n / WHOLE) / (pixel / 1000) ** 2, 3.0), 0))
    found = []
    for strength in STRENGTHS:
        field._ENOUGH, field._ENOUGH_NOISE = strength
        shown = field.smooth_density(decoded, domain, rate, error)
        x, y = np.meshgrid((np.arange(512) + 0.5) * pixel, (np.arange(512) + 0.5) * pixel)
        root = np.sqrt(np.maximum(shown.at(x, y), 0))
        found.append(float(np.abs(root - wanted).mean() / wanted.mean()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=3)
    releases = range(parser.parse_args().releases)
    kept: Dict[str, Any] = {"strengths": STRENGTHS}
    cases: Tuple[Any, ...] = tuple(product(DATA, SIZES, EPSILONS))
    print(f"{'':34s}" + "".join(f"{str(each):>10s}" for each in STRENGTHS))
    for name, n, epsilon in cases:
        means = np.mean([errors(name, n, epsilon, seed) for seed in releases], axis=0)
        title = f"{name}, n {n}, epsilon {epsilon}"
        kept[title] = np.round(means, 4).tolist()
        print(f"{title:34s}" + "".join(f"{each:10.3f}" for each in means), flush=True)
    every = np.array([own for title, own in kept.items() if title != "strengths"])
    kept["mean of ratios to the best"] = np.round(
        (every / every.min(axis=1, keepdims=True)).mean(axis=0), 4
    ).tolist()
    print(kept["mean of ratios to the best"])
    file = ROOT / "benchmarks" / "results" / "smoothing.json"
    file.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
