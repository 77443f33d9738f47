"""Density from a release."""

import numpy as np
from qgis.core import (
    Qgis,
    QgsProcessingException,
    QgsProcessingParameterCrs,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsRasterBlock,
    QgsRasterFileWriter,
    QgsRectangle,
)

from ..i18n import number_text, tr
from ..outputs import sign_raster, unsigned
from ..promise import statement_text
from ..rasters import density_raster, known_crs
from ..release_files import title_of
from ..releases import CancelledError
from ..results import Styler
from ..style import density_style
from .reading_parameters import ReadingParameters


class DensityFromRelease(ReadingParameters):
    """A raster of points per square kilometre."""

    NAME = "densityfromrelease"
    ICON = "density.svg"
    CELL = "CELL"
    CRS = "CRS"
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
        self.add_within()
        number = QgsProcessingParameterNumber.Type.Double
        self.add(
            QgsProcessingParameterNumber(
                self.CELL, tr("Pixel size in metres"), number, optional=True, minValue=0
            ),
            tr("Side of a pixel on the ground. Empty: a round number, at least 128 pixels a side."),
        )
        self.add(
            QgsProcessingParameterCrs(self.CRS, tr("CRS of the raster"), optional=True),
            tr(
                "Empty: that of the release, if it has metres; otherwise the UTM zone, or for "
                "large areas EPSG:6933."
            ),
            advanced=True,
        )
        self.add(
            QgsProcessingParameterRasterDestination(self.OUTPUT, tr("Published density")),
            tr("A raster with one band, points per square kilometre; no data outside the area."),
        )

    def prepare_work(self, parameters, context):
        self.take_within(parameters, context)

    def work(self, parameters, context, feedback):
        target = self.parameterAsOutputLayer(parameters, self.OUTPUT, context)
        reading = self.reading(parameters, context, target)
        cell = self.parameterAsDouble(parameters, self.CELL, context)
        crs = self.parameterAsCrs(parameters, self.CRS, context)
        crs = crs if crs.isValid() else known_crs(reading.frame)
        raster = density_raster(reading, crs, cell or None)
        if feedback.isCanceled():
            raise CancelledError
        size = number_text(float(f"{raster.metres:.4g}"))
        feedback.pushInfo(tr("Pixel size: {size} m").format(size=size))
        _write_raster(target, raster, crs)
        if not sign_raster(target, statement_text(reading.release), tr("points per km²")):
            feedback.pushWarning(unsigned())
        title = title_of(self.parameterAsFile(parameters, self.RELEASE, context))
        styler = Styler(density_style(_top(raster.values)), reading.release, title)
        name = tr("{layer}, density per km²").format(layer=title)
        styler.on_load(target, context, name)
        return {self.OUTPUT: target}


def _top(values):
    some = values[values > 0]
    return float(np.quantile(some, 0.995)) if some.size else 1.0


def _write_raster(target, raster, crs):
    extension = target.rsplit(".", 1)[-1] if "." in target else "tif"
    writer = QgsRasterFileWriter(target)
    writer.setOutputFormat(QgsRasterFileWriter.driverForExtension(extension) or "GTiff")
    height, width = raster.values.shape
    box = QgsRectangle(
        raster.west,
        raster.north - height * raster.cell,
        raster.west + width * raster.cell,
        raster.north,
    )
    kind = Qgis.DataType.Float32
    provider = writer.createOneBandRaster(kind, width, height, box, crs)
    if provider is None or not provider.isValid():
        raise QgsProcessingException(tr("The raster could not be written; check the output file."))
    provider.setNoDataValue(1, np.nan)
    provider.setEditable(True)
    block = QgsRasterBlock(kind, width, height)
    block.setData(np.ascontiguousarray(raster.values, "<f4").tobytes())
    written = provider.writeBlock(block, 1)
    provider.setEditable(False)
    if not written:
        raise QgsProcessingException(tr("The raster could not be written; check the output file."))
