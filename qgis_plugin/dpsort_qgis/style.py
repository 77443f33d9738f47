"""How the results look on the map, with legends to print."""

from itertools import product

from qgis.core import (
    QgsCategorizedSymbolRenderer,
    QgsColorRampLegendNodeSettings,
    QgsColorRampShader,
    QgsExpression,
    QgsFillSymbol,
    QgsLinePatternFillSymbolLayer,
    QgsMapLayerLegendUtils,
    QgsMarkerSymbol,
    QgsRasterLayer,
    QgsRasterShader,
    QgsRendererCategory,
    QgsRuleBasedRenderer,
    QgsSingleBandPseudoColorRenderer,
    QgsSingleSymbolRenderer,
)
from qgis.PyQt.QtGui import QColor

from ._vendor.dpsort_geo.public.picture import RAMP
from .axis_fields import slice_values
from .classes import class_limits, log_steps
from .i18n import number_text, tr

#: as far from white as from black, so that dots are seen on light and on dark maps
POINT_COLOUR = QColor(14, 134, 212, 170)
#: the same for categories; told apart by the colour-blind (after Okabe and Ito)
CATEGORY_COLOURS = (
    (14, 134, 212), (213, 94, 0), (0, 150, 110), (190, 100, 160), (170, 130, 0), (90, 120, 230),
    (200, 60, 60), (110, 125, 130),
)  # fmt: skip

#: millimetres
_DOT, _LEGEND_DOT = "0.8", 2.2


def points_style(axis=None, dated=None):
    """A style of small translucent dots, so that dense places look dense; coloured by an axis.

    Of a ``dated`` axis with a stretch for missing dates, that stretch is not shown in others.
    """

    def style(layer):
        renderer = QgsSingleSymbolRenderer(_dot(POINT_COLOUR)) if axis is None else _coloured(axis)
        layer.setRenderer(_hide_undated(renderer, dated) if dated and dated.other else renderer)

    return style


def _coloured(axis):
    colours = [
        QColor(*CATEGORY_COLOURS[number % len(CATEGORY_COLOURS)], 190)
        for number in range(axis.size)
    ]
    categories = [
        QgsRendererCategory(label, _dot(colour), label)
        for label, colour in zip(axis.labels, colours)
    ]
    return QgsCategorizedSymbolRenderer(axis.name, categories)


def _hide_undated(renderer, dated):
    """The same looks; what has no date is not shown while a clock plays, as it would all along."""
    shown = f"(@map_start_time IS NULL OR {QgsExpression.quotedColumnRef(dated.name)} IS NOT NULL)"
    ruled = QgsRuleBasedRenderer.convertFromRenderer(renderer)
    for rule in ruled.rootRule().children():
        chosen = rule.filterExpression()
        rule.setFilterExpression(f"({chosen}) AND {shown}" if chosen else shown)
    return ruled


def _dot(colour):
    symbol = QgsMarkerSymbol.createSimple({"name": "circle", "size": _DOT, "outline_style": "no"})
    symbol.setColor(colour)
    return symbol


def tidy_legend(node):
    """Dots of a legend that can be seen; ``node`` is the layer's place among the layers."""
    if isinstance(node.layer(), QgsRasterLayer):
        # QGIS would write "Band 1: points per km² (Gray)"
        QgsMapLayerLegendUtils.setLegendNodeUserLabel(node, 0, tr("points per km²"))
        node.layer().legendChanged.emit()  # the list of layers shows it already
        return
    for order, item in enumerate(node.layer().renderer().legendSymbolItems()):
        symbol = item.symbol().clone() if item.symbol() else None
        if isinstance(symbol, QgsMarkerSymbol):
            symbol.setSize(_LEGEND_DOT)
            QgsMapLayerLegendUtils.setLegendNodeCustomSymbol(node, order, symbol)


