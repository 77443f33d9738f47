"""The deterministic claims about releases with axes, and the bugs that they catch."""

from __future__ import annotations

import ast
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpsort_geo.core.private import slices
from dpsort_geo.core.private import views as private_views
from dpsort_geo.core.rules import views as rule
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.core.rules.budget import UNITS
from dpsort_geo.core.rules.time_axis import TimeAxis
from tests.privacy.claims import non_interference
from tests.privacy.replay import MASKED, MIDDLE, SMALL
from tests.privacy.test_claims import CITY, RELATIONS, city, constant
from tests.privacy.test_mutants import mutate
from tests.privacy.view_claims import (
    BOTH,
    KINDS,
    as_views,
    exhaustive,
    joint_cells,
    person_exhaustive,
    table,
    tape,
    zones_of,
)

WEEK = make_axes(
    {"type": ["a", "b", "c", "d", "other"]}, TimeAxis("when", every="1 day", cycle="week")
)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name, n", [("both", 1), ("category", 3), ("time", 2), ("three", 1)])
def test_views_lose_at_most_epsilon_on_every_small_data_set(name, n, neighbours):
    exhaustive(KINDS[name], SMALL, n, "1", neighbours, 6 if neighbours == "replace" else 3)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["1", "40", "900"])
@pytest.mark.parametrize("name, n", [("three types", 2), ("four types", 2), ("five types", 1)])
def test_categories_apart_from_the_others_cost_at_most_epsilon(name, n, epsilon, neighbours):
    """A neighbour may come to a category apart, leave it, or make another one that."""
    transcripts = 6 if neighbours == "replace" else 3
    exhaustive(KINDS[name], SMALL, n, epsilon, neighbours, transcripts)


@pytest.mark.parametrize("epsilon", ["30", "900"])
def test_views_lose_at_most_epsilon_when_forests_are_deep(epsilon):
    exhaustive(BOTH, MIDDLE, 1, epsilon, "replace", 6)
    exhaustive(KINDS["category"], MASKED, 2, epsilon, "replace", 6)


def test_views_with_the_table_of_category_and_time_lose_at_most_epsilon():
    assert len(rule.shares(BOTH, 3, 900, 1 << 29)) == 4
    exhaustive(BOTH, SMALL, 3, "900", "replace", 2)


