"""Ideas for better accuracy that were tried: what each does to the five measures.

Each changes one thing of the adaptive release on 4096 x 4096 cells (as fine as a user's), judged on
256 x 256; ratios of its mean error to that of the release as it is, below 1 it helps.

* *first split with a known sum*: the noise of the first split is drawn given that it adds up to 0,
  as the counts are known to add up to n. Neighbours move one unit between two of the counts, and
  the chances of all noise that adds up to 0 add up to the same on both sides, so the ratio is at
  most exp(2 / t) as for independent noise of scale t: the same epsilon, 30 % less variance.
* *dense parents only*: the last split asks for twice or four times as much mass as it does.
* *two depths*: the mean of the reading and of one whose last families of leaves are put together.
* *zero-inflated*: leaves shrunk to a mixture of nothing and an exponential law, learned by level,
  then the isotonic step; the mean with the reading as it is, used where the release has learned
  that mass is very uneven (rho above 0.45), or always.
* *neighbours*: within each family of leaves mass moves half way to what the leaf's surroundings
  say, weighed by what noise and unevenness leave; families keep their masses.

Constants were chosen on the first group of sets, the second judges. Results are kept in
benchmarks/results/ideas.json; runs can be cut short and are carried on (build/ideas.jsonl).

    python benchmarks/ideas.py --minutes 8
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import datasets
from runs import carry_on

from dpsort_geo.compare import metrics
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.public.adaptive import DecodedTree
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster, raster_of_leaves
from dpsort_geo.core.public.intervals import unevenness
from dpsort_geo.core.public.leaves import Leaves, make_leaves
from dpsort_geo.core.public.parabola import _faces
from dpsort_geo.core.rules import adaptive

Array = np.ndarray
ORDER, LEVEL, N = 12, 8, 30_000
EPSILONS, SEEDS = (0.1, 1.0), 6
CHOSEN_ON = ("gb accidents", "towns", "nyc taxi", "forty places")
MEASURES = ("emd", "squares", "rectangles", "L1", "L2")
SPIKY = 0.45


def sample(name: str, rng: np.random.Generator) -> Array:
    if name != "forty places":
        return datasets.sample(name, N, rng)
    place, weight = np.random.default_rng(41).uniform(0.02, 0.98, (40, 2)), 1 / np.arange(1, 41)
    return place[rng.choice(40, N, p=weight / weight.sum())]


def known_sum(rng: np.random.Generator) -> Callable[..., Any]:
    """Noise as it is, but for the first answers, whose noise adds up to 0.

    All but one are drawn; the last one is what is missing, and kept with its own chance.
    """
    usual, is_first = seeded_noise(rng), True

    def draw(numerator: Any, denominator: Any, size: Any = None) -> Any:
        nonlocal is_first
        if not is_first:
            return usual(numerator, denominator, size)
        is_first = False
        rate = float(np.asarray(denominator, float)[0]) / float(numerator)
        while True:
            some = np.asarray(usual(numerator, denominator, size))
            some[-1] = -some[:-1].sum()
            if rng.random() < np.exp(-rate * abs(int(some[-1]))):
                return some

    return draw


def two_depths(decoded: DecodedTree) -> Leaves:
    """Leaves of the tree with each family of leaves put together."""
    tree = decoded.tree
    leaf = tree.is_leaf
    inner = np.bincount(tree.parent[1:][~leaf[1:]], minlength=leaf.size) > 0
    last = ~leaf & ~inner  # all children are leaves
    kept = np.flatnonzero(last | (leaf & ~last[tree.parent]))
    return make_leaves(
        decoded.grid, tree.level[kept], tree.index[kept], tree.estimate[kept], float(decoded.n)
    )


def zero_inflated(decoded: DecodedTree) -> Leaves:
    """Posterior means of the leaves under a spike at 0 and an exponential law, level by level."""
    tree = decoded.tree
    leaf = np.flatnonzero(tree.is_leaf)
    level, estimate = tree.level[leaf], tree.estimate[leaf].copy()
    for depth in np.unique(level):
        here = level == depth
        if here.sum() >= 50:
            estimate[here] = _posterior(estimate[here], np.sqrt(tree.variance[leaf][here]))
    estimate *= decoded.n / estimate.sum()
    return make_leaves(decoded.grid, level, tree.index[leaf], estimate, float(decoded.n))


def _posterior(z: Array, s: Array) -> Array:
    from scipy.stats import norm

    empty, mean = 0.5, max(float(z[z > 0].mean()), 1.0)
    for _ in range(15):
        shift = (z - s * s / mean) / s
        spike = norm.pdf(z / s) / s
        slab = np.exp(np.minimum((s / mean) ** 2 / 2 - z / mean, 500)) / mean * norm.cdf(shift)
        nothing = empty * spike / np.maximum(empty * spike + (1 - empty) * slab, 1e-300)
        some = np.maximum(s * (shift + norm.pdf(shift) / np.maximum(norm.cdf(shift), 1e-12)), 0)
        empty = float(np.clip(nothing.mean(), 0.01, 0.99))
        mean = max(float(((1 - nothing) * some).sum() / max((1 - nothing).sum(), 1e-9)), 0.5)
    return (1 - nothing) * some


def neighbours(decoded: DecodedTree, weight: float = 0.5) -> Leaves:
    """Mass moved within families of leaves, towards what the surroundings say."""
    tree, leaves, node = decoded.tree, decoded.leaves, decoded.leaf_nodes
    family, size = tree.parent[node], tree.level.size

    def together(part: Array) -> Array:
        return np.bincount(family, part, size)[family]

    density = leaves.mass / leaves.area
    face, contact = _faces(leaves, density)
    around = np.where(contact > 0, face / np.where(contact > 0, contact, 1.0), density)
    prior = (2 * density + around.sum(0)) / 6 * leaves.area
    whole, every = together(leaves.mass), together(prior)
    share = prior / np.where(every > 0, every, 1.0)
    moves = (whole > 0) & (share > 0) & (share < 1)
    said, noise = tree.below[node], tree.variance[node]
    rho = np.zeros(said.size)
    for depth in np.unique(leaves.level):
        here = (leaves.level == depth) & moves
        rho[here] = unevenness(said[here], noise[here], whole[here], share[here])
    expected = np.maximum(share * (whole + rho * whole**2), 1e-9)
    v = 1 / (1 / noise + 1 / expected)
    found = np.where(moves, v * (said / noise + share * whole / expected), 0.0)
    v, held = np.where(moves, v, 0.0), together(np.where(moves, leaves.mass, 0.0))
    found = np.maximum(found + (held - together(found)) * v / np.maximum(together(v), 1e-300), 0.0)
    total = together(np.where(moves, found, 0.0))
    found = np.where(
        moves & (total > 0), found * held / np.where(total > 0, total, 1.0), leaves.mass
    )
    return replace(leaves, mass=(1 - weight) * leaves.mass + weight * found)


def pictures(at: Array, epsilon: float, seed: List[int]) -> Iterator[Tuple[str, Array]]:
    cells = count_cells(Grid(0.0, 0.0, 2.0**-ORDER, ORDER), *at.T)

    def read(noise: Callable[..., Any]) -> Any:
        return decode(publish(cells, epsilon, noise=noise))

    rng = np.random.default_rng
    decoded = read(seeded_noise(rng(seed)))
    usual = raster(decoded, LEVEL)
    yield "as it is", usual
    yield "as it is, again", raster(read(seeded_noise(rng([*seed, 1]))), LEVEL)
    yield "first split with a known sum", raster(read(known_sum(rng([*seed, 2]))), LEVEL)
    for factor in (2, 4):
        ladder = adaptive.thresholds

        def steeper(*given: Any, factor: int = factor, ladder: Any = ladder) -> Array:
            return ladder(*given) * np.r_[factor, np.ones(31)]

        with mock.patch.object(adaptive, "thresholds", steeper):
            found = raster(read(seeded_noise(rng([*seed, 3]))), LEVEL)
        yield f"dense parents only, {factor} times", found
    yield "two depths", (usual + raster_of_leaves(two_depths(decoded), LEVEL)) / 2
    mixed = (usual + raster_of_leaves(zero_inflated(decoded), LEVEL)) / 2
    yield "zero-inflated, always", mixed
    yield "zero-inflated, where rho is above 0.45", mixed if decoded.unevenness > SPIKY else usual
    yield "neighbours", raster_of_leaves(neighbours(decoded), LEVEL)


def one(task: Tuple[str, float, int]) -> Dict[str, Any]:
    name, epsilon, repeat = task
    seed = [int(1000 * epsilon), repeat, *name.encode()]
    rng = np.random.default_rng(seed)
    at = sample(name, rng)
    truth = datasets.raster(at, LEVEL)
    squares = metrics.random_squares(len(truth), 300, rng)
    around = metrics.data_rectangles(truth, 300, rng)
    return {
        "task": task,
        "errors": {
            title: [
                metrics.emd_sliced(truth, found, 16),
                metrics.range_error(truth, found, squares),
                metrics.range_error(truth, found, around),
                metrics.density_l1(truth, found),
                metrics.density_l2(truth, found),
            ]
            for title, found in pictures(at, epsilon, seed)
        },
    }


def summary(done: List[Dict[str, Any]], names: List[str]) -> Dict[str, List[float]]:
    """Geometric means over sets and epsilons of the ratios of mean errors."""
    cells: Dict[Any, List[Dict[str, List[float]]]] = {}
    for row in done:
        if row["task"][0] in names:
            cells.setdefault(tuple(row["task"][:2]), []).append(row["errors"])
    logs: Dict[str, List[Array]] = {}
    for rows in cells.values():
        # rules are drawn with other noise than the release as it is, so that has two draws
        usual = [row[title] for row in rows for title in ("as it is", "as it is, again")]
        for title in rows[0]:
            base = usual if title.startswith(("first", "dense")) else [r["as it is"] for r in rows]
            found = np.mean([row[title] for row in rows], axis=0)
            logs.setdefault(title, []).append(np.log(found / np.mean(base, axis=0)))
    return {title: np.exp(np.mean(some, axis=0)).tolist() for title, some in logs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float)
    given = parser.parse_args()
    every = [*datasets.names(), "forty places"]
    tasks = [list(task) for task in product(range(SEEDS), EPSILONS, every)]
    tasks = [[name, epsilon, repeat] for repeat, epsilon, name in tasks]
    done = carry_on(ROOT / "build" / "ideas.jsonl", tasks, one, given.minutes)
    kept: Dict[str, Any] = {"n": N, "releases": len(done), "measures": MEASURES}
    kept["chosen on"] = summary(done, list(CHOSEN_ON))
    kept["judged on"] = summary(done, [name for name in every if name not in CHOSEN_ON])
    kept["forty places"] = summary(done, ["forty places"])
    for part in ("chosen on", "judged on", "forty places"):
        print(part)
        for title, ratios in kept[part].items():
            print(f"  {title:40s}", *(f"{ratio:.3f}" for ratio in ratios))
    (ROOT / "benchmarks/results/ideas.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
