"""Reading a table of declared zones: what it says of their slices, beside the maps.

The maps say how much of each slice lies in a zone, and how far off that may be. The table says the
same with noise of its own. Both are weighed, after the release itself has told by how much the maps
are really off (the table's noise is known exactly, what is left of their difference is the maps').
A zone keeps its total from the map of all points; joint slices add up to those of each axis.

Any other zone takes from each declared one what it holds of it: a zone that was declared gets all
that its row says, one that lies elsewhere nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..curve.blocks import Blocks
from ..curve.declared import DeclaredZones
from ..release import Release
from .intervals import Estimate
from .tree import noise_variance

if TYPE_CHECKING:
    from .views import DecodedViews

Array = np.ndarray
#: rounds in which joint slices are fitted to those of each axis
_ROUNDS = 10
#: how many times smaller or larger than reckoned the error of the maps can turn out
_LEAST, _MOST = 0.3, 20.0
#: masses of cells at which that may change
_SIZES = (1.0, 10.0, 100.0)
#: of a variance at least so much is left: maps are never known better than that
_LEFT = 0.02


@dataclass(frozen=True, eq=False)
class ZoneTable:
    """What declared zones say: by how much the maps miss their slices, and are known better."""

    release: Release
    zones: DeclaredZones
    #: zone x joint slices, with a dimension an axis
    said: Array
    #: variance of the noise of a cell
    noise: float
    #: what the maps say of the declared zones, by axes
    known: Dict[Tuple[int, ...], Estimate]
    #: mass of all points in each zone
    whole: Array

    def correction(self, axes: Sequence[int]) -> Tuple[Array, Array]:
        """What to add to the maps' masses of some axes, a row a zone; what is off their variance.

        Joint slices of some of several axes are those of all, added up.
        """
        every = tuple(range(len(self.release.axes)))
        model = self.known[tuple(axes)]
        if len(axes) == 1:
            found, left = self._weigh(tuple(axes))
        else:
            found, left = self._weigh(every)
            found = self._fit(found)
            if tuple(axes) != every:
                others = tuple(1 + axis for axis in every if axis not in axes)
                found = found.reshape(self.said.shape).sum(axis=others)
                left = left.reshape(self.said.shape).sum(axis=others)
        shape = model.mass.shape
        before = model.noise + model.cut
        return found.reshape(shape) - model.mass, before - left.reshape(shape)

    def _weigh(self, axes: Tuple[int, ...]) -> Tuple[Array, Array]:
        """Masses of slices from maps and table, adding up to their zone's; and their variances."""
        others = tuple(1 + axis for axis in range(self.said.ndim - 1) if axis not in axes)
        model = self.known[axes]
        said = self.said.sum(axis=others).reshape(model.mass.shape)
        noise = self.noise * float(np.prod([self.said.shape[axis] for axis in others]))
        spread = np.maximum(model.noise + model.cut, 1e-9)
        spread = spread * off_by(said - model.mass, spread, noise, model.mass)
        found = model.mass + (said - model.mass) * spread / (spread + noise)
        found = np.maximum(found, 0.0)
        found *= (self.whole / np.maximum(found.sum(axis=1), 1e-300))[:, None]
        return found, spread * noise / (spread + noise)

    def _fit(self, joint: Array) -> Array:
        """Joint slices that add up to those of each axis."""
        found = joint.reshape(self.said.shape)
        wanted = [self._weigh((axis,))[0] for axis in range(found.ndim - 1)]
        for _ in range(_ROUNDS):
            for axis, own in enumerate(wanted):
                others = tuple(1 + other for other in range(found.ndim - 1) if other != axis)
                has = found.sum(axis=others)
                ratio = np.divide(own, has, out=np.ones_like(own), where=has > 0)
                shape = [own.shape[0], *(1,) * (found.ndim - 1)]
                shape[1 + axis] = own.shape[1]
                found = found * ratio.reshape(shape)
        return found.reshape(joint.shape)


def off_by(apart: Array, spread: Array, noise: float, mass: Array) -> Array:
    """How many times the variance that was reckoned the maps really have, by size of cell.

    ``apart`` is table less maps. What the noise can tell is weighed against what was reckoned.

    >>> float(off_by(np.full(1000, 6.0), np.full(1000, 9.0), 0.0, np.ones(1000)).round(2)[0])
    3.99
    """
    size = np.searchsorted(_SIZES, mass)
    found = np.ones(mass.shape)
    for each in range(len(_SIZES) + 1):
        here = size == each
        own = spread[here]
        weight = 1 / (own + noise)
        seen = float((weight * own).sum())
        if not seen > 0:
            continue
        ratio = float((weight * (apart[here] ** 2 - noise)).sum()) / seen
        # squares of Laplace noise have five times its squared variance, of the rest two times
        doubt = float((weight**2 * (5 * noise**2 + 2 * own**2 + 4 * own * noise)).sum()) / seen**2
        ratio = (ratio + doubt) / (1 + doubt)
        found[here] = min(max(ratio, _LEAST), _MOST)
    return found