@pytest.mark.parametrize("name, bins, n", [("both", 2, 1), ("time", 3, 2)])
def test_forests_of_blocks_of_time_lose_at_most_epsilon(name, bins, n, monkeypatch):
    """Blocks need more points than can be enumerated, so here they are worth next to nothing."""
    monkeypatch.setattr(rule, "NODES_A_BLOCK", Fraction(1, 10**6))
    assert rule.block_count(bins, n, Fraction(1), UNITS // 1000) == bins
    exhaustive(KINDS[name], SMALL, n, "1", "replace", 6)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name, n", [("both", 1), ("category", 2), ("time", 1)])
def test_views_with_a_table_of_declared_zones_lose_at_most_epsilon(name, n, neighbours):
    for zones in ([0, 0, 1, -1], [0, 1, 0, 2]):
        declared = zones_of(SMALL, zones)
        assert rule.zone_units(declared.size, KINDS[name], n, Fraction(90), UNITS // 2)
        exhaustive(KINDS[name], SMALL, n, "90", neighbours, 4, zones=declared)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_a_person_in_many_declared_zones_costs_at_most_epsilon(neighbours):
    person_exhaustive(BOTH, SMALL, 2, "90", neighbours, 2, zones=zones_of(SMALL, [0, 0, 1, -1]))


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["1", "300"])
def test_replacing_all_records_of_a_person_costs_at_most_epsilon_in_views(epsilon, neighbours):
    person_exhaustive(BOTH, SMALL, 2, epsilon, neighbours, 6)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_views_ask_the_same_of_any_data_that_gave_these_answers(epsilon, neighbours):
    rng = np.random.default_rng(4)
    x, y = city()
    joint = rng.integers(0, 35, x.size)
    last = joint_cells(CITY, WEEK) - 1
    tables = [
        slices.count_slices(CITY, WEEK, x, y, joint),
        slices.count_slices(CITY, WEEK, x, y, joint[::-1]),
        table(CITY, WEEK, [0] * x.size),
        table(CITY, WEEK, [last] * x.size),
    ]
    if neighbours == "add-remove":
        tables += [table(CITY, WEEK, [7]), table(CITY, WEEK, [last] * 10**5)]
    non_interference(as_views(epsilon, neighbours), tables)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_whether_a_table_of_zones_is_asked_follows_from_n_alone(neighbours):
    x, y = city()
    zones = zones_of(CITY, np.arange(4**CITY.order) // 4**4)
    joint = np.random.default_rng(4).integers(0, 35, x.size)
    tables = [slices.count_slices(CITY, WEEK, x, y, own) for own in (joint, 0 * joint)]
    if neighbours == "add-remove":
        tables += [table(CITY, WEEK, [7]), table(CITY, WEEK, [7] * 10**5)]
    for epsilon in ("0.01", "2", "30"):
        non_interference(as_views(epsilon, neighbours, zones=zones), tables)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_every_count_of_a_declared_zone_is_its_count_plus_its_noise(neighbours):
    rng = np.random.default_rng(6)
    x, y = city(1500)
    values = [rng.choice(["b", "c"], x.size), np.full(x.size, np.datetime64("2026-03-02T01"))]
    zones = zones_of(CITY, np.arange(4**CITY.order) // 4**4 - 1)
    found = tape(CITY, WEEK, x, y, values, "20", neighbours, zones=zones)
    assert found > zones.size * 35


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.5", "20"])
def test_every_published_count_of_a_view_is_its_count_plus_its_noise(epsilon, neighbours):
    rng = np.random.default_rng(6)
    x, y = city(1500)
    kind = rng.choice(["b", "c"], x.size)  # nobody is of type a
    when = np.datetime64("2026-03-02T01") + rng.integers(0, 3, x.size) * np.timedelta64(1, "D")
    tape(CITY, WEEK, x, y, [kind, when], epsilon, neighbours)
    tape(CITY, WEEK[1:], x, y, [when], epsilon, neighbours)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.5", "20"])
@pytest.mark.parametrize("shares", [[0.05, 0.05, 0.8, 0.05, 0.05], [0.02, 0.2, 0.7, 0.04, 0.04]])
def test_every_count_of_categories_apart_and_of_the_others_is_its_count_plus_its_noise(
    shares, epsilon, neighbours
):
    rng = np.random.default_rng(6)
    x, y = city(1500)
    kind = rng.choice(["a", "b", "c", "d", "other"], x.size, p=shares)
    when = np.full(x.size, np.datetime64("2026-03-02T01"))
    tape(CITY, WEEK, x, y, [kind, when], epsilon, neighbours)
    tape(CITY, WEEK[:1], x, y, [kind], epsilon, neighbours)


def test_views_publish_whole_numbers_of_any_size_and_say_when_they_are_not_private():
    cells = table(SMALL, BOTH, [0, 1, 2, 3])
    assert private_views.publish(cells, 1).private
    short, wide = (
        private_views.publish(cells, 1, noise=constant(3, kind)) for kind in (np.int64, object)
    )
    assert short.to_json() == wide.to_json() and not short.private
    most = private_views.publish(cells, 1, noise=constant(2**63 - 1, object)).measured
    assert max(most.value.tolist()) >= 2**63 and most.view.dtype == np.int64


def test_only_the_total_is_public_under_replace_and_nothing_exact_under_add_remove():
    """Besides the noisy values and n, two data sets with the same answers make the same file."""
    one = private_views.publish(table(SMALL, BOTH, [0, 1, 2]), 1, noise=constant(0, np.int64))
    text = json.loads(one.to_json())
    assert set(text) - {"digest"} == {
        "format", "version", "statement", "kind", "private", "epsilon", "neighbours", "unit", "n",
        "settings", "ledger", "axes", "shares", "grid", "crs", "working_crs", "measurements",
    }  # fmt: skip


CORE = Path(rule.__file__).parents[1]


@pytest.mark.parametrize("name", ["axes", "category_axis", "time_axis", "views"])
def test_the_rule_of_views_sees_answers_and_public_settings_only(name):
    tree = ast.parse((CORE / "rules" / f"{name}.py").read_text("utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [module for module in modules if "private" in module or "cells" in module]


ADD_NOISE = "return add_noise(true, rate, terms)"
EXACT = "return true + (add_noise(true, rate, terms) - true) * ({})"
LOSS = lambda: test_views_lose_at_most_epsilon_on_every_small_data_set("both", 1, "replace")  # noqa: E731
TABLE = test_views_with_the_table_of_category_and_time_lose_at_most_epsilon
TAPE = lambda: test_every_published_count_of_a_view_is_its_count_plus_its_noise("20", "replace")  # noqa: E731
THREE = lambda: test_views_lose_at_most_epsilon_on_every_small_data_set("three", 1, "replace")  # noqa: E731
APART = lambda: test_categories_apart_from_the_others_cost_at_most_epsilon(  # noqa: E731
    "four types", 2, "40", "replace"
)
APART_TAPE = lambda: (  # noqa: E731
    test_every_count_of_categories_apart_and_of_the_others_is_its_count_plus_its_noise(
        [0.02, 0.2, 0.7, 0.04, 0.04], "20", "replace"
    )
)
ASKS = lambda: test_views_ask_the_same_of_any_data_that_gave_these_answers("8", "replace")  # noqa: E731
ZONES = lambda: test_views_with_a_table_of_declared_zones_lose_at_most_epsilon(  # noqa: E731
    "both", 1, "replace"
)
ZONE_TAPE = lambda: test_every_count_of_a_declared_zone_is_its_count_plus_its_noise("replace")  # noqa: E731
MUTANTS = {
    "the table of zones forgotten in the path sum": (
        rule, [("    path = budget - own\n", "    path = budget\n")], ZONES,
    ),
    "no noise on the table of zones": (
        private_views, [(ADD_NOISE, EXACT.format("view.zones is None"))], ZONE_TAPE,
    ),
    "no noise on empty cells of the table of zones": (
        private_views,
        [(ADD_NOISE, EXACT.format("(view.zones is None) | (true > 0)"))],
        ZONE_TAPE,
    ),
    "a view forgotten in the path sum": (
        rule, [("return [budget - sum(units), *units]", "return [budget, *units]")], LOSS,
    ),
    "the table category x time forgotten in the path sum": (
        rule, [("[*(part - TABLE for part in percent), Fraction(2 * TABLE)]",
                "[*percent, Fraction(2 * TABLE)]"),
               ("return [budget - sum(units), *units]",
                "return [budget - sum(units[:2]), *units]")], TABLE,
    ),
    "totals of slices not taken from the budget of their forest": (
        rule, [("mass, rest = self._totals(view, first), own_share - first",
                "mass, rest = self._totals(view, first), own_share")], LOSS,
    ),
    "totals of a second axis not taken from the budget of its forest": (
        rule, [("[share - first] * view.roots", "[share] * view.roots")], THREE,
    ),
    "the tree of all others forgotten beside those of each": (
        rule, [("[whole - tree] * others.size", "[whole] * others.size")], APART,
    ),
    "a category apart asked again among the others": (
        rule, [("np.full(view.roots, -1)", "np.full(view.roots, 0)")], APART,
    ),
    "a category apart asked again in the tree of the next": (
        rule, [("np.where(group == number, 0, -1)", "np.where(group <= number, 0, -1)")], APART,
    ),
    "no noise on the tree of the first category apart": (
        private_views, [(ADD_NOISE, EXACT.format("(view.number > 0) | (view.first > 0)"))],
        APART_TAPE,
    ),
    "no noise on the tree of the next category apart": (
        private_views, [(ADD_NOISE, EXACT.format("(view.number > 0) | (view.first != 1)"))],
        APART_TAPE,
    ),
    "no noise on the tree of all others": (
        private_views, [(ADD_NOISE, EXACT.format("(view.number > 0) | (view.first < 2)"))],
        APART_TAPE,
    ),
    "a forest of time beside bins that took its whole share": (
        rule, [("            self.roots(view, share)\n            return\n",
                "            self.roots(view, share)\n")], LOSS,
    ),
    "per-category n taken exactly": (
        private_views,
        [(ADD_NOISE, EXACT.format("not view.number or level > 0"))],
        TAPE,
    ),
    "no noise on the roots of time": (
        private_views,
        [(ADD_NOISE, EXACT.format("view.number < 2 or level > 0"))],
        TAPE,
    ),
    "categories from the data": (
        slices,
        [("axis.slices(column)", "np.unique(column, return_inverse=True)[1].reshape(-1)")],
        TAPE,
    ),
    "time blocks from true counts": (
        private_views,
        [("view.owner, level, key)", "_blocks(cells, view), level, key)"),
         ("def publish(",
          "def _blocks(cells, view):\n"
          "    if not view.first:\n"
          "        return view.owner\n"
          "    joint, size = cells.index >> 2 * cells.grid.order, view.owner.size\n"
          "    held = np.bincount(joint, cells.count, size)\n"
          "    return np.minimum(np.cumsum(held) * view.roots // cells.n, view.roots - 1)"
          ".astype(np.int64)\n\n\ndef publish(")],
        TAPE,
    ),
    "depth of a forest from true counts": (
        private_views,
        [("def answer(view: View, level: int, key: Array, rate: Array) -> Array:",
          "def answer(view, level, key, rate):\n"
          "        if view.number and not level:\n"
          "            add_noise(np.zeros(key.size, np.int64), rate, terms)\n"
          "            return forests.counts((view.number, view.first), view.owner, level, key)")],
        ASKS,
    ),
    "raking to true totals": (
        private_views,
        [("return ask_views(*asked, zones)", "return _raked(cells, ask_views(*asked, zones))"),
         ("def publish(",
          "def _raked(cells, found):\n"
          "    value, roots = np.array(found.value), (found.view == 1) & (found.level == 0)\n"
          "    what = (cells.index >> 2 * cells.grid.order) // cells.axes[1].size\n"
          "    true = np.bincount(what, cells.count, cells.axes[0].size)\n"
          "    value[np.flatnonzero(roots)[:true.size]] = true\n"
          "    return type(found)(*list(found.arrays().values())[:5], value)\n\n\ndef publish(")],
        LOSS,
    ),
    "a person counts once in every slice": (
        slices,
        [("key, units = spread_units(tally.keys(x, y, joint), person, PERSON_UNITS)",
          "key = np.unique(tally.keys(x, y, joint))\n"
          "    units = np.full(key.size, PERSON_UNITS)")],
        lambda: test_replacing_all_records_of_a_person_costs_at_most_epsilon_in_views(
            "1", "add-remove"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_this_bug_in_views_is_caught(name, monkeypatch):
    module, edits, claim = MUTANTS[name]
    mutate(monkeypatch, module, *edits)
    with pytest.raises(AssertionError):
        claim()
