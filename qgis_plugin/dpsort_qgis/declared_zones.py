"""Zones that are declared beforehand: public polygons that get a table by category and time."""

from ._vendor.dpsort_geo.curve.declared import declare
from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.frame.ground import Frame
from ._vendor.dpsort_geo.frame.zones import zone_rings
from ._vendor.dpsort_geo.rules.budget import exact_epsilon, path_units
from ._vendor.dpsort_geo.rules.views import check_zone_cells, zone_units
from .area import looks_like
from .host import QgisHost, polygons_of
from .i18n import tr


def check_zones(zones, private, axes, context):
    """Refuse what can be seen of a layer of zones before it is read."""
    if not axes:
        raise BadInputError(
            tr(
                "Declared zones get a table by category or time: name a field of one of them, too. "
                "Without them the map of all points counts in any zone."
            )
        )
    if not zones.crs().isValid():
        raise BadInputError(
            tr("The declared zones have no coordinate reference system; set one for them first.")
        )
    if looks_like(zones.extent(), zones.crs(), private.extent(), private.crs(), context):
        raise BadInputError(
            tr(
                "The declared zones end where the private points end, so that they tell where the "
                "outermost person is. Declare zones that are known without the points."
            )
        )


def declare_taken(taken, area, grid, axes, context):
    """The zones of a layer that was taken for a run; None without one."""
    if taken is None:
        return None
    features, transforms = taken.features(context), context.transformContext()
    return declare_zones(features, taken.crs, area, grid, axes, transforms)


def declare_zones(features, crs, area, grid, axes, context):
    """The zones of features on the cells of a grid; refuses what has no table."""
    frame = Frame(grid, area.crs, area.working_crs, QgisHost(context))
    found = declare(zone_rings(frame, list(polygons_each(features)), crs), grid)
    check_zone_cells(found.size, axes)
    return found


def polygons_each(features):
    """Polygons of each feature, as they are asked for."""
    for feature in features:
        if not feature.hasGeometry():
            raise BadInputError(
                tr("Every feature needs a polygon to count in; remove empty ones first.")
            )
        yield polygons_of(feature.geometry())


def refuse_drowned(zones, axes, n, epsilon):
    """Refuse a table of so many zones that noise would drown, where n is public and says so."""
    if not zone_units(zones, axes, n, exact_epsilon(epsilon), path_units("replace")):
        raise BadInputError(
            tr(
                "There are too few points for a table of so many zones, categories and stretches "
                "of time at this epsilon: it would be noise. Leave the declared zones out, or "
                "declare fewer of them or longer stretches."
            )
        )
