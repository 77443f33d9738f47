"""What to expect before publishing: from the number of points, the area and epsilon alone."""

from ._vendor.dpsort_geo.choices import plan_relation
from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.planning import plan_side
from .i18n import number_text, tr


def expected(n, area, epsilon, method="adaptive", axes=(), neighbours="replace"):
    """The plan for n points in an area, or None when nothing useful can be said."""
    if n < 1:
        return None
    try:
        side = area.side * area.metres
        return plan_relation(n, side, epsilon, None, method, axes=axes, neighbours=neighbours)
    except BadInputError:
        return None


def grid_of(area, resolution=None):
    """The grid of an area; with a resolution, of cells of about so many metres."""
    return area.grid() if resolution is None else area.grid_for(resolution)


def needed_epsilon(n, area, target, method="adaptive", axes=()):
    """The epsilon with which the typical error is ``target`` metres."""
    plan = plan_side(n, area.side * area.metres, target_error=target, method=method, axes=axes)
    return float(plan.epsilon)


def price_of_axes(plan):
    """What categories and time take from the map of all points; nothing where there are none."""
    if plan.share == 1:
        return ""
    return tr(
        "Category and time take their part: the map of all points is as good as at epsilon "
        "{share} without them."
    ).format(share=number_text(round(plan.share * plan.epsilon, 3)))
