"""What all that makes or reads a release shares: its words, its files, its place on the ground."""

import tempfile
from pathlib import Path

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.frame.ground import Frame
from ._vendor.dpsort_geo.rules import METHODS
from .host import QgisHost, crs_of
from .i18n import tr


class CancelledError(Exception):
    """The user pressed cancel; nothing was published."""


def method_words():
    """A few words for each method: longer ones make QGIS's form scroll sideways."""
    return [
        tr("Adaptive: the most accurate map"),
        tr("Sort: the paper's, all quantiles at once"),
        tr("Hybrid: fixed cells, sorted inside"),
    ]


def method_name(mechanism):
    """The name of a mechanism; with categories or times it is the adaptive one."""
    known = METHODS.index(mechanism) if mechanism in METHODS else 0
    return method_words()[known].split(":")[0]


def neighbour_words():
    """One line for each neighbour relation."""
    return [
        tr("Where a person is"),
        tr("Whether a person is there at all"),
    ]


def check_writable(path):
    """Refuse a file that could not be written, before epsilon is spent on it."""
    try:
        with tempfile.TemporaryFile(dir=Path(path).parent):
            pass
        if Path(path).exists():
            with open(path, "ab"):
                pass
    except OSError:
        words = tr("{path} cannot be written; choose another file or folder.")
        raise BadInputError(words.format(path=path)) from None


def frame_of(release, transform_context):
    """The grid of a release on the ground."""
    if not release.crs or not release.working_crs:
        raise BadInputError(
            tr("This release has no coordinate reference system, so it has no map.")
        )
    crs, working = crs_of(release.crs), crs_of(release.working_crs)
    return Frame(release.grid, crs, working, QgisHost(transform_context))
