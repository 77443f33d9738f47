"""Plan: what error to expect, before any data is read."""

from qgis.core import (
    QgsProcessingOutputNumber,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
)

from .._vendor.dpsort_geo.errors import BadInput
from .._vendor.dpsort_geo.publisher.measure import METHODS
from ..i18n import tr
from ..planner import expected, needed_epsilon
from ..releases import method_words
from ..report import length, write_plan
from .base import PrivacyAlgorithm

#: the choices of epsilon that the page compares
CHOICES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Plan(PrivacyAlgorithm):
    """Epsilon to error, or error to epsilon."""

    NAME = "plan"
    ICON = "plan.svg"
    N = "N"
    EPSILON = "EPSILON"
    TARGET = "TARGET_ERROR"
    METHOD = "METHOD"
    REPORT = "REPORT"

    def title(self):
        return tr("Plan")

    def help(self):
        return tr(
            "Says how far published points will typically be from the truth, or which epsilon an "
            "error in metres needs. It reads no private layer: type the number of points in."
        )

    def words(self):
        return tr("error,expected,budget,epsilon")

    def initAlgorithm(self, config=None):
        self.add_area()
        self.add(
            QgsProcessingParameterNumber(
                self.N, tr("Number of points (or of persons)"), defaultValue=10000, minValue=1
            ),
            tr("A rough number is enough."),
        )
        number = QgsProcessingParameterNumber.Type.Double
        epsilon = QgsProcessingParameterNumber(
            self.EPSILON,
            tr("Epsilon (privacy budget)"),
            number,
            1.0,
            optional=True,
            minValue=0.001,
            maxValue=100,
        )
        epsilon.setMetadata({"widget_wrapper": {"decimals": 3}})
        self.add(epsilon, tr("How much one person can change the result; 1 is usual."))
        self.add(
            QgsProcessingParameterNumber(
                self.TARGET, tr("Or: wanted error in metres"), number, optional=True, minValue=0
            ),
            tr("When given, the epsilon that reaches it is looked for, whatever epsilon says."),
        )
        self.add(
            QgsProcessingParameterEnum(self.METHOD, tr("Method"), method_words(), defaultValue=0),
            tr("How the points are measured. If in doubt: adaptive."),
        )
        self.add(
            QgsProcessingParameterFileDestination(
                self.REPORT,
                tr("Plan"),
                fileFilter=tr("HTML files (*.html)"),
                optional=True,
                createByDefault=True,
            ),
            tr("A page with the plan and a table of other choices."),
        )
        self.addOutput(QgsProcessingOutputNumber("EXPECTED_ERROR", tr("Typical error (metres)")))
        self.addOutput(QgsProcessingOutputNumber("LOW", tr("Low end (metres)")))
        self.addOutput(QgsProcessingOutputNumber("HIGH", tr("High end (metres)")))
        self.addOutput(QgsProcessingOutputNumber("PLANNED_EPSILON", tr("Epsilon")))

    def check(self, parameters, context):
        self.check_area(parameters, context)

    def work(self, parameters, context, feedback):
        area = self.public_area(parameters, context)
        n = self.parameterAsInt(parameters, self.N, context)
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        if parameters.get(self.TARGET) not in (None, ""):
            target = self.parameterAsDouble(parameters, self.TARGET, context)
            epsilon = needed_epsilon(n, area, target, method)
        else:
            epsilon = self.parameterAsDouble(parameters, self.EPSILON, context)
        plan = expected(n, area, epsilon, method)
        if plan is None:
            raise BadInput(tr("For these numbers there is no plan: give more points or epsilon."))
        words = tr(
            "With epsilon {epsilon:.3g} and {n:,} points, a published point is typically about "
            "{error} from the truth ({low} to {high})."
        )
        sentence = words.format(
            epsilon=epsilon,
            n=n,
            error=length(plan.expected_error),
            low=length(plan.low),
            high=length(plan.high),
        )
        feedback.pushInfo(sentence)
        results = {
            "EXPECTED_ERROR": plan.expected_error,
            "LOW": plan.low,
            "HIGH": plan.high,
            "PLANNED_EPSILON": epsilon,
        }
        page = self.parameterAsFileOutput(parameters, self.REPORT, context)
        if page:
            rows = [
                (tr("Side of the area's grid"), length(area.side * area.metres)),
                (tr("Number of points or persons"), f"{n:,}"),
                (tr("Method"), method),
            ]
            write_plan(page, sentence, rows, comparison(n, area, method))
            results[self.REPORT] = page
        return results


def comparison(n, area, method):
    """Rows of epsilon and typical error, as text."""
    plans = [(epsilon, expected(n, area, epsilon, method)) for epsilon in CHOICES]
    return [(f"{epsilon:g}", length(plan.expected_error)) for epsilon, plan in plans if plan]
