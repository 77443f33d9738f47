"""The claims about releases with axes as checks, like `claims`: a record is (slice, cell)."""

from __future__ import annotations

import numpy as np

from dpsort_geo.core.curve.declared import DeclaredZones
from dpsort_geo.core.private import slices, views
from dpsort_geo.core.rules import budget
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.core.rules.budget import UNITS, exact_epsilon
from dpsort_geo.core.rules.time_axis import TimeAxis
from dpsort_geo.core.rules.views import block_of
from tests.privacy.claims import Tape, _all_below
from tests.privacy.replay import additions, datasets, replacements

DAYS = TimeAxis("when", "2026-03-01", "2026-03-03", every="1 day")
BOTH = make_axes({"type": ["a", "b"]}, DAYS)
KINDS = {
    "both": BOTH,
    "category": make_axes({"type": ["a", "b"]}),
    "three types": make_axes({"type": ["a", "b", "c"]}),
    "four types": make_axes({"type": ["a", "b", "c", "d"]}),
    "five types": make_axes({"type": ["a", "b", "c", "d", "e"]}),
    "time": make_axes(None, TimeAxis("when", "2026-03-01", "2026-03-04", every="1 day")),
    "three": make_axes({"p": ["a", "b"], "q": ["a", "b"], "r": ["a", "b"]}),
}


def zones_of(grid, zone):
    """Declared zones from the number of every cell's zone, -1 for none."""
    zone = np.asarray(zone)
    edge = np.flatnonzero(np.diff(zone, prepend=-1))
    return DeclaredZones(edge, zone[edge], grid.order)


def as_views(epsilon, neighbours="replace", unit="point", zones=None):
    return lambda cells, noise: views.publish(
        cells, epsilon, neighbours=neighbours, unit=unit, noise=noise, zones=zones
    )


def table(grid, axes, records, person=None):
    """Counts of records given as joint slice * cells + cell."""
    joint, cell = np.divmod(np.array(records, np.int64), grid.n_cells)
    return slices.count_slices(grid, axes, *grid.centres(cell), joint, person)


def joint_cells(grid, axes):
    return grid.n_cells * int(np.prod([axis.size for axis in axes]))


def exhaustive(axes, grid, n, epsilon, neighbours, transcripts, seed=0, zones=None):
    """Every data set of n records; a neighbour changes place, category, date, or all at once."""
    sets = datasets(joint_cells(grid, axes), n)
    if neighbours == "replace":
        pairs = replacements(sets)
    else:
        larger = datasets(joint_cells(grid, axes), n + 1)
        pairs, sets = additions(sets, larger), sets + larger
    tables = [table(grid, axes, one) for one in sets]
    publish = as_views(epsilon, neighbours, zones=zones)
    return _all_below(publish, tables, pairs, epsilon, transcripts, seed)


def person_exhaustive(axes, grid, points, epsilon, neighbours, transcripts, seed=0, zones=None):
    """A person with up to ``points`` records anywhere becomes any other; or comes to another."""
    lives = [
        life for size in range(1, points + 1) for life in datasets(joint_cells(grid, axes), size)
    ]
    if neighbours == "replace":
        homes = [(life,) for life in lives]
        pairs = [(i, j) for i in range(len(lives)) for j in range(i)]
    else:
        homes = [(lives[0],)] + [(lives[0], life) for life in lives]
        pairs = [(0, j) for j in range(1, len(homes))]
    tables = [
        table(
            grid, axes, sum(home, ()), np.repeat(np.arange(len(home)), [len(one) for one in home])
        )
        for home in homes
    ]
    publish = as_views(epsilon, neighbours, "person", zones)
    units = budget.PERSON_UNITS
    return _all_below(publish, tables, np.array(pairs), epsilon, transcripts, seed, units)


def belongs(release, view, part, own):
    """Which records, by their slice of each axis, a question about a slice of a view is about."""
    axes, nodes = release.axes, release.measured
    joint = np.ravel_multi_index(own, [axis.size for axis in axes])
    size = axes[view - 1].size if 0 < view <= len(axes) else 0
    forest = nodes.slice[(nodes.view == view) & (nodes.slice >= size)]
    roots = int(forest.max()) + 1 - size if forest.size else 0
    if view == 0:
        apart = apart_in(release, roots - 1)
        return own[0] == apart[part] if part < roots - 1 else ~np.isin(own[0], apart)
    if view > len(axes):
        return joint == part
    if part < size:
        return own[view - 1] == part
    if isinstance(axes[view - 1], TimeAxis):
        return block_of(size, roots)[own[view - 1]] == part - size
    others = np.delete(np.arange(size), apart_in(release, size - roots))
    return own[0] == others[part - size]


def apart_in(release, many):
    """So many categories of the first axis, those with the largest noisy totals."""
    nodes = release.measured
    total = nodes.value[(nodes.view == 1) & (nodes.level == 0)][: release.axes[0].size]
    return np.argsort(-total, kind="stable")[:many]


def tape(grid, axes, x, y, columns, epsilon, neighbours, seed=0, zones=None):
    """Every published count is the count by hand plus its number on the tape, none left out."""
    noise = Tape(seed)
    cells = views.count(grid, x, y, None, axes, columns)
    release = views.publish(cells, epsilon, neighbours=neighbours, noise=noise, zones=zones)
    cell, nodes = grid.curve_index(x, y), release.measured
    own = [axis.slices(column) for axis, column in zip(axes, columns)]
    by_hand = []
    for view, part, level, index in zip(nodes.view, nodes.slice, nodes.level, nodes.index):
        inside = cell >> 2 * (grid.order - level) == index
        if view == len(axes) + 2:
            inside = zones.holding(cell) == index
        by_hand.append(int((inside & belongs(release, view, part, own)).sum()))
    published = nodes.value.tolist()
    if neighbours == "add-remove":
        by_hand, published = [x.size, *by_hand], [release.n, *published]
    assert len(noise.drawn) == len(published), "noise was drawn that is not in the release"
    expected = [count + k for count, k in zip(by_hand, noise.drawn)]
    assert published == expected, "a published value is not its count plus its noise"
    rates = [exact_epsilon(epsilon) * int(rate) / UNITS for rate in nodes.rate]
    assert noise.rates[-len(rates) :] == rates, "the noise has another rate than the release says"
    return len(published)
