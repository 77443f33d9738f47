"""How far off a count may be when the release has no tree: sort releases and hybrids.

The curve is cut into strata, and a zone is known by its share of each.

*Hybrids.* The strata are the blocks or bins that have counts. Their noise is known, less what the
known n takes off; a stratum that a zone cuts adds f (1 - f) (m + rho m^2) as a leaf does, see
`uncertainty`. What the sums say inside a block makes the estimate better, not the interval.

*Sort.* The noise is in the positions of whole groups, and isotonic regression pools as many of
them as cannot be told apart, so no simple formula holds. Instead the published sums get the same
noise once more and are decoded again, a few dozen times: as far as this noise moves the answer,
and in the direction in which it moves it on average, the first noise may have moved it already.
Where the points between two neighbouring groups lie is not measured at all: m^2 f (1 - f) is the
most that this can add. All of it may hide something where a zone was drawn, so all of it shifts
the upper limit, but by one standard deviation at most.

The noise drawn here is no part of anybody's protection: it is added to what is public already. The
generator starts from the same state each time, so that a release always gives the same limits.
"""

from __future__ import annotations

from typing import List, Tuple

import numpy as np

from ..budget import UNITS
from ..curve.overlap import Blocks
from ..grouping import balanced_sizes
from ..hybrid import count_rates, edges_of, groups_of, shares, variant_of
from ..release import Release
from .decode import Decoded
from .monotone import Monotone
from .query import place_of
from .sorted import decode_sorted
from .uncertainty import Spread, laplace_variance, total_variance, unevenness

Array = np.ndarray
#: noise, cut and outside of a `Spread`, and the bias of the estimate
Parts = Tuple[Array, Array, Array, Array]

#: how often a sort release is decoded again; fewer times if it has very many groups
ROUNDS = 60
MOST_GROUPS = 1 << 20
#: even stretches of the curve on which the decoded functions are compared
STRETCHES = 4096


def spread_on_curve(decoded: Decoded, blocks: Blocks, zones: int, estimate: Array) -> Spread:
    """What is unknown about zones of a sort or a hybrid release."""
    kind = _sorted if decoded.release.kind == "sort" else _counted
    noise, cut, outside, bias = kind(decoded, blocks, zones)
    share = estimate / decoded.n if decoded.n else _area(decoded, blocks, zones)
    noise = noise + share**2 * total_variance(decoded)
    return Spread(noise, cut, outside, estimate - bias)


def _counted(decoded: Decoded, blocks: Blocks, zones: int) -> Parts:
    """Hybrids: noise of the counts, and what the cut strata leave open."""
    release = decoded.release
    edges, rate, family = _counted_strata(release)
    variance = laplace_variance(rate * float(release.exact_epsilon) / UNITS)
    mass, width = np.diff(decoded.cumulative.upto(edges)), np.diff(edges)
    counts = release.measurements["counts"] / release.settings["points_per_person"]
    whole, room = (np.bincount(family, x)[family] for x in (mass, width))
    rho = unevenness(counts, variance, whole, width / room)
    zone, stratum, area, inside = _overlaps(decoded, blocks, edges)
    held = np.where(mass > 0, mass, 1.0)[stratum]
    share = np.clip(np.where(mass[stratum] > 0, inside / held, area), 0.0, 1.0)
    known = np.bincount(zone, share * variance[stratum], zones) ** 2 / variance.sum()
    noise = np.bincount(zone, share**2 * variance[stratum], zones) - known
    cut = share * (1 - share) * (mass + rho * (mass**2 + variance))[stratum]
    outside = np.bincount(zone, (1 - share) * mass[stratum], zones)
    # least squares: the counts, with what they lack of n in proportion to their variances
    even = counts + (decoded.n - counts.sum()) / variance.sum() * variance
    bias = np.bincount(zone, share * (mass - even)[stratum], zones)
    return np.maximum(noise, 0.0), np.bincount(zone, cut, zones), outside, bias


def _counted_strata(release: Release) -> Tuple[Array, Array, Array]:
    """Edges of the strata of a hybrid, the rates of their counts, and which make up a whole."""
    part = shares(release.settings["variant"], release.neighbours)
    if variant_of(release) == "width-depth":
        coarse = groups_of(release)[0]
        edges = np.append(coarse.start, release.grid.n_cells).astype(np.float64)
        _, family = np.unique(coarse.index >> 2, return_inverse=True)
        return edges, count_rates(coarse, part), family.reshape(-1)
    edges = edges_of(release).astype(np.float64)
    bins = np.arange(edges.size - 1)
    return edges, np.full(bins.size, part.counts), bins >> 1