def counts_style(values, axes=(), dated=None):
    """A style for polygons with counts: coloured by density, hatched where not reliable.

    The joint slices of axes get a branch each, with classes of its own, the first one shown;
    ``values`` are the densities of each.
    A polygon has a row for each stretch of a ``dated`` axis; they would lie upon each other, so
    without a clock the first one is shown.
    """

    def style(layer):
        root = QgsRuleBasedRenderer.Rule(None)
        shown = root if dated is None else _one_stretch(root, dated)
        if not axes:
            _add_classes(shown, class_limits(values[0]))
        slices = product(*(axis.labels for axis in axes)) if axes else ()
        for number, labels in enumerate(slices):
            chosen = " AND ".join(
                f"{QgsExpression.quotedColumnRef(axis.name)} = {QgsExpression.quotedString(label)}"
                for axis, label in zip(axes, labels)
            )
            branch = QgsRuleBasedRenderer.Rule(None, 0, 0, chosen, ", ".join(labels))
            _add_classes(branch, class_limits(values[number]))
            branch.setActive(number == 0)
            shown.appendChild(branch)
        layer.setRenderer(QgsRuleBasedRenderer(root))
        layer.setOpacity(0.85)

    return style


def _one_stretch(parent, axis):
    """A rule that shows the first stretch of time, or those that a clock lets through."""
    name, first = QgsExpression.quotedColumnRef(axis.name), slice_values(axis)[0]
    # as the layer's own clock says it, whatever zone a file gives its times
    clock = "yyyy-MM-dd HH:mm:ss"
    written = f"format_date({name}, '{clock}') = '{first.toString(clock)}'"
    # a row without a date passes every clock
    chosen = f"(@map_start_time IS NOT NULL AND {name} IS NOT NULL) OR {written}"
    words = tr("{first}, or as played").format(first=axis.labels[0])
    rule = QgsRuleBasedRenderer.Rule(None, 0, 0, chosen, words)
    parent.appendChild(rule)
    return rule


def _add_classes(parent, limits):
    """A rule for each class of density, one for no count, and one that hatches the unreliable."""
    for low, high, colour in zip(limits, limits[1:], _shades(len(limits) - 1)):
        last = "<=" if high == limits[-1] else "<"
        chosen = f'"per_km2" >= {low!r} AND "per_km2" {last} {high!r}'
        words = tr("{low} to {high} per km²").format(low=number_text(low), high=number_text(high))
        parent.appendChild(QgsRuleBasedRenderer.Rule(_fill(colour), 0, 0, chosen, words))
    outside = _fill(QColor(0, 0, 0, 0))
    words = tr("outside of the public area")
    parent.appendChild(QgsRuleBasedRenderer.Rule(outside, 0, 0, '"estimate" IS NULL', words))
    words = tr("not reliable: wide limits")
    parent.appendChild(QgsRuleBasedRenderer.Rule(_hatch(), 0, 0, '"reliable" = 0', words))


def _shades(count):
    places = [1 + (len(RAMP) - 2) * step / max(count - 1, 1) for step in range(count)]
    return [QColor(*RAMP[round(place)]) for place in places]


def _fill(colour):
    symbol = QgsFillSymbol.createSimple({"outline_color": "90,90,90,160", "outline_width": "0.2"})
    symbol.setColor(colour)
    return symbol


def _hatch():
    symbol = QgsFillSymbol()
    # dark on light, so that it is seen on both
    for colour, width in ((QColor(255, 255, 255, 170), 0.6), (QColor(50, 50, 50), 0.25)):
        lines = QgsLinePatternFillSymbolLayer()
        lines.setLineAngle(45)
        lines.setDistance(2.2)
        lines.setColor(colour)
        lines.setLineWidth(width)
        symbol.appendSymbolLayer(lines)
    if not symbol.deleteSymbolLayer(0):
        raise RuntimeError("a new symbol has a layer of its own")
    return symbol


def density_style(top):
    """A style for a density raster whose darkest colour is at ``top``; nothing is transparent."""

    def style(layer):
        function = QgsColorRampShader(0, top, None, QgsColorRampShader.Type.Interpolated)
        # printed legends know no transparency
        items = [QgsColorRampShader.ColorRampItem(0.0, QColor(255, 255, 255, 0), "0")]
        # the eye compares ratios: equal steps of colour for equal factors of density
        for value, colour in zip(log_steps(top, len(RAMP)), RAMP):
            words = tr("{value} per km²").format(value=number_text(value))
            items.append(QgsColorRampShader.ColorRampItem(value, QColor(*colour, 215), words))
        function.setColorRampItemList(items)
        # a band from the least to the most would show the steps as if they were equal
        settings = QgsColorRampLegendNodeSettings()
        settings.setUseContinuousLegend(False)
        function.setLegendSettings(settings)
        shader = QgsRasterShader()
        shader.setRasterShaderFunction(function)
        layer.setRenderer(QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader))

    return style
