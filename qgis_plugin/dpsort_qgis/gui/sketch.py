"""A drawing of the public area with the expected error on it, to scale."""

import numpy as np
from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QBrush, QPainter, QPainterPath, QPen
from qgis.PyQt.QtWidgets import QWidget

from ..i18n import length
from .colours import shade

_MOST_CORNERS = 4000


class ErrorSketch(QWidget):
    """Shows how large the expected error is beside the area; knows nothing of the points."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self.setMinimumHeight(170)
        self.setMaximumHeight(300)
        self._area, self._error = None, None
        self._rings = []

    def show_plan(self, area, error):
        """Draw another area (or none) and error in metres (or None)."""
        if area is not self._area:
            corners = sum(len(ring) for ring in area.rings) if area else 0
            step = max(1, corners // _MOST_CORNERS)
            self._rings = [ring[::step] for ring in area.rings] if area else []
        self._area, self._error = area, error
        self.update()

    def paintEvent(self, event):
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(shade(self, "edge")))
        painter.setBrush(QBrush(shade(self, "paper")))
        painter.drawRoundedRect(frame, 6, 6)
        if self._area is None:
            painter.end()
            return
        west, south, east, north = self._area.box
        room = frame.adjusted(12, 12, -12, -30)
        scale = min(room.width() / (east - west), room.height() / (north - south))
        left = room.center().x() - scale * (east - west) / 2
        top = room.center().y() - scale * (north - south) / 2
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.OddEvenFill)
        for ring in self._rings:
            if len(ring) < 3:
                continue
            x, y = left + scale * (ring[:, 0] - west), top + scale * (north - ring[:, 1])
            path.moveTo(QPointF(x[0], y[0]))
            for one, other in zip(x[1:].tolist(), y[1:].tolist()):
                path.lineTo(one, other)
            path.closeSubpath()
        painter.setPen(QPen(shade(self, "strong"), 1))
        painter.setBrush(QBrush(shade(self, "land")))
        painter.drawPath(path)
        pixels = scale / self._area.metres
        if self._error is not None:
            self._draw_error(painter, room.center(), pixels * self._error)
        self._draw_scale(painter, frame, pixels)
        painter.end()

    def _draw_error(self, painter, centre, radius):
        """A disc of the error's size; a ring leads the eye to it where it is tiny."""
        if radius < 6:
            painter.setPen(QPen(shade(self, "error"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, 10, 10)
        painter.setPen(QPen(shade(self, "error"), 1.2))
        painter.setBrush(QBrush(shade(self, "error", 90)))
        painter.drawEllipse(centre, max(radius, 1.5), max(radius, 1.5))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(shade(self, "middle")))
        painter.drawEllipse(centre, 1.6, 1.6)

    def _draw_scale(self, painter, frame, pixels):
        """A bar of a round length, as on a map."""
        wanted = 0.3 * frame.width() / pixels
        unit = 10.0 ** np.floor(np.log10(wanted))
        metres = unit * max(step for step in (1, 2, 5) if step * unit <= wanted)
        x, y = frame.left() + 12, frame.bottom() - 10
        painter.setPen(QPen(shade(self, "quiet"), 1.5))
        painter.drawLine(QPointF(x, y), QPointF(x + metres * pixels, y))
        painter.drawLine(QPointF(x, y - 4), QPointF(x, y))
        painter.drawLine(QPointF(x + metres * pixels, y - 4), QPointF(x + metres * pixels, y))
        painter.drawText(QPointF(x + metres * pixels + 6, y + 1), length(metres))
