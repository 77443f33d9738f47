"""What to expect of a release, before any data is touched."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Mapping, Optional, Sequence, Tuple

from ...core import planning
from ...core.accuracy import expected_error, relation_gain, share_of_all
from ...core.choices import compare_units, plan_relation
from ...core.errors import BadInputError
from ...core.rules import mechanism_of
from ...core.rules.axes import Axis, make_axes
from ...core.rules.budget import LEAST_EPSILON, EpsilonLike, check_neighbours
from ...core.rules.time_axis import TimeAxis
from ..domain import Area, as_domain


def plan(
    n: int,
    epsilon: Optional[EpsilonLike] = None,
    domain: Optional[Area] = None,
    *,
    target_error: Optional[float] = None,
    method: str = "adaptive",
    neighbours: str = "replace",
    protects: str = "point",
    persons: Optional[int] = None,
    max_points: Optional[int] = None,
    person_days: Optional[int] = None,
    unit: Optional[str] = None,
    by: Optional[Mapping[str, Sequence[Any]]] = None,
    time: Optional[TimeAxis] = None,
    resolution: Optional[float] = None,
    zones: Any = None,
) -> planning.Plan:
    """What to expect before any data is touched; give epsilon, or the error to reach in metres.

    ``protects`` is "point", or "person" when n counts persons; ``unit`` is its old name. With
    ``persons`` (how many there are behind n points), ``max_points`` and ``person_days`` the plan
    compares what can be protected, with the error to expect and what the numbers then mean.
    ``resolution`` is the smallest detail in metres that readers will ask for, as in `publish`.
    ``zones`` are polygons that readers will count in: the plan's ``zones`` has the half width of
    the interval to expect in each.

    >>> from dpsort_geo import Domain
    >>> domain = Domain.from_bounds((0, 0, 50_000, 50_000), crs="EPSG:3857")
    >>> plan(n=50_000, epsilon=1.0, domain=domain).expected_error < 500
    True
    """
    if unit is not None:
        words = "plan(unit=...) is called protects= now."
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        protects = unit
    if domain is None:
        raise BadInputError("A plan needs the domain: make one with Domain.from_bounds.")
    domain = as_domain(domain)
    check_neighbours(neighbours)
    axes = declare_axes(by, time, method)
    asked = domain if resolution is None else domain.at_resolution(resolution)
    cell = asked.cell_size
    made = plan_relation(
        n, domain.side, epsilon, target_error, method, protects, axes, neighbours, cell=cell
    )
    made = replace(made, cell=cell, default_cell=domain.cell_size)
    # what a replacement's epsilon would be that the map of all points is as good with
    rate = made.epsilon * made.share * relation_gain(method, neighbours)
    if resolution is not None:
        usual = expected_error(n, rate, domain.side, method, domain.cell_size)
        made = replace(made, default_error=usual)
    if persons is not None or max_points is not None or person_days is not None:
        part = made.epsilon * made.share
        made = replace(
            made,
            choices=compare_units(
                n, domain.side, part, method, persons, max_points, person_days, cell=cell
            ),
        )
    if zones is None:
        return made
    from .expected import expected_intervals

    if axes:
        made = replace(made, table=table_words(zones, asked, axes, n, made.epsilon, neighbours))
    # counts of all points are read from their map
    worth = max(float(f"{rate:.6g}"), float(LEAST_EPSILON))
    return replace(made, zones=expected_intervals(zones, n, worth, asked, method))


def table_words(
    zones: Any, domain: Any, axes: Tuple[Axis, ...], n: int, epsilon: float, neighbours: str
) -> str:
    """What it would cost to declare these zones beforehand."""
    from .zones import declare_zones

    declared = declare_zones(zones, domain, axes)
    assert declared is not None
    before, after = (
        share_of_all(axes, n, epsilon, many, neighbours) for many in (0, declared.size)
    )
    if after == before:
        return (
            " Declared beforehand (zones= of publish) these zones would bring nothing: a table of "
            "them by all axes would be noise."
        )
    return (
        " Declared beforehand (zones= of publish) these zones get a table by all axes, and the map "
        f"of all points is as good as at {after:.2f} epsilon."
    )


def declare_axes(by: Any, time: Any, method: str) -> Tuple[Axis, ...]:
    """The axes that are asked for, if the mechanism knows any."""
    if not by and time is None:
        return ()
    mechanism_of(method, has_axes=True)
    return make_axes(by, time)
