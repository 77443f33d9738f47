"""The deterministic claims: exhaustive, non-interference, tape, structure, whole numbers."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import dpsort_geo
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.noise import discrete_laplace
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.rules.budget import PERSON_UNITS, epsilon_text
from tests.persons import count_persons
from tests.privacy.claims import (
    Tape,
    adaptive_tape,
    as_adaptive,
    as_hybrid,
    as_sort,
    budgets_on_paths,
    exhaustive,
    hybrid_tape,
    non_interference,
    person_exhaustive,
    sort_tape,
)
from tests.privacy.replay import DEEP, MASKED, MIDDLE, SMALL, table

RELATIONS = ["replace", "add-remove"]
VARIANTS = ["width-depth", "depth-width"]
CITY = Grid(0.0, 0.0, 1.0, 6)


def city(n=3000, seed=1):
    """Two clusters and a sprinkle, some of it outside of the domain."""
    rng = np.random.default_rng(seed)
    x = np.r_[rng.normal(20, 3, n // 2), rng.normal(50, 1, n // 3), rng.uniform(-9, 80, n)][:n]
    y = np.r_[rng.normal(30, 4, n // 2), rng.normal(9, 1, n // 3), rng.uniform(-9, 80, n)][:n]
    return x, y


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["1", "30", "0.3333333333333333"])
@pytest.mark.parametrize("grid, n", [(SMALL, 3), (SMALL, 5), (MASKED, 3), (MIDDLE, 1)])
def test_adaptive_loss_is_at_most_epsilon_on_every_small_data_set(grid, n, epsilon, neighbours):
    exhaustive(as_adaptive(epsilon, neighbours), grid, n, epsilon, neighbours, 5)


@pytest.mark.parametrize("epsilon", ["40", "900"])
def test_adaptive_loss_is_at_most_epsilon_when_several_steps_share_the_budget(epsilon):
    exhaustive(as_adaptive(epsilon), DEEP, 1, epsilon, "replace", 10)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("grid, n", [(SMALL, 3), (SMALL, 4), (MASKED, 2), (MIDDLE, 1)])
def test_sort_loss_is_at_most_epsilon_for_every_group_size(grid, n, neighbours):
    for size in [*range(1, n + 2), None, "paper"]:
        exhaustive(as_sort("0.7", neighbours, size), grid, n, "0.7", neighbours, 5)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("group_size", [1, 2, None])
@pytest.mark.parametrize("variant", VARIANTS)
def test_hybrid_loss_is_at_most_epsilon_on_every_small_data_set(variant, group_size, neighbours):
    publish = as_hybrid("300", variant, neighbours, group_size)
    exhaustive(publish, MASKED, 2, "300", neighbours, 6)
    exhaustive(publish, MIDDLE, 1, "300", neighbours, 6)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_replacing_all_points_of_a_person_costs_at_most_epsilon_in_a_hybrid(variant, neighbours):
    person_exhaustive(variant, MASKED, 1, "300", neighbours, 6)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("kind", ["adaptive", "sort"])
def test_replacing_all_points_of_a_person_costs_at_most_epsilon(kind, neighbours):
    person_exhaustive(kind, SMALL, 2, "1", neighbours, 5)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_adaptive_asks_the_same_of_any_data_that_gave_these_answers(epsilon, neighbours):
    x, y = city()
    tables = [count_cells(CITY, x, y), table(CITY, [0] * x.size), table(CITY, [4095] * x.size)]
    if neighbours == "add-remove":
        tables += [table(CITY, [7]), table(CITY, [4000] * 10**5)]
    non_interference(as_adaptive(epsilon, neighbours), tables)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("group_size", [1, 10, None])
def test_sort_asks_the_same_of_any_data_that_gave_these_answers(group_size, neighbours):
    x, y = city(300)
    tables = [count_cells(CITY, x, y), table(CITY, [0] * x.size), table(CITY, [4095] * x.size)]
    if neighbours == "add-remove":
        tables += [table(CITY, [7]), table(CITY, [4000] * 10**4)]
    non_interference(as_sort("1", neighbours, group_size), tables)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_hybrid_asks_the_same_of_any_data_that_gave_these_answers(variant, neighbours):
    x, y = city()
    tables = [count_cells(CITY, x, y), table(CITY, [0] * x.size), table(CITY, [4095] * x.size)]
    if neighbours == "add-remove":
        tables += [table(CITY, [7]), table(CITY, [4000] * 10**4)]
    for epsilon in ("0.2", "1", "12"):
        non_interference(as_hybrid(epsilon, variant, neighbours), tables)


def test_person_masses_do_not_change_what_is_asked():
    x, y = city()
    own, other = np.arange(x.size) // 10, np.arange(x.size) % 300
    tables = [count_persons(CITY, x, y, own), count_persons(CITY, y, x, other)]
    for neighbours in RELATIONS:
        non_interference(as_adaptive("1", neighbours, "person"), tables, units=PERSON_UNITS)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon, spread", [("0.1", 1), ("1", 1), ("1", 30), ("8", 0)])
def test_every_published_count_is_its_count_plus_its_noise(epsilon, spread, neighbours):
    adaptive_tape(CITY, *city(), epsilon, neighbours, spread=spread)
    mask = Grid(0.0, 0.0, 1.0, 6, np.array([[5, 900], [1000, 1003], [2000, 4000]]))
    adaptive_tape(mask, *city(), epsilon, neighbours, spread=spread)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("group_size", [1, 7, None, "paper"])
def test_every_published_sum_is_its_sum_plus_its_noise(group_size, neighbours):
    for seed in range(5):
        sort_tape(CITY, *city(40 + seed, seed), "0.5", neighbours, group_size, seed)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_number_of_a_hybrid_is_its_truth_plus_its_noise(variant, neighbours):
    mask = Grid(0.0, 0.0, 1.0, 6, np.array([[5, 900], [1000, 1003], [2000, 4000]]))
    for seed, epsilon in enumerate(("0.2", "1", "12")):
        for grid in (CITY, mask):
            for size in (None, 3):
                place = city(500 + seed, seed)
                hybrid_tape(grid, *place, epsilon, variant, neighbours, size, seed)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "2.7182818", "40"])
def test_rates_on_every_path_add_up_to_the_budget_and_never_more(epsilon, neighbours):
    grid = Grid(0.0, 0.0, 0.125, 9)
    mask = Grid(0.0, 0.0, 0.125, 9, np.array([[77, 5000], [8000, 8001], [150_000, 260_000]]))
    for place in (grid, mask):
        cells = count_cells(place, *city(50_000))
        budgets_on_paths(publish_adaptive(cells, epsilon, neighbours=neighbours))


MECHANISMS = [publish_adaptive, publish_sorted, publish_hybrid]


@pytest.mark.parametrize("publish", MECHANISMS)
def test_only_whole_numbers_are_published(publish):
    """Integers plus integer noise of full support: no value is possible for one data set only."""
    for cells in (table(SMALL, [0, 0, 0]), table(SMALL, [0, 0, 3])):
        for values in publish(cells, 0.1).measured.arrays().values():
            assert values.dtype == np.int64 or all(type(value) is int for value in values)


def test_a_release_with_any_other_noise_says_that_it_is_not_private():
    def zero(numerator, denominator, size=None):
        return np.zeros(size, np.int64)

    for publish in MECHANISMS:
        assert publish(table(SMALL, [0, 1]), 1).private
        seeded = publish(table(SMALL, [0, 1]), 1, noise=zero)
        assert not seeded.private and "NOT PRIVATE" in seeded.to_json()


def constant(number, kind):
    """Noise that is always this number, in an array of this type."""

    def noise(numerator, denominator, size=None):
        return np.full(size, number, kind)

    return noise


def test_noise_in_64_bits_leaves_room_for_the_truth():
    """Truths stay below 2^62. A sum that wraps around would tell: 2^63 + 5 needs a truth below 6.

    A draw lies between 2^62 and 2^63 with chance exp(-2) - exp(-4) = 0.117 (false alarm: none;
    a sampler that breaks the claim passes with chance 0.883^200 < 2e-11).
    """
    for _ in range(200):
        drawn = discrete_laplace(2**61, 1, 1)
        assert drawn.dtype == object or abs(int(drawn[0])) < 2**62


@pytest.mark.parametrize("publish", MECHANISMS)
def test_a_value_beyond_64_bits_is_published_whole(publish):
    cells = table(SMALL, [1, 2, 3, 3])
    exact = publish(cells, 1, noise=constant(0, np.int64)).measured.arrays()
    most = publish(cells, 1, noise=constant(2**63 - 1, object)).measured.arrays()
    for name in {"value", "sums", "counts"} & set(exact):
        if exact[name].size == most[name].size:
            expected = [int(true) + 2**63 - 1 for true in exact[name]]
            assert [int(value) for value in most[name]] == expected


@pytest.mark.parametrize("publish", MECHANISMS)
def test_the_form_of_a_number_does_not_tell_how_large_its_noise_was(publish):
    """A file says the same about a sum whether its noise needed 64 bits or more."""
    cells = table(SMALL, [1, 2, 3, 3])
    short, wide = (publish(cells, 1, noise=constant(3, kind)) for kind in (np.int64, object))
    assert short.to_json() == wide.to_json()


@pytest.mark.parametrize("publish", MECHANISMS)
def test_an_epsilon_of_many_digits_is_spent_exactly(publish):
    """Its numerator times a rate passes 64 bits: the noise must get all of the number."""
    epsilon = "2.718281828459045235"
    for neighbours in RELATIONS:
        tape = Tape(0)
        publish(table(SMALL, [0, 1, 2, 3]), epsilon, neighbours=neighbours, noise=tape)
        assert min(tape.rates) > 0
    exhaustive(
        lambda cells, noise: publish(cells, epsilon, noise=noise),
        SMALL if publish is not publish_hybrid else MIDDLE,
        2 if publish is not publish_hybrid else 1,
        epsilon,
        "replace",
        5,
        attained=publish is not publish_hybrid,
    )


@pytest.mark.parametrize(
    "epsilon", ["1e999999999", "1e-999999999", "9" * 10_000, "1e400", "-1e99999"]
)
def test_an_epsilon_that_would_take_for_ever_is_refused_at_once(epsilon):
    with pytest.raises(BadInputError, match="Epsilon must be"):
        epsilon_text(epsilon)


PACKAGE = Path(dpsort_geo.__file__).parent
PUBLISHERS = sorted((PACKAGE / "core" / "private").glob("*.py"))


@pytest.mark.parametrize("path", PUBLISHERS, ids=lambda path: path.stem)
def test_no_publisher_has_a_seed_or_a_generator_that_can_be_foreseen(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        names = [getattr(node, part, None) for part in ("id", "attr", "arg", "module")]
        names += [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
        for name in filter(None, names):
            assert not {"random", "seed", "rng", "default_rng"} & set(str(name).split("."))
            # the ledger has a key of its own, by which it knows a file again
            allowed = {"entropy": ("urandom", "secrets"), "ledger_file": ("secrets",)}
            assert name not in ("urandom", "secrets") or name in allowed.get(path.stem, ())
