"""The Processing algorithms, one file for each."""

from .count import CountInPolygons
from .density import DensityFromRelease
from .inspect import InspectRelease
from .plan import Plan
from .points import PointsFromRelease
from .publish import PublishPoints

ALGORITHMS = (
    PublishPoints,
    Plan,
    PointsFromRelease,
    DensityFromRelease,
    CountInPolygons,
    InspectRelease,
)
