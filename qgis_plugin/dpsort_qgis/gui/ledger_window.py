"""The window behind Vector > Private points > Ledger...: what was spent, on what, where it is."""

from pathlib import Path

from qgis.PyQt.QtCore import Qt, QUrl
from qgis.PyQt.QtGui import QDesktopServices
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QInputDialog,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
)

from .._vendor.dpsort_geo.atomic import write_text
from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.private.ledger import composed, same_name, total_text
from ..datasets import ledger
from ..i18n import count_text, exact_text, said, tr
from ..releases import method_name
from .window import Window


class LedgerWindow(Window):
    """Data sets above, the releases of one of them below; limits, folder, export."""

    def __init__(self):
        super().__init__(
            "dpsort.svg",
            tr("Ledger"),
            tr("What was spent on each data set. Entries stay for ever."),
            tr("&Export..."),
            default=False,
        )
        self.sets = _table(
            [tr("Data set"), tr("Releases"), tr("Spent"), tr("Limit"), tr("Left")], 0, self
        )
        self.sets.setObjectName("datasets")
        self.entries = _table(
            [tr("When"), tr("Epsilon"), tr("Protected"), tr("Hidden"), tr("Method"), tr("Release")],
            5,
            self,
        )
        self.entries.setObjectName("entries")
        self.where = QLabel(self)
        self.where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.where.setWordWrap(True)
        self.form_layout.addWidget(self.sets, 2)
        row = QHBoxLayout()
        self.limit_button = self._button(tr("Set a &limit..."), "limit", self.set_limit)
        self.folder_button = self._button(tr("Open &folder"), "folder", self.open_folder)
        for button in (self.limit_button, self.folder_button):
            row.addWidget(button)
        row.addStretch(1)
        self.form_layout.addLayout(row)
        self.form_layout.addWidget(self.entries, 2)
        self.form_layout.addWidget(self.where)
        self.sets.itemSelectionChanged.connect(self._show_entries)
        self.entries.itemSelectionChanged.connect(self._show_buttons)
        self._known = []
        self.resize(820, 560)

    def refresh(self):
        """Read the ledger anew."""
        book = ledger()
        chosen = self.chosen()
        try:
            self._known, limits = book.entries(), book.limits()
        except BadInputError as error:
            self.complain(said(error))
            return
        names = []
        for name in [entry.dataset for entry in self._known] + list(limits):
            if not any(same_name(name, known) for known in names):
                names.append(name)
        limits = {
            known: limits[name] for known in names for name in limits if same_name(name, known)
        }
        rows = []
        for name in names:
            own = [entry for entry in self._known if same_name(entry.dataset, name)]
            spent, limit = composed(own), limits.get(name)
            left = "" if limit is None else _exact(max(limit - spent, 0))
            most = tr("none") if limit is None else _exact(limit)
            rows.append([name, count_text(len(own)), _exact(spent), most, left])
        _fill(self.sets, rows)
        self.where.setText(tr("The ledger is {path}").format(path=book.path))
        if rows:
            self.sets.selectRow(names.index(chosen) if chosen in names else 0)
        self._show_entries()

    def chosen(self):
        """The data set that is chosen, or nothing."""
        row = self.sets.currentRow()
        return self.sets.item(row, 0).text() if row >= 0 and self.sets.item(row, 0) else ""

    def _own(self):
        name = self.chosen()
        return [entry for entry in self._known if name and same_name(entry.dataset, name)]

    def _show_entries(self):
        rows = [
            [
                entry.time.replace("T", " ")[:16],
                _exact(entry.epsilon),
                _units().get(entry.unit, entry.unit),
                tr("whether") if entry.neighbours == "add-remove" else tr("where"),
                method_name(entry.method),
                entry.release,
            ]
            for entry in self._own()
        ]
        _fill(self.entries, rows)
        self._show_buttons()

    def _show_buttons(self):
        self.limit_button.setEnabled(bool(self.chosen()))
        self.folder_button.setEnabled(self._folder().is_dir() and bool(self._release()))

    def _release(self):
        """The file of the chosen release, or of the latest one that is known."""
        own = self._own()
        row = self.entries.currentRow()
        if 0 <= row < len(own):
            own = own[row : row + 1]
        found = [entry.release for entry in own]
        return next((path for path in reversed(found) if path), "")

    def _folder(self):
        return Path(self._release() or ".").parent

    def open_folder(self):
        """Show the folder of a release."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder())))

    def set_limit(self):
        """Ask for the most that may ever be spent; nothing takes the limit away."""
        name, limits = self.chosen(), ledger().limits()
        now = _exact(limits[name]) if name in limits else ""
        words = tr("The most epsilon that may ever be spent on this data set; empty for no limit.")
        text, agreed = QInputDialog.getText(self, tr("Limit"), words, text=now)
        if agreed:
            self.limit(name, text)

    def limit(self, name, text):
        """Set a limit as it was typed."""
        try:
            ledger().limit(name, text.strip().replace(",", ".") or None)
        except BadInputError as error:
            self.complain(said(error))
        self.refresh()

    def run(self):
        """Ask where to, and export."""
        kind = tr("JSON files (*.json)")
        path, _ = QFileDialog.getSaveFileName(self, tr("Export the ledger"), "ledger.json", kind)
        if path:
            self.export(path)

    def export(self, path):
        """Write all that the ledger says to a file."""
        try:
            write_text(path, ledger().export())
        except BadInputError as error:
            self.complain(said(error))


def _units():
    return {"point": tr("point"), "person": tr("person"), "person-day": tr("person-day")}


def _exact(value):
    return exact_text(total_text(value))


def _table(titles, widest, parent):
    """A table whose column ``widest`` takes the room that the others leave; it holds paths."""
    table = QTableWidget(0, len(titles), parent)
    table.setHorizontalHeaderLabels(titles)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setMinimumSectionSize(80)
    header.setSectionResizeMode(widest, QHeaderView.ResizeMode.Stretch)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.setWordWrap(False)
    table.verticalHeader().setVisible(False)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    return table


def _fill(table, rows):
    blocked = table.blockSignals(True)
    table.clearSelection()
    table.setCurrentCell(-1, -1)
    table.setRowCount(len(rows))
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            table.setItem(row, column, item)
    table.blockSignals(blocked)
