"""The last question before epsilon is spent: what, where, how much, and into which files."""

import html

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout

from ..i18n import tr
from .colours import shades


class Confirmation(QDialog):
    """Rows of what will be published, and what should be known first; Return does not pay."""

    def __init__(self, rows, notes, parent=None):
        super().__init__(parent)
        self.setObjectName("confirmation")
        self.setWindowTitle(tr("Publish and pay?"))
        layout = QVBoxLayout(self)
        self.text = QLabel(self._page(rows, notes), self)
        self.text.setWordWrap(True)
        self.text.setMinimumWidth(520)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self.text)
        self.buttons = QDialogButtonBox(self)
        role = QDialogButtonBox.ButtonRole
        self.pay = self.buttons.addButton(tr("&Publish and pay"), role.AcceptRole)
        self.pay.setObjectName("pay")
        self.back = self.buttons.addButton(tr("&Back"), role.RejectRole)
        self.back.setObjectName("back")
        self.pay.setAutoDefault(False)
        self.pay.setDefault(False)
        self.back.setAutoDefault(True)
        self.back.setDefault(True)
        self.back.setFocus()
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout.addWidget(self.buttons)

    def _page(self, rows, notes):
        colours = shades(self)
        cells = "".join(
            f'<tr><td style="padding:3px 14px 3px 0; color:{colours["quiet"]}">{html.escape(name)}'
            f'</td><td style="padding:3px 0">{html.escape(str(value))}</td></tr>'
            for name, value in rows
        )
        said = "".join(
            f'<p style="color:{colours["note"]}">{html.escape(note)}</p>' for note in notes
        )
        words = html.escape(tr("This costs epsilon once and for all; it cannot be taken back."))
        return f"<p>{words}</p><table>{cells}</table>{said}"
