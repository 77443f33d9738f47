"""The window behind Vector > Private points > Publish..."""

from functools import partial
from pathlib import Path

from qgis.core import QgsCoordinateReferenceSystem
from qgis.gui import QgsCollapsibleGroupBox, QgsProjectionSelectionWidget
from qgis.PyQt.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QGroupBox,
    QSpinBox,
    QVBoxLayout,
)

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.rules import METHODS, measured_by
from .._vendor.dpsort_geo.rules.budget import NEIGHBOURS, epsilon_text
from ..datasets import total_after
from ..declared_zones import refuse_drowned
from ..doubts import doubts, suggest_boundary
from ..i18n import exact_text, length, number_text, said, tr, user_locale
from ..origins import is_query
from ..planner import cell_of
from ..releases import method_words, neighbour_words
from .area_widget import AreaWidget
from .axes_box import FieldAxesBox
from .confirmation import Confirmation
from .epsilon_widget import EpsilonWidget, strength
from .expectation import Choice, Expectation
from .output_box import OutputBox, buddy
from .points_box import PointsBox
from .runner import Run
from .window import Window

ALGORITHM = "dpsort:publishpoints"


class PublishDialog(Window):
    """Layer, area, epsilon, output; beside it what to expect."""

    def __init__(self):
        super().__init__(
            "publish.svg",
            tr("Publish points privately"),
            tr("Turn points that belong to people into points that anybody may see."),
            tr("&Publish..."),
            default=False,  # Return in a field must not pay
        )
        self.plan = None
        self.points = PointsBox(self)
        self.form_layout.addWidget(self.points)
        self._build_area()
        self._build_privacy()
        self.axes = FieldAxesBox(self)
        self.form_layout.addWidget(self.axes)
        self._build_advanced()
        self.output = OutputBox(self)
        self.form_layout.addWidget(self.output)
        self.form_layout.addStretch(1)
        self.add_card(Expectation(self))
        self._connect()
        self.update_card()
        self.resize(940, 700)

    def _build_area(self):
        box = QGroupBox(tr("Public area: where points may lie"), self)
        layout = QVBoxLayout(box)
        self.area = AreaWidget(box)
        layout.addWidget(self.area)
        self.form_layout.addWidget(box)

    def _build_privacy(self):
        box = QGroupBox(tr("Privacy"), self)
        form = QFormLayout(box)
        self.epsilon = EpsilonWidget(self)
        form.addRow(buddy(tr("&Epsilon"), self.epsilon.spin), self.epsilon)
        self.form_layout.addWidget(box)

    def _build_advanced(self):
        more = QgsCollapsibleGroupBox(tr("Advanced"), self)
        more.setObjectName("advanced")
        form = QFormLayout(more)
        self.method = _combo(method_words(), self)
        self.method.setObjectName("method")
        self.method.setToolTip(tr("How the points are measured. If in doubt: adaptive."))
        form.addRow(tr("&Method"), self.method)
        self.neighbours = _combo(neighbour_words(), self)
        self.neighbours.setObjectName("neighbours")
        self.neighbours.setToolTip(
            tr("Whether a person is there at all: then the number of points gets noise, too.")
        )
        form.addRow(tr("&Hidden"), self.neighbours)
        self.group_size = QSpinBox(self)
        self.group_size.setRange(0, 2_000_000_000)
        self.group_size.setSpecialValueText(tr("automatic"))
        self.group_size.setKeyboardTracking(False)
        self.group_size.setToolTip(tr("Points in a group, for the methods Sort and Hybrid."))
        form.addRow(tr("Gro&up size"), self.group_size)
        self.resolution = QDoubleSpinBox(self)
        self.resolution.setLocale(user_locale())
        self.resolution.setObjectName("resolution")
        self.resolution.setRange(0, 1_000_000)
        self.resolution.setDecimals(1)
        self.resolution.setSuffix(" m")
        self.resolution.setSpecialValueText(tr("automatic"))
        self.resolution.setKeyboardTracking(False)
        self.resolution.setToolTip(
            tr("The smallest detail that readers will ask for; nothing is spent below it.")
        )
        form.addRow(tr("Resolution"), self.resolution)
        self.crs = QgsProjectionSelectionWidget(self)
        self.crs.setOptionVisible(QgsProjectionSelectionWidget.CrsOption.CrsNotSet, True)
        self.crs.setNotSetText(tr("as the private layer"))
        self.crs.setCrs(QgsCoordinateReferenceSystem())
        self.crs.setToolTip(tr("Of the published point layer."))
        form.addRow(tr("CRS of the points"), self.crs)
        more.setCollapsed(True)
        self.form_layout.addWidget(more)

    def _connect(self):
        self.neighbours.currentIndexChanged.connect(
            lambda number: self.points.hide_number(NEIGHBOURS[number] != "replace")
        )
        for signal in (
            self.method.currentIndexChanged,
            self.group_size.valueChanged,
            self.resolution.valueChanged,
            self.points.changed,
            self.area.changed,
            self.epsilon.changed,
            self.axes.changed,
            self.output.changed,
        ):
            signal.connect(self.update_card)

    def present(self):
        if self.active is None:
            self.points.prefer_active()
        super().present()

    def refresh(self):
        """What was spent, and whether the layers are still there."""
        self.points.refresh()

    def take(self, epsilon, area, axes):
        """Take over what was planned."""
        self.epsilon.set_value(epsilon)
        self.area.take(area)
        self.axes.take(axes)

    def _method(self):
        return METHODS[self.method.currentIndex()]

    def _relation(self):
        return NEIGHBOURS[self.neighbours.currentIndex()]

    def update_card(self, *_):
        """Show anew what to expect, for what is chosen now."""
        layer = self.points.current()
        self.axes.set_layer(layer)
        self.area.set_private(layer)
        self.group_size.setEnabled(measured_by(self._method()).HAS_GROUPS)
        self.output.suggest(layer, epsilon_text(self.epsilon.value()))
        self.choice = self._choice()
        self.plan = self.card.show_choice(self.choice)
        self.run_button.setEnabled(not self.choice.hint)

    def _choice(self):
        area, epsilon = self.area.area(), self.epsilon.value()
        total, notes, hint, zones, cell = epsilon, [], "", 0, None
        try:
            cell = None if area is None else cell_of(area, self._resolution())
            name = self.points.dataset()
            unit = "person" if self.points.several.isChecked() else "point"
            total = float(total_after(name, epsilon_text(epsilon), self._relation(), unit))
            zones = self.axes.zones.number(area, self._resolution(), self.axes.axes())
            hint = self._hint(area) or self._drowned(zones)
        except BadInputError as error:
            hint = said(error)
        if self.points.current() is not None:
            selected = self.points.selected.isChecked()
            queried = is_query(self.points.current())
            notes = doubts(self.points.is_filtered(), selected, epsilon, total, queried)
        if area is not None and self.area.is_box():
            notes.append(suggest_boundary())
        return Choice(
            area, self.points.count.value(), epsilon, total, self._method(),
            self.points.several.isChecked(), self.axes.axes(), self._relation(), zones, cell, notes,
            hint,
        )  # fmt: skip

    def _hint(self, area):
        if self.points.current() is None:
            return tr("Load a layer of points first.")
        if self.points.several.isChecked() and not self.points.person.currentField():
            return tr("Choose the field that names the person.")
        if area is None:
            return self.area.problem or tr("Choose a public area: a boundary layer is best.")
        return self.axes.problem() or Run(ALGORITHM, self._parameters()).problem()

    def _drowned(self, zones):
        """Why a table of zones would be noise, where the number of points says so; or nothing."""
        if zones and self.points.number_is_public():
            n, epsilon = self.points.count.value(), epsilon_text(self.epsilon.value())
            try:
                refuse_drowned(zones, self.axes.axes(), n, epsilon)
            except BadInputError as error:
                return said(error)
        return ""

    def _resolution(self):
        """Metres, or None."""
        return self.resolution.value() or None

    def _parameters(self):
        sized = measured_by(self._method()).HAS_GROUPS and self.group_size.value()
        return {
            **self.points.parameters(),
            **self.area.parameters(),
            "EPSILON": self.epsilon.value(),
            **self.axes.parameters(),
            "METHOD": self.method.currentIndex(),
            "NEIGHBOURS": self.neighbours.currentIndex(),
            "GROUP_SIZE": self.group_size.value() if sized else None,
            "RESOLUTION": self._resolution(),
            "CRS": self.crs.crs() if self.crs.crs().isValid() else None,
            **self.output.parameters(),
        }

    def run(self):
        """Ask once, then publish."""
        self.update_card()
        if self.choice.hint:
            self.complain(self.choice.hint)
            return
        parameters, choice, plan = self._parameters(), self.choice, self.plan
        if Confirmation(self.rows(), choice.notes, self).exec():
            # the form may show something else by the time it is done
            done = partial(self._published, choice.epsilon, plan)
            self.launch(ALGORITHM, parameters, done, choice.notes)

    def rows(self):
        """What is asked for, for the last question."""
        total = self.choice.total
        people = self.points.several.isChecked()
        rows = [
            (tr("Private layer"), self.points.current().name()),
            (tr("Rows"), self.points.rows()),
            (tr("Public area"), self.area.words()),
            (tr("Besides the place"), self.axes.words()),
            (tr("Declared zones"), self.axes.zone_words(self.choice.zones)),
            (
                tr("Protected"),
                tr("one person with all their points") if people else tr("one point"),
            ),
            (tr("Epsilon"), number_text(self.epsilon.value())),
            (
                tr("Spent on the data set after this"),
                tr("epsilon {total}: {strength}").format(
                    total=number_text(total), strength=strength(total)
                ),
            ),
            (tr("Release file"), self.output.release.filePath()),
            (tr("Report"), self.output.report_words()),
            (tr("Points"), self.output.points()),
        ]
        return [(name, value) for name, value in rows if value]

    def _published(self, epsilon, plan, results):
        words = tr("Published as {file}, epsilon {epsilon}.")
        if plan is not None:
            words = tr("Published as {file}, epsilon {epsilon}, off by about {error}.")
        sentence = words.format(
            epsilon=exact_text(epsilon_text(epsilon)),
            file=Path(results["RELEASE"]).name,
            error=length(plan.expected_error) if plan is not None else "",
        )
        self.announce(sentence, results.get("REPORT"), results["RELEASE"])
        self.output.renew()


def _combo(words, parent):
    combo = QComboBox(parent)
    combo.addItems(words)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(30)
    return combo
