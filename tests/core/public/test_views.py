"""A release with axes: the rule, the file, and what is read from it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpsort_geo
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core import release_json
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError, NotVerifiedError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.slices import SlicedTally, count_slices, joint_slices, merge_slices
from dpsort_geo.core.private.views import count, publish
from dpsort_geo.core.public import axis_maps
from dpsort_geo.core.public.axis_maps import rake
from dpsort_geo.core.public.counts import count_within, zone_blocks
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.intervals import limits
from dpsort_geo.core.public.points import points, ranks
from dpsort_geo.core.public.prior import lean
from dpsort_geo.core.public.tree import gather
from dpsort_geo.core.public.within import inside_of
from dpsort_geo.core.release import Release
from dpsort_geo.core.rules.adaptive import AdaptiveCounts, walk, walk_forest
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.core.rules.budget import UNITS, path_units
from dpsort_geo.core.rules.time_axis import TimeAxis
from dpsort_geo.core.rules.views import block_count, project, shares
from tests.privacy.view_claims import belongs

GRID = Grid(0.0, 0.0, 1.0, 6)
MASKED = Grid(0.0, 0.0, 1.0, 6, np.array([[100, 1500], [1600, 1601], [2000, 4000]]))
TYPES = ["a", "b", "other"]
YEAR = TimeAxis("when", "2026-01-01", "2027-01-01")
KINDS = {
    "both": make_axes({"type": TYPES}, YEAR),
    "category": make_axes({"type": TYPES}),
    "time": make_axes(None, YEAR),
    "three": make_axes({"type": TYPES, "p": ["x", "y"], "q": ["1", "2"]}),
}
SQUARE = [np.array([[0, 0], [64, 0], [64, 64], [0, 64.0]])]
WEST = [np.array([[0, 0], [32, 0], [32, 64], [0, 64.0]])]


def records(n=20_000, seed=0):
    """Type a in the west, the others in the east; more in spring."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(TYPES, n, p=[0.5, 0.3, 0.2])
    x = np.where(kind == "a", rng.normal(15, 4, n), rng.normal(45, 5, n))
    day = np.where(rng.random(n) < 0.5, rng.integers(60, 150, n), rng.integers(0, 365, n))
    when = np.datetime64("2026-01-01") + day * np.timedelta64(1, "D")
    columns = {
        "type": kind, "when": when, "p": rng.choice(["x", "y"], n), "q": rng.integers(1, 3, n)
    }  # fmt: skip
    return x, rng.normal(30, 8, n), columns


def made(name="both", n=20_000, epsilon=1, grid=GRID, **options):
    x, y, columns = records(n)
    axes = KINDS[name]
    person = np.arange(n) // 3 if options.get("unit") == "person" else None
    cells = count(grid, x, y, person, axes, [columns[axis.name] for axis in axes])
    return publish(cells, epsilon, **options)


def quiet(numerator, denominator, size):
    return np.zeros(size, np.int64)


ALL = [
    ("both", {}),
    ("category", {}),
    ("time", {}),
    ("three", {}),
    ("both", {"neighbours": "add-remove"}),
    ("both", {"unit": "person"}),
    ("both", {"grid": MASKED}),
    ("both", {"n": 100_000, "epsilon": 3}),
    ("time", {"n": 100_000, "epsilon": 3}),
    ("both", {"n": 5, "epsilon": "0.1", "neighbours": "add-remove"}),
]


@pytest.mark.parametrize("name, options", ALL)
def test_a_release_with_axes_survives_its_json_verifies_and_follows_the_schema(name, options):
    jsonschema = pytest.importorskip("jsonschema")
    release = made(name, **options)
    text = release.to_json()
    again = Release.from_json(text)
    assert again == release and again.axes == KINDS[name] and again.to_json() == text
    assert release.verify()
    schema = Path(dpsort_geo.__file__).parent / "core" / "release.schema.json"
    jsonschema.validate(json.loads(text), json.loads(schema.read_text()))
    assert json.loads(text)["version"] == 2


