"""Reading a release: its file, and a reader's own boundary."""

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterFile,
)

from .._vendor.dpsort_geo.release import load
from ..area import union_of
from ..i18n import tr
from ..reading import Reading
from ..release_files import spare_releases
from .base import PrivacyAlgorithm, is_given


class ReadingParameters(PrivacyAlgorithm):
    """The release that the user named, read within the boundary that the user gave."""

    RELEASE = "RELEASE"
    WITHIN = "WITHIN"

    def add_release(self):
        """The release file that an algorithm reads."""
        self.add(
            QgsProcessingParameterFile(
                self.RELEASE,
                tr("Release file"),
                fileFilter=tr("Releases (*.release.json *.json)"),
            ),
            tr("A file made by 'Publish points privately', or by dpsort-geo elsewhere."),
        )

    def add_within(self):
        """A reader's own boundary, given afterwards."""
        self.add(
            QgsProcessingParameterFeatureSource(
                self.WITHIN,
                tr("Read within: polygon layer"),
                [QgsProcessing.SourceType.TypeVectorPolygon],
                optional=True,
            ),
            tr(
                "A public boundary outside of which there are no points, such as the coast, when "
                "the release was made for a box. What is read is nearer to the truth, and costs "
                "no privacy."
            ),
        )

    def take_within(self, parameters, context):
        """What the run needs of a reader's boundary."""
        self._within = None
        if is_given(parameters.get(self.WITHIN)):
            self._within = self.take_layer(parameters, self.WITHIN, context)

    def reading(self, parameters, context, *outputs):
        """The release that the user named, read within the boundary that the user gave.

        ``outputs`` are the files that will be written; a release is never one of them.
        """
        path = self.parameterAsFile(parameters, self.RELEASE, context)
        spare_releases(outputs, path)
        release = load(path)
        within = None
        if self._within is not None:
            within = union_of(self._within.features(context)), self._within.crs
        return Reading(release, context.transformContext(), within)
