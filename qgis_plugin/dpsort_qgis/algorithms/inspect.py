"""Inspect a release."""

from qgis.core import QgsProcessingOutputString, QgsProcessingParameterFileDestination

from .._vendor.dpsort_geo.release import load
from ..i18n import tr
from ..releases import statement_text
from ..report import write_report
from .base import PrivacyAlgorithm


class InspectRelease(PrivacyAlgorithm):
    """What a release says about itself, and what it can prove."""

    NAME = "inspectrelease"
    ICON = "inspect.svg"
    REPORT = "REPORT"

    def title(self):
        return tr("Inspect a release")

    def help(self):
        return tr(
            "Writes a page about a release file: the privacy statement, the settings, a picture of "
            "the density, and every check that the file can pass by itself."
        )

    def words(self):
        return tr("report,verify,check")

    def initAlgorithm(self, config=None):
        self.add_release()
        self.add(
            QgsProcessingParameterFileDestination(
                self.REPORT, tr("Report"), fileFilter=tr("HTML files (*.html)")
            ),
            tr("A web page in one file."),
        )
        self.addOutput(QgsProcessingOutputString("STATEMENT", tr("Privacy statement")))

    def work(self, parameters, context, feedback):
        release = load(self.parameterAsFile(parameters, self.RELEASE, context))
        target = self.parameterAsFileOutput(parameters, self.REPORT, context)
        write_report(release, target)
        statement = statement_text(release)
        feedback.pushInfo(statement)
        return {self.REPORT: target, "STATEMENT": statement}
