"""Start QGIS's window on a virtual screen and let ``tour.py`` drive it.

python -m tests.qgis.desktop POINTS AREA FOLDER [LOCALE]
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.qgis.fresh_profile import DESKTOP, clean_environment, install

SETTINGS = """[General]
[PythonPlugins]
dpsort_qgis=true
[qgis]
checkVersion=false
showTips322=false
[app]
[locale]
overrideFlag=true
userLocale={locale}
"""


def tour(points: Path, area: Path, folder: Path, locale: str = "en_US") -> dict[str, Any]:
    """Run the tour and return what it found."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        profile = home / "profiles" / "test"
        install(profile / "python" / "plugins", home / "dist")
        (profile / "QGIS").mkdir(parents=True)
        (profile / "QGIS" / "QGIS3.ini").write_text(SETTINGS.format(locale=locale))
        screen, display = _screen()
        environment = clean_environment(
            home,
            DISPLAY=display,
            QT_QPA_PLATFORM="xcb",
            DPSORT_TOUR=str(folder.resolve()),
            DPSORT_TOUR_INSIDE=str(Path(__file__).parent.resolve() / "inside"),
            DPSORT_TOUR_POINTS=str(points.resolve()),
            DPSORT_TOUR_AREA=str(area.resolve()),
            DPSORT_TOUR_DATED=str(points.resolve().with_name("dated.gpkg")),
        )
        del environment["PYTHONPATH"]
        manager = subprocess.Popen(["openbox"], env=environment, stderr=subprocess.DEVNULL)
        command = [DESKTOP, "--nologo", "--noversioncheck", "--profiles-path", str(home)]
        command += ["--profile", "test", "--code", str(Path(__file__).with_name("tour.py"))]
        log = (folder / "qgis.log").open("w")
        try:
            subprocess.run(command, env=environment, stdout=log, stderr=log, timeout=300)
        finally:
            log.close()
            for process in (manager, screen):
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=20)
    _picture_of(folder / "calls.report.html", folder / "report.png")
    found = dict(json.loads((folder / "tour.json").read_text(encoding="utf-8")))
    found["pictures"] = {path.stem: path.stat().st_size for path in folder.glob("*.png")}
    return found


def _picture_of(page: Path, picture: Path) -> None:
    """What a browser shows of a page, where there is a browser."""
    browser = shutil.which("chromium")
    if not browser or not page.is_file():
        return
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += [f"--user-data-dir={scratch}", "--window-size=840,1500"]
        command = [browser, *options, f"--screenshot={picture}", page.resolve().as_uri()]
        subprocess.run(command, capture_output=True, timeout=120)


def _screen() -> tuple[subprocess.Popen[bytes], str]:
    """A virtual screen on a display that nobody uses."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    screen = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    return screen, f":{number}"


if __name__ == "__main__":
    points, area, folder = map(Path, sys.argv[1:4])
    print(json.dumps(tour(points, area, folder, *sys.argv[4:]), indent=1))
