"""The two hybrids: what they promise, what they publish, and what is read from them."""

import dataclasses
import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.compare.metrics import emd_sliced
from dpsort_geo.core.curve import hilbert
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError, NotVerifiedError
from dpsort_geo.core.private.cells import count_cells, from_index
from dpsort_geo.core.private.hybrid import _resize
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.release import Release
from dpsort_geo.core.rules import hybrid
from dpsort_geo.core.rules.budget import COUNT_UNITS, NEIGHBOURS, UNITS, exact_epsilon, path_units

WHOLE = Grid(0.0, 0.0, 1.0, 1)
MIDDLE = Grid(0.0, 0.0, 1.0, 2)
#: at level 1 its blocks have 3, 2, 1 and 1 allowed cells
MASKED = Grid(0.0, 0.0, 1.0, 2, np.array([[1, 4], [6, 9], [13, 14]], np.int64))
TWO_BLOCKS = Grid(0.0, 0.0, 1.0, 2, np.array([[1, 4], [6, 8]], np.int64))
VARIANTS = {name: partial(publish_hybrid, variant=name) for name in hybrid.VARIANTS}
both = pytest.mark.parametrize("variant", VARIANTS)
relations = pytest.mark.parametrize("neighbours", NEIGHBOURS)


class Forced:
    """Noise that makes outputs come out as told, or invents them; notes what was asked."""

    __array_ufunc__ = None

    def __init__(self, outputs=None, rng=None, mood=(0.0, 0.0), n=0):
        self.outputs, self.rng, self.mood, self.n = outputs, rng, mood, n
        self.truth, self.rate, self.said = [], [], []

    def __call__(self, numerator, denominator, size):
        numerator, denominator = (
            np.broadcast_to(np.asarray(part, object), size) for part in (numerator, denominator)
        )
        self.asked = [Fraction(int(d), int(m)) for m, d in zip(numerator, denominator)]
        return self

    def __getitem__(self, _):
        return self

    def __int__(self):  # the noisy n: n + int(noise)
        return int((np.array([self.n]) + self)[0]) - self.n

    def __radd__(self, truth):
        truth = [int(value) for value in truth]
        assert len(truth) == len(self.asked)
        if self.outputs is not None:
            value = self.outputs[len(self.said) : len(self.said) + len(truth)]
            assert len(value) == len(truth), "more was asked than of another data set"
        else:
            scale = np.array([float(1 / rate) for rate in self.asked])
            spread, bias = self.mood
            value = np.rint(truth + scale * self.rng.laplace(bias, spread, len(truth)))
            value = [int(one) for one in value]
        self.truth, self.rate = self.truth + truth, self.rate + self.asked
        self.said = self.said + value
        return np.array(value, np.int64)


def content(release):
    values = [(name, one.tolist()) for name, one in release.measured.arrays().items()]
    return release.n, dict(release.measured.settings()), values


