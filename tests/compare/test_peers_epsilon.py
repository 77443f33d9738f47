"""What the peers with chosen cuts really spend, counted on transcripts.

A mechanism draws by answers: Laplace around an exact number, a choice with given odds, a coin with
a given chance. `Tape` records the answers on one raster, then deals out the same answers on a
neighbour and adds up how much less (or more) likely each was there. That sum is the privacy loss of
the transcript, exactly. Answers are also drawn far from the data, where the loss is largest.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

from dpsort_geo.compare import bisection, cuts, kdtrees

EPS = 1.0


class Tape:
    """A generator that writes down its answers, or deals them out again and counts the loss."""

    def __init__(self, seed: int, wild: float = 1.0) -> None:
        self.rng, self.wild = np.random.default_rng(seed), wild
        self.answers: list[np.ndarray] = []
        self.logs: list[float] = []
        self.at = 0
        self.loss: float | None = None

    def again(self) -> Tape:
        self.at, self.loss = 0, 0.0
        return self

    def _deal(self, new, log) -> np.ndarray:
        """``new`` draws an answer; ``log`` is the logarithm of an answer's density."""
        if self.loss is None:
            self.answers.append(new())
            self.logs.append(float(np.sum(log(self.answers[-1]))))
            return self.answers[-1]
        answer = self.answers[self.at]
        self.loss += float(np.sum(log(answer))) - self.logs[self.at]
        self.at += 1
        return answer

    def laplace(self, loc, scale, size=None):
        return self._deal(
            lambda: np.asarray(loc) + self.wild * self.rng.laplace(0, scale, size),
            lambda answer: -np.abs(answer - loc) / scale - np.log(2 * scale),
        )

    def choice(self, size, p):
        even = np.full(size, 1 / size) if self.wild > 1 else p
        return int(
            self._deal(
                lambda: np.array(self.rng.choice(size, p=even)),
                lambda answer: np.log(p[int(answer)]),
            )
        )

    def binomial(self, n, p):
        even = np.full(np.shape(p), 0.5) if self.wild > 1 else p
        return self._deal(
            lambda: self.rng.binomial(n, even),
            lambda answer: np.where(answer == 1, np.log(p), np.log1p(-p)),
        )


def neighbours(counts: np.ndarray, seed: int):
    """Rasters with one point moved, from every full cell (of many, six) to every other one."""
    full = np.random.default_rng(seed).permutation(np.flatnonzero(counts))[:6]
    for source, target in product(full, range(counts.size)):
        if source != target:
            moved = counts.copy()
            moved.flat[source] -= 1
            moved.flat[target] += 1
            yield moved


def worst_loss(mechanism, counts: np.ndarray, transcripts: int = 8) -> float:
    worst = 0.0
    for seed in range(transcripts):
        tape = Tape(seed, wild=1.0 if seed % 2 else 30.0)
        mechanism(counts, EPS, tape)
        for other in neighbours(counts, seed):
            mechanism(other, EPS, tape.again())
            assert tape.at == len(tape.answers)  # what is asked follows from the answers alone
            assert tape.loss is not None
            worst = max(worst, abs(tape.loss))
    return worst


def piles(n: int) -> list[np.ndarray]:
    """Small rasters, even and uneven, with as many points as the height of a tree depends on."""
    heap, row, even = np.zeros((4, 4)), np.zeros((4, 4)), np.full((4, 4), float(n // 16))
    heap[1, 2] = n - 2
    heap[3, 3] = 2
    row[0] = [n - 3, 1, 1, 1]
    return [heap, row, even]


PEERS = {
    "kd-tree": kdtrees.kd_tree,
    "HTF": kdtrees.htf,
    "HDPView": bisection.hdpview,
    "HDPView, as the authors divide": partial(bisection.hdpview, ratio=0.9),
}


@pytest.mark.parametrize("name", PEERS)
def test_no_transcript_of_a_peer_spends_more_than_its_epsilon(name):
    worst = max(worst_loss(PEERS[name], counts) for counts in piles(400))
    assert 0.1 * EPS < worst <= EPS * (1 + 1e-9)


def _overspending(name):
    """The same peers with one step too cheap."""
    if name == "cuts":
        return kdtrees.htf, (
            kdtrees,
            "choose",
            lambda rng, cost, rate: cuts.choose(rng, cost, 30 * rate),
        )
    if name == "medians":
        return partial(kdtrees.kd_tree, medians=0.6), (
            kdtrees, "choose", lambda rng, cost, rate: cuts.choose(rng, cost, 3 * rate),
        )  # fmt: skip
    return partial(bisection.hdpview, ratio=0.9), (bisection, "GAMMA", 9.0)


@pytest.mark.parametrize("name", ["cuts", "medians", "stopping"])
def test_a_peer_that_spends_too_much_is_found(name, monkeypatch):
    mechanism, (module, attribute, wrong) = _overspending(name)
    monkeypatch.setattr(module, attribute, wrong)
    assert max(worst_loss(mechanism, counts) for counts in piles(400)) > EPS


def test_one_point_more_moves_a_deviation_by_less_than_two():
    """All blocks of up to four cells with counts 0 to 3."""
    for cells in (2, 3, 4):
        for counts in product(range(4), repeat=cells):
            block = np.array([counts], float)
            for cell in range(cells):
                more = block.copy()
                more[0, cell] += 1
                moved = abs(cuts.deviation(more) - cuts.deviation(block))
                assert moved <= 2 * (1 - 1 / cells) + 1e-12
                if cells > 1:
                    after = np.abs(cuts.uneven_after(more, 1) - cuts.uneven_after(block, 1))
                    assert after.max() < 2


def test_a_part_is_never_less_even_than_the_whole():
    """What HDPView's bound on a path of decisions stands on."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        block = rng.integers(0, 9, (rng.integers(1, 5), rng.integers(2, 6))).astype(float)
        at = int(rng.integers(1, block.shape[1]))
        whole = cuts.deviation(block)
        assert cuts.deviation(block[:, :at]) <= whole + 1e-9
        assert cuts.deviation(block[:, at:]) <= whole + 1e-9


def test_the_cost_of_a_cut_is_what_both_parts_deviate():
    block = np.random.default_rng(4).integers(0, 5, (5, 7)).astype(float)
    for axis in (0, 1):
        lines = block if axis == 0 else block.T
        expected = [
            cuts.deviation(lines[:at]) + cuts.deviation(lines[at:]) for at in range(1, len(lines))
        ]
        assert cuts.uneven_after(block, axis) == pytest.approx(expected)


def test_hdpview_leaves_even_counts_in_larger_blocks_than_uneven_ones():
    even, uneven = np.full((16, 16), 50.0), np.zeros((16, 16))
    uneven[::2, ::2] = 200.0
    found = []
    for counts in (even, uneven):
        blocks = bisection.bisect(counts, 5.0, 0.2, np.random.default_rng(5))
        assert sum(block.area for block in blocks) == 256
        found.append(len(blocks))
    assert found[0] < 40 < found[1]
