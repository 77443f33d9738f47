"""What is promised before publishing: the plan."""

from __future__ import annotations

import dataclasses

import pytest

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.planning import plan_side
from dpsort_geo.core.rules.group_size import (
    default_group_size,
)


def test_a_plan_speaks_metres_and_kilometres():
    near = str(plan_side(10_000, 50_000.0, epsilon="1"))
    assert "10,000 points, epsilon = 1, adaptive mechanism" in near
    assert "move about 260 m to turn the published map into the true one" in near
    assert "(expect 120 to 480 m; half of the points move less)" in near
    far = str(plan_side(10_000, 500_000.0, epsilon=1.0, method="sort"))
    assert "sort mechanism in groups of 110" in far
    assert "about 28 km" in far and "expect 13 to 51 km" in far
    assert "US survey foot" in str(plan_side(10_000, 5e4, epsilon=1, units="US survey foot"))


def test_a_plan_says_whom_epsilon_protects():
    assert "Had any one point been elsewhere" in str(plan_side(1000, 1e4, epsilon=1.0))
    person = str(plan_side(1000, 1e4, epsilon=1.0, protects="person"))
    assert "Had any one person, with all of their points, been elsewhere" in person
    assert "2.7 times" in person


def test_a_plan_is_a_value():
    plan = plan_side(1000, 1e4, epsilon=1.0)
    assert plan == plan_side(1000, 1e4, epsilon="1.0")
    assert plan.group_size == default_group_size(1000, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.n = 3


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "target_error": 5},
        {"epsilon": 0},
        {"epsilon": "much"},
        {"epsilon": float("nan")},
        {"target_error": -1},
        {"epsilon": 1, "protects": "household"},
        {"epsilon": 1, "method": "magic"},
        {"epsilon": 1, "n": 0},
        {"epsilon": 1, "side": 0},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(BadInputError):
        plan_side(**{"n": 1000, "side": 1e4, **arguments})
