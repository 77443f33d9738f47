"""What the windows share: a title with a sentence, buttons, progress, messages."""

from pathlib import Path

from qgis.core import Qgis
from qgis.gui import QgsMessageBar
from qgis.PyQt.QtCore import QUrl
from qgis.PyQt.QtGui import QDesktopServices, QIcon
from qgis.PyQt.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from qgis.utils import iface

from ..algorithms.base import ICONS
from ..i18n import tr
from .runner import Run


class Window(QDialog):
    """A window with a form on the left, a card on the right, and one run at a time."""

    def __init__(self, icon, title, sentence, run_text):
        super().__init__(iface.mainWindow())
        self.active = None
        self.setWindowTitle(title)
        self.setWindowIcon(QIcon(str(ICONS / icon)))
        self.messages = QgsMessageBar(self)
        self.form = QWidget(self)
        self.form_layout = QVBoxLayout(self.form)
        self.form_layout.setContentsMargins(0, 0, 0, 0)
        self.middle = QHBoxLayout()
        self.middle.setSpacing(16)
        self.middle.addWidget(self.form, 1)
        self.progress = QProgressBar(self)
        self.progress.setVisible(False)
        layout = QVBoxLayout(self)
        layout.addWidget(self.messages)
        layout.addLayout(self._header(icon, title, sentence))
        layout.addLayout(self.middle, 1)
        layout.addWidget(self.progress)
        layout.addLayout(self._buttons(run_text))

    def _header(self, icon, title, sentence):
        picture = QLabel(self)
        picture.setPixmap(QIcon(str(ICONS / icon)).pixmap(40, 40))
        words = QLabel(f"<span style='font-size:14pt'>{title}</span><br>{sentence}", self)
        words.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(picture)
        row.addWidget(words, 1)
        return row

    def _buttons(self, run_text):
        self.run_button = self._button(run_text, "run", self.run)
        self.run_button.setDefault(True)
        self.cancel_button = self._button(tr("&Cancel"), "cancel", self.stop)
        self.cancel_button.setVisible(False)
        row = QHBoxLayout()
        row.addStretch(1)
        for button in (self.run_button, self.cancel_button):
            row.addWidget(button)
        row.addWidget(self._button(tr("Close"), "close", self.reject))
        return row

    def _button(self, text, name, slot):
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.setMinimumWidth(90)
        button.clicked.connect(slot)
        return button

    def refresh(self):
        """Look again at what may have changed while the window was hidden."""

    def run(self):
        """What the main button does."""

    def launch(self, algorithm_id, parameters, done):
        """Run an algorithm in the background; ``done`` gets its results."""
        run = Run(algorithm_id, parameters)
        problem = run.problem()
        self.messages.clearWidgets()
        if problem:
            self.complain(problem)
            return
        self.active = run
        self._running(True)
        run.progressed.connect(lambda percent: self.progress.setValue(int(percent)))
        run.finished.connect(lambda results, why: self._finished(run, results, why, done))
        run.start()

    def stop(self):
        """Cancel the run."""
        if self.active is not None:
            self.cancel_button.setEnabled(False)
            self.active.cancel()

    def _finished(self, run, results, why, done):
        self.active = None
        self._running(False)
        for warning in run.feedback.warnings:
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

    def announce(self, sentence, report=None):
        """Show success in QGIS's own message bar, with a button for the report."""
        bar = iface.messageBar()
        item = bar.createMessage(tr("Private points"), sentence)
        if report and Path(report).is_file():
            button = QPushButton(tr("Open the report"), item)
            button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(report)))
            item.layout().addWidget(button)
        bar.pushWidget(item, _level("Success"), 0)


def _level(name):
    return getattr(Qgis.MessageLevel, name)
