"""Inspect a release."""

from qgis.core import QgsProcessingOutputString

from ..i18n import tr
from ..promise import statement_text
from ..release_files import title_of
from ..report import Told, write_report
from .reading_parameters import ReadingParameters


class InspectRelease(ReadingParameters):
    """What a release says about itself, and what it can prove."""

    NAME = "inspectrelease"
    ICON = "inspect.svg"

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
        self.add_within()
        self.add_page(tr("Report"), tr("A web page in one file."), optional=False)
        self.addOutput(QgsProcessingOutputString("STATEMENT", tr("Privacy statement")))

    def prepare_work(self, parameters, context):
        self.take_within(parameters, context)

    def work(self, parameters, context, feedback):
        target = self.parameterAsFileOutput(parameters, self.REPORT, context)
        reading = self.reading(parameters, context, target)
        path = self.parameterAsFile(parameters, self.RELEASE, context)
        write_report(reading, target, Told(title_of(path), path))
        statement = statement_text(reading.release)
        feedback.pushInfo(statement)
        return {self.REPORT: target, "STATEMENT": statement}
