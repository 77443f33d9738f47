"""Plan: what error to expect, before any data is read."""

from qgis.core import (
    QgsProcessingOutputNumber,
    QgsProcessingParameterNumber,
)

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.rules import METHODS
from ..axis_fields import slice_words
from ..i18n import count_text, length, number_text, tr
from ..planner import cell_of, expected, needed_epsilon, price_of_axes
from ..releases import method_name
from ..report import write_plan
from .axis_parameters import AxisParameters, check_method

#: the choices of epsilon that the page compares
CHOICES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Plan(AxisParameters):
    """Epsilon to error, or error to epsilon."""

    NAME = "plan"
    ICON = "plan.svg"
    N = "N"
    TARGET = "TARGET_ERROR"

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
        self.add_epsilon(optional=True)
        number = QgsProcessingParameterNumber.Type.Double
        self.add(
            QgsProcessingParameterNumber(
                self.TARGET, tr("Or: wanted error in metres"), number, optional=True, minValue=0
            ),
            tr("When given, the epsilon that reaches it is looked for, whatever epsilon says."),
        )
        self.add_axes()
        self.add_method()
        self.add_resolution()
        self.add_page(tr("Plan"), tr("A page with the plan and a table of other choices."))
        self.addOutput(QgsProcessingOutputNumber("EXPECTED_ERROR", tr("Typical error (metres)")))
        self.addOutput(QgsProcessingOutputNumber("LOW", tr("Low end (metres)")))
        self.addOutput(QgsProcessingOutputNumber("HIGH", tr("High end (metres)")))
        self.addOutput(QgsProcessingOutputNumber("PLANNED_EPSILON", tr("Epsilon")))

    def check(self, parameters, context):
        self.check_area(parameters, context)
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        check_method(self.axes(parameters, context), method)

    def prepare_work(self, parameters, context):
        self.check(parameters, context)
        self.take_area(parameters, context)

    def work(self, parameters, context, feedback):
        area = self.public_area(context)
        n = self.parameterAsInt(parameters, self.N, context)
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        axes = self.axes(parameters, context)
        resolution = self.resolution(parameters, context)
        cell = cell_of(area, resolution)
        if parameters.get(self.TARGET) not in (None, ""):
            target = self.parameterAsDouble(parameters, self.TARGET, context)
            epsilon = needed_epsilon(n, area, target, method, axes, cell)
        else:
            epsilon = self.parameterAsDouble(parameters, self.EPSILON, context)
        plan = expected(n, area, epsilon, method, axes, cell=cell)
        if plan is None:
            raise BadInputError(
                tr("For these numbers there is no plan: give more points or epsilon.")
            )
        sentence = _sentence(plan)
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
                (tr("Number of points or persons"), count_text(n)),
                (tr("Size of a cell"), _cells(area, resolution)),
                (tr("Method"), method_name(method)),
            ]
            rows += [
                (tr("Time") if hasattr(axis, "every") else tr("Category"), slice_words(axis))
                for axis in axes
            ]
            write_plan(page, sentence, rows, comparison(n, area, method, axes, cell))
            results[self.REPORT] = page
        return results


def _sentence(plan):
    words = tr(
        "With epsilon {epsilon} and {n} points, a point has to move about {error} on average "
        "to turn the published map into the true one ({low} to {high})."
    )
    sentence = words.format(
        epsilon=number_text(plan.epsilon),
        n=count_text(plan.n),
        error=length(plan.expected_error),
        low=length(plan.low),
        high=length(plan.high),
    )
    return " ".join(filter(None, (sentence, price_of_axes(plan))))


def _cells(area, resolution):
    """The size of cells, with a resolution and without."""
    sizes = [length(cell_of(area, one)) for one in (resolution, None)]
    if resolution is None:
        return sizes[0]
    words = tr("{size} ({default} when no resolution is stated)")
    return words.format(size=sizes[0], default=sizes[1])


def comparison(n, area, method, axes=(), cell=None):
    """Rows of epsilon and typical error, as text."""
    plans = [(epsilon, expected(n, area, epsilon, method, axes, cell=cell)) for epsilon in CHOICES]
    return [(number_text(epsilon), length(plan.expected_error)) for epsilon, plan in plans if plan]