def losses(publish, tables, pairs, rng, mood, units=1):
    """Largest log-likelihood ratio of one transcript: sum of |difference of truths| * rate."""
    source = tables[int(rng.integers(len(tables)))]
    first = Forced(rng=rng, mood=mood, n=source.n // units)
    told = content(publish(source, first))
    truths = []
    for cells in tables:
        again = Forced(outputs=first.said, n=cells.n // units)
        assert content(publish(cells, again)) == told, "the file depends on the private points"
        assert again.rate == first.rate, "the questions depend on the private points"
        truths.append(again.truth)
    truths = np.array(truths, np.int64)
    common = math.lcm(*(rate.denominator for rate in first.rate))
    weight = np.array([int(rate * common) for rate in first.rate], object)
    moved = np.abs(truths[pairs[:, 0]] - truths[pairs[:, 1]])
    return max(Fraction(int(loss), common) for loss in set(moved.astype(object) @ weight))


def multisets(grid, n):
    return list(itertools.combinations_with_replacement(range(grid.n_cells), n))


def neighbouring(grid, n, neighbours):
    """Every data set of n (and n + 1) points, and every neighbouring pair of them."""
    sets = multisets(grid, n)
    if neighbours == "add-remove":
        larger = multisets(grid, n + 1)
        number = {one: len(sets) + j for j, one in enumerate(larger)}
        pairs = {
            (i, number[tuple(sorted((*one, cell)))])
            for i, one in enumerate(sets)
            for cell in range(grid.n_cells)
        }
        sets = sets + larger
    else:
        number = {one: i for i, one in enumerate(sets)}
        pairs = {
            (i, number[tuple(sorted((*one[:k], *one[k + 1 :], cell)))])
            for i, one in enumerate(sets)
            for k in range(n)
            for cell in range(grid.n_cells)
        }
    return [table(grid, one) for one in sets], np.array(sorted(pairs))


def table(grid, positions):
    return from_index(grid, grid.expand(np.array(positions, np.int64)))


def worst_of_many(publish, tables, pairs, transcripts, units=1, seed=5):
    rng = np.random.default_rng(seed)
    # spread and bias of the outputs in scales of the noise: rich, true, true to life, wild
    moods = itertools.cycle([(1, 4), (0, 0), (1, 0), (4, 0)])
    return max(losses(publish, tables, pairs, rng, next(moods), units) for _ in range(transcripts))


@both
@relations
@pytest.mark.parametrize(
    "grid, n, group_size, transcripts",
    [(WHOLE, 4, 1, 8), (MASKED, 4, 2, 4), (MASKED, 3, None, 8), (MIDDLE, 3, 1, 2)],
    ids=["4 cells", "masked", "masked, own size", "16 cells"],
)
def test_the_loss_of_every_neighbouring_pair_is_at_most_epsilon_and_attains_it(
    variant, neighbours, grid, n, group_size, transcripts, monkeypatch
):
    monkeypatch.setattr(hybrid, "LEAST_TO_SORT", 0)  # so that these few points are sorted
    tables, pairs = neighbouring(grid, n if neighbours == "replace" else n - 1, neighbours)

    def publish(cells, noise):
        return VARIANTS[variant](
            cells, "0.7", group_size=group_size, neighbours=neighbours, noise=noise
        )

    worst = worst_of_many(publish, tables, pairs, transcripts)
    assert worst == exact_epsilon("0.7")


@both
@relations
def test_the_loss_of_every_pair_of_persons_is_at_most_epsilon_and_attains_it(
    variant, neighbours, monkeypatch
):
    monkeypatch.setattr(hybrid, "LEAST_TO_SORT", 0)
    lives = multisets(TWO_BLOCKS, 2)
    if neighbours == "replace":
        homes = [(a, b) for a in lives for b in lives]
        near = [
            (i, j)
            for i, j in itertools.combinations(range(len(homes)), 2)
            if homes[i][0] == homes[j][0] or homes[i][1] == homes[j][1]
        ]
    else:
        homes = [(a,) for a in lives] + [(a, b) for a in lives for b in lives]
        near = [
            (i, j)
            for i in range(len(lives))
            for j in range(len(lives), len(homes))
            if lives[i] in homes[j]
        ]

    def publish(cells, noise):
        return VARIANTS[variant](
            cells, 3, group_size=1, neighbours=neighbours, unit="person", noise=noise
        )

    monkeypatch.setattr(hybrid.HybridCounts, "units_of", lambda *_: 2)
    tables = [table(TWO_BLOCKS, sum(home, ())) for home in homes]
    assert worst_of_many(publish, tables, np.array(near), 4, units=2) == 3


@both
def test_the_check_of_the_loss_sees_a_forgotten_factor_of_two(variant, monkeypatch):
    monkeypatch.setattr(hybrid, "LEAST_TO_SORT", 0)
    monkeypatch.setattr(hybrid, "path_units", lambda neighbours: UNITS)
    tables, pairs = neighbouring(MASKED, 3, "replace")
    worst = worst_of_many(
        lambda cells, noise: VARIANTS[variant](cells, 1, group_size=1, noise=noise),
        tables,
        pairs,
        6,
    )
    assert worst > 1


@relations
def test_the_shares_of_both_stages_are_epsilon(neighbours):
    touched = 2 if neighbours == "replace" else 1
    whole = UNITS if neighbours == "replace" else UNITS - COUNT_UNITS
    inside, outside = (hybrid.shares(variant, neighbours) for variant in (0, 1))
    assert inside.counts + inside.sums == path_units(neighbours)
    assert touched * (inside.counts + inside.sums) == whole
    assert touched * outside.counts + outside.sums == whole


class Tape:
    """Noise that remembers every draw."""

    def __init__(self, seed):
        self.rng, self.drawn = np.random.default_rng(seed), []

    def __call__(self, numerator, denominator, size):
        scale = np.asarray(numerator, float) / np.asarray(denominator, float)
        drawn = np.rint(self.rng.laplace(size=size) * scale).astype(np.int64)
        self.drawn += drawn.tolist()
        return drawn


def clustered(grid, n, seed=0):
    rng = np.random.default_rng(seed)
    side = grid.side
    return count_cells(
        grid,
        grid.x0 + side * np.r_[rng.normal(0.3, 0.03, n // 2), rng.random(n - n // 2)],
        grid.y0 + side * np.r_[rng.normal(0.6, 0.05, n // 2), rng.random(n - n // 2)],
    )


LAND = Grid(0.0, 0.0, 1.0, 5, np.array([[10, 700], [800, 801], [1000, 1024]]))


def sizes_by_hand(points, sums):
    return [len(part) for part in np.array_split(np.arange(points), sums)]


def padded(points, size, zero):
    """The size largest of the points and endless zeros."""
    return ([zero] * max(size - len(points), 0) + sorted(points))[max(len(points) - size, 0) :]


@relations
@pytest.mark.parametrize("grid", [LAND, Grid(0.0, 0.0, 1.0, 5)], ids=["masked", "whole"])
def test_width_depth_publishes_counts_and_padded_sums_plus_the_tape(grid, neighbours):
    cells, tape = clustered(grid, 900), Tape(1)
    release = VARIANTS["width-depth"](cells, 20, neighbours=neighbours, noise=tape)
    drawn = list(tape.drawn)
    if neighbours == "add-remove":
        assert release.n == 900 + drawn.pop(0)
    index = np.repeat(cells.index, cells.count)
    blocks = hybrid.coarse_blocks(grid, release.n, Fraction(20), neighbours)
    _, points, groups = release.measured.blocks(release)
    counts, sums = (release.measured.arrays()[name].tolist() for name in ("counts", "sums"))
    assert (groups > 0).sum() >= 3 and len(drawn) == len(counts) + len(sums)
    expected = []
    for b, node in enumerate(blocks.index):
        own = index[index >> 2 * (grid.order - blocks.level) == node]
        assert counts[b] == own.size + drawn[b]
        assert points[b] == min(max(counts[b], 0), release.size)
        place = (grid.compress(own) - blocks.start[b]).tolist()
        sequence = padded(place, int(points[b]), 0)
        for size in sizes_by_hand(len(sequence), groups[b]) if groups[b] else []:
            expected.append(sum(sequence[:size]))
            sequence = sequence[size:]
    assert sums == [total + k for total, k in zip(expected, drawn[len(counts) :])]


@relations
@pytest.mark.parametrize("grid", [LAND, Grid(0.0, 0.0, 1.0, 5)], ids=["masked", "whole"])
def test_depth_width_publishes_sums_and_counts_of_bins_plus_the_tape(grid, neighbours):
    cells, tape = clustered(grid, 900), Tape(2)
    release = VARIANTS["depth-width"](cells, 2, neighbours=neighbours, noise=tape)
    drawn = list(tape.drawn)
    if neighbours == "add-remove":
        assert release.n == 900 + drawn.pop(0)
    place = grid.compress(np.repeat(cells.index, cells.count))
    counts, sums = (release.measured.arrays()[name].tolist() for name in ("counts", "sums"))
    sequence = padded(place.tolist(), release.size, 0)
    edge = np.cumsum([0, *sizes_by_hand(len(sequence), len(sums))])
    by_hand = [sum(sequence[a:b]) for a, b in zip(edge[:-1], edge[1:])]
    assert sums == [total + k for total, k in zip(by_hand, drawn)]
    edges = release.measured.edges(release)
    assert edges[0] == 0 and edges[-1] == grid.n_cells and (np.diff(edges) > 0).all()
    expected = np.histogram(place, edges)[0] + drawn[len(sums) :]
    assert counts == expected.tolist()


@given(
    st.lists(st.integers(0, 15), max_size=8), st.lists(st.integers(0, 6), min_size=4, max_size=4)
)
def test_blocks_are_padded_with_their_first_cell_or_lose_their_smallest(places, size):
    begin = np.arange(4) * 4
    kept = _resize(table(MIDDLE, places), begin, begin + 4, np.array(size))
    expected = [
        place
        for b in range(4)
        for place in padded([one for one in places if one // 4 == b], size[b], 4 * b)
    ]
    assert np.repeat(kept.index, kept.count).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(-(10**7), 10**7), max_size=30),
    st.integers(0, 500),
    st.integers(2, 10**5),
    st.fractions(Fraction(1, 2), 50),
)
def test_bins_cover_the_curve_whatever_the_sums(sums, more, n_cells, least):
    sizes = np.sort(np.full(len(sums), 3) + np.arange(len(sums)) * more % 7)[::-1]
    edges = hybrid.bin_edges(np.array(sums, np.int64), sizes, n_cells, least)
    assert edges[0] == 0 and edges[-1] == n_cells and (np.diff(edges) > 0).all()
    assert edges.size - 2 <= len(sums) + int(sizes.sum()) / least


def test_the_coarse_level_follows_n_and_epsilon_and_stays_between_its_limits():
    whole = Grid(0.0, 0.0, 1.0, 8)
    corner = Grid(0.0, 0.0, 1.0, 8, np.array([[0, 4096]]))

    def level(n, epsilon, grid=whole, neighbours="replace"):
        return hybrid.coarse_blocks(grid, n, Fraction(epsilon), neighbours).level

    assert level(1, "0.01") == level(-5, 1, neighbours="add-remove") == 1
    assert level(10**15, 1) == 7
    assert level(10**15, 1, WHOLE) == 1
    assert level(40_000, "0.5") == level(20_000, 1)
    assert level(40_000, 1) == level(10_000, 1) + 1
    assert level(10_000, "0.1", corner) == level(10_000, "0.1") + 2
    assert hybrid.coarse_blocks(corner, 1000, Fraction(1), "replace").width.sum() == 4096


@both
@relations
@pytest.mark.parametrize("grid", [LAND, Grid(3.0, -2.0, 0.5, 6)], ids=["masked", "whole"])
def test_with_nearly_no_noise_the_data_comes_back(variant, neighbours, grid, seeded):
    cells = clustered(grid, 2000)
    release = VARIANTS[variant](cells, 1000, neighbours=neighbours, noise=seeded(3))
    f = decode(release).cumulative
    true = np.concatenate(
        [[0], np.cumsum(np.bincount(grid.compress(cells.index), cells.count, grid.n_cells))]
    )
    assert f.mass[0] == 0 and (np.diff(f.mass) >= 0).all() and (np.diff(f.place) >= 0).all()
    assert f.total == release.size
    error = np.abs(f.before(np.arange(grid.n_cells + 1.0)) - true)
    assert error.mean() < 0.003 * 2000


@both
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "3"])
def test_f_ends_at_n_and_never_falls(variant, neighbours, epsilon, seeded):
    for seed in range(4):
        cells = clustered(LAND, 60, seed)
        noise = seeded(seed)
        release = VARIANTS[variant](cells, epsilon, neighbours=neighbours, noise=noise)
        f = decode(release).cumulative
        assert f.total == release.size and f.mass[0] == 0 and (np.diff(f.mass) >= 0).all()
        assert f.place[0] == 0 and f.place[-1] == LAND.n_cells and (np.diff(f.place) >= 0).all()
        assert release.verify() and not release.private


@both
def test_a_noisy_n_below_one_is_an_empty_release(variant):
    low = [-1000]

    def noise(numerator, denominator, size):
        return np.array([low.pop()]) if low else np.zeros(size, np.int64)

    release = VARIANTS[variant](clustered(LAND, 50), 1, neighbours="add-remove", noise=noise)
    assert release.n == -950 and release.verify() and decode(release).cumulative.total == 0


def test_both_hybrids_move_clustered_points_less_far_than_sort_does(seeded):
    grid = Grid(0.0, 0.0, 1.0, 8)
    rng = np.random.default_rng(1)
    cells = count_cells(grid, rng.normal(70, 10, 5000), rng.normal(150, 10, 5000))
    true = np.zeros((64, 64))
    i, j = hilbert.decode(cells.index, 8)
    np.add.at(true, (j // 4, i // 4), cells.count)

    def error(publish):
        releases = [publish(cells, 1, noise=seeded(seed)) for seed in range(5)]
        return np.mean([emd_sliced(true, raster(decode(one), 6), 8) for one in releases])

    assert max(error(publish) for publish in VARIANTS.values()) < 0.5 * error(publish_sorted)


@both
@relations
@pytest.mark.parametrize("persons", [False, True])
def test_a_hybrid_survives_its_json_and_verifies(variant, neighbours, persons):
    cells = clustered(LAND, 1000)
    unit = "person" if persons else "point"
    release = VARIANTS[variant](cells, "2.5", neighbours=neighbours, unit=unit)
    again = Release.from_json(release.to_json())
    assert again.to_json() == release.to_json() and again.private
    assert again.unit == ("person" if persons else "point")
    assert len(again.verify()) >= 4
    assert np.array_equal(decode(again).cumulative.mass, decode(release).cumulative.mass)


@both
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "2"}, {"n": 40}, {"neighbours": "add-remove"}, {"unit": "person"},
        {"settings": {"variant": 2}}, {"settings": {"points_per_person": 2}},
        {"settings": {"group_size": -1}}, {"settings": {"group_size": 3}},
        {"settings": {"count_units": UNITS // 2}}, {"settings": {"sum_units": UNITS}},
        {"measurements": {"counts": slice(1, None)}},
        {"measurements": {"sums": slice(1, None)}}, {"grid": Grid(0.0, 0.0, 1.0, 3)},
    ],
    ids=str,
)  # fmt: skip
def test_a_hybrid_that_was_edited_does_not_verify_and_is_not_decoded(variant, change):
    release = VARIANTS[variant](clustered(LAND, 2000), 5)
    measured = release.measured
    if "settings" in change:
        change = {"measured": dataclasses.replace(measured, **change["settings"])}
    if "measurements" in change:
        name, part = next(iter(change["measurements"].items()))
        change = {
            "measured": dataclasses.replace(measured, **{name: getattr(measured, name)[part]})
        }
    edited = dataclasses.replace(release, **change)
    with pytest.raises(NotVerifiedError):
        edited.verify()
    with pytest.raises(NotVerifiedError):
        decode(edited)


def test_the_variants_of_one_release_cannot_be_exchanged():
    release = publish_hybrid(clustered(LAND, 2000), 5)
    with pytest.raises(NotVerifiedError):
        other = dataclasses.replace(release.measured, variant=1)
        dataclasses.replace(release, measured=other).verify()


@pytest.mark.parametrize(
    "options, word",
    [
        ({"variant": "depth"}, "variant"), ({"group_size": 0}, "at least 1"),
        ({"group_size": "paper"}, "whole number"), ({"epsilon": 0}, "Epsilon"),
        ({"neighbours": "remove"}, "neighbour"), ({"unit": "person"}, "points"),
    ],
)  # fmt: skip
def test_what_cannot_be_published_is_refused_in_one_sentence(options, word):
    with pytest.raises(BadInputError, match=word):
        publish_hybrid(clustered(LAND, 50), **{"epsilon": 1, **options})


@both
def test_the_deepest_grid_stays_exact(variant):
    grid = Grid(0.0, 0.0, 1e-4, 26)
    rng = np.random.default_rng(0)
    cells = count_cells(grid, *(grid.side * rng.random((2, 3000))))
    release = VARIANTS[variant](cells, 1)
    assert release.verify() and decode(release).cumulative.total == 3000
