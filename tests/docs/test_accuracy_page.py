"""The accuracy page is what its generator makes of the stored results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRINT = "import accuracy; print(accuracy.render(), end='')"


def test_the_accuracy_page_is_what_the_stored_results_say():
    made = subprocess.run(
        [sys.executable, "-c", PRINT], cwd=ROOT / "benchmarks", capture_output=True, check=True
    )
    assert made.stdout.decode() == (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
