"""Reading a sort release: from noisy sums to the sorted positions (step B1 of the paper).

A sort release tells the sum of the positions of each group of consecutive points on the curve.
Divided by the group's size that is a noisy reading of the monotone function rank -> position, and
isotonic regression gives it its order back. Ranks run from 0 to n, point i sits at i + 1/2.

What is unknown about a zone. The noise is in the positions of whole groups, and isotonic regression
pools as many of them as cannot be told apart, so no simple formula holds. Instead the published
sums get the same noise once more and are decoded again, a few dozen times: as far as this noise
moves the answer, and in the direction in which it moves it on average, the first noise may have
moved it already. Where the points between two neighbouring groups lie is not measured at all: m^2 f
(1 - f) is the most that this can add. All of it may hide something where a zone was drawn, so all
of it shifts the upper limit, but by one standard deviation at most.

The noise drawn here is no part of anybody's protection: it is added to what is public already. The
generator starts from the same state each time, so that a release always gives the same limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, List, Tuple, cast

import numpy as np

from ..curve.blocks import Blocks
from ..curve.grid import Grid
from ..errors import BadInputError
from ..release import Release
from ..rules.isotonic import isotonic_l1
from ..rules.sort import SortSums
from .cumulative import Cumulative
from .decode import Decoded
from .intervals import Estimate, total_variance, unclaimed
from .isotonic import isotonic_l2
from .stretches import cut_stretches, share_of_cells
from .within import move_inside

Array = np.ndarray

#: how often a release is decoded again; fewer times if it has very many groups
ROUNDS = 60
MOST_GROUPS = 1 << 20
#: even stretches of the curve on which the decoded functions are compared
STRETCHES = 4096


@dataclass(frozen=True, eq=False)
class Knots:
    """Corners of the decoded function rank -> position, linear between them.

    Positions are numbers of cells: cell p reaches from p - 1/2 to p + 1/2.
    """

    rank: Array
    position: Array

    def cumulative(self, points_per_person: int = 1) -> Cumulative:
        """F along the curve, where the middle of cell p is at p + 1/2."""
        return Cumulative(self.position + 0.5, self.rank / points_per_person)


def decode(release: Release, decoder: str, inside: Grid) -> DecodedSums:
    """F of a sort release, by the default decoder or the paper's."""
    measured, n_cells = cast(SortSums, release.measured), release.grid.n_cells
    if release.size == 0:
        nothing = Cumulative(np.array([0.0, float(inside.n_cells)]), np.zeros(2))
        return DecodedSums(release, inside, nothing, measured)
    decode_sums = decode_sorted_paper if decoder == "paper" else decode_sorted
    knots = decode_sums(measured.sums, measured.sizes(release.size), n_cells)
    f = move_inside(release.grid, inside, knots.cumulative(measured.points_per_person))
    return DecodedSums(release, inside, f, measured)


