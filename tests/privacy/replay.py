"""Force the outputs of a mechanism, and see what it asks: the auditor's main tool.

A mechanism publishes integers ``truth + noise(numerator, denominator, size)``. `Replay` takes the
place of the noise: the sum becomes the output that the auditor wants, and the truth and the rate
(denominator / numerator) are written down. Given one list of outputs, two data sets can then be
compared exactly, with no statistics: the mechanism must ask both with the same rates, and the
logarithm of the likelihood ratio of those outputs is at most the sum of |difference of truths| x
rate, a bound that some outputs attain.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.cells import from_index


@dataclass
class Replay:
    """Noise that makes the outputs come out as told: a list of values, one for each number asked.

    When the list is used up, ``invent(truths, rates)`` makes the next outputs. ``count`` is how
    many points or persons there are.
    """

    outputs: list = field(default_factory=list)
    invent: object = None
    count: int = 0
    truths: list = field(default_factory=list)
    rates: list = field(default_factory=list)
    said: list = field(default_factory=list)

    def __call__(self, numerator, denominator, size=None):
        shape = () if size is None else (size,) if np.isscalar(size) else tuple(size)
        numerator, denominator = (
            np.broadcast_to(np.asarray(part), shape).reshape(-1).tolist()
            for part in (numerator, denominator)
        )
        for part in numerator + denominator:
            assert type(part) is int and part > 0, "a scale is made of positive whole numbers"
        return Pending(self, [Fraction(d, m) for m, d in zip(numerator, denominator)], shape)

    def answer(self, truth, rates, shape):
        truth = np.broadcast_to(np.asarray(truth), shape)
        flat = [int(value) for value in truth.reshape(-1)]
        start = len(self.said)
        values = self.outputs[start : start + len(flat)]
        if len(values) < len(flat):
            assert self.invent is not None, "more was asked than the recorded outputs hold"
            rest = slice(len(values), None)
            values = values + self.invent(flat[rest], rates[rest])
        self.truths += flat
        self.rates += rates
        self.said += values
        return np.array(values, np.int64).reshape(shape) if shape else values[0]


class Pending:
    """Noise that is not yet added to anything; numpy leaves the addition to it."""

    __array_ufunc__ = None

    def __init__(self, replay, rates, shape):
        self.replay, self.rates, self.shape = replay, rates, shape

    def __radd__(self, truth):
        return self.replay.answer(truth, self.rates, self.shape)

    __add__ = __radd__

    def __getitem__(self, key):
        assert self.shape == (1,) and key == 0, "one number at a time"
        return Pending(self.replay, self.rates, ())

    def __int__(self):
        # ``n + int(noise)`` hides the truth from us; it must be the count that we know.
        return self.replay.answer(self.replay.count, self.rates, ()) - self.replay.count


def wild(seed, spread=1.0, bias=0.0, lift=0):
    """Outputs around the truth, as far off as the noise is (times ``spread``), shifted by bias.

    ``lift`` adds up to so many points: noise that would be a miracle when epsilon is large, but
    the bound has to hold for every output.
    """
    rng = np.random.default_rng(seed)

    def invent(truths, rates):
        scale = np.array([float(1 / rate) for rate in rates])
        off = rng.laplace(0.0, 1.0, len(truths)) * scale * spread + bias * scale
        off += rng.integers(0, lift + 1, len(truths))
        return [int(truth + round(shift)) for truth, shift in zip(truths, off)]

    return invent


def table(grid, positions):
    """Cell counts of points given by their cells."""
    return from_index(grid, grid.expand(np.array(sorted(positions), np.int64)))


def datasets(n_cells, n):
    """Every data set of n points in so many cells, as sorted tuples of cells."""
    return list(itertools.combinations_with_replacement(range(n_cells), n))


def replacements(sets):
    """Pairs (i, j) of data sets that differ by the replacement of one point, each pair once."""
    number = {one: i for i, one in enumerate(sets)}
    cells = sorted({cell for one in sets for cell in one})
    pairs = set()
    for i, one in enumerate(sets):
        for k in range(len(one)):
            rest = one[:k] + one[k + 1 :]
            for cell in cells:
                j = number[tuple(sorted((*rest, cell)))]
                if i < j:
                    pairs.add((i, j))
    return np.array(sorted(pairs))


def additions(sets, larger):
    """Pairs (i, len(sets) + j): data set i of ``sets`` and j of ``larger``, one point more."""
    number = {one: len(sets) + j for j, one in enumerate(larger)}
    cells = sorted({cell for one in larger for cell in one})
    pairs = {(i, number[tuple(sorted((*one, c)))]) for i, one in enumerate(sets) for c in cells}
    return np.array(sorted(pairs))


def worst_loss(publish, tables, pairs, invent, source=0, units=1):
    """Largest log-likelihood ratio over the pairs, for the outputs that ``invent`` makes.

    The outputs are made on data set ``source`` and then forced onto all the others. Fails when
    any data set is asked something else, or publishes something else, than the first. ``units``
    is how much a point or person counts in the tables.
    """
    first = Replay(invent=invent, count=tables[source].n // units)
    told = publish(tables[source], first).to_json()
    truths = np.empty((len(tables), len(first.said)), np.int64)
    for row, cells in enumerate(tables):
        again = Replay(outputs=first.said, count=cells.n // units)
        said = publish(cells, again).to_json()
        assert again.rates == first.rates, "the questions depend on the private points"
        assert said == told, "something besides the noisy answers depends on the private points"
        truths[row] = again.truths
    moved = np.abs(truths[pairs[:, 0]] - truths[pairs[:, 1]])
    common = math.lcm(*(rate.denominator for rate in first.rates))
    weight = np.array([int(rate * common) for rate in first.rates], object)
    return max(Fraction(int(loss), common) for loss in set(moved.astype(object) @ weight))


SMALL = Grid(0.0, 0.0, 1.0, 1)
MIDDLE = Grid(0.0, 0.0, 1.0, 2)
MASKED = Grid(0.0, 0.0, 1.0, 2, np.array([[1, 4], [6, 9], [13, 14]], np.int64))
DEEP = Grid(0.0, 0.0, 1.0, 3)
