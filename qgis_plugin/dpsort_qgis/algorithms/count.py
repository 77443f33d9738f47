"""Count in polygons from a release."""

import numpy as np
from qgis.core import (
    QgsFeature,
    QgsFeatureRequest,
    QgsFeatureSink,
    QgsFields,
    QgsProcessing,
    QgsProcessingException,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterNumber,
    QgsWkbTypes,
)

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.public.counts import RELIABLE
from ..axis_fields import is_dated, slice_values
from ..compat import UNCHECKED, field
from ..declared_zones import polygons_each
from ..i18n import tr
from ..outputs import files_written, sign, unsigned
from ..point_layers import axis_fields
from ..release_files import title_of
from ..releases import CancelledError
from ..results import Styler, dated_axis, metadata_of
from ..style import counts_style
from ..zone_counts import count_rows, square_km
from .reading_parameters import ReadingParameters

#: what is added to a polygon, and the kind of its field
COLUMNS = (
    ("estimate", "number"),
    ("low", "number"),
    ("high", "number"),
    ("reliable", "truth"),
    ("covered", "number"),
    ("per_km2", "number"),
)


class CountInPolygons(ReadingParameters):
    """How many points lie in each polygon, with limits."""

    NAME = "countinpolygons"
    ICON = "count.svg"
    ZONES = "ZONES"
    CONFIDENCE = "LEVEL"  # as models have saved it
    RELIABLE = "RELIABLE"
    BY_CATEGORY = "BY_CATEGORY"
    BY_TIME = "BY_TIME"
    OUTPUT = "OUTPUT"
    TABLE = "TABLE"

    def title(self):
        return tr("Count in polygons from a release")

    def help(self):
        return tr(
            "Estimates how many points lie in each polygon, with limits between which the true "
            "number lies with the chosen confidence. It reads a release file and no private data."
        )

    def words(self):
        return tr("zones,statistics,estimate,confidence")

    def initAlgorithm(self, config=None):
        self.add_release()
        polygons = [QgsProcessing.SourceType.TypeVectorPolygon]
        self.add(
            QgsProcessingParameterFeatureSource(self.ZONES, tr("Polygons"), polygons),
            tr("The polygons to count in; they may overlap."),
        )
        self.add_within()
        self.add(
            QgsProcessingParameterBoolean(self.BY_CATEGORY, tr("By category"), False),
            tr("A row for each polygon and category, if the release has categories."),
        )
        self.add(
            QgsProcessingParameterBoolean(self.BY_TIME, tr("By time"), False),
            tr(
                "A row for each polygon and stretch of time, if the release has times; the "
                "temporal controller plays them."
            ),
        )
        self.add(
            QgsProcessingParameterNumber(
                self.CONFIDENCE,
                tr("Confidence in percent"),
                QgsProcessingParameterNumber.Type.Double,
                90.0,
                minValue=1,
                maxValue=99.9,
            ),
            tr("How often the limits should hold the true number."),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterNumber(
                self.RELIABLE,
                tr("Reliable up to, in percent"),
                QgsProcessingParameterNumber.Type.Double,
                100 * RELIABLE,
                minValue=0.1,
                maxValue=1000,
            ),
            tr("An estimate is reliable when half of its limits is at most this share of it."),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterFeatureSink(
                self.OUTPUT, tr("Published counts"), QgsProcessing.SourceType.TypeVectorPolygon
            ),
            tr(
                "The polygons with the fields estimate, low, high, reliable (half of the limits is "
                "within a fifth of the estimate, or the share that is asked for), covered (the "
                "share of the polygon inside the public area) and per_km2."
            ),
        )
        self.add(
            QgsProcessingParameterFeatureSink(
                self.TABLE,
                tr("The same as a table"),
                QgsProcessing.SourceType.TypeVector,
                optional=True,
                createByDefault=False,
            ),
            tr("One row for each polygon and slice, without polygons: for spreadsheets."),
        )

    def prepare_work(self, parameters, context):
        self.take_within(parameters, context)

    def work(self, parameters, context, feedback):
        outputs = [
            path
            for name in (self.OUTPUT, self.TABLE)
            for path in files_written(parameters.get(name), context)
        ]
        reading = self.reading(parameters, context, *outputs)
        source = self.parameterAsSource(parameters, self.ZONES, context)
        if source is None:
            raise QgsProcessingException(self.invalidSourceError(parameters, self.ZONES))
        crs = source.sourceCrs()
        if not crs.isValid():
            raise BadInputError(
                tr("The polygons have no coordinate reference system; set it first.")
            )
        features = list(source.getFeatures(QgsFeatureRequest(), UNCHECKED))
        level = self.parameterAsDouble(parameters, self.CONFIDENCE, context) / 100
        axes = self._axes(reading.release, parameters, context)
        rows = count_rows(reading, self._zones(features, feedback), crs, level, axes)
        shapes = [feature.geometry() for feature in features]
        area = square_km(shapes, crs, context.transformContext())[rows.zone]
        density = np.divide(rows.estimate, area, out=np.zeros(area.size), where=area > 0)
        asked = [reading.release.axes[number] for number in axes]
        fields, kept = _fields(source.fields(), asked)
        reliable = rows.reliable(self.parameterAsDouble(parameters, self.RELIABLE, context) / 100)
        table = _attributes(features, kept, asked, rows, reliable, density)
        title = title_of(self.parameterAsFile(parameters, self.RELEASE, context))
        looks, results = _looks(asked, rows, density), {}
        for name, kind in (
            (self.OUTPUT, source.wkbType()),
            (self.TABLE, QgsWkbTypes.Type.NoGeometry),
        ):
            sink, target = self.parameterAsSink(parameters, name, context, fields, kind, crs)
            if sink is None:
                if name == self.TABLE:
                    continue
                raise QgsProcessingException(self.invalidSinkError(parameters, name))
            bare = kind == QgsWkbTypes.Type.NoGeometry
            places = None if bare else [shapes[zone] for zone in rows.zone.tolist()]
            _write(sink, fields, table, places)
            del sink  # closes the file
            if not sign(target, metadata_of(reading.release, title)):
                feedback.pushWarning(unsigned())
            self._style(target, bare, looks, dated_axis(asked), reading.release, title, context)
            results[name] = target
        return results

    def _axes(self, release, parameters, context):
        """Numbers of the axes that are asked for."""
        asked = {
            False: self.parameterAsBool(parameters, self.BY_CATEGORY, context),
            True: self.parameterAsBool(parameters, self.BY_TIME, context),
        }
        timed = [hasattr(axis, "every") for axis in release.axes]
        found = [number for number, time in enumerate(timed) if asked[time]]
        for time, words in (
            (False, tr("This release has no categories; count without them.")),
            (True, tr("This release has no times; count without them.")),
        ):
            if asked[time] and time not in timed:
                raise BadInputError(words)
        return found

    def _zones(self, features, feedback):
        """Polygons of each feature, as they are asked for."""
        for number, feature in enumerate(features):
            if feedback.isCanceled():
                raise CancelledError
            yield from polygons_each([feature])
            feedback.setProgress(80 * number / len(features))

    def _style(self, target, bare, looks, dated, release, title, context):
        styler = Styler((lambda layer: None) if bare else looks, release, title, dated)
        styler.on_load(target, context, tr("{layer}, counts").format(layer=title))


