"""What to expect before publishing: from the number of points, the area and epsilon alone."""

from ._vendor.dpsort_geo.errors import BadInput
from ._vendor.dpsort_geo.planning import plan_side


def expected(n, area, epsilon, method="adaptive"):
    """The plan for n points in an area, or None when nothing useful can be said."""
    if n < 1:
        return None
    try:
        return plan_side(n, area.side * area.metres, epsilon=epsilon, method=method)
    except BadInput:
        return None


def needed_epsilon(n, area, target, method="adaptive"):
    """The epsilon with which the typical error is ``target`` metres."""
    plan = plan_side(n, area.side * area.metres, target_error=target, method=method)
    return float(plan.epsilon)
