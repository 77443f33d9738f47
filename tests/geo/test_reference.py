"""The text of a CRS in a release names a place on the globe, and opens no file."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pyproj
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.core.frame.area import choose_projection
from dpsort_geo.core.reference import is_plain
from dpsort_geo.core.release_json import digest
from dpsort_geo.geo.crs import crs_text
from dpsort_geo.geo.host import HOST
from dpsort_geo.geo.release import Release as GeoRelease

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

WGS84 = pyproj.CRS(4326)
BOUND = pyproj.CRS("+proj=utm +zone=33 +ellps=intl +towgs84=-87,-98,-121 +units=m")
LAEA = "+proj=laea +lat_0=40.7 +lon_0=-74 +datum=WGS84 +units=m"
HOSTILE = {
    "grid": f"{LAEA} +nadgrids=/etc/passwd",
    "grid of an address": f"{LAEA} +nadgrids=https://example.org/a.tif",
    "optional grid": f"{LAEA} +nadgrids=@null",
    "geoid": f"{LAEA} +geoidgrids=/etc/passwd",
    "file of definitions": "+init=/etc/passwd:x",
    "file of definitions, inside": f"{LAEA} +init=/etc/passwd:x",
    "old file of definitions": "init=epsg:4326",
    "pipeline": "+proj=pipeline +step +proj=hgridshift +grids=/etc/passwd",
    "another projection": "+proj=utm +zone=33",
    "name with a path": "+proj=laea +lat_0=0 +lon_0=0 +datum=../../etc/passwd",
    "twice": f"{LAEA} +datum=NAD27",
    "no projection": "+lat_0=1 +proj=laea",
    "space": f"{LAEA}\n+nadgrids=/etc/passwd",
    "path": "/etc/passwd",
    "address": "https://example.org/crs",
    "name": "WGS 84",
    "number": "4326",
    "unknown authority": "FILE:passwd",
    "projjson": pyproj.CRS(27700).to_json(),
    "urn": "urn:ogc:def:crs:EPSG::4326",
    "nothing": "",
    "bound": BOUND.to_wkt(),
    "bound, in small letters": BOUND.to_wkt().replace("BOUNDCRS", "BoundCrs"),
    "grid in WKT1": pyproj.CRS(3857).to_wkt("WKT1_GDAL"),
    "parameter file": pyproj.CRS(32633)
    .to_wkt()
    .replace("PARAMETER[", 'PARAMETERFILE["a","/etc/passwd"],PARAMETER[', 1),
    "PROJ's own method": pyproj.CRS(32633)
    .to_wkt()
    .replace(
        'METHOD["Transverse Mercator"',
        'METHOD["PROJ-based operation method: +proj=hgridshift +grids=/etc/passwd"',
    ),
    "printed quotes": pyproj.CRS(32633)
    .to_wkt()
    .replace('"Transverse Mercator"', "“PROJ hgridshift”"),
    "compound": pyproj.CRS("EPSG:5554").to_wkt(),
    "long": "EPSG:" + "1" * 10**6,
}


@pytest.fixture(scope="module")
def document():
    domain = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326")
    points = np.random.default_rng(1).uniform((-74.3, 40.5), (-73.7, 40.95), (500, 2))
    return json.loads(dp.publish(points, 1, domain).to_json())


def signed(document, **changes):
    changed = {**document, **changes}
    changed.pop("digest")
    return json.dumps({**changed, "digest": digest(changed)})


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("which", ["crs", "working_crs"])
def test_a_release_whose_crs_is_more_than_a_name_is_not_read(document, name, which):
    with pytest.raises(dp.BadInputError, match="publisher writes") as refusal:
        GeoRelease.from_json(signed(document, **{which: HOSTILE[name]}))
    assert "passwd" not in str(refusal.value)


def test_a_release_that_points_at_a_pipe_is_refused_at_once(document, tmp_path):
    os.mkfifo(tmp_path / "grid")
    text = f"+proj=laea +lat_0=40.7 +lon_0=-74 +ellps=intl +nadgrids={tmp_path / 'grid'} +units=m"
    (tmp_path / "r.json").write_text(signed(document, working_crs=text))
    done = subprocess.run(
        [sys.executable, "-m", "dpsort_geo", "inspect", tmp_path / "r.json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr


@given(st.integers(-3600, 3600), st.integers(-850, 850), st.integers(1, 3400))
def test_the_projections_that_we_make_are_plain(lon, lat, width):
    west, south = lon / 10 % 360 - 180, lat / 10
    box = (west, south, west + width / 10, min(90, south + width / 20))
    for crs in (WGS84, pyproj.CRS(4269), pyproj.CRS(4230)):
        made = HOST.equal_area(crs, choose_projection(box))
        assert is_plain(crs_text(made)) and pyproj.CRS(crs_text(made)) == made


def test_every_crs_with_a_code_can_be_written_as_text_too():
    kinds = [pyproj.enums.PJType.PROJECTED_CRS, pyproj.enums.PJType.GEOGRAPHIC_2D_CRS]
    codes = pyproj.database.query_crs_info(auth_name=None, pj_types=kinds)[::40]
    crss = [pyproj.CRS.from_authority(info.auth_name, info.code) for info in codes]
    assert len(crss) > 100
    assert all(is_plain(":".join((info.auth_name, info.code))) for info in codes)
    refused = [crs for crs in crss if not is_plain(crs.to_wkt())]
    # a few of ESRI's have a method that only PROJ knows
    assert all('METHOD["PROJ' in crs.to_wkt() for crs in refused) and len(refused) < 3


def test_a_domain_without_a_code_survives_its_release(tmp_path):
    points = np.random.default_rng(1).uniform(4e5, 5e5, (500, 2))
    local = 'LOCAL_CS["room",UNIT["metre",1]]'
    for crs in ("+proj=lcc +lat_1=41 +lat_2=43 +ellps=intl", "+proj=tmerc +lon_0=3 +k=0.9", local):
        domain = dp.Domain.from_polygon(shapely.box(4e5, 4e5, 5e5, 5e5), crs=crs)
        dp.publish(points, 1, domain).save(tmp_path / "r.json")
        assert dp.read_release(tmp_path / "r.json").domain == domain


def test_a_crs_that_no_reader_would_read_is_refused_before_anything_is_spent(tmp_path):
    domain = dp.Domain.from_bounds((4e5, 5e6, 5e5, 5.1e6), crs=BOUND)
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(dp.BadInputError, match="has a code"):
        dp.publish(np.full((50, 2), 4.5e5), 1, domain, ledger=book, dataset="a")
    assert book.spent("a") == 0