@dataclass(frozen=True, eq=False)
class DecodedSums(Decoded):
    """What a sort release says: F, and how far its noise may have moved it."""

    measured: SortSums

    def estimate_in(self, blocks: Blocks, zones: int) -> Estimate:
        f, mass = self.cumulative, self.mass_in(blocks, zones)
        edges = np.union1d(f.place, np.linspace(0.0, self.grid.n_cells, STRETCHES + 1))
        found = cut_stretches(self.grid, f, blocks, edges)
        bias, square = np.zeros(zones), np.zeros(zones)
        here = np.diff(f.upto(edges))
        for other in self._decoded_again:
            change = np.diff(other.upto(edges)) - here
            moved = np.bincount(found.zone, found.share * change[found.stretch], zones)
            bias += moved / len(self._decoded_again)
            square += moved**2 / len(self._decoded_again)
        width = np.diff(edges)[found.stretch]
        left = edges[found.stretch]
        cut = square + self._unknown_in_gaps(found.zone, left, found.share * width, zones)
        share = mass / self.n if self.n else share_of_cells(self.grid, blocks, zones)
        noise = share**2 * total_variance(self.release)
        left_over = unclaimed(found.zone, found.stretch, found.share, here, zones)
        return Estimate(mass, noise, cut, np.sqrt(cut), mass - bias, left_over)

    def _locate(self, mass: Array, diffuse: bool) -> Tuple[Array, Array]:
        # the default decoder draws a line between groups; only the paper's repeats points
        return Decoded._locate(self if diffuse else self._paper, mass, diffuse)

    @cached_property
    def _paper(self) -> Decoded:
        return decode(self.release, "paper", self.grid)

    def _unknown_in_gaps(self, zone: Array, left: Array, covered: Array, zones: int) -> Array:
        """Variance of where the points between neighbouring groups lie, from covered stretches."""
        f = self.cumulative
        gap = np.flatnonzero(np.diff(f.place) > 0)
        if not gap.size:  # all groups sit in one place
            return np.zeros(zones)
        place, mass = f.place[gap], f.mass[gap + 1] - f.mass[gap]
        owner = np.searchsorted(place, left, side="right") - 1
        pair, which = np.unique(zone * gap.size + np.maximum(owner, 0), return_inverse=True)
        share = np.bincount(which.reshape(-1), covered * (owner >= 0), pair.size)
        zone, owner = pair // gap.size, pair % gap.size
        share = np.clip(share / (f.place[gap + 1] - place)[owner], 0.0, 1.0)
        return np.bincount(zone, share * (1 - share) * mass[owner] ** 2, zones)

    @cached_property
    def _decoded_again(self) -> List[Cumulative]:
        measured = self.measured
        if not measured.sums.size:
            return [self.cumulative]
        sums, sizes = measured.sums.astype(np.float64), measured.sizes(self.n)
        rng = np.random.default_rng(0)
        found = []
        for _ in range(max(10, min(ROUNDS, MOST_GROUPS // sums.size))):
            noisy = sums + rng.laplace(0.0, measured.scale, sums.size)
            knots = decode_sorted(noisy, sizes, self.release.grid.n_cells)
            again = knots.cumulative(measured.points_per_person)
            found.append(move_inside(self.release.grid, self.grid, again))
        return found


def decode_sorted(noisy_sums: Any, sizes: Any, n_cells: int) -> Knots:
    """Decode a sort release by the maximum likelihood fit.

    Least absolute deviations weighted by the group sizes (noise of one scale on every sum), cut to
    the curve after the fit, linear between the centres of the groups. Beyond the outer centres the
    outer slopes go on, to the outer sides of the first and the last cell at most.

    Parameters
    ----------
    noisy_sums : array_like of int
        The noisy sum of positions of each group, in the order of the curve; integers of any size.
    sizes : array_like of int
        How many points each group has.
    n_cells : int
        The number of cells on the curve: positions lie between 0 and n_cells - 1.

    Returns
    -------
    Knots
        The corners of the decoded function.

    Examples
    --------
    >>> knots = decode_sorted([4, 36, 28], [4, 4, 2], n_cells=16)
    >>> knots.rank.tolist(), knots.position.tolist()
    ([0.0, 2.0, 6.0, 9.0, 10.0], [-0.5, 1.0, 9.0, 14.0, 15.5])
    """
    mean, size, edge = _means(noisy_sums, sizes)
    fit = np.clip(isotonic_l1(mean, size), 0.0, float(n_cells - 1))
    centre = (edge[1:] + edge[:-1]) / 2
    if fit.size > 1:
        slope = np.diff(fit) / np.diff(centre)
        below = max(-0.5, fit[0] - slope[0] * centre[0])
        above = min(n_cells - 0.5, fit[-1] + slope[-1] * (edge[-1] - centre[-1]))
    else:
        below = above = fit[0]
    rank = np.concatenate(([0.0], centre, edge[-1:]))
    return Knots(rank, np.concatenate(([below], fit, [above])))


def decode_sorted_paper(noisy_sums: Any, sizes: Any, n_cells: int) -> Knots:
    """Decode a sort release as the paper does, its bias at both ends included.

    Least squares, every point of a group at the group's fitted mean, nothing cut: positions may
    lie off the curve, so `n_cells` is not used. Arguments and result are those of `decode_sorted`;
    the knots are the corners of the step function.

    Examples
    --------
    >>> knots = decode_sorted_paper([4, 36, 34], [4, 4, 2], n_cells=16)
    >>> knots.rank.tolist(), knots.position.tolist()
    ([0.0, 4.0, 4.0, 8.0, 8.0, 10.0], [1.0, 1.0, 9.0, 9.0, 17.0, 17.0])
    """
    mean, _, edge = _means(noisy_sums, sizes)
    return Knots(np.repeat(edge, 2)[1:-1], np.repeat(isotonic_l2(mean), 2))


def sorted_points(knots: Knots) -> Array:
    """Give the n reconstructed positions in order: point i at rank i + 1/2.

    Examples
    --------
    >>> sorted_points(decode_sorted([4, 36, 28], [4, 4, 2], n_cells=16)).tolist()[3:6]
    [4.0, 6.0, 8.0]
    >>> sorted_points(decode_sorted_paper([4, 36, 34], [4, 4, 2], n_cells=16)).tolist()[2:6]
    [1.0, 1.0, 9.0, 9.0]
    """
    return np.interp(np.arange(knots.rank[-1]) + 0.5, knots.rank, knots.position)


def _means(noisy_sums: Any, sizes: Any) -> Tuple[Array, Array, Array]:
    """Give the noisy means, the sizes and the edges of the groups in ranks."""
    size = np.asarray(sizes, dtype=np.int64)
    total = np.asarray(noisy_sums)
    if size.ndim != 1 or size.shape != total.shape or size.size == 0 or (size < 1).any():
        raise BadInputError(
            "A sort release needs one noisy sum for each group of one point or more."
        )
    # Python integers divide exactly rounded, however long they are; an object array holds such.
    mean = np.asarray(total / size, dtype=np.float64)
    edge = np.concatenate(([0], np.cumsum(size))).astype(np.float64)
    return mean, size, edge
