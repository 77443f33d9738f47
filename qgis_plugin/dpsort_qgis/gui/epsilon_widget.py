"""Choose epsilon: a slider from private to accurate, with the number beside it."""

import math

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import QDoubleSpinBox, QGridLayout, QLabel, QSlider, QWidget

from ..i18n import tr, user_locale
from .colours import shades

_LOW, _HIGH, _STEPS = 0.05, 10.0, 100


def strength(epsilon):
    """A word for what an epsilon is worth."""
    if epsilon <= 0.3:
        return tr("Very strong privacy")
    if epsilon <= 1.0:
        return tr("Strong privacy")
    if epsilon <= 3.0:
        return tr("Moderate privacy")
    return tr("Weak privacy")


class EpsilonSpin(QDoubleSpinBox):
    """A number with a point or a comma, whichever is typed.

    Qt swallows the one that is not the user's own, and 0.5 would become 5.
    """

    def __init__(self, parent=None):
        super().__init__(parent)
        self.setLocale(user_locale())
        # decimals first: setRange rounds its limits to them
        self.setDecimals(3)
        self.setRange(0.001, 100.0)

    def validate(self, text, position):
        mark = self.locale().decimalPoint()
        return super().validate(text.replace(".", mark).replace(",", mark), position)

    def valueFromText(self, text):
        mark = self.locale().decimalPoint()
        return super().valueFromText(text.replace(".", mark).replace(",", mark))


class EpsilonWidget(QWidget):
    """Slider and spin box that follow each other; emits ``changed``."""

    changed = pyqtSignal()

    def __init__(self, parent=None):
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setObjectName("epsilonSlider")
        self.slider.setRange(0, _STEPS)
        self.slider.setPageStep(10)
        self.spin = EpsilonSpin(self)
        self.spin.setObjectName("epsilonNumber")
        self.spin.setSingleStep(0.1)
        self.spin.setKeyboardTracking(False)
        for widget in (self.slider, self.spin):
            widget.setToolTip(
                tr(
                    "How much one person can change the result. Smaller protects more and blurs "
                    "more: 0.1 is strong, 1 is usual, above 3 is weak."
                )
            )
        left, right = QLabel(tr("more private")), QLabel(tr("more accurate"))
        for label in (left, right):
            label.setStyleSheet(f"color: {shades(self)['quiet']}; font-size: 8pt;")
        right.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(0)
        layout.addWidget(self.slider, 0, 0, 1, 2)
        layout.addWidget(self.spin, 0, 2)
        layout.addWidget(left, 1, 0)
        layout.addWidget(right, 1, 1)
        self.slider.valueChanged.connect(self._slid)
        self.spin.valueChanged.connect(self._typed)
        self.spin.setValue(1.0)

    def value(self):
        """Epsilon."""
        return self.spin.value()

    def set_value(self, epsilon):
        """Show another epsilon."""
        self.spin.setValue(epsilon)

    def _slid(self, step):
        exact = _LOW * (_HIGH / _LOW) ** (step / _STEPS)
        digits = 1 - math.floor(math.log10(exact))
        self.spin.setValue(round(exact, digits))

    def _typed(self, epsilon):
        step = round(_STEPS * math.log(epsilon / _LOW) / math.log(_HIGH / _LOW))
        blocked = self.slider.blockSignals(True)
        self.slider.setValue(max(0, min(_STEPS, step)))
        self.slider.blockSignals(blocked)
        self.changed.emit()
