"""Where the points of an output go: every way in which QGIS writes that down, and the statement.

An output is ``TEMPORARY_OUTPUT`` or ``memory:...``, the path of a file, ``ogr:`` and a path, or
``ogr:dbname='path' table="name" (geom)`` for a table of a GeoPackage. Databases of other providers
carry no statement, so they are refused; so is ``path|layername=name``, which names a layer to read
and which QGIS would write to a file of that very name.
"""

import os
import re
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    QgsDataSourceUri,
    QgsLayerMetadata,
    QgsProcessing,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingUtils,
    QgsProperty,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ._vendor.dpsort_geo.errors import BadInputError
from .i18n import tr

#: a provider before a colon; one letter before a colon is a drive
_PROVIDER = re.compile(r"(\w\w+):(.*)", re.DOTALL)


def files_written(value, context):
    """The files that a vector output may be written to; none for a temporary layer."""
    if isinstance(value, QgsProcessingOutputLayerDefinition):
        value = value.sink
    if isinstance(value, QgsProperty):
        value = value.valueAsString(context.expressionContext())[0]
    text = "" if value is None else str(value)
    if not text or text == QgsProcessing.TEMPORARY_OUTPUT or text.startswith("memory:"):
        return []
    provided = _PROVIDER.match(text)
    table = QgsDataSourceUri(provided.group(2)) if provided else QgsDataSourceUri()
    if table.database():
        text = table.database()
    elif provided:
        text = provided.group(2)
    if "|" in text or (provided and provided.group(1) != "ogr") or _lacks_table(table):
        raise BadInputError(
            tr(
                "Results are written to a file, to a table of a GeoPackage or to a temporary "
                "layer; choose one of these as the output."
            )
        )
    # QGIS adds an extension to a name that has none that it knows
    return [text, f"{text}.{QgsProcessingUtils.defaultVectorExtension()}"]


def _lacks_table(uri):
    return bool(uri.database()) and not uri.table()


def same_file(one, other):
    """Whether two paths are one file, also by links."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def sign(target, metadata):
    """Put the privacy statement with a layer that was written, so that it travels with it.

    Says whether nothing is left to do. It never fails: when it is called, epsilon may be spent.
    """
    where = QgsProviderRegistry.instance().decodeUri("ogr", re.sub("^ogr:", "", target))
    path = Path(str(where.get("path") or ""))
    if not path.is_file():
        return True  # a layer in memory; it gets its metadata when it is loaded
    if path.suffix.lower() == ".gpkg":
        return _sign_geopackage(path, str(where.get("layerName") or path.stem), metadata.abstract())
    return _sign_beside(path, metadata)


def _sign_geopackage(path, table, statement):
    """The description of the table that was written, and of no other."""
    try:
        opened = gdal.OpenEx(str(path), gdal.OF_VECTOR | gdal.OF_UPDATE)
        if opened is None:
            return False
        # QGIS names the only layer of a new file after the file, and shows a layer's description
        # as the abstract in its metadata
        layer = opened.GetLayerByName(table)
        return layer is not None and layer.SetMetadataItem("DESCRIPTION", statement) == gdal.CE_None
    except RuntimeError:  # since QGIS 3.38 GDAL raises what it returned before
        return False


def _sign_beside(path, metadata):
    """QGIS's own file for metadata beside a file that has no room for them, such as CSV."""
    layer = QgsVectorLayer(str(path), path.stem, "ogr")
    if not layer.isValid():
        return False
    metadata = QgsLayerMetadata(metadata)
    metadata.setTitle(path.stem)
    layer.setMetadata(metadata)
    _, saved = layer.saveDefaultMetadata()
    return saved


def sign_raster(path, statement, words):
    """The statement as a TIFF's description, and what its band holds; says whether it worked."""
    try:
        opened = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
        if opened is None:
            return False
        opened.SetMetadataItem("TIFFTAG_IMAGEDESCRIPTION", statement)
        band = opened.GetRasterBand(1)
        band.SetDescription(words)
        opened.FlushCache()
        return True
    except RuntimeError:
        return False


def unsigned():
    """What is said when a layer was written without its statement."""
    return tr("The layer was written, but the privacy statement could not be put with it.")
