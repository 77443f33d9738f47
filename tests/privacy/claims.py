"""The claims of docs/proofs.md as checks. Each fails with AssertionError, or says how many cases.

The tests run them small, `audit.py` runs them large, and the mutants show that they can fail.
Mechanisms are looked up by name at the time of the call, so that a mutant is what gets checked.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from dpsort_geo.core.private import adaptive, hybrid, sort
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.rules import budget
from dpsort_geo.core.rules.budget import UNITS, exact_epsilon, path_units
from tests.persons import count_person_points, count_persons
from tests.privacy.replay import Replay, additions, datasets, replacements, table, wild, worst_loss

#: how the forced outputs are made: true to life, no noise, wild, all poor, all rich, absurdly rich
MOODS = ((1.0, 0.0), (0.0, 0.0), (6.0, 0.0), (1.0, -8.0), (1.0, 8.0), (1.0, 0.0, 40))


def as_adaptive(epsilon, neighbours="replace", unit="point"):
    return lambda cells, noise: adaptive.publish(
        cells, epsilon, neighbours=neighbours, unit=unit, noise=noise
    )


def as_sort(epsilon, neighbours="replace", group_size=None, unit="point"):
    return lambda cells, noise: sort.publish(
        cells, epsilon, neighbours=neighbours, unit=unit, group_size=group_size, noise=noise
    )


def as_hybrid(epsilon, variant, neighbours="replace", group_size=None, unit="point"):
    return lambda cells, noise: hybrid.publish(
        cells, epsilon, variant=variant, neighbours=neighbours, unit=unit, group_size=group_size,
        noise=noise,
    )  # fmt: skip


def exhaustive(publish, grid, n, epsilon, neighbours, transcripts, seed=0, attained=True):
    """Every data set of n points, every neighbour, so many transcripts: the loss is epsilon.

    Never more for any outputs, and no less for the worst pair: the bound is attained (which a
    hybrid with too few points for its second stage does not, so that it need not be asked for).
    """
    sets = datasets(grid.n_cells, n)
    if neighbours == "replace":
        pairs = replacements(sets)
    else:
        larger = datasets(grid.n_cells, n + 1)
        pairs, sets = additions(sets, larger), sets + larger
    tables = [table(grid, one) for one in sets]
    return _all_below(publish, tables, pairs, epsilon, transcripts, seed, attained=attained)


def person_exhaustive(kind, grid, points, epsilon, neighbours, transcripts, seed=0):
    """Up to two persons with up to ``points`` points each, each replaced by (or added to) another.

    ``kind`` is "adaptive", "sort" or a variant of the hybrid.
    """
    lives = [life for size in range(1, points + 1) for life in datasets(grid.n_cells, size)]
    if neighbours == "replace":
        homes = [(a, b) for a in lives for b in lives]
        near = [(i, j) for i, j in itertools.combinations(range(len(homes)), 2)
                if homes[i][0] == homes[j][0] or homes[i][1] == homes[j][1]]  # fmt: skip
    else:
        homes = [(a,) for a in lives] + [(a, b) for a in lives for b in lives]
        near = [(i, j) for i in range(len(lives)) for j in range(len(lives), len(homes))
                if lives[i] in homes[j]]  # fmt: skip
    count = count_persons if kind == "adaptive" else count_person_points
    tables = [
        count(grid, *grid.centres(np.array(sum(home, ()))), np.repeat(
            np.arange(len(home)), [len(life) for life in home]))
        for home in homes
    ]  # fmt: skip
    if kind == "adaptive":
        publish, units = as_adaptive(epsilon, neighbours, "person"), budget.PERSON_UNITS
    else:
        units = budget.PERSON_POINTS
        publish = (
            as_sort(epsilon, neighbours, 1, "person")
            if kind == "sort"
            else as_hybrid(epsilon, kind, neighbours, 1, "person")
        )
    return _all_below(publish, tables, np.array(near), epsilon, transcripts, seed, units)


def _all_below(publish, tables, pairs, epsilon, transcripts, seed, units=1, attained=True):
    exact = exact_epsilon(epsilon)
    worst = Fraction(0)
    rng = np.random.default_rng(seed)
    for turn in range(transcripts):
        invent = wild(int(rng.integers(2**32)), *MOODS[turn % len(MOODS)])
        source = int(rng.integers(len(tables)))
        loss = worst_loss(publish, tables, pairs, invent, source, units)
        assert loss <= exact, f"the loss is {float(loss):.6g}, more than {float(exact):.6g}"
        worst = max(worst, loss)
    assert worst == exact or not attained, (
        f"the loss is {float(worst):.6g} at most: noise is wasted"
    )
    return len(pairs) * transcripts


def non_interference(publish, tables, seed=0, units=1):
    """Outputs recorded on one data set, forced onto others: the same questions, the same file."""
    cases = 0
    for turn, mood in enumerate(MOODS):
        first = Replay(invent=wild(seed + turn, *mood), count=tables[0].n // units)
        told = publish(tables[0], first).to_json()
        for other in tables[1:]:
            again = Replay(outputs=first.said, count=other.n // units)
            said = publish(other, again).to_json()
            assert again.rates == first.rates, "the questions depend on the private points"
            assert said == told, "something besides the answers depends on the private points"
            cases += len(again.said)
    return cases


class Tape:
    """Noise from a fixed tape that remembers every draw."""

    def __init__(self, seed, spread=1.0):
        self.rng = np.random.default_rng(seed)
        self.spread = spread
        self.drawn = []
        self.rates = []

    def __call__(self, numerator, denominator, size=None):
        shape = () if size is None else size
        scale = np.asarray(numerator, float) / np.asarray(denominator, float)
        drawn = np.rint(self.rng.laplace(0, 1, shape) * scale * self.spread).astype(np.int64)
        self.drawn.extend(np.atleast_1d(drawn).tolist())
        scales = np.broadcast_to(np.asarray(numerator, object), drawn.shape)
        rates = np.broadcast_to(np.asarray(denominator, object), drawn.shape)
        self.rates.extend(Fraction(int(d), int(m)) for m, d in
                          zip(np.atleast_1d(scales), np.atleast_1d(rates)))  # fmt: skip
        return drawn


def adaptive_tape(grid, x, y, epsilon, neighbours, seed=0, spread=1.0):
    """Every published count is the count by hand plus its number on the tape, none left out."""
    tape = Tape(seed, spread)
    release = adaptive.publish(count_cells(grid, x, y), epsilon, neighbours=neighbours, noise=tape)
    index = grid.curve_index(x, y)
    nodes = release.measured.arrays()
    depth = 2 * (grid.order - nodes["level"])
    by_hand = [int(np.sum(index >> d == i)) for d, i in zip(depth, nodes["index"])]
    published = nodes["value"].tolist()
    if neighbours == "add-remove":
        by_hand, published = [x.size, *by_hand], [release.n, *published]
    expected = [count + k for count, k in zip(by_hand, tape.drawn)]
    assert len(tape.drawn) == len(published), "noise was drawn that is not in the release"
    assert published == expected, "a published value is not its count plus its noise"
    rates = [exact_epsilon(epsilon) * int(rate) / UNITS for rate in nodes["rate"]]
    assert tape.rates[-len(rates) :] == rates, "the noise has another rate than the release says"
    return len(published)


def sort_tape(grid, x, y, epsilon, neighbours, group_size, seed=0):
    """Every published sum is the sum by hand plus its number on the tape, padding included."""
    tape = Tape(seed)
    release = sort.publish(
        count_cells(grid, x, y), epsilon, group_size=group_size, neighbours=neighbours, noise=tape
    )
    drawn = list(tape.drawn)
    points = sorted(grid.positions(x, y).tolist())
    if neighbours == "add-remove":
        assert release.n == len(points) + drawn.pop(0)
        size = max(release.n, 0)
        points = ([0] * max(size - len(points), 0) + points)[max(len(points) - size, 0) :]
    assert len(points) == release.size
    sums = release.measured.arrays()["sums"].tolist()
    edges = np.cumsum(
        [0, *(len(part) for part in np.array_split(np.arange(len(points)), max(len(sums), 1)))]
    )
    by_hand = [sum(points[a:b]) for a, b in zip(edges[:-1], edges[1:])][: len(sums)]
    assert sums == [total + k for total, k in zip(by_hand, drawn)]
    assert len(drawn) == len(sums)
    return len(sums)


def hybrid_tape(grid, x, y, epsilon, variant, neighbours, group_size, seed=0):
    """Every count and every sum of a hybrid is the one by hand plus its number on the tape."""
    tape = Tape(seed)
    cells = count_cells(grid, x, y)
    release = hybrid.publish(
        cells, epsilon, variant=variant, group_size=group_size, neighbours=neighbours, noise=tape
    )
    counts, sums = (release.measured.arrays()[name].tolist() for name in ("counts", "sums"))
    points = np.sort(grid.positions(x, y))
    if variant == "width-depth":
        blocks, sizes, groups = release.measured.blocks(release)
        stop = blocks.start + blocks.width
        held = [points[(points >= a) & (points < b)] - a for a, b in zip(blocks.start, stop)]
        by_hand = [len(own) for own in held]
        for own, size, number in zip(held, sizes, groups):
            by_hand += _sums_by_hand(own.tolist(), int(size), int(number))
        published = counts + sums
    else:
        edges = release.measured.edges(release)
        by_hand = _sums_by_hand(points.tolist(), release.size, len(sums))
        by_hand += np.histogram(points, [*edges[:-1], edges[-1] - 0.5])[0].tolist()
        published = sums + counts
    if neighbours == "add-remove":
        by_hand, published = [x.size, *by_hand], [release.n, *published]
    assert len(tape.drawn) == len(published), "noise was drawn that is not in the release"
    expected = [true + k for true, k in zip(by_hand, tape.drawn)]
    assert published == expected, "a published value is not its truth plus its noise"
    return len(published)


def _sums_by_hand(points, size, groups):
    """Sums of so many balanced groups of the ``size`` largest of the points and endless zeros."""
    if not groups:
        return []
    kept = ([0] * max(size - len(points), 0) + points)[max(len(points) - size, 0) :]
    return [int(part.sum()) for part in np.array_split(np.array(kept, np.int64), groups)]


def budgets_on_paths(release):
    """On every path of a release the integer rates add up to at most the path's budget."""
    grid, nodes = release.grid, release.measured.arrays()
    span = np.int64(4) ** (grid.order - nodes["level"])
    steps = np.zeros(4**grid.order + 1, np.int64)
    np.add.at(steps, nodes["index"] * span, nodes["rate"])
    np.add.at(steps, (nodes["index"] + 1) * span, -nodes["rate"])
    spent = np.cumsum(steps[:-1])[grid.expand(np.arange(grid.n_cells))]
    budget = path_units(release.neighbours)
    assert nodes["rate"].dtype == np.int64 and nodes["rate"].min() > 0
    assert spent.max() <= budget, "a path spends more than it has"
    assert spent.min() == budget, "a path does not spend what it has"
    return grid.n_cells
