"""A release as DCAT and GeoDCAT-AP JSON-LD, for open-data portals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Optional

import shapely

from ..webmap.sheet import lonlat_bounds

if TYPE_CHECKING:
    from .facts import Facts

_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "dqv": "http://www.w3.org/ns/dqv#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "oa": "http://www.w3.org/ns/oa#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_RIGHTS = "http://publications.europa.eu/resource/authority/access-right/PUBLIC"
_EPSG = "http://www.opengis.net/def/crs/EPSG/0/"


def catalogue_record(release: Facts, title: Optional[str] = None) -> str:
    """The record as JSON-LD; who publishes it under which licence is for the publisher to add."""
    west, south, east, north = lonlat_bounds(release.domain)
    said = release.statement()
    code = release.domain.crs.to_epsg()
    record: Dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "dcat:Dataset",
        "dct:title": title or str(release).splitlines()[0],
        "dct:description": f"{said['summary']} {release.error_words()}",
        "dct:accessRights": {"@id": _RIGHTS, "@type": "dct:RightsStatement"},
        "dct:spatial": {
            "@type": "dct:Location",
            "dcat:bbox": {
                "@type": "geo:wktLiteral",
                "@value": shapely.box(west, south, east, north).wkt,
            },
        },
        "dct:provenance": {"@type": "dct:ProvenanceStatement", "rdfs:label": said["summary"]},
        "dqv:hasQualityAnnotation": {
            "@type": "dqv:QualityAnnotation",
            "oa:hasBody": {"@type": "oa:TextualBody", "rdfs:label": json.dumps(said)},
        },
        "dcat:keyword": ["differential privacy", "synthetic points"],
    }
    if said["expected_error"]:
        record["dcat:spatialResolutionInMeters"] = {
            "@type": "xsd:decimal",
            "@value": f"{said['expected_error']:.0f}",
        }
    if code is not None:
        record["dct:conformsTo"] = {"@id": f"{_EPSG}{code}", "@type": "dct:Standard"}
    if release.release.window is not None:
        start, stop = release.release.window
        record["dct:temporal"] = {
            "@type": "dct:PeriodOfTime",
            "dcat:startDate": {"@type": "xsd:dateTime", "@value": str(start)},
            "dcat:endDate": {"@type": "xsd:dateTime", "@value": str(stop)},
        }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"
