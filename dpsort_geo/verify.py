"""What a release can prove about itself: the public rule, replayed on the published numbers.

Verifying shows that the file is one that the mechanism could have made, at the epsilon that it
states: the right things were asked for, with noise of the right scale. It cannot show that the
noise was drawn honestly, nor that the points were real; for that one must trust the publisher.
"""

from __future__ import annotations

from typing import List, NoReturn

import numpy as np

from .budget import PERSON_POINTS, PERSON_UNITS, path_units
from .errors import NotVerified
from .grouping import sum_scale
from .release import Release
from .schedule import Nodes, walk

Array = np.ndarray


def verify_release(release: Release) -> List[str]:
    """Sentences that say what was shown; `NotVerified` at the first thing that does not hold."""
    shown = [
        f"The grid has {release.grid.n_cells} allowed cells; its mask is sorted and disjoint.",
        f"Epsilon is exactly {release.epsilon} and protects one {release.unit}.",
    ]
    if release.neighbours == "replace" and release.n < 1:
        _refuse("n is public under 'replace', so it must be at least 1")
    if release.grid.n_cells < 2:
        _refuse("a domain of one cell is never published")
    return shown + {"sort": _sort, "adaptive": _adaptive, "hybrid": _hybrid}[release.kind](release)


def _refuse(reason: str) -> NoReturn:
    raise NotVerified(f"The release does not follow its own rule: {reason}. Do not rely on it.")


def _adaptive(release: Release) -> List[str]:
    recorded = Nodes(**release.measurements)
    if len({part.shape for part in release.measurements.values()}) != 1:
        _refuse("its nodes, rates and values are not equally many")
    if release.settings:
        _refuse("it has settings that an adaptive release does not have")
    done = 0

    def answer(level: int, index: Array, rate: Array) -> Array:
        nonlocal done
        now = slice(done, done + index.size)
        if not (
            recorded.level[now].size == index.size
            and np.all(recorded.level[now] == level)
            and np.array_equal(recorded.index[now], index)
            and np.array_equal(recorded.rate[now], rate)
        ):
            _refuse("its nodes or rates are not those that follow from its earlier values")
        done += index.size
        return recorded.value[now]

    budget = path_units(release.neighbours)
    units = PERSON_UNITS if release.unit == "person" else 1
    walk(release.grid, release.n, release.exact_epsilon, budget, answer, units)
    if done != recorded.level.size:
        _refuse("it has more nodes than the rule asks for")
    spent = most_spent(recorded)
    if spent > budget:
        _refuse("a path spends more than its budget")
    return [
        f"All {done} counts are what the public rule asks for, at the rates that it asks for.",
        f"No path spends more than its budget (at most {spent} of {budget} units).",
    ]


def most_spent(nodes: Nodes) -> int:
    """The largest sum of rates along any path, in units of epsilon."""
    order = int(nodes.level.max(initial=0))
    start = nodes.index << 2 * (order - nodes.level)
    stop = (nodes.index + 1) << 2 * (order - nodes.level)
    place = np.concatenate([start, stop])
    change = np.concatenate([nodes.rate, -nodes.rate])
    # where one node ends and the next begins, the end comes first
    ordered = np.lexsort((change > 0, place))
    return int(np.cumsum(change[ordered]).max(initial=0))


def _sort(release: Release) -> List[str]:
    settings, sums = release.settings, release.measurements["sums"]
    expected = {"groups", "points_per_person", "scale_numerator", "scale_denominator"}
    if set(settings) != expected:
        _refuse("its settings are not those of a sort release")
    groups, per_person = settings["groups"], settings["points_per_person"]
    if (
        sums.size != groups
        or not 0 <= groups <= release.size
        or (groups == 0) != (release.size == 0)
    ):
        _refuse("the number of sums does not fit the number of groups and of points")
    if per_person != (PERSON_POINTS if release.unit == "person" else 1):
        _refuse("the points per person do not fit what the release protects")
    scale = sum_scale(release.grid.n_cells, release.exact_epsilon, release.neighbours, per_person)
    if (scale.numerator, scale.denominator) != (
        settings["scale_numerator"],
        settings["scale_denominator"],
    ):
        _refuse("its noise scale is not sensitivity over epsilon")
    return [
        f"{groups} groups of balanced size add up to n = {release.size}.",
        f"The noise scale {scale} is the sensitivity over epsilon, exactly.",
    ]


def _hybrid(release: Release) -> List[str]:
    from .hybrid import verify_hybrid

    return verify_hybrid(release)
