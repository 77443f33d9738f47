"""Zones that are declared beforehand, for a table of their counts by all axes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Optional

from ...core.curve.declared import DeclaredZones, declare
from ...core.errors import BadInputError
from ...core.rules.axes import Axis
from ...core.rules.budget import path_units
from ...core.rules.views import check_zone_cells, zone_units
from ..domain import Domain
from ..zones import zone_frame


def declare_zones(zones: Any, domain: Domain, axes: Sequence[Axis]) -> Optional[DeclaredZones]:
    """The zones on the cells of the domain; refused before a point is read."""
    if zones is None:
        return None
    if not axes:
        raise BadInputError(
            "zones= declares a table by categories or dates: give by= or time=, too. Without them "
            "the map of all points counts in any zone."
        )
    frame, shapes = zone_frame(zones)
    found = declare(domain.zone_rings(shapes, frame.crs), domain.grid)
    check_zone_cells(found.size, axes)
    return found


def refuse_drowned(zones: int, axes: Sequence[Axis], n: int, epsilon: Fraction) -> None:
    """Refuse a table that noise would drown, where n is public and says so."""
    if not zone_units(zones, axes, n, epsilon, path_units("replace")):
        raise BadInputError(
            "There are too few points for a table of so many zones, categories and bins of time at "
            "this epsilon: it would be noise. Leave zones= out, or declare fewer of them or longer "
            "bins."
        )
