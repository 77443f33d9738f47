"""Density from a release."""

import numpy as np
from qgis.core import (
    Qgis,
    QgsProcessingException,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsRasterBlock,
    QgsRasterFileWriter,
    QgsRectangle,
)

from .._vendor.dpsort_geo.release import load
from ..i18n import tr
from ..points import Cancelled
from ..releases import crs_pair, density, statement_text
from ..style import Styler, density_style
from .base import PrivacyAlgorithm


class DensityFromRelease(PrivacyAlgorithm):
    """A raster of points per square kilometre."""

    NAME = "densityfromrelease"
    ICON = "density.svg"
    CELL = "CELL"
    OUTPUT = "OUTPUT"

    def title(self):
        return tr("Density from a release")

    def help(self):
        return tr(
            "Makes a raster of points per square kilometre from a release file. It is smoother and "
            "truer than a heat map of the published points."
        )

    def words(self):
        return tr("heat map,raster,kernel")

    def initAlgorithm(self, config=None):
        self.add_release()
        number = QgsProcessingParameterNumber.Type.Double
        self.add(
            QgsProcessingParameterNumber(
                self.CELL, tr("Pixel size in metres"), number, optional=True, minValue=0
            ),
            tr(
                "The nearest size that halves the side of the area a whole number of times is "
                "used. Empty: 512 pixels a side."
            ),
        )
        self.add(
            QgsProcessingParameterRasterDestination(self.OUTPUT, tr("Private density")),
            tr("A raster with one band, points per square kilometre; no data outside the area."),
        )

    def work(self, parameters, context, feedback):
        release = load(self.parameterAsFile(parameters, self.RELEASE, context))
        cell = self.parameterAsDouble(parameters, self.CELL, context)
        target = self.parameterAsOutputLayer(parameters, self.OUTPUT, context)
        values, size = density(release, cell or None)
        if feedback.isCanceled():
            raise Cancelled
        feedback.pushInfo(tr("Pixel size: {size:.4g} m").format(size=size))
        _write_raster(target, values, release.grid, crs_pair(release)[1])
        if context.willLoadLayerOnCompletion(target):
            styler = Styler(density_style(_top(values)), statement_text(release))
            context.layerToLoadOnCompletionDetails(target).setPostProcessor(styler)
        return {self.OUTPUT: target}


def _top(values):
    some = values[values > 0]
    return float(np.quantile(some, 0.995)) if some.size else 1.0


def _write_raster(target, values, grid, crs):
    extension = target.rsplit(".", 1)[-1] if "." in target else "tif"
    writer = QgsRasterFileWriter(target)
    writer.setOutputFormat(QgsRasterFileWriter.driverForExtension(extension) or "GTiff")
    height, width = values.shape
    box = QgsRectangle(grid.x0, grid.y0, grid.x0 + grid.side, grid.y0 + grid.side)
    kind = Qgis.DataType.Float32
    provider = writer.createOneBandRaster(kind, width, height, box, crs)
    if provider is None or not provider.isValid():
        raise QgsProcessingException(tr("The raster could not be written; check the output file."))
    provider.setNoDataValue(1, np.nan)
    provider.setEditable(True)
    block = QgsRasterBlock(kind, width, height)
    block.setData(np.ascontiguousarray(values, "<f4").tobytes())
    written = provider.writeBlock(block, 1)
    provider.setEditable(False)
    if not written:
        raise QgsProcessingException(tr("The raster could not be written; check the output file."))
