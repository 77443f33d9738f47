"""What a result carries into the project: its name, looks, times, and what it promises."""

import datetime

from qgis.core import (
    Qgis,
    QgsDateTimeRange,
    QgsExpression,
    QgsInterval,
    QgsLayerMetadata,
    QgsProcessingLayerPostProcessorInterface,
    QgsProject,
    QgsRasterLayer,
)
from qgis.utils import iface

from ._vendor.dpsort_geo import __version__
from .axis_fields import end_of, is_dated, slice_values
from .compat import clock_off, group_of, time_unit
from .datasets import mark_published
from .i18n import exact_text, tr
from .promise import statement_text
from .style import tidy_legend

#: of the shortest month and year
_SECONDS = {
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 7 * 86400,
    "month": 28 * 86400,
    "year": 365 * 86400,
}
#: QGIS does not own a post-processor, so somebody has to keep it alive until it was called
_ALIVE = []


def result_name(title, epsilon):
    """The name of the published layer of a private one."""
    return tr("{layer}, published (eps {epsilon})").format(layer=title, epsilon=exact_text(epsilon))


class Styler(QgsProcessingLayerPostProcessorInterface):
    """Gives a loaded layer its looks, its times and its metadata."""

    def __init__(self, style, release, title, axis=None):
        super().__init__()
        self.style, self.axis = style, axis
        self.metadata = metadata_of(release, title)
        self.title, self.group = title, tr("{layer}, published").format(layer=title)
        _ALIVE.append(self)

    def postProcessLayer(self, layer, context, feedback):
        self.style(layer)
        metadata = QgsLayerMetadata(self.metadata)
        metadata.setTitle(layer.name())
        metadata.setType("dataset")
        metadata.setCrs(layer.crs())
        layer.setMetadata(metadata)
        set_attribution(layer, tr("Differentially private, made with dpsort-geo"))
        mark_published(layer)
        if self.axis is not None and not isinstance(layer, QgsRasterLayer):
            set_times(layer, self.axis)
        node = QgsProject.instance().layerTreeRoot().findLayer(layer.id())
        if node is not None:
            tidy_legend(node)
            if self.axis is not None and not isinstance(layer, QgsRasterLayer):
                set_project_times(self.axis)
                set_clock(self.axis, iface.mapCanvas().temporalController() if iface else None)
        layer.triggerRepaint()

    def on_load(self, target, context, name):
        """Hand a layer that QGIS will load to this, under a name."""
        if context.willLoadLayerOnCompletion(target):
            details = context.layerToLoadOnCompletionDetails(target)
            details.name = name
            details.forceName = True
            group_of(details, self.group)
            details.setPostProcessor(self)


def set_attribution(layer, words):
    """The line that maps are printed with; QGIS 3.38 moved it."""
    if hasattr(layer, "serverProperties") and hasattr(layer.serverProperties(), "setAttribution"):
        layer.serverProperties().setAttribution(words)
    else:
        layer.setAttribution(words)


def metadata_of(release, title):
    """Abstract, rights, licence and history of whatever is made of a release."""
    metadata = QgsLayerMetadata()
    metadata.setAbstract(statement_text(release))
    metadata.setKeywords({"gmd:topicCategory": [tr("differential privacy")]})
    metadata.setRights(
        [tr("Made from a private release: reading, copying and analysing it costs no privacy.")]
    )
    metadata.setLicenses([tr("As chosen by the publisher of the release.")])
    words = tr(
        "{day}: made from the release of {layer}, epsilon {epsilon}, by dpsort-geo {version}"
    )
    day = datetime.date.today().isoformat()
    epsilon = exact_text(release.epsilon)
    metadata.setHistory([words.format(day=day, layer=title, epsilon=epsilon, version=__version__)])
    return metadata


def dated_axis(axes):
    """The axis that a clock can play, or None."""
    return next((axis for axis in axes if is_dated(axis)), None)


def category_axis(axes):
    """The first axis that a clock cannot play, or None."""
    return next((axis for axis in axes if not is_dated(axis)), None)


def set_times(layer, axis):
    """Temporal properties: each feature lasts as long as its stretch of time, but for a second.

    QGIS takes a month for 30 days and a year for 365 and a quarter, so that February would last
    into March; they last as long as the shortest of them. Not the field itself but an expression
    that no file can answer: a file compares texts, and with a newer GDAL the 00:00:00 of the next
    stretch lies before the 00:00:00.000 at which a frame ends.
    """
    count, unit = axis.every.split()
    seconds = int(count) * _SECONDS[unit] - 1
    start = f"to_datetime({QgsExpression.quotedColumnRef(axis.name)})"
    times = layer.temporalProperties()
    times.setMode(Qgis.VectorTemporalMode.FeatureDateTimeStartAndEndFromExpressions)
    times.setStartExpression(start)
    times.setEndExpression(f"{start} + to_interval('{seconds} seconds')")
    times.setIsActive(True)


def set_project_times(axis, project=None):
    """Let the temporal controller go from stretch to stretch."""
    count, unit = axis.every.split()
    settings = (project or QgsProject.instance()).timeSettings()
    settings.setTemporalRange(_whole_range(axis))
    settings.setTimeStep(float(count))
    settings.setTimeStepUnit(time_unit(unit))


def set_clock(axis, clock):
    """Make QGIS's temporal controller ready to play, unless it plays something else already.

    By itself it reads the times of a project only when the project is opened.
    """
    if clock is None or clock.navigationMode() != clock_off():
        return
    count, unit = axis.every.split()
    clock.setTemporalExtents(_whole_range(axis))
    clock.setFrameDuration(QgsInterval(float(count), time_unit(unit)))


def _whole_range(axis):
    return QgsDateTimeRange(slice_values(axis)[0], end_of(axis))
