"""The card beside a form: what to expect, in plain words, from public numbers alone."""

import html
import math
from dataclasses import dataclass, field
from typing import Any, List, Tuple

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QFrame, QLabel, QVBoxLayout

from ..i18n import length, number_text, tr
from ..planner import expected, price_of_axes
from .colours import shades
from .epsilon_widget import strength
from .sketch import ErrorSketch

_CARD = """
QFrame#card {{ background: {card}; border: 1px solid {edge}; border-radius: 8px; }}
QFrame#card QLabel {{ color: {text}; background: transparent; }}
QFrame#card QLabel#figure {{ color: {strong}; font-size: 26pt; font-weight: 600; }}
QFrame#card QLabel#hint {{ color: {alarm}; }}
QFrame#card QLabel#notes {{ color: {note}; }}
QFrame#card QLabel#small {{ color: {quiet}; }}
"""


@dataclass(frozen=True)
class Choice:
    """What a form says: nothing of it comes from the points but their number, where it is public.

    ``total`` is what will have been spent on the data set; ``hint`` says what is missing.
    """

    area: Any = None
    n: int = 0
    epsilon: float = 1.0
    total: float = 1.0
    method: str = "adaptive"
    person: bool = False
    axes: Tuple = ()
    neighbours: str = "replace"
    #: how many were declared
    zones: int = 0
    #: side of a cell in metres, where it is not the usual one
    cell: Any = None
    notes: List[str] = field(default_factory=list)
    hint: str = ""

    def plan(self):
        """What to expect, or None."""
        if self.area is None or self.n < 1:
            return None
        return expected(
            self.n, self.area, self.epsilon, self.method, self.axes, self.neighbours, self.zones,
            self.cell,
        )  # fmt: skip


class Expectation(QFrame):
    """The typical error as a number and as a drawing, and what the privacy means."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self.setObjectName("card")
        self.setStyleSheet(_CARD.format(**shades(self)))
        self.setMaximumWidth(330)
        self.figure = self._label("figure")
        self.under = self._label("small")
        self.sketch = ErrorSketch(self)
        self.words = self._label("words")
        self.notes = self._label("notes")
        self.hint = self._label("hint")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.addWidget(self._label("small", tr("What to expect")))
        layout.addWidget(self.figure)
        layout.addWidget(self.under)
        layout.addWidget(self.sketch, 1)
        for label in (self.words, self.notes, self.hint):
            layout.addWidget(label)
        layout.addStretch(1)

    def _label(self, name, text=""):
        label = QLabel(text, self)
        label.setObjectName(name)
        label.setWordWrap(name != "figure")
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def show_choice(self, choice):
        """Show what a choice will be worth; gives the plan, or None."""
        plan = choice.plan()
        if plan is None:
            self.figure.setText("–")
            self.under.setText(self._missing(choice))
        else:
            self.figure.setText("≈ " + length(plan.expected_error))
            self.under.setText(
                tr("so far off is the published map ({low} to {high})").format(
                    low=length(plan.low), high=length(plan.high)
                )
            )
        self.sketch.show_plan(choice.area, plan.expected_error if plan else None)
        self.words.setText(summary(plan, choice))
        self.notes.setText("".join(f"<p>{html.escape(note)}</p>" for note in choice.notes))
        self.notes.setVisible(bool(choice.notes))
        self.hint.setText(choice.hint)
        self.hint.setVisible(bool(choice.hint))
        return plan

    @staticmethod
    def _missing(choice):
        if choice.area is None:
            return tr("how far off the map will be: needs a public area")
        if choice.n < 1:
            return tr("how far off the map will be: needs points")
        return tr("no plan for this method")


def summary(plan, choice):
    """What will be published, in plain words."""
    whose = tr("any one person") if choice.person else tr("any one point")
    sure = tr(
        "<b>{strength}</b>: whoever sees all that was published of this data set (epsilon {total}) "
        "can become at most {factor} times as sure about {whose}."
    ).format(
        strength=strength(choice.total),
        total=number_text(choice.total),
        factor=_factor(choice.total),
        whose=whose,
    )
    if plan is None:
        return f"<p>{sure}</p>"
    moved = tr(
        "On average a point has to move about {error} to turn the published map into the true one. "
        "No published point is anybody's."
    ).format(error=length(plan.expected_error))
    price = price_of_axes(plan, choice.zones)
    if price:
        moved += " " + price
    return f"<p>{moved}</p><p>{sure}</p>"


def _factor(epsilon):
    factor = math.exp(min(epsilon, 50))
    places = 2 if factor < 2 else 1 if factor < 10 else 0
    return number_text(round(factor, places))