def _sorted(decoded: Decoded, blocks: Blocks, zones: int) -> Parts:
    """Sort: how far the same noise once more moves the answer, and what the gaps leave open."""
    f = decoded.cumulative
    gap = np.flatnonzero(np.diff(f.place) > 0)
    edges = np.union1d(f.place, np.linspace(0.0, decoded.grid.n_cells, STRETCHES + 1))
    zone, stratum, share, _ = _overlaps(decoded, blocks, edges)
    bias, square = np.zeros(zones), np.zeros(zones)
    here = np.diff(f.upto(edges))
    again = _decoded_again(decoded.release)
    for other in again:
        change = np.diff(other.upto(edges)) - here
        moved = np.bincount(zone, share * change[stratum], zones)
        bias += moved / len(again)
        square += moved**2 / len(again)
    if not gap.size:  # all groups sit in one place
        return np.zeros(zones), square, np.sqrt(square), bias
    # from the strata back to the gaps between neighbouring groups
    place, mass = f.place[gap], f.mass[gap + 1] - f.mass[gap]
    owner = np.searchsorted(place, edges[stratum], side="right") - 1
    width = np.diff(edges)[stratum]
    pair, which = np.unique(zone * gap.size + np.maximum(owner, 0), return_inverse=True)
    covered = np.bincount(which.reshape(-1), share * width * (owner >= 0), pair.size)
    zone, owner = pair // gap.size, pair % gap.size
    covered = np.clip(covered / (f.place[gap + 1] - place)[owner], 0.0, 1.0)
    cut = np.bincount(zone, covered * (1 - covered) * mass[owner] ** 2, zones)
    return np.zeros(zones), cut + square, np.sqrt(cut + square), bias


def _decoded_again(release: Release) -> List[Monotone]:
    settings, sums = release.settings, release.measurements["sums"].astype(np.float64)
    if not sums.size:
        return [Monotone(np.array([0.0, float(release.grid.n_cells)]), np.zeros(2))]
    per_person = settings["points_per_person"]
    sizes = balanced_sizes(release.size * per_person, settings["groups"])
    scale = settings["scale_numerator"] / settings["scale_denominator"]
    rng = np.random.default_rng(0)
    found = []
    for _ in range(max(10, min(ROUNDS, MOST_GROUPS // sums.size))):
        noisy = sums + rng.laplace(0.0, scale, sums.size)
        rank, position = decode_sorted(noisy, sizes, release.grid.n_cells)
        found.append(Monotone(position + 0.5, rank / per_person))
    return found


def _area(decoded: Decoded, blocks: Blocks, zones: int) -> Array:
    """Share of the allowed cells in each zone."""
    zone, level, index, share = blocks
    cells = place_of(decoded.grid, level, index + 1) - place_of(decoded.grid, level, index)
    return np.bincount(zone, cells * share, zones) / decoded.grid.n_cells


def _overlaps(decoded: Decoded, blocks: Blocks, edges: Array) -> Tuple[Array, Array, Array, Array]:
    """Zone, stratum, the share of the stratum's cells in the zone, and the mass in both."""
    zone, level, index, part = blocks
    start = place_of(decoded.grid, level, index)
    stop = place_of(decoded.grid, level, index + 1)
    first = np.clip(np.searchsorted(edges, start, side="right") - 1, 0, edges.size - 2)
    last = np.clip(np.searchsorted(edges, stop, side="left"), first + 1, edges.size - 1)
    many = last - first
    block = np.repeat(np.arange(zone.size), many)
    stratum = np.arange(block.size) - np.repeat(np.cumsum(many) - many, many) + first[block]
    start = np.maximum(start[block], edges[stratum])
    stop = np.maximum(np.minimum(stop[block], edges[stratum + 1]), start)
    mass = (decoded.cumulative.upto(stop) - decoded.cumulative.upto(start)) * part[block]
    strata = edges.size - 1
    pair, place = np.unique(zone[block] * strata + stratum, return_inverse=True)
    place = place.reshape(-1)
    stratum = pair % strata
    width = edges[stratum + 1] - edges[stratum]
    share = np.minimum(np.bincount(place, (stop - start) * part[block], pair.size) / width, 1.0)
    return pair // strata, stratum, share, np.bincount(place, mass, pair.size)
