"""Coordinates steer no web request, whatever PROJ was told before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

#: NAD27 to WGS 84 in North America needs a datum grid, of which PROJ fetches what is near
PLACES = "x, y = np.array([-100.123]), np.array([40.456])"
BEGIN = f"""
import multiprocessing, threading
import numpy as np, pyproj, pyproj.network
{PLACES}
"""
PLAIN = f"""
{BEGIN}
pyproj.Transformer.from_crs(4267, 4326, always_xy=True).transform(x, y)
"""
OURS = """
def ours():
    from dpsort_geo.geo.domain import Domain
    domain = Domain.from_bounds((-105, 35, -95, 45), crs=4326)
    domain.project(x, y, "EPSG:4267")
    assert not pyproj.network.is_network_enabled()
"""
IN_THE_PROCESS = f"{BEGIN}{OURS}\nours()"
#: a thread that has met PROJ before, with the network on; and one that begins afterwards
IN_THREADS = f"""{BEGIN}{OURS}
def early():
    pyproj.network.set_network_enabled(True)
    pyproj.CRS(4267)
    ready.set(); go.wait()
    ours()
ready, go = threading.Event(), threading.Event()
one, two = threading.Thread(target=early), threading.Thread(target=ours)
one.start(); ready.wait()
ours(); go.set(); one.join(); two.start(); two.join()
"""
TURNED_ON_AGAIN = f"{BEGIN}{OURS}\nours()\npyproj.network.set_network_enabled(True)\nours()"
IN_A_WORKER = f"""{BEGIN}
def moved(domain):
    return domain.project(x, y, "EPSG:4267")[0].size
if __name__ == "__main__":
    from dpsort_geo.geo.domain import Domain
    domain = Domain.from_bounds((-105, 35, -95, 45), crs=4326)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(moved, [domain]) == [1]
"""


@pytest.fixture
def asked():
    """The addresses that a server for datum grids is asked for, and its own address."""
    found: list[str] = []

    class Grids(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.append(self.path)
            self.send_error(404)

        def log_message(self, *ignored: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Grids) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield found, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run(code: str, endpoint: str, folder) -> None:
    script = folder / "script.py"
    script.write_text(code)
    environment = {
        **os.environ,
        "PROJ_NETWORK": "ON",
        "PROJ_NETWORK_ENDPOINT": endpoint,
        "PROJ_USER_WRITABLE_DIRECTORY": str(folder / "proj"),
        "no_proxy": "127.0.0.1",
    }
    environment.setdefault("PYTHONPATH", os.getcwd())
    subprocess.run([sys.executable, str(script)], env=environment, check=True, timeout=120)


@pytest.mark.parametrize("code", [IN_THE_PROCESS, IN_THREADS, TURNED_ON_AGAIN, IN_A_WORKER])
def test_no_datum_grid_is_asked_for(code, asked, tmp_path):
    requests, endpoint = asked
    run(code, endpoint, tmp_path)
    assert not requests
    assert not (tmp_path / "proj" / "cache.db").exists()


def test_the_same_points_in_pyproj_alone_would_be_told_to_the_server(asked, tmp_path):
    requests, endpoint = asked
    run(PLAIN, endpoint, tmp_path)
    assert requests
