"""The card beside a form: what to expect, in plain words, from public numbers alone."""

import math

import numpy as np
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QFrame, QLabel, QVBoxLayout

from ..i18n import tr
from ..planner import expected
from ..report import length
from .epsilon_widget import strength
from .sketch import ErrorSketch

_CARD = """
QFrame#card { background: #ffffff; border: 1px solid #dde3e9; border-radius: 8px; }
QFrame#card QLabel { color: #1f2933; background: transparent; }
QFrame#card QLabel#figure { color: #1f4e79; font-size: 26pt; font-weight: 600; }
QFrame#card QLabel#hint { color: #b3261e; }
QFrame#card QLabel#small { color: #52606d; }
"""


class Expectation(QFrame):
    """The typical error as a number and as a drawing, and what the privacy means."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self.setObjectName("card")
        self.setStyleSheet(_CARD)
        self.setMinimumWidth(290)
        self.setMaximumWidth(340)
        self.figure = self._label("figure")
        self.under = self._label("small")
        self.sketch = ErrorSketch(self)
        self.words = self._label("words")
        self.hint = self._label("hint")
        self.hint.setVisible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.addWidget(self._label("small", tr("What to expect")))
        layout.addWidget(self.figure)
        layout.addWidget(self.under)
        layout.addWidget(self.sketch, 1)
        layout.addWidget(self.words)
        layout.addWidget(self.hint)

    def _label(self, name, text=""):
        label = QLabel(text, self)
        label.setObjectName(name)
        label.setWordWrap(name != "figure")
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def show_plan(self, area, n, epsilon, method, person, hint=""):
        """Show what n points in an area with an epsilon will be worth; the plan, or None."""
        plan = expected(n, area, epsilon, method) if area is not None else None
        if plan is None:
            self.figure.setText("–")
            why = tr("typical error: needs a public area")
            self.under.setText(tr("no plan for this method") if area is not None else why)
        else:
            self.figure.setText("≈ " + length(plan.expected_error))
            self.under.setText(
                tr("typical error of a point ({low} to {high})").format(
                    low=length(plan.low), high=length(plan.high)
                )
            )
        self.sketch.show_plan(area, plan.expected_error if plan else None)
        self.words.setText(summary(plan, area, n, epsilon, person))
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        return plan


def summary(plan, area, n, epsilon, person):
    """What will be published, in plain words."""
    whose = tr("Each person, with all their points,") if person else tr("Each person's point")
    sure = tr(
        "<b>{strength}</b>: whoever sees the result can become at most {factor} times as sure "
        "about any one of them."
    ).format(strength=strength(epsilon), factor=_factor(epsilon))
    if plan is None:
        return sure
    crowd = n * math.pi * plan.expected_error**2 / max(_square_metres(area), 1.0)
    if crowd < 2:
        hidden = tr("{whose} is blurred by about {error}.")
    else:
        hidden = tr("{whose} is hidden among about {crowd} others; typical error about {error}.")
    text = hidden.format(whose=whose, crowd=f"{_round(crowd):,}", error=length(plan.expected_error))
    return f"<p>{text}</p><p>{sure}</p>"


def _round(number):
    digits = 1 - math.floor(math.log10(number))
    return int(round(number, min(digits, 0)))


def _factor(epsilon):
    factor = math.exp(min(epsilon, 50))
    return f"{factor:.2f}" if factor < 2 else f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"


def _square_metres(area):
    total = 0.0
    for ring in area.rings:
        x, y = ring[:, 0], ring[:, 1]
        total += float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    return abs(total) * area.metres**2
