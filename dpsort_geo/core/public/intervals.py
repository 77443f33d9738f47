"""How far off a count may be, from the release alone.

The variance of a count has two parts. *Noise*: what the noise leaves after the tree least squares,
exactly. *Cut*: where the points of the leaves lie that the zone cuts. A leaf of mass m, covered to
a fraction f, adds f (1 - f) (m + rho m^2): its points would scatter even if each fell anywhere in
the leaf by chance, and mass really splits more unevenly than that, which rho tells; it is learned
from the splits that the release did measure. As m is known only up to the noise, m^2 stands for
m^2 + the variance of the leaf's own answers, so that an empty-looking leaf is not taken for empty.

Two things make the limits lopsided. People ask about zones where there is something: a zone that
is drawn in proportion to what it holds has, on average, b = cut / estimate more than the estimate,
and its variance is cut + b^2 (exactly so for shares with a gamma law); so the upper limit starts
b higher. A table of all zones is not drawn so: half of b is enough for it where mass is as uneven
as it usually is, and all of b where rho tells that few places hold much (`drawn`). And the
isotonic step, which keeps masses positive, moves some of the mass of dense areas to empty ones;
the least squares estimate has no such bias but more noise, so the lower limit starts from the
smaller of the two, the upper one from the larger.

Along a coast the cuts go together: every leaf that the shore cuts has all of its mass on the same
side. What tells a coast is the table of zones itself. When it holds nearly all of the mass, what
lies outside of all zones is likely to be empty, and mass of cut leaves that no zone claims may all
belong inside: the upper limit reaches over it. Zones whose neighbours are in the table have none.
Zones that overlap, such as districts and their city, are tables of their own (`_tables`).

Each mechanism tells in `public/X` what is unknown about the mass in a zone; here the limits are
made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, List, Tuple

import numpy as np

from ..release import Release
from ..rules.budget import COUNT_UNITS, UNITS

Array = np.ndarray

#: what is believed of rho before the release is seen, and how many measured parts that outweighs
USUAL_UNEVENNESS = 0.15
USUAL_WEIGHT = 4
LEAST_UNEVENNESS = 0.02
#: share of b by which upper limits start higher: least up to the first rho, all from the second on
LEAST_DRAWN, USUALLY_UNEVEN, VERY_UNEVEN = 0.5, 0.2, 0.3
#: a table that holds less than the first share of all mass says nothing about coasts; from the
#: second on, all that it leaves out is taken for empty
SOME_MASS, NEARLY_ALL = 0.5, 0.8
#: zones of one table share at most such a part of the smaller one, as outlines drawn twice do;
#: so many tables are told apart, and a zone that is in none of them claims nothing
SLIVER, MOST_TABLES = 0.05, 8


@dataclass(frozen=True, eq=False)
class Estimate:
    """The mass in each zone, and what is unknown about it."""

    mass: Array
    #: variances: of the noise, and of where the mass lies in what a zone cuts
    noise: Array
    cut: Array
    #: the most that could be inside beyond the estimate: mass of the cut leaves outside, or less
    outside: Array
    #: the estimate without the bias that comes from keeping masses positive
    unbiased: Array
    #: mass of cut leaves that no zone claims and that may belong to this one, see `unclaimed`
    unclaimed: Array


def limits(release: Release, estimate: Estimate, confidence: float) -> Tuple[Array, Array]:
    """Whole-numbered limits, cut to what is possible; the module tells why they are lopsided."""
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    mass, cut = estimate.mass, estimate.cut
    more = np.minimum(cut / np.maximum(mass, 1.0), estimate.outside)
    below = np.sqrt(estimate.noise + cut)
    above = np.sqrt(estimate.noise + cut + more**2)
    low = np.floor(np.minimum(mass, estimate.unbiased) - reach * below)
    highest = np.maximum(mass, estimate.unbiased) + more + estimate.unclaimed
    high = np.ceil(highest + reach * above)
    # a noisy n is no bound on what there is
    most = release.size if release.neighbours == "replace" else np.inf
    return np.clip(low, 0, release.size), np.clip(high, 0, most)


def drawn(rho: float) -> float:
    """The share of b = cut / estimate by which upper limits start higher.

    >>> [round(drawn(rho), 6) for rho in (0.1, 0.25, 0.9)]
    [0.5, 0.75, 1.0]
    """
    part = (rho - USUALLY_UNEVEN) / (VERY_UNEVEN - USUALLY_UNEVEN)
    return LEAST_DRAWN + (1 - LEAST_DRAWN) * min(max(part, 0.0), 1.0)


def unclaimed(zone: Array, part: Array, share: Array, mass: Array, zones: int) -> Array:
    """Mass of cut parts that no zone of its table claims, by zone; a row a pair that overlap.

    Parts are leaves or stretches with their ``mass``. What several zones cut is divided among them
    by their shares of it. Rows are (zone, part).
    """
    found = np.zeros(zones)
    for own in _tables(zone, part, share, mass):
        found += _unclaimed_in(zone[own], part[own], share[own], mass, zones)
    return found


def _unclaimed_in(zone: Array, part: Array, share: Array, mass: Array, zones: int) -> Array:
    claimed = np.bincount(part, share, mass.size)
    held = float((np.minimum(claimed, 1.0) * mass).sum()) / max(float(mass.sum()), 1e-300)
    sure = min(max((held - SOME_MASS) / (NEARLY_ALL - SOME_MASS), 0.0), 1.0)
    left = mass * np.maximum(1 - claimed, 0.0)
    own = share / np.where(claimed > 0, claimed, 1.0)[part]
    return sure * np.bincount(zone, left[part] * own, zones)


def _tables(zone: Array, part: Array, share: Array, mass: Array) -> List[Array]:
    """Rows of zones that do not overlap: each goes to the first table that has room for it.

    The zones that hold most go first, so that it does not matter how they are ordered.

    Two halves and their city:

    >>> zone, part, share = np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]), np.ones(4)
    >>> [own.tolist() for own in _tables(zone, part, share, np.ones(2))]
    [[2, 3], [0, 1]]
    """
    twice = np.maximum(np.bincount(part, share, mass.size) - 1, 0.0)
    shared = np.bincount(zone, np.minimum(share, twice[part]) * mass[part])
    if not (shared > SLIVER * np.bincount(zone, share * mass[part])).any():
        return [np.arange(zone.size)]
    rows = np.argsort(zone, kind="stable")
    zones = np.split(rows, np.flatnonzero(np.diff(zone[rows])) + 1)
    claimed: List[Array] = []
    tables: List[List[Array]] = []
    for own in sorted(zones, key=lambda own: -float(share[own] @ mass[part[own]])):
        at, held = part[own], share[own]
        for number in range(MOST_TABLES):
            if number == len(tables):
                claimed.append(np.zeros(mass.size))
                tables.append([])
            twice = np.maximum(claimed[number][at] + held - 1, 0.0)
            if (twice * mass[at]).sum() <= SLIVER * (held * mass[at]).sum():
                claimed[number][at] += held
                tables[number].append(own)
                break
    return [np.concatenate(own) for own in tables]


def total_variance(release: Release) -> float:
    """Variance of n itself: none unless it was published with noise."""
    if release.neighbours == "replace":
        return 0.0
    return float(laplace_variance(float(release.exact_epsilon) * COUNT_UNITS / UNITS))


def laplace_variance(rate: Any) -> Any:
    """Variance of discrete Laplace noise of scale 1 / rate."""
    decay = np.exp(-rate)
    return np.maximum(2 * decay / (1 - decay) ** 2, 1e-12)


def unevenness(
    part: Array,
    variance: Array,
    whole: Array,
    share: Array,
    rest: Any = 1.0,
    usual: float = USUAL_UNEVENNESS,
    least: float = LEAST_UNEVENNESS,
) -> float:
    """rho: the variance of a part's share of its whole's mass, over f (1 - f), beyond chance.

    ``share`` is the part's share f of the whole's area. What the noise and chance add to
    (part - f whole)^2 is taken off. Parts are weighted as if their deviations were normal with
    the ``usual`` rho, so noisy ones say little. ``rest`` is how much of chance there is, and the
    root of how much of rho (`side_by_side`).
    """
    whole = np.maximum(whole, 1.0)
    chance = whole * share * (1 - share)
    even = variance + chance * rest
    square = rest**2 * whole * chance
    weight = square / (even + usual * square) ** 2
    excess = float((weight * ((part - share * whole) ** 2 - even)).sum())
    seen = float((weight * square).sum())
    before = USUAL_WEIGHT / usual**2
    rho = (excess + before * usual) / (seen + before)
    return min(max(rho, least), 1.0)
