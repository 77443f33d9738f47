"""Each person counts once: the contribution has a fixed size and is the person's own doing."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.persons import joined_names
from tests.persons import count_person_points, count_persons

GRID = Grid(0.0, 0.0, 1.0, 2)
TRIPS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 15)), min_size=1, max_size=40)


def places(indices):
    return GRID.centres(np.asarray(indices, np.int64))


def dense(cells):
    table = np.zeros(GRID.n_cells, np.int64)
    table[cells.index] = cells.count
    return table


def obvious_mass(indices, units):
    """Largest remainder for one person, written the slow way."""
    cells = sorted(set(indices))
    share = {cell: units * indices.count(cell) for cell in cells}
    mass = {cell: share[cell] // len(indices) for cell in cells}
    first = sorted(cells, key=lambda cell: (-(share[cell] % len(indices)), cell))
    for cell in first[: units - sum(mass.values())]:
        mass[cell] += 1
    return mass


@given(TRIPS, st.sampled_from([1, 7, 1000, 2**20]))
def test_masses_are_each_persons_largest_remainders_added_up(trips, units):
    person, index = zip(*trips)
    expected = np.zeros(GRID.n_cells, np.int64)
    for who in set(person):
        own = [cell for p, cell in trips if p == who]
        for cell, mass in obvious_mass(own, units).items():
            expected[cell] += mass
    cells = count_persons(GRID, *places(index), np.array(person), units)
    assert np.array_equal(dense(cells), expected)
    assert cells.n == units * len(set(person))
    assert np.all(np.diff(cells.index) > 0) and np.all(cells.count >= 0)


@given(TRIPS, st.sampled_from([1, 3, 20]))
def test_every_person_contributes_exactly_so_many_points_evenly_through_their_own(trips, points):
    person, index = zip(*trips)
    expected = np.zeros(GRID.n_cells, np.int64)
    for who in set(person):
        own = sorted(cell for p, cell in trips if p == who)
        for i in range(points):
            expected[own[(2 * i + 1) * len(own) // (2 * points)]] += 1
    cells = count_person_points(GRID, *places(index), np.array(person), points)
    assert np.array_equal(dense(cells), expected)


@given(TRIPS, st.randoms())
@settings(max_examples=50)
def test_neither_the_order_of_rows_nor_the_names_of_persons_matter(trips, random):
    shuffled = list(trips)
    random.shuffle(shuffled)
    names = dict(zip(range(7), random.sample(["b", "a", "10", "9", "", "\u00e9", "z"], 7)))
    for count in (count_persons, count_person_points):
        tables = [
            dense(count(GRID, *places([c for _, c in rows]), [name(p) for p, _ in rows]))
            for rows, name in ((trips, int), (shuffled, int), (shuffled, names.get))
        ]
        assert np.array_equal(tables[0], tables[1]) and np.array_equal(tables[0], tables[2])


def test_replacing_all_of_one_persons_points_moves_at_most_their_mass():
    """Every person with up to 4 points in 4 cells against every other: at most W units leave."""
    grid = Grid(0.0, 0.0, 1.0, 1)
    units = 2**20
    others = ([0, 1, 1], ["b", "b", "c"])
    tables = []
    for size in range(1, 5):
        for own in itertools.combinations_with_replacement(range(4), size):
            index = np.array(list(own) + others[0])
            person = ["a"] * size + others[1]
            cells = count_persons(grid, *grid.centres(index), person, units)
            table = np.zeros(4, np.int64)
            table[cells.index] = cells.count
            tables.append(table)
    moved = [np.maximum(a - b, 0).sum() for a, b in itertools.permutations(tables, 2)]
    assert max(moved) == units


@pytest.mark.parametrize(
    "person",
    [
        [1.0, np.nan], ["a", None], np.array(["a", None], object), pd.Series(["a", pd.NA]),
        pd.Series([1, None], dtype="Int64"), np.array(["2024-01-01", "NaT"], "datetime64[D]"),
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array(np.array(["a", "b"], object), mask=[False, True]),
        pd.Series(["a", None], dtype="category"), [["x"], ["y"]],
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [count_persons, count_person_points])
def test_a_missing_person_is_refused(count, person):
    with pytest.raises(BadInputError, match="Every point needs a person"):
        count(GRID, *places([0, 1]), person)


@pytest.mark.parametrize("count", [count_persons, count_person_points])
def test_input_that_does_not_fit_is_refused(count):
    with pytest.raises(BadInputError, match="exactly one person"):
        count(GRID, *places([0, 1]), ["a"])
    with pytest.raises(BadInputError, match="one column"):
        count(GRID, *places([0, 1]), np.zeros((2, 2)))
    assert count(GRID, *places([]), []).n == 0
    for size in (0, -1, 2**40):
        with pytest.raises(BadInputError):
            count(GRID, *places([0]), ["a"], size)
    with pytest.raises(BadInputError, match="finite") as caught:
        count(GRID, np.array([123.456]), np.array([np.nan]), ["a"])
    assert "123" not in str(caught.value)


@pytest.mark.parametrize(
    "person",
    [
        pd.Series(["a", "b", "a"]), pd.Series(["a", "b", "a"], dtype="category"),
        pd.Series([7, 8, 7], dtype="Int64"), np.array([7, 8, 7], np.uint8), [("x", 1), 2, ("x", 1)],
        np.array(["a", "b", "a"]), np.array([b"a", b"b", b"a"]), [7.5, 8, 7.5], (7, 8, 7),
    ],
)  # fmt: skip
def test_persons_may_be_named_by_any_kind_of_value(person):
    assert count_person_points(GRID, *places([0, 1, 2]), person, 1).n == 2
    assert count_persons(GRID, *places([0, 1, 2]), person, 8).n == 16


# who is who depends on nobody else ----------------------------------------------------------------

LONG = [2**60 + i for i in range(50)]


@pytest.mark.parametrize("other", [0.5, -1, 2**63 + 5])
def test_one_more_name_does_not_make_the_others_the_same(other):
    x, y = places([0] * 51)
    assert count_persons(GRID, x, y, [*LONG, other], units=1).n == 51


@pytest.mark.parametrize("made", [np.array, pd.Series, list])
def test_whole_numbers_that_went_through_a_decimal_column_are_refused(made):
    x, y = places([0] * 51)
    with pytest.raises(BadInputError, match="too long for a decimal column"):
        count_persons(GRID, x, y, made([float(name) for name in LONG] + [0.5]))


def test_names_of_several_tables_stay_apart_and_alike():
    first, second = np.array(LONG), np.array([LONG[0], 7], np.uint64)
    x, y = places([0] * 52)
    assert count_persons(GRID, x, y, joined_names([first, second]), units=1).n == 51


def test_numbers_and_text_together_are_refused_as_one_person_may_be_both():
    with pytest.raises(BadInputError, match="Some persons are text"):
        joined_names([np.array([1, 2]), np.array(["1", "2"], object)])
    x, y = places([0, 0])
    for made in (list, pd.Series):
        with pytest.raises(BadInputError, match="Some persons are text"):
            count_persons(GRID, x, y, made([5, "5"]))
