"""Publish points privately."""

from itertools import combinations
from pathlib import Path

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.frame.area import ledger_text
from .._vendor.dpsort_geo.private.ledger import total_text
from .._vendor.dpsort_geo.public.edge import crowds_edge
from .._vendor.dpsort_geo.rules import METHODS, measured_by, mechanism_of
from .._vendor.dpsort_geo.rules.budget import NEIGHBOURS, epsilon_text
from ..datasets import (
    check_files,
    check_kept_names,
    is_published,
    ledger,
    name_dataset,
    needed_dataset,
    spent,
    total_after,
)
from ..declared_zones import check_zones, declare_taken, refuse_drowned
from ..doubts import doubts
from ..host import crs_name
from ..i18n import exact_text, length, tr
from ..inputs import refuse_entangled
from ..origins import file_of, marks_of, read_layers
from ..outputs import files_written, same_file
from ..planner import expected, grid_of
from ..private_points import count_points, published
from ..promise import statement_text
from ..reading import Reading
from ..release_files import check_free, is_temporary, save_release, spare_releases, suggest_path
from ..releases import CancelledError, check_writable
from ..report import Told, write_report
from .axis_parameters import check_method
from .base import is_given
from .points import PointsOutput
from .publish_parameters import PublishParameters


class PublishPoints(PublishParameters):
    """From a private point layer to a release, its points and its report."""

    NAME = "publishpoints"
    ICON = "publish.svg"

    def title(self):
        return tr("Publish points privately")

    def help(self):
        return tr(
            "Turns a layer of points that belong to people into points that anybody may see, under "
            "epsilon-differential privacy.\n\n"
            "The public area must be known without the points: a city limit, a country. Points "
            "outside it are moved to its edge.\n\n"
            "Every run adds noise anew and costs epsilon again; what was spent on a layer is "
            "written to your ledger. Publish once, share the release file."
        )

    def words(self):
        return tr("publish,noise,epsilon,protect,hilbert,sort")

    def check(self, parameters, context):
        layer = self.layer_of(parameters, self.INPUT, context)
        if is_published(layer):
            raise BadInputError(
                tr("This layer is a published one already; choose the private layer.")
            )
        self.check_area(parameters, context, private=self.INPUT)
        size = parameters.get(self.GROUP_SIZE)
        method = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        if size not in (None, "") and not measured_by(method).HAS_GROUPS:
            raise BadInputError(tr("The adaptive method has no group size; leave it empty."))
        words = self.row_words(layer, parameters, context)
        check_method(words.axes, method)
        if is_given(parameters.get(self.ZONES)):
            zones = self.layer_of(parameters, self.ZONES, context)
            check_zones(zones, layer, words.axes, context.transformContext())
        name = self._dataset(layer, parameters, context)
        check_kept_names(layer, name)
        self._check_room(name, parameters, context)
        release = self._given_release(parameters, context)
        if release:
            check_free(release)
            check_writable(release)

    def _dataset(self, layer, parameters, context):
        return needed_dataset(layer, self.parameterAsString(parameters, self.DATASET, context))

    def _given_release(self, parameters, context):
        """The release file that the user named; nothing when it is left to us."""
        path = self.parameterAsFileOutput(parameters, self.RELEASE, context)
        return "" if is_temporary(parameters.get(self.RELEASE), path) else path

    def prepare_work(self, parameters, context):
        self.check(parameters, context)
        layer = self.layer_of(parameters, self.INPUT, context)
        if not layer.crs().isValid():
            raise BadInputError(
                tr("The point layer has no coordinate reference system; set it first.")
            )
        self._private = self.take_layer(parameters, self.INPUT, context)
        refuse_entangled(self._private)
        self._layer_name = layer.name()
        self._name = self._dataset(layer, parameters, context)
        self._sources = marks_of(layer)
        self._words = self.row_words(layer, parameters, context)
        self._crs = self.parameterAsCrs(parameters, self.CRS, context)
        if not self._crs.isValid():
            self._crs = layer.crs()
        self.take_area(parameters, context)
        self._zones = None
        if is_given(parameters.get(self.ZONES)):
            self._zones = self.take_layer(parameters, self.ZONES, context)
        self._files = self._check_files(layer, parameters, context)
        name_dataset(layer, self._name)

    def work(self, parameters, context, feedback):
        epsilon, neighbours = (
            self._epsilon(parameters, context),
            self._relation(parameters, context),
        )
        check_files(self._sources, self._name)
        total = float(total_after(self._name, epsilon, neighbours, self._unit))
        taken = self._private
        for doubt in doubts(taken.filtered, taken.selected, float(epsilon), total, taken.queried):
            feedback.pushWarning(doubt)
        area = self.public_area(context)
        grid = grid_of(area, self.resolution(parameters, context))
        method = self._method(parameters, context)
        zones = declare_taken(self._zones, area, grid, self._words.axes, context)
        cells = count_points(taken, area, grid, method, neighbours, self._words, context, feedback)
        layer = PointsOutput(self, self._crs, self._words.axes, parameters, context)
        if zones is not None and neighbours == "replace":
            n = cells.n // measured_by(method).units_of(self._unit, None)
            refuse_drowned(zones.size, self._words.axes, n, epsilon)
        release = self._release(cells, area, zones, parameters, context, feedback)
        return self._outputs(release, area, layer, context, feedback)

    def _check_files(self, layer, parameters, context):
        """Release file, and report file or ""; refuses what cannot be or must not be written."""
        release = self._given_release(parameters, context)
        if not release:
            epsilon = self._epsilon(parameters, context)
            release = suggest_path(self._layer_name, epsilon, context.project())
        report = self.parameterAsFileOutput(parameters, self.REPORT, context)
        files = [str(release), report]
        for path in filter(None, files):
            check_writable(path)
        points = files_written(parameters.get(self.OUTPUT), context)
        spare_releases([report, *points])
        areas = [
            file_of(self.layer_of(parameters, name, context))
            for name in (self.AREA, self.ZONES)
            if is_given(parameters.get(name))
        ]
        private = [file_of(one) for one in read_layers(layer)]
        groups = [private, files[:1], files[1:], points]
        pairs = [*combinations(groups, 2), *((areas, group) for group in groups[1:])]
        for group, others in pairs:
            if any(same_file(a, b) for a in filter(None, group) for b in filter(None, others)):
                raise BadInputError(
                    tr("The layers that are read and the outputs must be different files.")
                )
        return files

    def _release(self, cells, area, zones, parameters, context, feedback):
        method, neighbours = self._method(parameters, context), self._relation(parameters, context)
        epsilon = self._epsilon(parameters, context)
        group_size = None
        if parameters.get(self.GROUP_SIZE) not in (None, ""):
            group_size = self.parameterAsInt(parameters, self.GROUP_SIZE, context)
        # A debit without a release must not exist either: from here on it is too late to cancel.
        # Our windows look at this mark.
        feedback.paid = True
        if feedback.isCanceled():
            raise CancelledError
        # The debit comes before the noise: a release without a debit can never exist.
        self._debit(epsilon, method, neighbours, area, cells.grid.order, feedback)
        return published(cells, area, epsilon, method, neighbours, self._unit, group_size, zones)

    def _check_room(self, name, parameters, context):
        """Refuse what the ledger will refuse, before any point is read or older output opened."""
        left = ledger().left(name)
        if left is None:
            return
        epsilon, neighbours = (
            self._epsilon(parameters, context),
            self._relation(parameters, context),
        )
        unit = "person" if parameters.get(self.PERSON) else "point"
        cost = total_after(name, epsilon, neighbours, unit) - spent(name)
        if cost > left:
            words = tr(
                "This release would cost epsilon {cost}, but the limit of this data set in the "
                "ledger leaves {left}; publish with less, or raise the limit."
            )
            cost, left = (exact_text(total_text(value)) for value in (cost, left))
            raise BadInputError(words.format(cost=cost, left=left))

    def _epsilon(self, parameters, context):
        return epsilon_text(self.parameterAsDouble(parameters, self.EPSILON, context))

    def _relation(self, parameters, context):
        return NEIGHBOURS[self.parameterAsEnum(parameters, self.NEIGHBOURS, context)]

    def _method(self, parameters, context):
        """The mechanism; points with axes have one of their own."""
        chosen = METHODS[self.parameterAsEnum(parameters, self.METHOD, context)]
        return mechanism_of(chosen, bool(self._words.axes))

    @property
    def _unit(self):
        return "person" if self._words.person else "point"

    def _debit(self, epsilon, method, neighbours, area, order, feedback):
        domain = ledger_text(area.bounds, crs_name(area.crs), order)
        ledger().debit(
            self._name, epsilon, self._unit, neighbours, domain, method,
            source=self._sources or None, release=self._files[0],
        )  # fmt: skip
        feedback.pushInfo(
            tr("Written to the ledger. Spent on this data set until now: epsilon {spent}").format(
                spent=exact_text(total_text(spent(self._name)))
            )
        )

    def _outputs(self, release, area, layer, context, feedback):
        """Save the release, and then all the rest, of which nothing can lose it any more."""
        target, report = self._files
        path = self._files[0] = save_release(release, target)
        feedback.pushInfo(tr("The release is {path}").format(path=path))
        if path != target:
            words = tr("{path} could not be written; the release was saved as {place}.")
            feedback.pushWarning(words.format(path=target, place=path))
        feedback.setProgress(55)
        results = {self.RELEASE: path, "STATEMENT": statement_text(release)}
        feedback.pushInfo(results["STATEMENT"])
        reading = self._spared(feedback, Reading, release, context.transformContext())
        if reading is not None:
            plan = self._spared(feedback, self._tell, reading, area, feedback)
            told = Told(self._layer_name, path, total_text(spent(self._name)), plan)
            if report and self._spared(feedback, write_report, reading, report, told):
                results[self.REPORT] = report
            title = self._layer_name
            self._spared(feedback, layer.write, reading, True, context, feedback, title, True)
        if layer.target is not None:
            results[self.OUTPUT] = layer.target
        if feedback.isCanceled():
            words = tr("It was too late to cancel: epsilon was spent, and the release is {path}")
            feedback.pushWarning(words.format(path=path))
        return results

    def _tell(self, reading, area, feedback):
        """Say how far off the map is, and what looks wrong about it; gives the plan."""
        release = reading.release
        plan = expected(
            release.size, area, float(release.exact_epsilon), release.measured.METHOD,
            release.axes, release.neighbours, 0 if release.zones is None else release.zones.size,
            area.side * area.metres / 2.0**release.grid.order,
        )  # fmt: skip
        if plan is not None:
            words = tr("Typical error to expect: about {error}")
            feedback.pushInfo(words.format(error=length(plan.expected_error)))
        if crowds_edge(reading.decoded):
            feedback.pushWarning(
                tr(
                    "Most of the published points lie at the edge of the public area; check the "
                    "coordinate reference system of the layer, and that x and y are in the right "
                    "order."
                )
            )
        return plan

    def _spared(self, feedback, step, *arguments):
        """What a step gives, or None with a warning: when it runs, epsilon is spent."""
        try:
            return step(*arguments)
        except Exception as error:
            words = tr(
                "The release is safe in {path}, but something could not be made of it ({kind}); "
                "open the release to make it again."
            )
            path = Path(self._files[0]).name
            feedback.pushWarning(words.format(path=path, kind=type(error).__name__))
            return None
