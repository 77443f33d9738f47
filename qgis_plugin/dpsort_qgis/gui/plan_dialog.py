"""The window behind Vector > Private points > Plan..."""

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QGroupBox,
    QHeaderView,
    QLabel,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
)

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.rules import METHODS
from ..algorithms.axis_parameters import check_method
from ..algorithms.plan import CHOICES, comparison
from ..i18n import said, tr, user_locale
from ..planner import needed_epsilon
from ..releases import method_words
from .area_widget import AreaWidget
from .axes_box import AxesBox
from .epsilon_widget import EpsilonWidget
from .expectation import Choice, Expectation
from .window import Window


class PlanDialog(Window):
    """Area, number of points, epsilon; beside it the error. No layer of points is read."""

    def __init__(self, hand_on=None):
        """``hand_on`` takes epsilon, the area and the axes to publishing."""
        super().__init__(
            "plan.svg",
            tr("Plan"),
            tr("How far will the published map be from the truth? No private layer is read."),
            tr("&Write the plan"),
        )
        box = QGroupBox(tr("Public area: where points may lie"), self)
        QVBoxLayout(box).addWidget(self._area())
        self.form_layout.addWidget(box)
        self.form_layout.addWidget(self._numbers())
        self.axes = AxesBox(self)
        self.form_layout.addWidget(self.axes)
        self.table = self._table()
        self.form_layout.addWidget(self.table)
        self.form_layout.addStretch(1)
        self.add_card(Expectation(self))
        self._hand_on, self._aiming = hand_on, False
        self.publish_button = self.add_button(tr("&Publish with this..."), "publish", self.hand_on)
        self.publish_button.setVisible(hand_on is not None)
        for signal in (
            self.area.changed,
            self.count.valueChanged,
            self.target.valueChanged,
            self.method.currentIndexChanged,
            self.axes.changed,
        ):
            signal.connect(self._aim)
        self.epsilon.changed.connect(self._typed)
        self.resize(860, 660)

    def _area(self):
        self.area = AreaWidget(self)
        return self.area

    def _numbers(self):
        box = QGroupBox(tr("Numbers"), self)
        form = QFormLayout(box)
        self.count = QSpinBox(self)
        self.count.setObjectName("count")
        self.count.setRange(1, 2_000_000_000)
        self.count.setGroupSeparatorShown(True)
        self.count.setKeyboardTracking(False)
        self.count.setValue(10_000)
        self.count.setToolTip(tr("A rough number is enough."))
        label = QLabel(tr("&Number of points"), self)
        label.setBuddy(self.count)
        form.addRow(label, self.count)
        self.epsilon = EpsilonWidget(self)
        label = QLabel(tr("&Epsilon"), self)
        label.setBuddy(self.epsilon.spin)
        form.addRow(label, self.epsilon)
        self.target = QDoubleSpinBox(self)
        self.target.setLocale(user_locale())
        self.target.setObjectName("target")
        self.target.setRange(0, 10_000_000)
        self.target.setDecimals(1)
        self.target.setSuffix(" m")
        self.target.setSpecialValueText("–")
        self.target.setKeyboardTracking(False)
        self.target.setToolTip(tr("Epsilon becomes the least with which the map is so near."))
        label = QLabel(tr("Wante&d error"), self)
        label.setBuddy(self.target)
        form.addRow(label, self.target)
        self.method = QComboBox(self)
        self.method.addItems(method_words())
        self.method.setToolTip(tr("How the points are measured. If in doubt: adaptive."))
        self.method.setMinimumContentsLength(30)
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.method.setSizeAdjustPolicy(policy)
        form.addRow(tr("&Method"), self.method)
        return box

    def _table(self):
        table = QTableWidget(len(CHOICES), 2, self)
        table.setHorizontalHeaderLabels([tr("Epsilon"), tr("Typical error")])
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        table.verticalHeader().setVisible(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows = len(CHOICES) * table.verticalHeader().defaultSectionSize()
        table.setFixedHeight(rows + table.horizontalHeader().sizeHint().height() + 4)
        table.setToolTip(tr("Double-click a row to take its epsilon."))
        table.cellDoubleClicked.connect(lambda row, _: self.epsilon.set_value(CHOICES[row]))
        return table

    def _method(self):
        return METHODS[self.method.currentIndex()]

    def _aim(self, *_):
        """Find the epsilon that reaches the wanted error, if there is one, and show the plan."""
        area, metres = self.area.area(), self.target.value()
        if metres and area is not None:
            try:
                wanted = self.count.value(), area, metres, self._method(), self.axes.axes()
                self._aiming = True
                self.messages.clearWidgets()
                self.epsilon.set_value(needed_epsilon(*wanted))
            except BadInputError as error:
                self.complain(said(error))
            finally:
                self._aiming = False
        self.refresh()

    def _typed(self):
        """An epsilon that the user chose is not the one of a wanted error any more."""
        if not self._aiming:
            blocked = self.target.blockSignals(True)
            self.target.setValue(0)
            self.target.blockSignals(blocked)
        self.refresh()

    def hand_on(self):
        """Publish with what was planned."""
        self._hand_on(self.epsilon.value(), self.area, self.axes)

    def _hint(self, area):
        if area is None:
            return self.area.problem or tr("Choose a public area: a boundary layer is best.")
        if self.axes.problem():
            return self.axes.problem()
        try:
            check_method(self.axes.axes(), self._method())
        except BadInputError as error:
            return said(error)
        return ""

    def refresh(self, *_):
        """Show the plan anew."""
        area, n, method = self.area.area(), self.count.value(), self._method()
        epsilon, axes, hint = self.epsilon.value(), self.axes.axes(), self._hint(area)
        choice = Choice(area, n, epsilon, epsilon, method, axes=axes, hint=hint)
        self.card.show_choice(choice)
        for button in (self.run_button, self.publish_button):
            button.setEnabled(not hint)
        rows = comparison(n, area, method, axes) if not hint else []
        self.table.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                self.table.setItem(row, column, QTableWidgetItem(text))

    def run(self):
        """Write the page of the plan."""
        parameters = {
            **self.area.parameters(),
            "N": self.count.value(),
            "EPSILON": self.epsilon.value(),
            **self.axes.parameters(),
            "METHOD": self.method.currentIndex(),
            "REPORT": "TEMPORARY_OUTPUT",
        }
        self.launch("dpsort:plan", parameters, self._planned)

    def _planned(self, results):
        self.announce(tr("The plan is ready."), results.get("REPORT"))
