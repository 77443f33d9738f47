"""What all algorithms share: names, help, layers, errors in one sentence."""

from pathlib import Path

from qgis.core import (
    QgsApplication,
    QgsMapLayer,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFileDestination,
    QgsProcessingUtils,
    QgsProperty,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QUrl
from qgis.PyQt.QtGui import QIcon

from .._vendor.dpsort_geo.errors import BadInputError
from ..i18n import said, tr
from ..inputs import take
from ..releases import CancelledError

ICONS = Path(__file__).parent.parent / "icons"
_HELP = Path(__file__).parent.parent / "help"


def help_page():
    """The help in the user's language."""
    page = _HELP / f"{QgsApplication.locale()[:2]}.html"
    return QUrl.fromLocalFile(str(page if page.is_file() else _HELP / "en.html"))


class PrivacyAlgorithm(QgsProcessingAlgorithm):
    """One algorithm of the provider; a subclass gives the words and ``work``."""

    NAME = ""
    ICON = "dpsort.svg"
    REPORT = "REPORT"

    def createInstance(self):
        return type(self)()

    def name(self):
        return self.NAME

    def displayName(self):
        return self.title()

    def shortHelpString(self):
        return self.help()

    def helpUrl(self):
        return help_page().toString()

    def icon(self):
        return QIcon(str(ICONS / self.ICON))

    def svgIconPath(self):
        return str(ICONS / self.ICON)

    def tags(self):
        words = tr("privacy,differential privacy,anonymise,points,release,dpsort").split(",")
        return words + self.words().split(",")

    def words(self):
        """Further words, separated by commas, under which the toolbox finds the algorithm."""
        return ""

    def add(self, parameter, help_text, advanced=False):
        """Add a parameter with its help."""
        parameter.setHelp(help_text)
        if advanced:
            flag = QgsProcessingParameterDefinition.Flag.FlagAdvanced
            parameter.setFlags(parameter.flags() | flag)
        if not self.addParameter(parameter):
            raise ValueError(f"{self.NAME} has two parameters {parameter.name()}")

    def add_page(self, title, help_text, optional=True):
        """A page that the algorithm writes."""
        page = QgsProcessingParameterFileDestination(
            self.REPORT, title, tr("HTML files (*.html)"), None, optional, True
        )
        self.add(page, help_text)

    def prepareAlgorithm(self, parameters, context, feedback):
        self._refusal = ""
        try:
            self.prepare_work(parameters, context)
        except Exception as error:
            # kept for the run: a refusal here would reach the user without its sentence
            self._refusal = _sentence(error)
        return True

    def processAlgorithm(self, parameters, context, feedback):
        if self._refusal:
            raise QgsProcessingException(self._refusal)
        try:
            return self.work(parameters, context, feedback)
        except CancelledError:
            return {}
        except Exception as error:
            raise QgsProcessingException(_sentence(error)) from None

    def prepare_work(self, parameters, context):
        """Take what the run needs of layers, in their thread and before they can be removed."""

    def checkParameterValues(self, parameters, context):
        try:
            self.check(parameters, context)
        except BadInputError as error:
            return False, said(error)
        return super().checkParameterValues(parameters, context)

    def check(self, parameters, context):
        """Raise BadInputError for what can be seen before the run."""

    def layer_of(self, parameters, name, context):
        """The layer behind an input, also where only its selected features are meant.

        QGIS itself finds none for those; without a layer there would be no guard and no ledger.
        """
        value = parameters.get(name)
        if isinstance(value, QgsProcessingFeatureSourceDefinition):
            value = value.source
        if isinstance(value, QgsProperty):
            value = value.valueAsString(context.expressionContext())[0]
        if not isinstance(value, QgsMapLayer):
            hint = QgsProcessingUtils.LayerHint.Vector
            load = QgsProcessingUtils.mapLayerFromString
            value = load(value, context, True, hint) if value else None
        if value is None:
            raise BadInputError(tr("The layer is not known to QGIS; add it to the project first."))
        return value

    def take_layer(self, parameters, name, context):
        """A layer for the run (see ``inputs``)."""
        layer = self.layer_of(parameters, name, context)
        if not isinstance(layer, QgsVectorLayer) or not layer.isValid():
            raise QgsProcessingException(self.invalidSourceError(parameters, name))
        return take(layer, parameters.get(name))


def _sentence(error):
    """What a user may read of an error."""
    if isinstance(error, (BadInputError, QgsProcessingException)):
        return said(error)
    # the text of an unforeseen error may quote a value, and that may be a private one
    words = tr("Something unexpected went wrong ({kind}).")
    return words.format(kind=type(error).__name__)


def is_given(value):
    """Whether a parameter has a value."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None
