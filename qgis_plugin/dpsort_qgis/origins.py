"""What a layer is made of: the layers behind a virtual one, the file or the tables behind a query.

A virtual layer or a query has no place of its own, and may be given any name; but its points are
those of other layers, and what was spent on them was spent on it.
"""

import os
import re

from qgis.core import (
    QgsProject,
    QgsProviderRegistry,
    QgsVectorLayer,
    QgsVirtualLayerDefinition,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QUrl

from ._vendor.dpsort_geo.private.ledger import table_mark

_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
#: what stands between FROM or JOIN and the next word of SQL
_FROM = re.compile(
    r"\b(?:from|join)\b(.*?)(?=\b(?:select|where|join|on|using|group|having|window|order|limit|"
    r"union|intersect|except|left|right|inner|cross|natural|full)\b|\)|$)",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r'\s*((?:"[^"]+"|\w+)(?:\s*\.\s*(?:"[^"]+"|\w+))?)')


def is_query(layer):
    """Whether a layer is a query of others, or of a file or a database."""
    return layer.providerType() == "virtual" or bool(query_of(layer))


def query_of(layer):
    """The query that a layer of a file or of a database is, or nothing."""
    table = str(_decoded(layer).get("table") or "").lstrip("( ")
    texts = [text for text in (layer.subsetString(), table) if _is_select(text)]
    return texts[0] if texts else ""


def _is_select(text):
    return bool(re.match(r"\s*(?:select|with)\b", _COMMENT.sub(" ", text), re.IGNORECASE))


def _decoded(layer):
    return QgsProviderRegistry.instance().decodeUri(layer.providerType(), layer.source())


def file_of(layer):
    """The file that a layer lies in, or nothing."""
    where = _decoded(layer)
    return os.path.realpath(str(where["path"])) if where.get("path") else ""


def layers_behind(layer):
    """The layers that a virtual layer takes its points from, through others; else the layer itself.

    Polygons and lines, which points are often joined with, count where there is nothing else.
    """
    found = [one for one in read_layers(layer) if one.providerType() != "virtual"]
    kinds = QgsWkbTypes.GeometryType
    plain = (kinds.PointGeometry, kinds.NullGeometry)
    return [one for one in found if one.geometryType() in plain] or found


def read_layers(layer):
    """All layers that are read where a layer is: itself, and what a virtual one is made of."""
    found, waiting = {}, [layer]
    while waiting:
        one = waiting.pop()
        if one is not None and one.id() not in found:
            found[one.id()] = one
            waiting += _sources(one) if one.providerType() == "virtual" else []
    return list(found.values())


def _sources(layer):
    provider = layer.dataProvider()
    named = [QgsProject.instance().mapLayer(one.layerId()) for one in provider.dependencies()]
    address = QUrl.fromEncoded(provider.dataSourceUri().encode())
    own = QgsVirtualLayerDefinition.fromUrl(address).sourceLayers()
    return named + [
        QgsVectorLayer(one.source(), one.name(), one.provider())
        for one in own
        if not one.isReferenced()
    ]


def marks_of(layer):
    """The files, layers of files and tables by which the ledger knows a layer's points again."""
    return [mark for one in layers_behind(layer) for mark in _marks(one)]


def _marks(layer):
    query, where = query_of(layer), _decoded(layer)
    if layer.providerType() == "postgres":
        place = [str(where.get(part) or "") for part in ("host", "port", "dbname")]
        names = tables_in(query) if query else [(where.get("schema"), where.get("table"))]
        return [table_mark(*place, str(schema or ""), str(table)) for schema, table in names]
    path = file_of(layer)
    if not os.path.isfile(path):
        return []
    if not query:
        table = table_of(layer)
        return [f"{path}|layername={table}" if table else path]
    words = {word.lower() for _, word in tables_in(query)}
    every = _tables(path)
    named = [table for table in every if table.lower() in words] or every
    return [f"{path}|layername={table}" for table in named] if len(every) > 1 else [path]


def table_of(layer):
    """The name of a layer in a file that has several; nothing where the file has one."""
    tables = _tables(file_of(layer)) if layer.providerType() == "ogr" else []
    return str(_decoded(layer).get("layerName") or tables[0]) if len(tables) > 1 else ""


def _tables(path):
    # a layer that was opened by its name does not tell of others
    layer = QgsVectorLayer(path, "", "ogr")
    if not layer.isValid():
        return []
    return [sub.split("!!::!!")[1] for sub in layer.dataProvider().subLayers()]


def tables_in(query):
    """Schema, or nothing, and name of the tables that a query takes its rows from."""
    found = []
    for part in _FROM.findall(_COMMENT.sub(" ", query)):
        for name in filter(None, map(_NAME.match, part.split(","))):
            words = re.findall(r'"[^"]+"|\w+', name[1])
            schema, table = (["", *words])[-2:]
            found.append((schema.strip('"'), table.strip('"')))
    return found