def read_table(decoded: DecodedViews) -> Optional[ZoneTable]:
    """The table of declared zones of a release, if it holds one."""
    release = decoded.release
    zones, counts = release.zones, release.measured
    here = np.flatnonzero(counts.view == len(release.axes) + 2)  # type: ignore[attr-defined]
    if zones is None or not here.size:
        return None
    shape = [axis.size for axis in release.axes]
    units = counts.units_of(release.unit, release.max_points)
    value = counts.value[here].astype(np.float64) / units  # type: ignore[attr-defined]
    said = value.reshape(-1, zones.size).T.reshape(zones.size, *shape)
    noise = float(noise_variance(release, counts.rate[here[:1]])[0])  # type: ignore[attr-defined]
    blocks = zones.blocks()
    wanted: List[Tuple[int, ...]] = [(axis,) for axis in range(len(shape))]
    wanted.append(tuple(range(len(shape))))
    wanted += [(a, b) for a in range(len(shape)) for b in range(a + 1, len(shape))]
    known = {axes: decoded.from_maps(blocks, zones.size, axes) for axes in dict.fromkeys(wanted)}
    whole = known[(0,)].mass.sum(axis=1)
    return ZoneTable(release, zones, said, noise, known, whole)


def correct(
    decoded: DecodedViews,
    table: ZoneTable,
    found: Estimate,
    blocks: Blocks,
    zones: int,
    axes: Sequence[int],
) -> Estimate:
    """What the maps say of zones, with what the table knows better."""
    asked, declared, share = _held(decoded, table.zones, blocks, zones)
    add, less = table.correction(axes)
    mass, spread = found.mass.copy(), found.noise + found.cut
    left = spread.copy()
    for each in np.unique(declared).tolist():  # an asked zone is there once for each declared one
        own = declared == each
        at, part = asked[own], share[own][:, None]
        mass[at] += part * add[each]
        left[at] -= part**2 * less[each]
    mass = np.maximum(mass, 0.0)
    left = np.maximum(left, _LEFT * spread)
    factor = np.divide(left, spread, out=np.ones_like(spread), where=spread > 0)
    return replace(
        found, mass=mass, noise=found.noise * factor, cut=found.cut * factor, unbiased=mass
    )


def _held(
    decoded: DecodedViews, declared: DeclaredZones, blocks: Blocks, zones: int
) -> Tuple[Array, Array, Array]:
    """Which share of the mass of each declared zone lies in each asked one, where any does."""
    grid, upto = decoded.grid, decoded.cumulative.upto
    start, stop, owner = declared.runs()
    finer = 2 * (grid.order - declared.order)
    start, stop = (grid.allowed_before(end << finer).astype(np.float64) for end in (start, stop))
    some = stop > start
    start, stop, owner = start[some], stop[some], owner[some]
    # a trace of evenness: a zone without mass has its share by area
    even = 1e-6 * max(decoded.cumulative.total, 1.0) / max(grid.n_cells, 1)
    whole = np.bincount(owner, upto(stop) - upto(start) + even * (stop - start), declared.size)
    low, high = blocks.places(grid)
    first = np.searchsorted(stop, low, side="right")
    many = np.maximum(np.searchsorted(start, high, side="left") - first, 0)
    block = np.repeat(np.arange(many.size), many)
    run = np.arange(block.size) - np.repeat(np.cumsum(many) - many, many) + first[block]
    begin, end = np.maximum(low[block], start[run]), np.minimum(high[block], stop[run])
    mass = np.maximum(upto(end) - upto(begin), 0.0) + even * np.maximum(end - begin, 0.0)
    key = blocks.zone[block] * np.int64(declared.size) + owner[run]
    pair, place = np.unique(key, return_inverse=True)
    held = np.bincount(place.reshape(-1), mass * blocks.share[block], pair.size)
    asked, own = np.divmod(pair, np.int64(declared.size))
    share = np.clip(held / np.maximum(whole[own], 1e-300), 0.0, 1.0)
    return asked, own, share
