"""What the windows share: a title with a sentence, buttons, progress, messages."""

from pathlib import Path

from qgis.core import Qgis
from qgis.gui import QgsMessageBar
from qgis.PyQt.QtCore import QEvent, QSize, Qt, QTimer, QUrl
from qgis.PyQt.QtGui import QDesktopServices, QIcon
from qgis.PyQt.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from qgis.utils import iface

from ..algorithms.base import ICONS, help_page
from ..i18n import tr
from .runner import Run

#: milliseconds
_LATER = 400


class Window(QDialog):
    """A window with a form on the left, a card on the right, and one run at a time."""

    def __init__(self, icon, title, sentence, run_text, default=True):
        super().__init__(iface.mainWindow())
        self.active = None
        self.setWindowTitle(title)
        self.setWindowIcon(QIcon(str(ICONS / icon)))
        self.messages = QgsMessageBar(self)
        self.form = QWidget(self)
        self.form_layout = QVBoxLayout(self.form)
        self.form_layout.setContentsMargins(0, 0, 0, 0)
        self.middle = QHBoxLayout()
        self.middle.setContentsMargins(0, 0, 0, 0)
        self.middle.setSpacing(16)
        self.middle.addWidget(Scrolling(self.form), 1)
        self.progress = QProgressBar(self)
        self.progress.setVisible(False)
        layout = QVBoxLayout(self)
        layout.addWidget(self.messages)
        layout.addLayout(self._header(icon, title, sentence))
        layout.addLayout(self.middle, 1)
        layout.addWidget(self.progress)
        layout.addLayout(self._buttons(run_text, default))

    def add_card(self, card):
        """A card beside the form; each scrolls by itself, so that the card is always seen."""
        self.card = card
        self.middle.addWidget(Scrolling(card))

    def _header(self, icon, title, sentence):
        picture = QLabel(self)
        picture.setPixmap(QIcon(str(ICONS / icon)).pixmap(40, 40))
        words = QLabel(f"<span style='font-size:14pt'>{title}</span><br>{sentence}", self)
        words.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(picture)
        row.addWidget(words, 1)
        return row

    def _buttons(self, run_text, default):
        self.run_button = self._button(run_text, "run", self.run)
        self.run_button.setDefault(default)
        self.cancel_button = self._button(tr("&Cancel"), "cancel", self.stop)
        self.cancel_button.setVisible(False)
        row = QHBoxLayout()
        help_button = self._button("?", "help", lambda: QDesktopServices.openUrl(help_page()))
        help_button.setMinimumWidth(32)
        help_button.setToolTip(tr("Help"))
        row.addWidget(help_button)
        row.addStretch(1)
        for button in (self.run_button, self.cancel_button):
            row.addWidget(button)
        row.addWidget(self._button(tr("Close"), "close", self.reject))
        self.button_row = row
        return row

    def add_button(self, text, name, slot):
        """A further button, beside the main one."""
        button = self._button(text, name, slot)
        self.button_row.insertWidget(2, button)
        return button

    def _button(self, text, name, slot):
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.setMinimumWidth(90)
        button.clicked.connect(slot)
        return button

    def present(self):
        """Show the window, as the menu does, with what is so now."""
        self.refresh()
        self.show()
        self.raise_()
        self.activateWindow()

    def refresh(self):
        """Look again at what may have changed while the window was hidden."""

    def run(self):
        """What the main button does."""

    def launch(self, algorithm_id, parameters, done, told=()):
        """Run an algorithm in the background; ``done`` gets its results.

        Warnings in ``told`` were read before the run, and are not shown again after it.
        """
        run = Run(algorithm_id, parameters)
        problem = run.problem()
        self.messages.clearWidgets()
        if problem:
            self.complain(problem)
            return
        self.active = run
        self._running(True)
        run.progressed.connect(lambda percent: self.progress.setValue(int(percent)))
        run.finished.connect(lambda results, why: self._finished(run, results, why, done, told))
        run.start()

    def stop(self):
        """Cancel the run."""
        if self.active is not None:
            self.cancel_button.setEnabled(False)
            self.active.cancel()

    def _finished(self, run, results, why, done, told):
        self.active = None
        self._running(False)
        for warning in (words for words in run.feedback.warnings if words not in told):
            iface.messageBar().pushMessage(tr("Private points"), warning, _level("Warning"))
        if results is None:
            self.complain(why)
            if not self.isVisible():
                iface.messageBar().pushMessage(tr("Private points"), why, _level("Warning"))
        else:
            done(results)
        self.refresh()

    def _running(self, yes):
        self.form.setEnabled(not yes)
        self.run_button.setVisible(not yes)
        self.cancel_button.setVisible(yes)
        self.cancel_button.setEnabled(True)
        self.progress.setVisible(yes)
        self.progress.setValue(0)

    def complain(self, sentence):
        """Show a sentence about what is wrong, in the window."""
        self.messages.pushMessage("", sentence, _level("Warning"), 0)

    def announce(self, sentence, report=None, release=None):
        """Show success in QGIS's own message bar, with buttons for the report and the folder."""
        bar = iface.messageBar()
        item = bar.createMessage(tr("Private points"), sentence)
        places = []
        if report and Path(report).is_file():
            places.append((tr("Open the report"), report))
        if release:
            places.append((tr("Open folder"), str(Path(release).parent)))
            item.setToolTip(release)
        for text, place in places:
            button = QPushButton(text, item)
            button.setToolTip(place)
            button.clicked.connect(
                lambda _, place=place: QDesktopServices.openUrl(QUrl.fromLocalFile(place))
            )
            item.layout().addWidget(button)
        # QGIS itself tells that a task is done, a moment later; ours belongs on top of that
        QTimer.singleShot(_LATER, lambda: bar.pushWidget(item, _level("Success"), 0))


def _level(name):
    return getattr(Qgis.MessageLevel, name)


class Scrolling(QScrollArea):
    """A widget that scrolls downwards on a small screen, and is never cut off sideways."""

    def __init__(self, widget):
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(widget)
        if widget.maximumWidth() < self.maximumWidth():
            self.setFixedWidth(widget.maximumWidth())

    def minimumSizeHint(self):
        bar = self.verticalScrollBar().sizeHint().width()
        wide = self.widget().minimumSizeHint().width() + bar if self.widget() else 0
        return QSize(wide, super().minimumSizeHint().height())

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()  # a group that opens can be wider than the others
        return super().eventFilter(watched, event)
