"""Bugs that privacy software has had, put into ours on purpose: each is caught by a named test."""

from __future__ import annotations

import inspect
import sys
import types

import pytest
import test_claims as honest
from replay import SMALL

from dpsort_geo import hybrid as rule
from dpsort_geo import schedule
from dpsort_geo.publisher import adaptive, hybrid, size, sort


def mutate(monkeypatch, module, *edits):
    """Put ``new`` in the place of ``old`` in a module's source, wherever its functions are used."""
    source = inspect.getsource(module)
    for old, new in edits:
        assert source.count(old) == 1, f"the code that this bug is put into has changed: {old}"
        source = source.replace(old, new)
    mutant = types.ModuleType(module.__name__)
    mutant.__package__ = module.__package__
    exec(compile(source, "mutant", "exec"), mutant.__dict__)
    ours = [loaded for name, loaded in sys.modules.items() if name.startswith("dpsort_geo")]
    for name, value in vars(mutant).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            original = getattr(module, name, None)
            for loaded in ours:
                if original is not None and vars(loaded).get(name) is original:
                    monkeypatch.setattr(loaded, name, value)


NOISY_N = "n = n + int(noise(scale.numerator, scale.denominator, 1)[0])"
ADD_NOISE = "return true + noise(*scale, index.size)"
MUTANTS = {
    "forgotten factor 2 for replacement": (
        adaptive,
        [("budget = path_units(neighbours)", "budget = UNITS")],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_on_every_small_data_set(
            SMALL, 3, "1", "replace"
        ),
    ),
    "budget not reduced after a step": (
        schedule,
        [("(left[chosen] - share)[goes_on]", "left[chosen][goes_on]")],
        lambda: honest.test_rates_on_every_path_add_up_to_the_budget_and_never_more("1", "replace"),
    ),
    "budget not reduced after a step, seen without the file": (
        schedule,
        [("(left[chosen] - share)[goes_on]", "left[chosen][goes_on]")],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_when_several_steps_share_the_budget(
            "900"
        ),
    ),
    "no noise on empty nodes": (
        adaptive,
        [(ADD_NOISE, "return np.where(true > 0, true + noise(*scale, index.size), 0)")],
        lambda: honest.test_every_published_count_is_its_count_plus_its_noise("1", 1, "replace"),
    ),
    "noise not even drawn for empty nodes": (
        adaptive,
        [
            (ADD_NOISE, "return _answered(true, *scale, noise)"),
            (
                "def publish_adaptive(",
                "def _answered(true, top, bottom, noise):\n"
                "    seen = true > 0\n"
                "    true[seen] = true[seen] + noise(top, bottom[seen], sum(seen))\n"
                "    return true\n\n\ndef publish_adaptive(",
            ),
        ],
        lambda: honest.test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(
            "1", "replace"
        ),
    ),
    "depth from true counts": (
        adaptive,
        [
            (ADD_NOISE, "return true"),
            (
                "    return Release(",
                "    scale = units * UNITS * exact.denominator, nodes.rate * exact.numerator\n"
                "    noisy = nodes.value + noise(*scale, nodes.rate.size)\n"
                "    nodes = type(nodes)(nodes.level, nodes.index, nodes.rate, noisy)\n"
                "    return Release(",
            ),
        ],
        lambda: honest.test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(
            "1", "replace"
        ),
    ),
    "float budgets": (
        schedule,
        [
            ("share = left.copy()", "share = left.astype(float)"),
            (
                "left[of_this] * weight.denominator // weight.numerator",
                "left[of_this] * float(1 / weight)",
            ),
        ],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_when_several_steps_share_the_budget(
            "900"
        ),
    ),
    "noise cut at zero": (
        adaptive,
        [(ADD_NOISE, "return np.maximum(true + noise(*scale, index.size), 0)")],
        lambda: honest.test_every_published_count_is_its_count_plus_its_noise("1", 1, "replace"),
    ),
    "noise redrawn when the value would be negative": (
        adaptive,
        [
            (
                ADD_NOISE,
                "drawn = true + noise(*scale, index.size)\n"
                "        while (drawn < 0).any():\n"
                "            drawn = np.where(drawn < 0, true + noise(*scale, index.size), drawn)\n"
                "        return drawn",
            )
        ],
        lambda: honest.test_every_published_count_is_its_count_plus_its_noise("1", 1, "replace"),
    ),
    "exact n under add-remove": (
        size,
        [(NOISY_N, "noise(scale.numerator, scale.denominator, 1)")],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_on_every_small_data_set(
            SMALL, 3, "1", "add-remove"
        ),
    ),
    "exact n when the noisy one is zero": (
        size,
        [(NOISY_N, NOISY_N.replace("n + int", "max(n + int").replace("[0])", "[0]), 0) or n"))],
        lambda: honest.test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(
            "0.1", "add-remove"
        ),
    ),
    "groups that follow the exact n": (
        sort,
        [
            ("    groups = group_count(max(n, 0)", "    groups = group_count(exact_n"),
            ("    exact = exact_epsilon(", "    exact_n = cells.n\n    exact = exact_epsilon("),
        ],
        lambda: honest.test_sort_asks_the_same_of_any_data_that_gave_these_answers(
            10, "add-remove"
        ),
    ),
    "padding at the place of the first point": (
        sort,
        [("zero = cells.grid.expand(np.zeros(1, np.int64))", "zero = cells.index[:1]")],
        lambda: honest.test_sort_loss_is_at_most_epsilon_for_every_group_size(
            SMALL, 3, "add-remove"
        ),
    ),
    "noise 5 % too small": (
        adaptive,
        [(ADD_NOISE, "return true + noise(scale[0] * 95, scale[1] * 100, index.size)")],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_on_every_small_data_set(
            SMALL, 3, "1", "replace"
        ),
    ),
    "sort noise without the person factor": (
        sort,
        [("exact, neighbours, points_per_person)", "exact, neighbours, 1)")],
        lambda: honest.test_replacing_all_points_of_a_person_costs_at_most_epsilon(
            "sort", "replace"
        ),
    ),
    "bounds from the data": (
        adaptive,
        [
            (
                "    exact = exact_epsilon(epsilon)",
                "    from ..curve.grid import Grid\n"
                "    seen = cells.index[0], max(cells.index[-1], cells.index[0] + 1) + 1\n"
                "    grid = Grid(0.0, 0.0, 1.0, cells.grid.order, np.array([seen]))\n"
                "    cells = Cells(grid, cells.index, cells.count)\n"
                "    exact = exact_epsilon(epsilon)",
            )
        ],
        lambda: honest.test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(
            "1", "replace"
        ),
    ),
    "hybrid: forgotten factor 2 for replacement": (
        rule,
        [("    path = path_units(neighbours)\n", "    path = UNITS\n")],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "width-depth", 1, "replace"
        ),
    ),
    "hybrid: the bins forget that a replaced point leaves one and joins another": (
        rule,
        [("counts = int(path * (1 - SORT_SHARE))", "counts = 2 * int(path * (1 - SORT_SHARE))")],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "depth-width", 1, "replace"
        ),
    ),
    "hybrid: groups that follow the true count of a block": (
        hybrid,
        [("block_points(counts, n", "block_points(cells.counts_in(begin, end), n")],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "width-depth", 1, "replace"
        ),
    ),
    "hybrid: padding at the place of the last point": (
        hybrid,
        [
            (
                "cells.grid.expand(cells.grid.allowed_before(begin[padded]))",
                "cells.index[np.maximum(last[padded] - 1, 0)]",
            )
        ],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "width-depth", 1, "replace"
        ),
    ),
    "hybrid: noise on sums without the width of the block": (
        hybrid,
        [("scales(blocks.width[block] - 1,", "scales(np.ones_like(block),")],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "width-depth", 1, "replace"
        ),
    ),
    "hybrid: bins from the true sums": (
        hybrid,
        [("bin_edges(sums, sizes", "bin_edges(true, sizes")],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "depth-width", 1, "replace"
        ),
    ),
    "hybrid: exact n under add-remove": (
        size,
        [(NOISY_N, "noise(scale.numerator, scale.denominator, 1)")],
        lambda: honest.test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(
            "width-depth", 1, "add-remove"
        ),
    ),
    "hybrid: noise without the person factor": (
        hybrid,
        [("(1, share.counts, epsilon, points_per_person)", "(1, share.counts, epsilon, 1)")],
        lambda: honest.test_replacing_all_points_of_a_person_costs_at_most_epsilon_in_a_hybrid(
            "depth-width", "replace"
        ),
    ),
    "hybrid: counts cut at zero": (
        hybrid,
        [
            (
                "counts = cells.counts_in(begin, end) + noise(*scale, begin.size)",
                "counts = np.maximum(cells.counts_in(begin, end) + noise(*scale, begin.size), 0)",
            )
        ],
        lambda: honest.test_every_number_of_a_hybrid_is_its_truth_plus_its_noise(
            "width-depth", "replace"
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_this_bug_is_caught(name, monkeypatch):
    module, edits, claim = MUTANTS[name]
    mutate(monkeypatch, module, *edits)
    with pytest.raises(AssertionError):
        claim()


@pytest.mark.parametrize("name", MUTANTS)
def test_without_the_bug_the_same_test_passes(name):
    MUTANTS[name][2]()
