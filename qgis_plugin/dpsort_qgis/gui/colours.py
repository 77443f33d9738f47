"""Colours of the windows' own drawings, for light and for dark themes."""

from qgis.PyQt.QtGui import QColor, QPalette

_LIGHT = {
    "card": "#ffffff", "edge": "#dde3e9", "text": "#1f2933", "quiet": "#52606d",
    "strong": "#1f4e79", "alarm": "#b3261e", "note": "#8a5300", "paper": "#f8fafc",
    "land": "#d6e5f3", "error": "#cd4d5e", "middle": "#82286a",
}  # fmt: skip
_DARK = {
    "card": "#2b3036", "edge": "#454d55", "text": "#e6eaee", "quiet": "#aab4be",
    "strong": "#8fc1ee", "alarm": "#ff9d93", "note": "#f2bf6b", "paper": "#23272c",
    "land": "#3c4f63", "error": "#ff8a99", "middle": "#f0b6e0",
}  # fmt: skip


def is_dark(widget):
    """Whether a widget's theme has light text on dark ground."""
    return widget.palette().color(QPalette.ColorRole.Window).lightness() < 128


def shades(widget):
    """Names of colours and their values, as text for style sheets."""
    return _DARK if is_dark(widget) else _LIGHT


def shade(widget, name, alpha=255):
    """One of them, for painting."""
    colour = QColor(shades(widget)[name])
    colour.setAlpha(alpha)
    return colour
