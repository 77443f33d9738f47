"""Write the made-up city to files; the first argument is the folder."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import city

city.start()
folder = Path(sys.argv[1])
city.saved(city.calls(6000, persons=1500), folder / "calls.gpkg")
city.saved(city.boundary(), folder / "city.gpkg")
sys.stdout.flush()
# QGIS crashes when it is torn down with layers alive; there is nothing left to tear down
os._exit(0)
