"""Publish points privately."""

import os

from qgis.core import (
    QgsProcessing,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingOutputString,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
)

from .._vendor.dpsort_geo.budget import NEIGHBOURS, epsilon_text, exact_epsilon
from .._vendor.dpsort_geo.errors import BadInput
from .._vendor.dpsort_geo.publisher.measure import METHODS
from ..area import crs_of, crs_text
from ..i18n import tr
from ..planner import expected
from ..points import Cancelled, read_points
from ..releases import (
    check_writable,
    file_of,
    gathered,
    ledger,
    ledger_name,
    method_words,
    neighbour_words,
    published,
    statement_text,
)
from ..report import length, write_report
from .base import PrivacyAlgorithm
from .points import PointsOutput


class PublishPoints(PrivacyAlgorithm):
    """From a private point layer to a release, its points and its report."""

    NAME = "publishpoints"
    ICON = "publish.svg"
    INPUT = "INPUT"
    EPSILON = "EPSILON"
    PERSON = "PERSON"
    METHOD = "METHOD"
    NEIGHBOURS = "NEIGHBOURS"
    GROUP_SIZE = "GROUP_SIZE"
    OUTPUT = "OUTPUT"
    REPORT = "REPORT"

    def title(self):
        return tr("Publish points privately")

    def help(self):
        return tr(
            "Turns a layer of points that belong to people into points that anybody may see, under "
            "epsilon-differential privacy.\n\n"
            "The public area must be known without the points: a city limit, a country. Points "
            "outside it are moved to its edge.\n\n"
            "Every run adds noise anew and costs epsilon again; what was spent on a layer is "
            "written to the ledger in your QGIS profile. Publish once, share the release file."
        )

    def words(self):
        return tr("publish,noise,epsilon,protect,hilbert,sort")

    def initAlgorithm(self, config=None):
        points = [QgsProcessing.SourceType.TypeVectorPoint]
        self.add(
            QgsProcessingParameterFeatureSource(self.INPUT, tr("Private point layer"), points),
            tr("The points to protect. Only their geometry is used; no attribute is published."),
        )
        self.add_area()
        epsilon = QgsProcessingParameterNumber(
            self.EPSILON,
            tr("Epsilon (privacy budget)"),
            QgsProcessingParameterNumber.Type.Double,
            1.0,
            minValue=0.001,
            maxValue=100,
        )
        epsilon.setMetadata({"widget_wrapper": {"decimals": 3}})
        self.add(
            epsilon,
            tr(
                "How much one person can change the result. Smaller protects more and blurs more: "
                "0.1 is strong, 1 is usual, above 3 is weak."
            ),
        )
        self.add(
            QgsProcessingParameterField(
                self.PERSON,
                tr("Field that names the person (when a person may have several points)"),
                parentLayerParameterName=self.INPUT,
                optional=True,
            ),
            tr(
                "With it, each person counts once and all their points are protected together. "
                "Without it, each point is protected by itself."
            ),
        )
        self.add(
            QgsProcessingParameterEnum(self.METHOD, tr("Method"), method_words(), defaultValue=0),
            tr("How the points are measured. If in doubt: adaptive."),
        )
        self.add(
            QgsProcessingParameterEnum(
                self.NEIGHBOURS,
                tr("What is hidden about a person"),
                neighbour_words(),
                defaultValue=0,
            ),
            tr(
                "Either where a person is (the number of points is public), or whether a person is "
                "in the data at all (the number of points gets noise, too)."
            ),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterNumber(
                self.GROUP_SIZE,
                tr("Group size (methods Sort and Hybrid)"),
                optional=True,
                minValue=1,
            ),
            tr("Points in a group. Empty: chosen from the number of points and epsilon."),
            advanced=True,
        )
        self._add_outputs()

    def _add_outputs(self):
        self.add(
            QgsProcessingParameterFeatureSink(
                self.OUTPUT,
                tr("Private points"),
                QgsProcessing.SourceType.TypeVectorPoint,
                optional=True,
                createByDefault=True,
            ),
            tr("The published points, with no attributes."),
        )
        self.add(
            QgsProcessingParameterFileDestination(
                self.RELEASE, tr("Release file"), fileFilter=tr("Releases (*.release.json)")
            ),
            tr("The file to keep and to share: everything can be rebuilt from it."),
        )
        self.add(
            QgsProcessingParameterFileDestination(
                self.REPORT,
                tr("Report"),
                fileFilter=tr("HTML files (*.html)"),
                optional=True,
                createByDefault=True,
            ),
            tr("A page that says what was published and what it promises."),
        )
        self.addOutput(QgsProcessingOutputString("STATEMENT", tr("Privacy statement")))

    def check(self, parameters, context):
        self.check_area(parameters, context, private=self.INPUT)
        size = parameters.get(self.GROUP_SIZE)
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        if size not in (None, "") and method == "adaptive":
            raise BadInput(tr("The adaptive method has no group size; leave it empty."))

    def work(self, parameters, context, feedback):
        self.check(parameters, context)
        source = self.parameterAsSource(parameters, self.INPUT, context)
        if source is None:
            raise QgsProcessingException(self.invalidSourceError(parameters, self.INPUT))
        if not source.sourceCrs().isValid():
            raise BadInput(tr("The point layer has no coordinate reference system; set it first."))
        self._warn(parameters, context, feedback)
        area = self.public_area(parameters, context, private=self.INPUT)
        cells = self._counted(source, area, parameters, context, feedback)
        targets = self._targets(area, parameters, context)
        release = self._release(cells, area, parameters, context, feedback)
        return self._outputs(release, area, targets, context, feedback)

    def _warn(self, parameters, context, feedback):
        """Say what the guarantee does not cover."""
        value = parameters.get(self.INPUT)
        layer = self.layer_of(parameters, self.INPUT, context)
        if isinstance(value, QgsProcessingFeatureSourceDefinition) and value.selectedFeaturesOnly:
            feedback.pushWarning(
                tr(
                    "Only the selected features are published. If they were selected by looking at "
                    "the data, the selection itself tells something that epsilon does not cover."
                )
            )
        # a filter of the layer, or (since QGIS 3.32) of this run
        filtered = getattr(value, "filterExpression", "")
        if filtered or layer.subsetString():
            feedback.pushWarning(
                tr(
                    "The layer has a filter. If it was chosen by looking at the data, the filter "
                    "itself tells something that epsilon does not cover."
                )
            )
        if self.parameterAsDouble(parameters, self.EPSILON, context) > 3:
            feedback.pushWarning(tr("An epsilon above 3 promises little privacy."))

    def _counted(self, source, area, parameters, context, feedback):
        """Counts in cells; refuses what cannot be measured before anything is paid for it."""
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        person = self.parameterAsString(parameters, self.PERSON, context)
        grid = area.grid()
        if grid.n_cells < 2:
            raise BadInput(tr("The public area is too small; give a larger one."))
        chunks = read_points(source, area.working_crs, context, feedback, person)
        cells = gathered(chunks, grid, method, person)
        if cells.n == 0:
            raise BadInput(tr("There are no points to publish."))
        return cells

    def _targets(self, area, parameters, context):
        """Release file, report file or "", and layer; refuses what cannot be written."""
        files = [
            self.parameterAsFileOutput(parameters, name, context)
            for name in (self.RELEASE, self.REPORT)
        ]
        for path in filter(None, files):
            check_writable(path)
        self._check_room(parameters, context)
        points = parameters.get(self.OUTPUT)
        points = points if isinstance(points, str) else self._sink_path(points, context)
        names = [file_of(self.layer_of(parameters, self.INPUT, context)), *files, points]
        known = [os.path.realpath(name) for name in names if name]
        if len(set(known)) < len(known):
            raise BadInput(tr("The private layer and the outputs must be different files."))
        crs = crs_of(crs_text(area.crs))
        return (*files, PointsOutput(self, self.OUTPUT, crs, parameters, context))

    def _release(self, cells, area, parameters, context, feedback):
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        neighbours = NEIGHBOURS[self.parameterAsEnum(parameters, self.NEIGHBOURS, context)]
        epsilon = self._epsilon(parameters, context)
        person = self.parameterAsString(parameters, self.PERSON, context)
        group_size = None
        if parameters.get(self.GROUP_SIZE) not in (None, ""):
            group_size = self.parameterAsInt(parameters, self.GROUP_SIZE, context)
        # A debit without a release must not exist either: from here on it is too late to cancel.
        # Our windows look at this mark.
        feedback.paid = True
        if feedback.isCanceled():
            raise Cancelled
        # The debit comes before the noise: a release without a debit can never exist.
        self._debit(epsilon, method, neighbours, person, area, parameters, context, feedback)
        return published(cells, area, epsilon, method, neighbours, person, group_size)

    def _sink_path(self, sink, context):
        """Where an output goes, as the toolbox says it."""
        if isinstance(sink, QgsProcessingOutputLayerDefinition):
            return sink.sink.valueAsString(context.expressionContext())[0]
        return ""

    def _check_room(self, parameters, context):
        """Refuse what the ledger will refuse before an older output is opened for writing."""
        left = ledger().left(ledger_name(self.layer_of(parameters, self.INPUT, context)))
        if left is not None and exact_epsilon(self._epsilon(parameters, context)) > left:
            raise BadInput(
                tr("The limit of this layer in the ledger leaves less than this epsilon.")
            )

    def _epsilon(self, parameters, context):
        return epsilon_text(self.parameterAsDouble(parameters, self.EPSILON, context))

    def _debit(self, epsilon, method, neighbours, person, area, parameters, context, feedback):
        name = ledger_name(self.layer_of(parameters, self.INPUT, context))
        box = " ".join(f"{edge:.6g}" for edge in area.bounds)
        domain = f"{box} in {crs_text(area.working_crs)}"[:2000]
        unit = "person" if person else "point"
        book = ledger()
        book.debit(name, epsilon, unit, neighbours, domain, method)
        spent = f"{float(book.spent(name)):g}"
        feedback.pushInfo(
            tr("Written to the ledger. Spent on this layer until now: epsilon {spent}").format(
                spent=spent
            )
        )

    def _outputs(self, release, area, targets, context, feedback):
        target, report, layer = targets
        release.save(target)
        feedback.setProgress(55)
        results = {self.RELEASE: target, "STATEMENT": statement_text(release)}
        feedback.pushInfo(results["STATEMENT"])
        plan = expected(release.size, area, float(release.epsilon), release.kind)
        if plan is not None:
            words = tr("Typical error to expect: about {error}")
            feedback.pushInfo(words.format(error=length(plan.expected_error)))
        if report:
            write_report(release, report, plan)
            results[self.REPORT] = report
        layer.write(release, True, context, feedback, paid=True)
        if layer.target is not None:
            results[self.OUTPUT] = layer.target
        if feedback.isCanceled():
            words = tr("It was too late to cancel: epsilon was spent, and the release is {path}")
            feedback.pushWarning(words.format(path=target))
        return results
