"""What to expect before publishing: from the number of points, the area and epsilon alone."""

from ._vendor.dpsort_geo.choices import plan_relation
from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.planning import plan_side
from .i18n import number_text, tr


def expected(
    n, area, epsilon, method="adaptive", axes=(), neighbours="replace", zones=0, cell=None
):
    """The plan for n points in an area, or None when nothing useful can be said.

    ``zones`` is how many were declared for a table of their own; ``cell`` is the side of a cell in
    metres, where it is not the usual one.
    """
    if n < 1:
        return None
    try:
        return plan_relation(
            n, area.side * area.metres, epsilon, None, method, axes=axes, neighbours=neighbours,
            zones=zones, cell=cell_of(area) if cell is None else cell,
        )  # fmt: skip
    except BadInputError:
        return None


def grid_of(area, resolution=None):
    """The grid of an area; with a resolution, of cells of about so many metres."""
    return area.grid() if resolution is None else area.grid_for(resolution)


def cell_of(area, resolution=None):
    """Metres on the ground along the side of a cell."""
    return area.side * area.metres / 2.0 ** area.order(resolution)


def needed_epsilon(n, area, target, method="adaptive", axes=(), cell=None):
    """The epsilon with which the typical error is ``target`` metres."""
    plan = plan_side(
        n, area.side * area.metres, target_error=target, method=method, axes=axes,
        cell=cell_of(area) if cell is None else cell,
    )  # fmt: skip
    return float(plan.epsilon)


def price_of_axes(plan, zones=0):
    """What categories, time and declared zones take from the map of all points, if anything."""
    if plan.share == 1:
        return ""
    words = tr(
        "Category and time take their part: the map of all points is as good as at epsilon "
        "{share} without them."
    )
    if zones:
        words = tr(
            "Category, time and declared zones take their part: the map of all points is as good "
            "as at epsilon {share} without them."
        )
    return words.format(share=number_text(round(plan.share * plan.epsilon, 3)))