def _looks(asked, rows, density):
    """The style of counts; each joint slice of the categories has the densities of its own."""
    plain = [number for number, axis in enumerate(asked) if not is_dated(axis)]
    axes = [asked[number] for number in plain]
    if not axes:
        return counts_style([density.tolist()], axes, dated_axis(asked))
    sizes = [axis.size for axis in axes]
    joint = np.ravel_multi_index([rows.labels[number] for number in plain], sizes)
    counts = np.bincount(joint, minlength=int(np.prod(sizes)))
    parts = np.split(density[np.argsort(joint, kind="stable")], np.cumsum(counts)[:-1])
    return counts_style([part.tolist() for part in parts], axes, dated_axis(asked))


def _fields(own, asked):
    """The fields of the polygons without those that are made anew, and which of them are kept."""
    made = {axis.name for axis in asked} | {name for name, _ in COLUMNS}
    fields, kept = QgsFields(), []
    if asked:
        made.add("fid")  # a polygon has several rows, and a GeoPackage takes a number once
    for number, one in enumerate(own):
        if one.name() not in made:
            fields.append(one)
            kept.append(number)
    for one in axis_fields(asked):
        fields.append(one)
    for name, kind in COLUMNS:
        fields.append(field(name, kind))
    return fields, kept


def _attributes(features, kept, asked, rows, reliable, density):
    """All attributes of each row; a polygon outside of the domain has no count: null."""
    values = [slice_values(axis) for axis in asked]
    numbers = np.column_stack([rows.estimate, rows.low, rows.high]).round(1).tolist()
    table = []
    for row, zone in enumerate(rows.zone.tolist()):
        own = features[zone].attributes()
        labels = [known[label[row]] for known, label in zip(values, rows.labels)]
        counted = [None if one != one else one for one in numbers[row]]
        covered = round(float(rows.covered[row]), 3)
        last = [int(reliable[row]), covered, float(density[row])]
        last = [None, covered, None] if counted[0] is None else last
        table.append([own[column] for column in kept] + labels + counted + last)
    return table


def _write(sink, fields, table, places):
    made = []
    for row, attributes in enumerate(table):
        feature = QgsFeature(fields)
        feature.setAttributes(attributes)
        if places is not None:
            feature.setGeometry(places[row])
        made.append(feature)
    if not sink.addFeatures(made, QgsFeatureSink.Flag.FastInsert):
        raise QgsProcessingException(sink.lastError())
