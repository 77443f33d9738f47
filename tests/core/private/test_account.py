"""What releases cost together: windows against brute force, and the two traps of a series."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.private.account import (
    UNITS,
    Entry,
    composed,
    composed_by_year,
    composed_over,
    explain,
    total_text,
)

DAYS = [f"2026-03-{day:02d}" for day in range(1, 10)]
DAY = "person-day of rider and date"
PAIRS = ["combination of rider and date", "combination of rider and bike"]
WINDOWS = st.one_of(
    st.none(),
    st.tuples(st.integers(0, 7), st.integers(1, 8)).filter(lambda w: w[0] < w[1]),
)
ROWS = st.lists(
    st.tuples(
        st.integers(1, 9), st.sampled_from([*UNITS, DAY, *PAIRS]),
        st.sampled_from(["replace", "add-remove"]), WINDOWS,
    ),
    max_size=7,
)  # fmt: skip


def entry(tenths, unit="point", neighbours="add-remove", window=None, time="2026-01-01"):
    ends = None if window is None else (DAYS[window[0]], DAYS[window[1]])
    return Entry(1, time, "calls", Fraction(tenths, 10), unit, neighbours, "", "sort", ends)


def size(unit):
    return {"point": 0, "person": 2}.get(unit, 1)


def smallest(rows):
    """Of different combinations none holds the other: a point is all that they have in common."""
    units = sorted({row[1] for row in rows}, key=size)
    pairs = {unit.split(" of ")[-1] for unit in units if size(unit) == 1}
    return "point" if len(pairs) > 1 else units[0]


def losses(rows, unit):
    """The loss of every change of one ``unit``, by hand: where it is before, where it is after.

    A unit that is finer than a person has one day. None is "not there". A replacement under a
    replacement release must keep the unit in the window or out of it, or nothing bounds the loss.
    A point that is replaced stays with its owner, the person or the person's day.
    """
    finest = size(unit)
    owned_by_day = unit == "point" and any(row[1].startswith("person-day") for row in rows)
    days = [None, *range(8)]
    relation = "replace" if any(n == "replace" for _, _, n, _ in rows) else "add-remove"
    for before in days:
        for after in days:
            if before is None and after is None:
                continue
            if relation == "replace" and None in (before, after):
                continue
            if relation == "replace" and owned_by_day and before != after:
                continue
            if relation == "add-remove" and None not in (before, after):
                continue
            yield before, after, _loss(rows, before, after, finest)


def _holds(unit, window, day):
    return day is not None and (
        window is None
        or unit == "person"
        or unit.startswith("combination")
        or window[0] <= day < window[1]
    )


def _loss(rows, before, after, finest):
    total = Fraction(0)
    for tenths, unit, neighbours, window in rows:
        was, will = (_holds(unit, window, day) for day in (before, after))
        if neighbours == "replace":
            if was != will:
                return None  # its exact number changes: no bound
            changed = 1 if was else 0
        elif size(unit) > finest:
            # a person with one point more or less is a person taken away and another one added
            changed = 2 if was or will else 0
        else:
            changed = was + will
        total += changed * Fraction(tenths, 10)
    return total


@given(ROWS)
def test_the_total_is_the_largest_loss_of_any_change_that_is_bounded(rows):
    if not rows:
        return
    bounded = [loss for _, _, loss in losses(rows, smallest(rows)) if loss is not None]
    assert composed([entry(*row) for row in rows]) == max(bounded)


@given(ROWS, ROWS)
def test_one_more_release_never_lowers_a_total(rows, more):
    few = [entry(*row) for row in rows]
    assert composed([*few, *(entry(*row) for row in more)]) >= composed(few)


def test_releases_of_other_months_cost_the_largest_and_not_the_sum():
    months = [entry(5, window=(0, 3)), entry(5, window=(3, 6)), entry(7, window=(6, 8))]
    assert composed(months) == Fraction(7, 10)
    assert composed([*months, entry(1)]) == Fraction(8, 10)
    assert explain(months) == ["The total is the largest sum over releases that share an instant."]


def test_windows_that_overlap_by_a_day_add_up_on_that_day():
    assert composed([entry(5, window=(0, 4)), entry(5, window=(3, 6))]) == 1


def test_windows_of_persons_add_up_and_the_ledger_says_so():
    months = [entry(5, "person", window=(0, 3)), entry(5, "person", window=(3, 6))]
    assert composed(months) == 1
    assert any("a person is in many" in line for line in explain(months))


def test_a_person_day_lies_in_one_window():
    assert composed([entry(5, "person-day", window=(0, 3)),
                     entry(5, "person-day", window=(3, 6))]) == Fraction(1, 2)  # fmt: skip


def test_a_record_that_moves_to_another_month_is_bounded_under_add_remove_only():
    """Trap 1: an exact n a month tells, without bound, that a record moved."""
    for neighbours, bounded in (("add-remove", True), ("replace", False)):
        rows = [(5, "point", neighbours, (0, 3)), (5, "point", neighbours, (3, 6))]
        loss = _loss(rows, 1, 4, 0)
        assert (loss is not None) == bounded
        assert loss is None or loss <= 2 * composed([entry(*row) for row in rows])
    told = explain([entry(5, "point", "replace", (0, 3))])
    assert any("which window a point lies in is not protected" in line for line in told)


@pytest.mark.parametrize("base, total", [("replace", 5), ("add-remove", 3)])
def test_beside_a_replacement_of_all_points_windows_of_add_remove_count_twice(base, total):
    rows = [entry(10, neighbours=base), entry(20, window=(0, 3)), entry(20, window=(3, 6))]
    assert composed(rows) == total


def test_releases_of_persons_count_twice_beside_those_of_points():
    rows = [entry(10, "person"), entry(10, "point")]
    assert composed(rows) == 3 and composed(rows[:1]) == 1
    assert any("protects one point" in line for line in explain(rows))


def test_a_combination_is_less_than_a_person_and_bounds_no_other_combination():
    riders, days, bikes = (entry(10, unit) for unit in ("person", *PAIRS))
    assert composed([days]) == composed([riders]) == 1 and composed([days, riders]) == 3
    assert composed([days, bikes]) == 4
    assert any("protects one point" in line for line in explain([days, bikes]))
    months = [entry(5, PAIRS[1], window=(0, 3)), entry(5, PAIRS[1], window=(3, 6))]
    assert composed(months) == 1 and any("without the date" in line for line in explain(months))
    assert composed([entry(5, DAY, window=(0, 3)), entry(5, DAY, window=(3, 6))]) * 2 == 1
    assert composed([entry(5, DAY, window=(0, 3)), days]) == Fraction(3, 2)


def test_a_population_pays_for_each_data_set():
    calls, homes = [entry(5), entry(1)], [entry(7, neighbours="replace")]
    assert composed_over([calls, homes]) == Fraction(19, 10)  # 2 (0.5 + 0.1) + 0.7
    assert composed_over([calls]) == Fraction(6, 10)


def test_years_are_those_in_which_releases_were_made():
    rows = [entry(5, time="2025-12-31T23:00"), entry(3, time="2026-01-01"), entry(1, time="2026")]
    by_year = {year: total_text(total) for year, total in composed_by_year(rows).items()}
    assert by_year == {"2025": "0.5", "2026": "0.4"}


def test_composition_of_nothing_is_nothing():
    assert composed([]) == 0 and composed_over([]) == 0 and explain([]) == []
