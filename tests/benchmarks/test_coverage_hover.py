"""Ranges under the pointer hold the truth as often as they say, on made data with fixed noise."""

import coverage_hover  # type: ignore[import-not-found]
import numpy as np

from dpsort_geo.webmap import regions


def _covered():
    rows = [
        coverage_hover.one(name, n, epsilon, seed)
        for name in ("towns", "roads")
        for n, epsilon in ((3_000, 1.0), (20_000, 0.1), (20_000, 1.0))
        for seed in range(3)
    ]
    return {way: np.mean([row[way] for row in rows]) for way in coverage_hover.WAYS}


def test_ranges_under_the_pointer_hold_the_truth_at_squares_places_and_people():
    assert all(0.85 <= share <= 0.97 for share in _covered().values())


def test_squares_chosen_by_their_own_estimates_would_not(monkeypatch):
    """A mutant: the smallest squares that seem well known, which is to say lucky."""

    def choose_lucky(answers, domain):
        finest, coarsest = max(answers), min(answers)
        level = np.full(4**finest, coarsest)
        for each in range(coarsest + 1, finest + 1):
            estimate, low, high = answers[each][1]
            seems_known = (high - low) / 2 <= 0.5 * estimate
            level[np.repeat(seems_known, 4 ** (finest - each))] = each
        key = level * 4**finest + (np.arange(level.size) >> 2 * (finest - level))
        key, owner = np.unique(key, return_inverse=True)
        level, index = key // 4**finest, key % 4**finest
        parts = [answers[k][1] for k in range(finest + 1) if k in answers]
        found = [
            np.array([parts[k - coarsest][which][i] for k, i in zip(level, index)])
            for which in range(3)
        ]
        return regions.Regions(domain, level, index, owner, finest), tuple(found)

    monkeypatch.setattr(regions, "choose_regions", choose_lucky)
    assert _covered()["people"] < 0.85
