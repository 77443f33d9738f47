"""A far point changes nothing that is said: no warning of numpy tells that it is there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError

PLAIN = dp.Domain.from_bounds((0, 0, 16, 16), crs=3857, order=4)
ROUND = dp.Domain.from_bounds((0, 40, 16, 56), crs=4326, order=4)
FAR = [(1e300, 1.0), (1e308, -1e308), (-1.79e308, 1.79e308), (5e-324, 5e-324), (540.0, 91.0)]
CHOICES = {
    "points": {},
    "left out": {"outside": "drop"},
    "persons": {"outside": "drop", "person": [str(i) for i in range(52)]},
    "axes": {"outside": "drop", "by": {"kind": ["a", "b"]}, "values": {"kind": ["a"] * 52}},
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("far", FAR, ids=repr)
@pytest.mark.parametrize("domain", [PLAIN, ROUND], ids=["metres", "degrees"])
def test_a_far_point_is_not_told_by_a_warning(domain, far, choice):
    west, south, east, north = domain.bounds
    near = np.random.default_rng(1).uniform((west + 1, south + 1), (east - 1, north - 1), (50, 2))
    # two of them: from one to the other it is further than numbers reach
    points = np.vstack([near, [far], [(-far[0], far[1])]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            dp.publish(points, 1, domain, neighbours="add-remove", **choice)
        except BadInputError as refused:
            # that is said to the publisher, and only where points outside are wanted
            assert "some have no place in that of the domain" in str(refused)
            assert "outside" not in choice