@pytest.mark.parametrize("name, options", ALL)
def test_all_views_of_a_record_spend_the_whole_budget_and_no_more(name, options):
    release = made(name, **options)
    budget = path_units(release.neighbours)
    share = shares(release.axes, release.n, release.exact_epsilon, budget)
    assert sum(share) == budget and min(share) > 0
    nodes, order, sizes = release.measured, GRID.order, [axis.size for axis in release.axes]
    own = list(np.unravel_index(np.arange(np.prod(sizes)), sizes))
    first, last = (nodes.index + end << 2 * (order - nodes.level) for end in (0, 1))
    spent = np.zeros((own[0].size, 4**order + 1), np.int64)
    for view, part in np.unique(np.stack([nodes.view, nodes.slice]), axis=1).T.tolist():
        here = (nodes.view == view) & (nodes.slice == part)
        steps = np.zeros(4**order + 1, np.int64)
        np.add.at(steps, first[here], nodes.rate[here])
        np.add.at(steps, last[here], -nodes.rate[here])
        spent[belongs(release, view, part, own)] += np.cumsum(steps)
    spent = spent[:, release.grid.expand(np.arange(release.grid.n_cells))]
    assert (spent.min(), spent.max()) == (budget, budget)


def test_one_root_of_a_forest_is_the_walk_of_an_adaptive_release():
    rng = np.random.default_rng(3)
    answers = rng.integers(0, 400, 10**6)

    def answer(level, index, rate):
        return answers[index + 4**level]

    one = walk(GRID, 3000, Fraction(1), UNITS // 2, answer)
    share = np.array([UNITS // 2])
    from dpsort_geo.core.rules.adaptive import FIXED, thresholds

    mass = np.array([3000 * FIXED])
    deep = thresholds(3000, Fraction(1), UNITS // 2)
    two = walk_forest(GRID, mass, share, deep, answer, least=1)
    for name in ("level", "index", "rate", "value"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    three = walk_forest(GRID, mass.repeat(3), share.repeat(3), deep, answer, least=1)
    # every root asks for the children of its own at first
    assert set((three.index >> 2 * three.level).tolist()) == {0, 1, 2}


def test_the_map_of_all_points_is_that_of_a_release_without_axes_at_its_share():
    x, y, columns = records()
    axes = KINDS["both"]
    with_axes = made("both", noise=quiet)
    share = shares(axes, x.size, Fraction(1), path_units("replace"))[0]
    part = with_axes.measured.part(0)

    def answer(level, index, rate):
        span = np.int64(4 ** (GRID.order - level))
        return count_cells(GRID, x, y).counts_in(index * span, (index + 1) * span)

    alone = walk(GRID, x.size, Fraction(1), share, answer)
    for name in ("level", "index", "rate", "value"):
        assert np.array_equal(getattr(part, name), getattr(alone, name))


@pytest.mark.parametrize("name, options", ALL)
def test_slices_are_not_negative_and_add_up_to_the_map_of_all_points(name, options):
    release = made(name, **options)
    decoded = decode(release)
    whole = decoded.fine_leaves.mass
    for axis, declared in enumerate(release.axes):
        parts = [decoded.select({axis: [own]}).leaves.mass for own in range(declared.size)]
        assert min(part.min() for part in parts) >= 0
        np.testing.assert_allclose(np.sum(parts, axis=0), whole, rtol=1e-9, atol=1e-9)
    if len(release.axes) == 2:
        joint = [
            decoded.select({0: [a], 1: [b]}).leaves.mass
            for a in range(release.axes[0].size)
            for b in range(release.axes[1].size)
        ]
        np.testing.assert_allclose(np.sum(joint, axis=0), whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name, options", ALL)
def test_a_table_of_slices_adds_up_and_agrees_with_the_slices_one_by_one(name, options):
    release = made(name, **options)
    decoded = decode(release)
    zones = [SQUARE, WEST]
    blocks = zone_blocks(decoded, zones)
    axes = list(range(len(release.axes)))
    table = decoded.estimate_slices(blocks, 2, axes)
    size = max(release.size, 1)
    np.testing.assert_allclose(table.mass.sum(axis=1)[0], release.size, atol=1e-6 * size)
    sizes = [axis.size for axis in release.axes]
    for joint in {0, 1, int(np.prod(sizes)) - 1}:
        chosen = {axis: [int(own)] for axis, own in zip(axes, np.unravel_index(joint, sizes))}
        alone = decoded.select(chosen).estimate_in(blocks, 2)
        for part in ("mass", "noise", "cut"):
            np.testing.assert_allclose(getattr(alone, part), getattr(table, part)[:, joint])
        assert np.all(table.noise >= 0) and np.all(table.cut >= 0)


@pytest.mark.parametrize("name, options", ALL)
def test_published_points_are_those_without_axes_and_each_has_one_label_of_each_axis(name, options):
    release = made(name, **options)
    decoded = decode(release)
    total = replace(decoded, release=decoded.release)
    x, y = points(decoded)
    assert np.array_equal(x, points(total)[0]) and x.size == release.size
    labels = decoded.labels()
    for label, axis in zip(labels, release.axes):
        assert label.size == x.size
        each = np.bincount(label, minlength=axis.size)
        exact = [decoded.select({release.axes.index(axis): [i]}).cumulative.total
                 for i in range(axis.size)]  # fmt: skip
        # rounding is done within slices of the axes before
        assert np.abs(each - exact).max(initial=0) <= 1 + 3 * len(release.axes) ** 2


def test_without_noise_categories_and_times_are_where_they_are():
    x, y, columns = records(100_000)
    release = made("both", n=100_000, epsilon=3, noise=quiet)
    decoded = decode(release)
    estimate = decoded.estimate_slices(zone_blocks(decoded, [WEST]), 1, [0, 1]).mass.reshape(3, 12)
    month = columns["when"].astype("M8[M]").astype(int) % 12
    for row, kind in enumerate(TYPES):
        true = np.bincount(month[(x < 32) & (columns["type"] == kind)], minlength=12)
        np.testing.assert_allclose(estimate[row], true, atol=0.03 * 100_000 / 12)
    px, _ = points(decoded)
    what = decoded.labels()[0][ranks(decoded.n)]
    assert abs(np.mean(px[what == 0]) - 15) < 1 and abs(np.mean(px[what == 1]) - 45) < 1


def test_a_slice_is_read_like_any_release():
    decoded = decode(made("both", n=50_000))
    spring = decoded.select({0: [0], 1: [2, 3]})
    estimate, low, high = count_within(spring, [SQUARE, WEST])
    assert np.all((low <= estimate) & (estimate <= high))
    assert points(spring)[0].size == spring.n == round(float(estimate[0]))
    assert abs(spring.raster(5).sum() - estimate[0]) < 1e-6 * 50_000


@pytest.mark.parametrize("prior_is_right", [True, False])
def test_a_prior_helps_where_it_is_right_and_is_not_believed_where_it_is_wrong(prior_is_right):
    rng = np.random.default_rng(5)
    truth = np.round(1000 * rng.dirichlet(np.full(256, 0.3)) * 20)
    rate = np.full(256, UNITS // 64)
    release = made("category", n=20)
    noise = rng.laplace(0, 64, 256).round()
    counts = AdaptiveCounts(np.full(256, 4), np.arange(256), rate, (truth + noise).astype(np.int64))
    # the tree needs nodes in between, one or two levels apart
    middle = truth.reshape(16, 16).sum(axis=1)
    both = AdaptiveCounts(
        np.r_[np.full(16, 2), counts.level], np.r_[np.arange(16), counts.index],
        np.r_[rate[:16], rate], np.r_[middle.astype(np.int64), counts.value],
    )  # fmt: skip
    tree = gather(release, both)
    guess = truth + 0.5 if prior_is_right else rng.permutation(truth) + 0.5
    prior = np.r_[guess.sum(), guess.reshape(16, 16).sum(axis=1), guess]
    found = lean(tree, np.array([truth.sum()]), prior)
    error = np.abs(found.estimate[17:] - truth).sum()
    plain = np.abs(tree.below[17:] - truth).sum()
    np.testing.assert_allclose(found.estimate[17:].sum(), truth.sum())
    assert found.estimate.min() >= 0
    assert error < (0.5 if prior_is_right else 1.05) * plain


def test_tables_of_records_are_added_up_like_records():
    x, y, columns = records(1000)
    axes = KINDS["both"]
    joint = joint_slices(axes, [columns[axis.name] for axis in axes])
    whole = count_slices(GRID, axes, x, y, joint)
    tally = SlicedTally(GRID, axes)
    parts = []
    for start in range(0, 1000, 130):
        here = slice(start, start + 130)
        tally.add(x[here], y[here], joint[here])
        parts.append(count_slices(GRID, axes, x[here], y[here], joint[here]))
    for other in (tally.cells(), merge_slices(parts)):
        assert np.array_equal(whole.index, other.index) and np.array_equal(whole.count, other.count)
    assert whole.n == 1000 and "1" not in repr(whole)


def test_shares_follow_from_what_the_points_are_worth():
    budget = UNITS // 2

    def percent(name, n):
        return [
            round(100 * part / budget, 3) for part in shares(KINDS[name], n, Fraction(1), budget)
        ]

    assert percent("both", 1_439) == [67, 31, 2]  # n eps / 2 < 60 x 12: a bin drowns in noise
    assert percent("both", 1_440) == percent("both", 17_999) == [67, 28, 5]
    assert percent("both", 18_000) == [67, 27, 4, 2]  # n eps / 2 = 250 x 3 x 12
    assert percent("both", 49_999) == [67, 27, 4, 2]
    assert percent("both", 50_000) == [72, 22, 4, 2]  # n eps / 2 = 25,000: rich
    assert percent("category", 50_000) == [72, 28]
    assert percent("category", 1) == percent("time", 1) == [67, 33]
    assert percent("three", 1) == [67, 11, 11, 11]
    worth = 10 * 64 * 4
    assert block_count(12, worth - 1, Fraction(1), UNITS) == 2
    assert block_count(12, worth, Fraction(1), UNITS) == 4
    assert block_count(12, 10 * 64 * 12, Fraction(1), UNITS) == 12


def test_projection_onto_a_sum_is_the_shortest_way_in_whole_numbers():
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.integers(-50, 100, int(rng.integers(1, 9))).tolist()
        total = int(rng.integers(0, 200))
        found = project(values, total)
        assert min(found) >= 0 and 0 <= sum(found) - total < len(values)
        level = {v - f for v, f in zip(values, found) if f > 0}
        assert len(level) <= 1
        assert all(v <= max(level, default=v) for v, f in zip(values, found) if f == 0)


def test_raking_gives_shares_that_add_up():
    rng = np.random.default_rng(2)
    masses = rng.random((4, 9)) * (rng.random((4, 9)) > 0.3)
    masses[:, 3] = 0
    column = rng.random(9)
    row = np.array([0.4, 0.3, 0.2, 0.1]) * column.sum()
    share = rake(masses, column, row)
    np.testing.assert_allclose(share.sum(axis=0), 1)
    np.testing.assert_allclose(share @ column, row, rtol=0.3)


EDITS = {
    "rate": lambda part: part.__setitem__(50, part[50] + 1),
    "slice": lambda part: part.__setitem__(-1, 0),
    "view": lambda part: part.__setitem__(-1, 0),
    "index": lambda part: part.__setitem__(40, 3),
    "level": lambda part: part.__setitem__(40, 0),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_release_whose_questions_were_edited_does_not_verify(name):
    release = made("both")
    arrays = {key: np.array(part) for key, part in release.measured.arrays().items()}
    EDITS[name](arrays[name])
    edited = replace(release, measured=type(release.measured)(**arrays))
    with pytest.raises(NotVerifiedError):
        edited.verify()


def test_a_release_with_values_cut_off_or_other_axes_does_not_verify():
    release = made("both")
    short = {key: part[:-1] for key, part in release.measured.arrays().items()}
    with pytest.raises((NotVerifiedError, ValueError)):
        replace(release, measured=type(release.measured)(**short)).verify()
    with pytest.raises(NotVerifiedError):
        replace(release, axes=KINDS["three"]).verify()
    with pytest.raises(BadInputError):
        replace(release, axes=())
    with pytest.raises(BadInputError):
        replace(publish_adaptive(count_cells(GRID, [1.0], [2.0]), 1), axes=KINDS["time"])


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(shares=[1, 2, 3]),
        lambda document: document.update(version=1),
        lambda document: document["axes"][0].update(kind="secret"),
        lambda document: document["axes"][0].update(note="secret"),
        lambda document: document["axes"][0].update(values=["a", 7]),
        lambda document: document["axes"][1].update(every="1 blink"),
        lambda document: document["axes"][1].update(start="2026-01-01T00:00:00"),
        lambda document: document.update(axes="secret"),
        lambda document: document.pop("axes"),
    ],
)
def test_a_file_with_other_axes_or_shares_is_not_read(change):
    document = json.loads(made("both", n=100).to_json())
    document.pop("digest")
    change(document)
    with pytest.raises((BadInputError, NotVerifiedError)):
        Release.from_json(release_json.write(document)).verify()


def rhythms(apart, n=30_000):
    """Towns, every other one busy by night if set apart: how often limits of 10 and more hold."""
    rng = np.random.default_rng(12)
    town = rng.integers(0, 30, n)
    x, y = np.clip((rng.random((30, 2)) * 64)[town] + rng.normal(0, 3, (n, 2)), 0, 63.99).T
    wave = 0.8 * np.sin(np.arange(168) * 2 * np.pi / 24)
    wave = np.where(apart & (town % 2 == 1), -1, 1)[:, None] * wave + 1
    hour = (np.cumsum(wave, axis=1) / wave.sum(axis=1)[:, None] < rng.random((n, 1))).sum(axis=1)
    when = np.datetime64("2026-03-02T00") + hour * np.timedelta64(1, "h")
    axes = make_axes(None, TimeAxis("when", every="1 hour", cycle="week"))
    grid = Grid(0.0, 0.0, 0.25, 8)
    release = publish(count(grid, x, y, None, axes, [when]), 1, noise=seeded_noise(rng))
    edge = np.linspace(0, 64, 4)
    zones = [
        [np.array([[a, c], [b, c], [b, d], [a, d]])]
        for c, d in zip(edge[:-1], edge[1:])
        for a, b in zip(edge[:-1], edge[1:])
    ]
    decoded = decode(release)
    zone = (y * 3 / 64).astype(int) * 3 + (x * 3 / 64).astype(int)
    true = np.bincount(zone * 168 + hour, minlength=9 * 168).reshape(9, 168)
    found = decoded.estimate_slices(zone_blocks(decoded, zones), 9, [0])
    low, high = limits(release, found, 0.9)
    return float(((low <= true) & (true <= high))[true >= 10].mean())


def test_intervals_by_hour_hold_where_places_have_their_own_rhythm(monkeypatch):
    assert rhythms(apart=False) >= 0.85
    assert 0.85 <= rhythms(apart=True) <= 0.97
    monkeypatch.setattr(axis_maps, "UNKNOWN", 0.0)
    monkeypatch.setattr(axis_maps, "OWN_RHYTHM", 0.0)
    assert rhythms(apart=True) < 0.88


def test_a_release_with_axes_is_read_inside_a_boundary_given_afterwards():
    release = made("both", n=20_000)
    side = GRID.side
    half = np.array([[0, 0], [side / 2, 0], [side / 2, side], [0, side]])
    inside = inside_of(GRID, [half])
    there, everywhere = decode(release, inside=inside), decode(release)
    whole = there.fine_leaves.mass
    for axis, declared in enumerate(release.axes):
        parts = [there.select({axis: [own]}) for own in range(declared.size)]
        assert min(part.leaves.mass.min() for part in parts) >= 0
        assert np.allclose(sum(part.leaves.mass for part in parts), whole)
        x, _ = points(parts[0])
        assert x.size and x.max() <= side / 2
    assert there.estimate_slices(zone_blocks(there, [[half]]), 1, [0]).mass.sum() == pytest.approx(
        release.n, rel=1e-3
    )
    same = np.array([[0, 0], [side, 0], [side, side], [0, side]])
    again = decode(release, inside=inside_of(GRID, [same]))
    assert np.allclose(again.maps[0].share, everywhere.maps[0].share, atol=1e-6)
