"""The window behind Vector > Private points > Plan..."""

from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHeaderView,
    QLabel,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
)

from .._vendor.dpsort_geo.publisher.measure import METHODS
from ..algorithms.plan import CHOICES, comparison
from ..i18n import tr
from ..releases import method_words
from .area_widget import AreaWidget
from .epsilon_widget import EpsilonWidget
from .expectation import Expectation
from .window import Window


class PlanDialog(Window):
    """Area, number of points, epsilon; beside it the error. No layer of points is read."""

    def __init__(self):
        super().__init__(
            "plan.svg",
            tr("Plan"),
            tr("How far will published points be from the truth? No private layer is read."),
            tr("&Write the plan"),
        )
        box = QGroupBox(tr("Public area: where points may lie"), self)
        QVBoxLayout(box).addWidget(self._area())
        self.form_layout.addWidget(box)
        self.form_layout.addWidget(self._numbers())
        self.table = self._table()
        self.form_layout.addWidget(self.table)
        self.card = Expectation(self)
        self.middle.addWidget(self.card)
        self.area.changed.connect(self.refresh)
        self.count.valueChanged.connect(self.refresh)
        self.epsilon.changed.connect(self.refresh)
        self.method.currentIndexChanged.connect(self.refresh)
        self.resize(860, 540)

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
        label = QLabel(tr("&Number of points"), self)
        label.setBuddy(self.count)
        form.addRow(label, self.count)
        self.epsilon = EpsilonWidget(self)
        label = QLabel(tr("&Epsilon"), self)
        label.setBuddy(self.epsilon.spin)
        form.addRow(label, self.epsilon)
        self.method = QComboBox(self)
        self.method.addItems(method_words())
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
        table.setToolTip(tr("Double-click a row to take its epsilon."))
        table.cellDoubleClicked.connect(lambda row, _: self.epsilon.set_value(CHOICES[row]))
        return table

    def refresh(self, *_):
        """Show the plan anew."""
        area, n = self.area.area(), self.count.value()
        method = METHODS[self.method.currentIndex()]
        hint = ""
        if area is None:
            hint = self.area.problem or tr("Choose a public area: a boundary layer is best.")
        self.card.show_plan(area, n, self.epsilon.value(), method, False, hint)
        self.run_button.setEnabled(area is not None)
        rows = comparison(n, area, method) if area is not None else []
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
            "METHOD": self.method.currentIndex(),
            "REPORT": "TEMPORARY_OUTPUT",
        }
        self.launch("dpsort:plan", parameters, self._planned)

    def _planned(self, results):
        self.announce(tr("The plan is ready."), results.get("REPORT"))
