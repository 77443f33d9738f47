"""Bugs that privacy software has had, put into ours on purpose: each is caught by a named test."""

from __future__ import annotations

import inspect
import sys
import types

import pytest

from dpsort_geo.core.private import adaptive, draw, hybrid, noisy_n, sort
from dpsort_geo.core.rules import adaptive as schedule
from dpsort_geo.core.rules import hybrid as rule
from tests.privacy import test_claims as honest
from tests.privacy.replay import SMALL


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
ADD_NOISE = "return true + terms.noise(*scale, true.size)"
MUTANTS = {
    "forgotten factor 2 for replacement": (
        adaptive,
        [("path_units(terms.neighbours)", "2 * path_units(terms.neighbours)")],
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
        draw,
        [(ADD_NOISE, "return np.where(true > 0, true + terms.noise(*scale, true.size), 0)")],
        lambda: honest.test_every_published_count_is_its_count_plus_its_noise("1", 1, "replace"),
    ),
    "noise not even drawn for empty nodes": (
        draw,
        [
            (ADD_NOISE, "return _answered(true, *scale, terms.noise)"),
            (
                "def add_noise(",
                "def _answered(true, top, bottom, noise):\n"
                "    seen = true > 0\n"
                "    true[seen] = true[seen] + noise(top, bottom[seen], sum(seen))\n"
                "    return true\n\n\ndef add_noise(",
            ),
        ],
        lambda: honest.test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(
            "1", "replace"
        ),
    ),
    "depth from true counts": (
        adaptive,
        [
            (
                "return add_noise(cells.counts_in(index * span, (index + 1) * span), rate, terms)",
                "return cells.counts_in(index * span, (index + 1) * span)",
            ),
            (
                "    return walk(grid, terms.n, terms.epsilon, budget, answer, terms.units)",
                "    nodes = walk(grid, terms.n, terms.epsilon, budget, answer, terms.units)\n"
                "    noisy = add_noise(nodes.value, nodes.rate, terms)\n"
                "    return type(nodes)(nodes.level, nodes.index, nodes.rate, noisy)",
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
        draw,
        [(ADD_NOISE, "return np.maximum(true + terms.noise(*scale, true.size), 0)")],
        lambda: honest.test_every_published_count_is_its_count_plus_its_noise("1", 1, "replace"),
    ),
    "noise redrawn when the value would be negative": (
        draw,
        [
            (
                ADD_NOISE,
                "def again():\n"
                "        return true + terms.noise(*scale, true.size)\n\n"
                "    drawn = again()\n"
                "    while (drawn < 0).any():\n"
                "        drawn = np.where(drawn < 0, again(), drawn)\n"
                "    return drawn",
            )
        ],
        lambda: honest.test_every_published_count_is_its_count_plus_its_noise("1", 1, "replace"),
    ),
    "exact n under add-remove": (
        noisy_n,
        [(NOISY_N, "noise(scale.numerator, scale.denominator, 1)")],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_on_every_small_data_set(
            SMALL, 3, "1", "add-remove"
        ),
    ),
    "exact n when the noisy one is zero": (
        noisy_n,
        [(NOISY_N, NOISY_N.replace("n + int", "max(n + int").replace("[0])", "[0]), 0) or n"))],
        lambda: honest.test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(
            "0.1", "add-remove"
        ),
    ),
    "groups that follow the exact n": (
        sort,
        [
            ("    groups = group_count(n,", "    groups = group_count(exact_n,"),
            ("    n, exact, per_person =", "    exact_n = cells.n\n    n, exact, per_person ="),
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
        draw,
        [(ADD_NOISE, "return true + terms.noise(scale[0] * 95, scale[1] * 100, true.size)")],
        lambda: honest.test_adaptive_loss_is_at_most_epsilon_on_every_small_data_set(
            SMALL, 3, "1", "replace"
        ),
    ),
    "sort noise without the person factor": (
        sort,
        [("exact, terms.neighbours, per_person)", "exact, terms.neighbours, 1)")],
        lambda: honest.test_replacing_all_points_of_a_person_costs_at_most_epsilon(
            "sort", "replace"
        ),
    ),
    "bounds from the data": (
        adaptive,
        [
            (
                "    return draw(cells,",
                "    from ..curve.grid import Grid\n"
                "    seen = cells.index[0], max(cells.index[-1], cells.index[0] + 1) + 1\n"
                "    grid = Grid(0.0, 0.0, 1.0, cells.grid.order, np.array([seen]))\n"
                "    cells = Cells(grid, cells.index, cells.count)\n"
                "    return draw(cells,",
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
        noisy_n,
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
                "    points = block_points(counts, n",
                "    counts = np.maximum(counts, 0)\n    points = block_points(counts, n",
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
