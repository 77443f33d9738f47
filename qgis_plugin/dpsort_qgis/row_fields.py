"""Fields that say whose a point is, of which category, or when: which are safe, and what they say.

What a row says must follow from that row alone, or replacing one row could change others.

- Stores that declare a type for each column give each value by itself: whole numbers, decimal
  numbers, text and dates are welcome.
- GeoJSON, CSV, KML and queries have their types guessed from other rows: 1 and 1.0 are one person
  in a column of numbers and two in a column of text, timestamps lose their zone, true becomes 1
  beside numbers, whole numbers beyond 64 bits become one. Text is given as it was written, so a
  text field is welcome and no other.
- QGIS's delimited text says whether it guesses: then the field is refused whatever was guessed,
  because 007 and 7 are one person until somebody is called "bob".
- A join or an expression can bring in other rows; an unsaved edit is not in the data yet.

Whatever is not known to be one of these is refused.
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from qgis.core import QgsFields
from qgis.PyQt.QtCore import QMetaType

from ._vendor.dpsort_geo.errors import BadInputError
from .compat import is_null
from .i18n import tr

_TYPES = {
    "whole": ("Int", "UInt", "LongLong", "ULongLong"),
    "decimal": ("Double", "Float"),
    "text": ("QString",),
    "day": ("QDate",),
    "moment": ("QDateTime",),
}
PERSON = ("whole", "decimal", "text")
CATEGORY = ("whole", "text")
TIME = ("day", "moment", "text")
#: providers, and drivers of the provider "ogr", whose columns have a declared type
_DECLARED = {
    "memory", "postgres", "spatialite", "mssql", "oracle", "hana",
    "GPKG", "ESRI Shapefile", "FlatGeobuf", "Parquet", "Arrow", "MapInfo File", "OpenFileGDB",
}  # fmt: skip
#: those that guess, and give text as it is
_GUESSED = {"virtual", "gpx", "GeoJSON", "GeoJSONSeq", "CSV", "KML", "LIBKML", "GPX", "SQLite"}


@dataclass(frozen=True)
class RowField:
    """A column that is safe to read, and how it says things."""

    column: int
    kind: str

    def person(self, value):
        """The person that a value names."""
        if is_null(value):
            raise BadInputError(
                tr("Every point needs a person: fill in the empty values of that field.")
            )
        self._check(value, {"whole": int, "decimal": (int, float), "text": str}[self.kind])
        return float(value) if self.kind == "decimal" else value

    def category(self, value):
        """The category that a value names; None when it is empty."""
        if is_null(value):
            return None
        self._check(value, {"whole": int, "text": str}[self.kind])
        return value

    def moment(self, value):
        """A date as text, by the clock that wrote it; None when it is empty."""
        if is_null(value):
            return None
        if self.kind == "text":
            self._check(value, str)
            return value
        if self.kind == "day":
            return value.toString("yyyy-MM-dd")
        # part by part: where this machine's clock was put forward, the whole is no time to Qt
        return f"{value.date().toString('yyyy-MM-dd')}T{value.time().toString('HH:mm:ss')}"

    def _check(self, value, wanted):
        # True is 1 for Python, and a database may keep text in a column of numbers
        if isinstance(value, bool) or not isinstance(value, wanted):
            raise BadInputError(
                tr(
                    "Some values of a field are not of the field's type; write all of them in the "
                    "same way."
                )
            )


def safe_field(layer, name, kinds):
    """The field of this name, if each row speaks for itself and it is of one of these kinds."""
    fields = layer.fields()
    column = fields.lookupField(name)
    if column < 0:
        raise BadInputError(tr("The point layer has no such field; choose one of its fields."))
    if fields.fieldOrigin(column) != QgsFields.FieldOrigin.OriginProvider:
        raise BadInputError(
            tr(
                "The field comes from a join, an expression or an unsaved edit, where one row can "
                "change what others say; save the layer as a GeoPackage and publish that one."
            )
        )
    if layer.providerType() == "delimitedtext" and _detects_types(layer.source()):
        raise BadInputError(
            tr(
                "QGIS guesses the types of this file's fields from all rows, so one row can change "
                "what others say; load the file again with 'Detect field types' off."
            )
        )
    kind = _kind(fields.at(column).type())
    store = layer.providerType()
    store = layer.storageType() if store == "ogr" else store
    queried = layer.subsetString().lstrip().lower().startswith("select")
    if store in _DECLARED and not queried:
        if kind not in kinds:
            raise BadInputError(_wrong_kind(kinds))
    elif kind != "text" or store not in _DECLARED | _GUESSED | {"delimitedtext"}:
        raise BadInputError(
            tr(
                "QGIS guesses the type of the field from all rows, so one row can change what "
                "others say; take a text field, or save the layer as a GeoPackage and publish that "
                "one."
            )
        )
    return RowField(column, kind)


def _wrong_kind(kinds):
    if kinds is TIME:
        return tr("The field of the time must hold dates, or text such as 2026-03-01.")
    if kinds is CATEGORY:
        return tr("The field of the category must hold text or whole numbers; choose another.")
    return tr("The field that names the person must hold numbers or text; choose another.")


def _kind(field_type):
    for kind, names in _TYPES.items():
        if any(field_type == getattr(QMetaType.Type, name) for name in names):
            return kind
    return None


def _detects_types(source):
    """QGIS's own rule: types are detected unless the first such option begins with an n."""
    (first, *_) = parse_qs(urlsplit(source).query).get("detectTypes", ["yes"])
    return not first.lower().startswith("n")
