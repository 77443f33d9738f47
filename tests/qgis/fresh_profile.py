"""A fresh QGIS profile with the built plugin in it, and QGIS started in a clean environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"
# Debian's wrapper script does not start on QGIS 3.22; the program behind it does.
PROCESS = shutil.which("qgis_process.bin") or shutil.which("qgis_process") or ""
DESKTOP = shutil.which("qgis.bin") or shutil.which("qgis") or ""
QGIS_PATHS = "/usr/share/qgis/python:/usr/share/qgis/python/plugins"

sys.path.insert(0, str(ROOT / "qgis_plugin"))
import package


@dataclass(frozen=True)
class Installed:
    """A home with the installed plugin in its default profile, and a folder for results."""

    home: Path
    folder: Path
    archive: Path


def has_qgis() -> bool:
    """Whether QGIS and its Python are on this machine."""
    return bool(PROCESS) and Path("/usr/share/qgis/python/qgis").is_dir() or _importable()


def _importable() -> bool:
    done = subprocess.run([SYSTEM_PYTHON, "-c", "import qgis.core"], capture_output=True)
    return done.returncode == 0


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """An environment that shares nothing with the one of the tests (numpy least of all)."""
    run = home / "run"
    run.mkdir(parents=True, exist_ok=True)
    run.chmod(0o700)
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "XDG_RUNTIME_DIR": str(run),
        "QT_QPA_PLATFORM": "offscreen",
        "QGIS_CUSTOM_CONFIG_PATH": str(home / "config"),
        "PYTHONPATH": QGIS_PATHS,
        "PYTHONWARNINGS": "ignore",
        **more,
    }


def install(plugins: Path, dist: Path) -> Path:
    """Build the zip and unpack it, as QGIS's plugin manager would."""
    archive = package.build(dist)
    plugins.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(plugins)
    return archive


def run_python(
    script: Path, home: Path, *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in QGIS's own Python."""
    return subprocess.run(
        [SYSTEM_PYTHON, str(script), *arguments],
        env=clean_environment(home, **more),
        capture_output=True,
        text=True,
        timeout=600,
    )


def run_process(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run qgis_process."""
    return subprocess.run(
        [PROCESS, *arguments],
        env=clean_environment(home, **more),
        capture_output=True,
        text=True,
        timeout=300,
    )


def default_plugins(home: Path) -> Path:
    """Where the default profile of ``clean_environment`` keeps its plugins."""
    return home / "config" / "profiles" / "default" / "python" / "plugins"


def environment_says_skip() -> str:
    """Why desktop tests cannot run here; empty when they can."""
    missing = [name for name in ("Xvfb", "openbox", "xdotool") if not shutil.which(name)]
    if not DESKTOP:
        missing.append("qgis")
    return f"not installed: {', '.join(missing)}" if missing else ""


def tour_folder() -> Path:
    """Where the pictures of the desktop tour are kept to look at."""
    return Path(os.environ.get("DPSORT_TOUR_FOLDER", ROOT / "build" / "qgis-tour"))
