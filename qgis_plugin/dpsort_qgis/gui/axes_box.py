"""What and when: a category and a time with their public values, and the fields that hold them."""

from qgis.core import QgsFieldProxyModel
from qgis.gui import QgsCollapsibleGroupBox, QgsFieldComboBox
from qgis.PyQt.QtCore import QDate, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDateEdit,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
)

from .._vendor.dpsort_geo.errors import BadInputError
from ..axis_fields import STEPS, declared_axes, step_words
from ..i18n import count_text, said, tr
from .zones_combo import ZonesCombo


class AxesBox(QgsCollapsibleGroupBox):
    """Emits ``changed``; nothing is filled in from a layer's values, which are private."""

    changed = pyqtSignal()

    def __init__(self, parent=None):
        super().__init__(tr("What and when (optional)"), parent)
        self.setObjectName("axes")
        form = QFormLayout(self)
        self.values = QLineEdit(self)
        self.values.setObjectName("categories")
        self.values.setPlaceholderText(tr("burglary, theft, other"))
        self.values.setToolTip(
            tr(
                "All values that may be published, known without the points; 'other' takes all "
                "that is not in the list."
            )
        )
        self.step = QComboBox(self)
        self.step.setObjectName("step")
        self.step.addItems(step_words())
        self.step.setToolTip(tr("Into which stretches time is cut."))
        self.undated = QCheckBox(tr("A stretch for missing dates"), self)
        self.undated.setObjectName("undated")
        self.undated.setToolTip(
            tr(
                "A stretch of its own for points whose date is missing or cannot be read; without "
                "it they are refused."
            )
        )
        this_year = QDate.currentDate().year()
        self.start, self.stop = (self._date(year) for year in (this_year, this_year + 1))
        self.add_category(form)
        self.add_time(form)
        row = QHBoxLayout()
        for widget in (self.step, QLabel(tr("from")), self.start, QLabel(tr("until"))):
            row.addWidget(widget)
        row.addWidget(self.stop)
        form.addRow("", row)
        form.addRow("", self.undated)
        self.add_zones(form)
        for signal in (
            self.values.textChanged,
            self.step.currentIndexChanged,
            self.start.dateChanged,
            self.stop.dateChanged,
            self.undated.toggled,
        ):
            signal.connect(self.refresh)
        self.setCollapsed(True)
        self.refresh()

    def add_category(self, form):
        """Where the category is asked for."""
        form.addRow(tr("Public &values"), self.values)

    def add_time(self, form):
        """Where the time is asked for."""
        self.timed = QCheckBox(tr("&Time, cut into"), self)
        self.timed.setObjectName("timed")
        self.timed.setToolTip(tr("Into which stretches time is cut."))
        self.timed.toggled.connect(self.refresh)
        form.addRow("", self.timed)

    def add_zones(self, form):
        """Where declared zones are asked for; a plan has none."""

    def _date(self, year):
        edit = QDateEdit(QDate(year, 1, 1), self)
        edit.setCalendarPopup(True)
        edit.setDisplayFormat("yyyy-MM-dd")
        edit.setToolTip(tr("Known without the points; the end itself is outside."))
        return edit

    def category_name(self):
        """How the category is called, or nothing without one."""
        return "category" if self.values.text().strip() else ""

    def time_name(self):
        """How the time is called, or nothing without one."""
        return "time" if self.timed.isChecked() else ""

    def refresh(self, *_):
        """Let only that be changed which has a meaning now."""
        timed = bool(self.time_name())
        self.step.setEnabled(timed)
        self.undated.setEnabled(timed)
        ranged = timed and STEPS[self.step.currentIndex()][1] is None
        for edit in (self.start, self.stop):
            edit.setEnabled(ranged)
        self.changed.emit()

    def axes(self):
        """The axes that are declared, or none while they are not complete."""
        return self._declared()[0]

    def problem(self):
        """What is missing, in a sentence, or nothing."""
        return self._declared()[1]

    def _declared(self):
        name = self.category_name()
        try:
            return declared_axes(
                [(name, self.values.text())] if name else [],
                self.time_name(),
                self.start.date(),
                self.stop.date(),
                self.step.currentIndex(),
                self.undated.isChecked(),
            ), ""
        except BadInputError as error:
            return (), said(error)

    def take(self, other):
        """Take over the values and the time that were declared in another such box."""
        self.values.setText(other.values.text())
        self.step.setCurrentIndex(other.step.currentIndex())
        self.start.setDate(other.start.date())
        self.stop.setDate(other.stop.date())
        self.undated.setChecked(other.undated.isChecked())
        if other.category_name() or other.time_name():
            self.setCollapsed(False)

    def parameters(self):
        """The parameters of the axes."""
        timed = bool(self.time_name())
        return {
            "CATEGORIES": self.values.text() or None,
            "TIME_STEP": self.step.currentIndex() if timed else None,
            "TIME_START": self.start.date(),
            "TIME_STOP": self.stop.date(),
            "TIME_OTHER": self.undated.isChecked(),
        }


