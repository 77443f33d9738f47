"""A release that sets categories apart: several trees, read as one map and as maps of slices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsort_geo.compare.metrics import emd_sliced
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import NotVerifiedError
from dpsort_geo.core.private.adaptive import publish as publish_alone
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.views import count, publish
from dpsort_geo.core.public.counts import count_within, zone_blocks
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.intervals import limits
from dpsort_geo.core.public.points import points
from dpsort_geo.core.public.within import inside_of
from dpsort_geo.core.rules import views as rule
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.core.rules.time_axis import TimeAxis

GRID = Grid(0.0, 0.0, 1.0, 7)
MASKED = Grid(0.0, 0.0, 1.0, 7, np.array([[400, 6000], [6400, 6401], [8000, 16000]]))
YEAR = TimeAxis("when", "2026-01-01", "2027-01-01")
KINDS = ["rare", "usual", "seldom", "odd", "new"]
AXES = make_axes({"type": KINDS}, YEAR)
WEST = [np.array([[0, 0], [64, 0], [64, 128], [0, 128.0]])]
ALL = [np.array([[0, 0], [128, 0], [128, 128], [0, 128.0]])]


def records(n=20_000, seed=0, share=0.75, second=0.25):
    """The usual type in two towns, each other in one of them; the second has a part of these."""
    rng = np.random.default_rng(seed)
    rest = (1 - share) * (1 - second) / 3
    kind = rng.choice(KINDS, n, p=[rest, share, (1 - share) * second, rest, rest])
    east = np.isin(kind, ["rare", "odd"]) | (kind == "usual") & (rng.random(n) < 0.4)
    at = np.where(east, 92, 34) + rng.normal(0, 6, n), rng.normal(60, 8, n)
    day = np.datetime64("2026-01-01") + rng.integers(0, 365, n) * np.timedelta64(1, "D")
    return at, [kind, day]


def made(n=20_000, epsilon=1, grid=GRID, axes=AXES, seed=1, share=0.75, second=0.25, **options):
    at, columns = records(n, share=share, second=second)
    person = np.arange(n) // 3 if options.get("unit") == "person" else None
    cells = count(grid, *at, person, axes, columns[: len(axes)])
    return publish(cells, epsilon, noise=seeded_noise(np.random.default_rng(seed)), **options)


CASES = [
    {},
    {"second": 0.7},
    {"second": 1.0, "neighbours": "add-remove"},
    {"second": 0.7, "epsilon": "0.01", "grid": MASKED},
    {"axes": AXES[:1]},
    {"neighbours": "add-remove"},
    {"unit": "person"},
    {"grid": MASKED},
    {"epsilon": "0.01"},
    {"n": 3, "epsilon": "0.1", "neighbours": "add-remove", "seed": 3},
]


@pytest.mark.parametrize("options", CASES)
def test_slices_add_up_to_all_points_and_none_is_negative(options):
    release = made(**options)
    assert release.verify()
    decoded = decode(release)
    whole, parts = decoded.fine_leaves.mass, [decoded.select({0: [kind]}) for kind in range(5)]
    assert decoded.cumulative.total == pytest.approx(max(release.n / decoded_units(release), 0))
    assert min(part.leaves.mass.min() for part in parts) >= 0
    assert sum(part.leaves.mass for part in parts) == pytest.approx(whole, abs=1e-6)
    table = decoded.estimate_slices(zone_blocks(decoded, [WEST]), 1, [0]).mass
    assert table.sum() == pytest.approx(
        decoded.estimate_in(zone_blocks(decoded, [WEST]), 1).mass[0], rel=1e-6, abs=1e-6
    )
    x, _ = points(decoded)
    assert x.size == decoded.n
    assert set(decoded.labels()[0].tolist()) <= {0, 1, 2, 3, 4}


def decoded_units(release):
    """What is counted: points, or persons."""
    return release.n / release.size if release.size else 1


@pytest.mark.parametrize("second, kinds", [(0.25, [1]), (0.7, [1, 2])])
def test_a_category_apart_is_known_as_well_as_if_it_were_alone(second, kinds):
    assert made(second=second).measured.apart(made(second=second)) == kinds
    (x, y), (kind, _) = records(second=second)
    number = kinds[-1]
    here = kind == KINDS[number]
    true = np.histogram2d(y[here], x[here], 32, [[0, 128]] * 2)[0]

    def error(picture):
        return emd_sliced(true, picture * true.sum() / picture.sum(), 16)

    def with_others(seed):
        return error(decode(made(seed=seed, second=second)).select({0: [number]}).raster(5))

    cells = count_cells(GRID, x[here], y[here])
    rngs = map(np.random.default_rng, range(40))
    alone = [raster(decode(publish_alone(cells, 1, noise=seeded_noise(rng))), 5) for rng in rngs]
    alone = np.mean([error(picture) for picture in alone])
    apart = np.mean([with_others(seed) for seed in range(40)])
    assert apart < 1.15 * alone
    with pytest.MonkeyPatch.context() as patch:  # as all categories are read where none is apart
        patch.setattr(rule, "set_apart", lambda mass, n: [])
        assert np.mean([with_others(seed) for seed in range(40)]) > 1.15 * apart


def test_of_two_categories_each_spends_nearly_all_of_epsilon_on_its_own_tree():
    at, (kind, _) = records()
    two = make_axes({"type": ["other", "usual"]})
    cells = count(GRID, *at, None, two, [np.where(kind == "usual", kind, "other")])
    release = publish(cells, 1, noise=seeded_noise(np.random.default_rng(1)))
    nodes = release.measured
    for group in (0, 1):
        spent = rule.most_spent(nodes.part(0, group))
        assert spent > 0.95 * rule.path_units("replace")
    assert not nodes.part(1, 2, 9).level.size  # nothing else is asked
    assert decode(release).select({0: [1]}).n + decode(release).select({0: [0]}).n == 20_000


def test_a_file_in_which_nobody_should_be_apart_does_not_verify():
    release = made()
    nodes = release.measured
    value = nodes.value.copy()
    value[np.flatnonzero((nodes.view == 1) & (nodes.level == 0))[:3]] = release.n // 3
    with pytest.raises(NotVerifiedError):
        replace(release, measured=replace(nodes, value=value)).verify()


@pytest.mark.parametrize(
    "said, apart, others",
    [
        ([5, 80, 5, 5, 5], [1], [0, 2, 3, 4]),
        ([5, 60, 20, 5, 10], [1, 2], [0, 3, 4]),
        ([1, 1, 46, 2, 50], [4, 2], [0, 1, 3]),
        ([20, 20, 20, 20, 20], [], []),
    ],
)
def test_who_is_apart_follows_from_the_noisy_totals_alone(said, apart, others):
    asked = []

    def answer(view, level, key, rate):
        totals = view.number == 1 and not level
        if not totals and (not asked or asked[-1][:2] != (view.number, view.first)):
            asked.append((view.number, view.first, [list(own) for own in under(view)]))
        return np.array(said) if totals else np.zeros(key.size, np.int64)

    def under(view):
        return [np.flatnonzero(view.owner == root) for root in range(view.roots)]

    rule.ask_views(GRID, AXES[:1], 100, rule.Fraction(1), 1 << 29, answer)
    groups = [[kind] for kind in apart] + [others or list(range(5))]
    each = (1, 5 if apart else 0, [[kind] for kind in groups[-1]])
    assert asked == [*((0, place, [own]) for place, own in enumerate(groups)), each]


def test_everything_is_counted_exactly_where_n_is_public():
    for options in ({}, {"grid": MASKED}):
        decoded = decode(made(**options))
        estimate, low, high = count_within(decoded, [ALL])
        assert (estimate, low, high) == (20_000, 20_000, 20_000)


def test_both_trees_are_read_within_a_boundary_and_against_a_map():
    release = made(epsilon="0.1")
    inside = inside_of(release.grid, WEST)
    decoded = decode(release, inside=inside)
    x, _ = points(decoded)
    assert x.max() <= 64 and decoded.cumulative.total == pytest.approx(20_000)
    before = decode(made(epsilon=3, seed=8)).cumulative
    (x, y), _ = records()
    true = np.histogram2d(y, x, 32, [[0, 128]] * 2)[0]
    errors = []
    for read in (lambda one: one, lambda one: one.read_against(before)):
        found = [read(decode(made(epsilon="0.1", seed=seed))).raster(5) for seed in range(4)]
        errors.append(np.mean([emd_sliced(true, one, 16) for one in found]))
    assert errors[1] < 0.9 * errors[0]


@pytest.mark.parametrize("seed", range(12))
def test_a_handful_of_points_under_much_noise_can_be_read(seed):
    rng = np.random.default_rng(seed)
    n, neighbours = int(rng.integers(1, 12)), ["replace", "add-remove"][seed % 2]
    kinds = [["a", "b"], ["a", "b", "c", "d", "e"]][seed // 2 % 2]
    axes = make_axes({"type": kinds}, YEAR)
    day = np.full(n, np.datetime64("2026-05-01"))
    for again in range(12):
        cells = count(GRID, *rng.uniform(0, 128, (2, n)), None, axes, [rng.choice(kinds, n), day])
        noise = seeded_noise(np.random.default_rng([seed, again]))
        release = publish(cells, "0.05", noise=noise, neighbours=neighbours)
        decoded = decode(release)
        assert points(decoded)[0].size == decoded.n == release.size
        assert len(decoded.labels()) == 2
        blocks = zone_blocks(decoded, [WEST, ALL])
        for found in (decoded.estimate_in(blocks, 2), decoded.estimate_slices(blocks, 2, [0, 1])):
            assert np.isfinite(found.mass).all() and found.mass.min() >= 0
            assert np.isfinite(found.noise).all() and found.noise.min() >= 0


@pytest.mark.parametrize("second", [0.25, 0.7])
def test_errors_of_the_categories_apart_and_of_the_others_are_independent(second):
    found = [decode(made(seed=seed, second=second)) for seed in range(60)]
    place = [np.array([[0, 0], [48, 0], [48, 60], [0, 60.0]])]
    masses = np.array(
        [one.estimate_slices(zone_blocks(one, [place]), 1, [0]).mass[0] for one in found]
    )
    # of 60 pairs with correlation 0 one in a million is beyond 0.6
    assert abs(np.corrcoef(masses[:, 1], masses[:, 2])[0, 1]) < 0.6
    assert found[0].slice_correlation(0, [1], [2]) == 0
    others = 4 if second < 0.5 else 3
    assert found[0].slice_correlation(0, [0], [3]) == pytest.approx(-1 / (others - 1))
    assert found[0].slice_correlation(1, [0], [1]) == pytest.approx(-1 / 11)


def test_intervals_of_categories_hold():
    held, cells = 0, 0
    (x, y), (kind, _) = records()
    edge = np.arange(0, 129, 16.0)
    squares = [
        [np.array([[a, c], [a + 16, c], [a + 16, c + 16], [a, c + 16]])]
        for c in edge[:-1]
        for a in edge[:-1]
    ]
    zone = (np.clip(y, 0, 127) // 16 * 8 + np.clip(x, 0, 127) // 16).astype(int)
    from dpsort_geo.core.public.intervals import limits

    for seed in range(10):
        release = made(seed=seed)
        decoded = decode(release)
        table = decoded.estimate_slices(zone_blocks(decoded, squares), 64, [0])
        low, high = limits(release, table, 0.9)
        for number, name in enumerate(KINDS):
            true = np.bincount(zone[kind == name], minlength=64)
            some = true > 0
            held += int(((low[:, number] <= true) & (true <= high[:, number]))[some].sum())
            cells += int(some.sum())
    # of about 1,000 cells; nominal 90 %, and never below 80
    assert cells > 500 and held / cells > 0.8


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("rare", [(20,), (5, 5, 5)], ids=["one other", "three others"])
def test_a_rare_category_beside_one_apart_is_never_said_to_be_surely_nothing(rare, neighbours):
    names = ("usual", *(f"rare {number}" for number in range(len(rare))))
    axes = make_axes({"type": list(names)}, None)
    kind = np.repeat(names, (3000 - sum(rare), *rare))
    held, nothing = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        cells = count(GRID, *rng.uniform(0, 128, (2, 3000)), None, axes, [kind])
        release = publish(cells, "0.1", neighbours=neighbours, noise=seeded_noise(rng))
        decoded = decode(release)
        found = decoded.estimate_slices(zone_blocks(decoded, [ALL]), 1, [0])
        low, high = (own[0, 1:] for own in limits(release, found, 0.9))
        held.append((low <= rare) & (rare <= high))
        nothing.append(high == 0)
    assert np.mean(held) >= 0.85
    assert not np.any(nothing)


def test_what_an_outline_cuts_of_several_trees_errs_together():
    decoded = decode(made())
    blocks = zone_blocks(decoded, [[WEST[0] * [0.55, 1.0]]])
    parts = [tree.estimate_in(blocks, 1).cut[0] for tree in decoded.read]
    assert len(parts) > 1 and min(parts) > 0
    together = decoded.estimate_in(blocks, 1).cut[0]
    assert np.sqrt(together) == pytest.approx(np.sqrt(parts).sum())
