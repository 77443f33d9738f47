"""Zones that are declared beforehand: what their table brings, and what a file with one must be."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core import release_json
from dpsort_geo.core.curve.declared import DeclaredZones, declare
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError, NotVerifiedError
from dpsort_geo.core.private import views
from dpsort_geo.core.public.counts import zone_blocks
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.release import Release
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.core.rules.time_axis import TimeAxis

GRID = Grid(0.0, 0.0, 1.0, 7)
AXES = make_axes(
    {"type": ["a", "b", "c"]}, TimeAxis("when", "2026-01-01", "2027-01-01", every="1 month")
)


def squares(many=4, side=128.0):
    edge = np.linspace(0, side, many + 1)
    return [
        [np.array([[a, c], [b, c], [b, d], [a, d]])]
        for c, d in zip(edge[:-1], edge[1:])
        for a, b in zip(edge[:-1], edge[1:])
    ]


def own_rhythm(n=60_000, seed=1):
    """Every square has its own months for every type, which no map of an axis can know."""
    rng = np.random.default_rng(seed)
    place = rng.dirichlet(np.full(16 * 36, 0.4))
    joint = rng.choice(16 * 36, n, p=place)
    zone, what, when = np.unravel_index(joint, (16, 3, 12))
    at = rng.uniform(0, 32, (2, n)) + 32 * np.stack([zone % 4, zone // 4])
    months = np.datetime64("2026-01-15") + 30 * when.astype("timedelta64[D]")
    truth = np.bincount(joint, minlength=16 * 36).reshape(16, 36)
    return at, [np.array(["a", "b", "c"])[what], months], truth


def published(zones, epsilon="2", seed=3, **terms):
    at, values, truth = own_rhythm()
    cells = views.count(GRID, *at, None, AXES, values)
    noise = seeded_noise(np.random.default_rng(seed))
    return views.publish(cells, epsilon, zones=zones, noise=noise, **terms), truth


def joint(release, rings, axes=(0, 1)):
    decoded = decode(release)
    return decoded.estimate_slices(zone_blocks(decoded, rings), len(rings), axes)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_counts_in_declared_zones_are_much_nearer_to_the_truth(neighbours):
    without, truth = published(None, neighbours=neighbours)
    with_table, _ = published(declare(squares(), GRID), neighbours=neighbours)
    with_table.verify()
    errors = [np.abs(joint(one, squares()).mass - truth).mean() for one in (without, with_table)]
    assert errors[1] < 0.5 * errors[0]


def test_slices_of_declared_zones_add_up_to_the_zone_and_are_not_negative():
    release, _ = published(declare(squares(), GRID))
    decoded = decode(release)
    blocks = zone_blocks(decoded, squares())
    every = decoded.estimate_in(blocks, 16).mass
    tables = [decoded.estimate_slices(blocks, 16, axes).mass for axes in ([0], [1], [0, 1])]
    for table in tables:
        assert table.min() >= 0
        np.testing.assert_allclose(table.sum(axis=1), every, rtol=1e-3)
    by_type = tables[2].reshape(16, 3, 12).sum(axis=2)
    np.testing.assert_allclose(by_type, tables[0], rtol=0.02, atol=1)


def test_zones_elsewhere_are_read_as_without_a_table():
    release, _ = published(declare(squares()[:8], GRID))
    decoded = decode(release)
    beyond = squares()[8:]
    blocks = zone_blocks(decoded, beyond)
    found = decoded.estimate_slices(blocks, 8, [0, 1])
    np.testing.assert_allclose(found.mass, decoded.from_maps(blocks, 8, [0, 1]).mass, atol=1e-6)


def test_half_of_a_declared_zone_and_the_other_half_are_the_zone():
    release, _ = published(declare(squares(), GRID))
    halves = squares(8)
    four = joint(release, [halves[0], halves[1], halves[8], halves[9]]).mass.sum(axis=0)
    whole = joint(release, squares()).mass[0]
    some = whole >= 20
    np.testing.assert_allclose(four[some], whole[some], rtol=0.02, atol=1)
    # no part is cut below nothing, which leaves a few points too many where there are next to none
    more = (four - whole)[~some]
    assert more.min() > -1 and more.max() < 3 * 3 * 2**0.5  # three times the noise of a cell


def test_a_table_that_noise_would_drown_is_not_asked():
    release, _ = published(declare(squares(), GRID), epsilon="0.01")
    assert not (release.measured.view == 4).any()
    release.verify()
    without, _ = published(None, epsilon="0.01")
    assert np.array_equal(release.measured.value, without.measured.value)


def test_a_file_with_declared_zones_is_read_again_and_says_so():
    release, _ = published(declare(squares(), GRID))
    text = release.to_json()
    again = Release.from_json(text)
    assert again == release and again.version == 3
    assert json.loads(text)["shares"][-1] == release.measured.rate[-1]
    assert sum(json.loads(text)["shares"]) == 1 << 29
    np.testing.assert_array_equal(joint(again, squares()).mass, joint(release, squares()).mass)


def test_a_file_whose_table_was_made_up_is_not_verified():
    release, _ = published(declare(squares(), GRID))
    document = json.loads(release.to_json())
    fewer = declare(squares()[:15], GRID)
    document["zones"] = {
        "edge": release_json.pack(fewer.edge), "zone": release_json.pack(fewer.zone),
    }  # fmt: skip
    del document["digest"]
    with pytest.raises(NotVerifiedError):
        Release.from_json(release_json.write(document)).verify()


@pytest.mark.parametrize(
    "edge, zone",
    [
        ([0, 4], [0, 2]),
        ([4, 0], [0, 1]),
        ([0, 64], [0, -1]),
        ([0, 4], [0, 0]),
        ([0], [-1]),
        ([], []),
    ],
)
def test_stretches_that_are_no_zones_are_refused(edge, zone):
    with pytest.raises(BadInputError):
        DeclaredZones(np.array(edge, np.int64), np.array(zone, np.int64), 3)


def test_zones_that_overlap_are_refused_and_slivers_go_to_the_first():
    one, two = squares(2)[:2]
    with pytest.raises(BadInputError, match="overlap"):
        declare([one, [one[0] + [20, 0]]], GRID)
    zones = declare([one, [two[0] - [1, 0]]], GRID)
    cell = GRID.curve_index(np.array([63.5, 64.5]), np.array([10.5, 10.5]))
    assert zones.holding(cell).tolist() == [0, 1]


def test_every_cell_of_declared_zones_is_in_the_blocks_of_its_zone_once():
    rng = np.random.default_rng(5)
    for order in (1, 2, 3, 4):
        zone = np.repeat(rng.integers(-1, 2, 4 ** (order - 1)), 4)
        zone[:3] = (0, -1, 1)
        edge = np.flatnonzero(np.diff(zone, prepend=-1))
        zones = DeclaredZones(edge, zone[edge], order)
        found = np.full(zone.size, -1)
        for number, level, index, _ in zip(*zones.blocks().parts):
            span = 4 ** (order - level)
            assert (found[index * span : (index + 1) * span] == -1).all()
            found[index * span : (index + 1) * span] = number
        assert np.array_equal(found, zone)


def test_a_mask_leaves_out_zones_without_an_allowed_cell():
    masked = Grid(0.0, 0.0, 1.0, 7, np.array([[0, 4**6]], np.int64))
    zones = declare(squares(2), masked)
    assert zones.size == 1