class FieldAxesBox(AxesBox):
    """The same, with the fields of a layer that hold them."""

    def add_category(self, form):
        self.category = self._field(tr("What kind a point is, such as the type of a call."))
        self.category.setObjectName("category")
        form.addRow(tr("Cate&gory"), self.category)
        super().add_category(form)

    def add_time(self, form):
        self.time = self._field(tr("When it happened: a field of dates, or of text with dates."))
        self.time.setObjectName("time")
        form.addRow(tr("&Time"), self.time)

    def add_zones(self, form):
        self.zones = ZonesCombo(self)
        self.zones.setObjectName("zones")
        self.zones.setToolTip(
            tr(
                "Public polygons that do not overlap: a third of epsilon goes to a table of their "
                "counts by category and time, and all maps are worse."
            )
        )
        self.zones.layerChanged.connect(self.refresh)
        self.zones.watch.changed.connect(self.refresh)
        form.addRow(tr("Declared &zones"), self.zones)

    def refresh(self, *_):
        self.zones.setEnabled(bool(self.category_name() or self.time_name()))
        super().refresh()

    def _field(self, tip):
        combo = QgsFieldComboBox(self)
        combo.setAllowEmptyFieldName(True)
        combo.setFilters(QgsFieldProxyModel.Filter.AllTypes)
        combo.setToolTip(tip)
        combo.fieldChanged.connect(self.refresh)
        return combo

    def set_layer(self, layer):
        """Offer the fields of another layer, or of none."""
        for combo in (self.category, self.time):
            if combo.layer() is not layer:
                combo.setLayer(layer)

    def category_name(self):
        return self.category.currentField()

    def time_name(self):
        return self.time.currentField()

    def problem(self):
        if self.values.text().strip() and not self.category_name():
            return tr("Choose the field that holds the category, or leave its values empty.")
        return super().problem()

    def words(self):
        """What is published besides the place, in words; nothing when it is the place alone."""
        parts = []
        if self.category_name():
            parts.append(f"{self.category_name()}: {self.values.text()}")
        if self.time_name():
            words = f"{self.time_name()}: {self.step.currentText()}"
            if self.start.isEnabled():
                words += f", {self.start.text()} – {self.stop.text()}"
            if self.undated.isChecked():
                words += ", " + tr("missing dates too")
            parts.append(words)
        return "; ".join(parts)

    def parameters(self):
        """The parameters of the axes."""
        return {
            **super().parameters(),
            "TIME_STEP": self.step.currentIndex(),
            "CATEGORY": self.category_name() or None,
            "TIME": self.time_name() or None,
            **self.zones.parameters(),
        }

    def zone_words(self, number):
        """The declared zones in words; nothing without any."""
        layer = self.zones.zones_layer()
        return "" if layer is None else f"{layer.name()} ({count_text(number)})"
