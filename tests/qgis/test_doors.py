"""What comes in from QGIS: each row speaks for itself, layers may go away, no grid is fetched."""

from __future__ import annotations

import http.server
import json
import os
import threading
from pathlib import Path
from typing import Any, Iterator

import pytest

from tests.database import serve
from tests.qgis.fresh_profile import Installed, default_plugins, run_python

INSIDE = Path(__file__).parent / "inside"


def told(installed: Installed, script: str, *arguments: str, **more: str) -> dict[str, Any]:
    """What a script inside QGIS printed in its last line."""
    done = run_python(
        INSIDE / script,
        installed.home,
        *arguments,
        DPSORT_PLUGINS=str(default_plugins(installed.home)),
        DPSORT_FOLDER=str(installed.folder),
        **more,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-5000:]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


#: doors whose types are guessed from all rows, and which are refused where they are not text
GUESSED = ["GeoPackage, a query", "delimited text, types guessed", "virtual, computed"]


def at_doors(installed: Installed, *doors: str, **more: str) -> dict[str, Any]:
    """What doors.py saw behind these doors, or behind all that need no server."""
    # more of them in the audit
    more |= {name: os.environ[name] for name in ("DPSORT_GEO_DOORS",) if name in os.environ}
    return told(installed, "doors.py", *doors, **more)


def test_one_row_decides_its_own_at_every_provider(installed: Installed) -> None:
    seen = at_doors(installed)
    assert {name: door["changed"] for name, door in seen.items() if door["changed"]} == {}
    assert sum(door["cases"] for door in seen.values()) >= 2800
    # a door that refuses everything would pass; columns of decimals can name persons alone
    for name, door in seen.items():
        assert name in GUESSED or door["read"] >= door["cases"] / 6, (name, door)


def test_one_row_decides_its_own_in_postgis(installed: Installed) -> None:
    doors = "PostGIS, text", "PostGIS, whole", "PostGIS, decimal"
    with serve() as address:
        seen = at_doors(installed, *doors, DPSORT_DATABASE=address)
    assert list(seen) == list(doors)
    for name, door in seen.items():
        assert door["changed"] == [], name
        assert door["cases"] >= 100 and door["read"] >= door["cases"] / 6, (name, door)


def test_readers_that_guess_or_shift_are_caught(installed: Installed) -> None:
    guessing = "GeoJSON", "CSV by GDAL, types guessed", "delimited text, types guessed"
    for name, door in at_doors(installed, "trusting", *guessing).items():
        assert door["changed"], name
    assert at_doors(installed, "shifting", "memory, text")["memory, text"]["changed"]


@pytest.mark.parametrize("when", ["before", "reading"])
@pytest.mark.parametrize("how", ["remove", "new"])
def test_a_run_is_finished_although_its_layers_are_gone(
    how: str, when: str, installed: Installed
) -> None:
    seen = told(installed, "layer_goes_away.py", how, when)
    assert seen["gone"]
    assert seen["why"] == ""
    assert seen["results"] == ["OUTPUT", "RELEASE", "STATEMENT"]


@pytest.mark.parametrize("when", ["before", "reading"])
def test_a_virtual_layer_is_refused_when_the_layer_behind_it_goes_away(
    when: str, installed: Installed
) -> None:
    seen = told(installed, "layer_goes_away.py", "remove", when, "virtual")
    assert seen["gone"]
    assert seen["results"] is None
    assert "removed while it was read" in str(seen["why"])


@pytest.fixture
def web() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that has nothing, and what it was asked for."""
    asked: list[str] = []

    class Nothing(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers.get('Range')}")
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Nothing to say."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nothing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_an_operation_whose_grid_is_on_the_web_is_refused_for_private_points(
    installed: Installed, web: tuple[str, list[str]]
) -> None:
    address, asked = web
    seen = told(installed, "grid_on_the_web.py", PROJ_NETWORK="ON", PROJ_NETWORK_ENDPOINT=address)
    assert seen["network"]
    for name in ("extent", "points"):
        assert "grid from the web" in str(seen[name]), seen
    assert seen["grid on this machine"] == "published"
    assert seen["spent"] == 0
    # QGIS asks for the head of a grid as soon as it meets the CRS; where points lie is not in that
    assert {request.split("bytes=")[1] for request in asked} <= {"0-16383"}
