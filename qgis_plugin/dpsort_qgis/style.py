"""How the results look on the map, and the privacy statement in their metadata."""

from qgis.core import (
    QgsColorRampShader,
    QgsFillSymbol,
    QgsGradientColorRamp,
    QgsGradientStop,
    QgsGraduatedSymbolRenderer,
    QgsMarkerSymbol,
    QgsProcessingLayerPostProcessorInterface,
    QgsRasterShader,
    QgsSingleBandPseudoColorRenderer,
    QgsSingleSymbolRenderer,
)
from qgis.PyQt.QtGui import QColor

from .i18n import tr

#: light to dark, readable without colour and by the colour-blind
RAMP = (
    (254, 240, 200),
    (252, 196, 116),
    (243, 137, 86),
    (205, 77, 94),
    (130, 40, 106),
    (59, 15, 80),
)
POINT_COLOUR = QColor(31, 78, 121, 110)
#: QGIS does not own a post-processor, so somebody has to keep it alive until it was called
_ALIVE = []


class Styler(QgsProcessingLayerPostProcessorInterface):
    """Gives a loaded layer its looks and its privacy statement."""

    def __init__(self, style, statement):
        super().__init__()
        self.style, self.statement = style, statement
        _ALIVE.append(self)

    def postProcessLayer(self, layer, context, feedback):
        self.style(layer)
        metadata = layer.metadata()
        metadata.setTitle(layer.name())
        metadata.setAbstract(self.statement)
        metadata.setKeywords({"gmd:topicCategory": [tr("differential privacy")]})
        layer.setMetadata(metadata)
        layer.triggerRepaint()


def points_style(layer):
    """Small translucent dots, so that dense places look dense."""
    symbol = QgsMarkerSymbol.createSimple({"name": "circle", "size": "0.7", "outline_style": "no"})
    symbol.setColor(POINT_COLOUR)
    layer.setRenderer(QgsSingleSymbolRenderer(symbol))


def counts_style(layer):
    """Polygons coloured by the estimate."""
    symbol = QgsFillSymbol.createSimple({"outline_color": "90,90,90,160", "outline_width": "0.2"})
    renderer = QgsGraduatedSymbolRenderer("estimate")
    renderer.setSourceSymbol(symbol)
    renderer.setSourceColorRamp(gradient())
    renderer.updateClasses(layer, QgsGraduatedSymbolRenderer.Mode.Quantile, 6)
    layer.setRenderer(renderer)
    layer.setOpacity(0.85)


def density_style(top):
    """A style for a density raster whose darkest colour is at ``top``; nothing is transparent."""

    def style(layer):
        function = QgsColorRampShader(0, top, None, QgsColorRampShader.Type.Interpolated)
        items = [QgsColorRampShader.ColorRampItem(0.0, QColor(254, 240, 200, 0), "0")]
        for step, colour in enumerate(RAMP):
            # the eye compares ratios: equal steps of colour for equal factors of density
            value = top / 1000 ** (1 - (step + 1) / len(RAMP))
            items.append(
                QgsColorRampShader.ColorRampItem(value, QColor(*colour, 215), f"{value:.3g}")
            )
        function.setColorRampItemList(items)
        shader = QgsRasterShader()
        shader.setRasterShaderFunction(function)
        layer.setRenderer(QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader))

    return style


def gradient():
    """The ramp as QGIS knows it."""
    inner = [
        QgsGradientStop(step / (len(RAMP) - 1), QColor(*colour)) for step, colour in enumerate(RAMP)
    ]
    return QgsGradientColorRamp(QColor(*RAMP[0]), QColor(*RAMP[-1]), False, inner[1:-1])
