"""Everything that needs more than numpy: geopandas, projections, files, maps."""

from .crs import stay_offline

# before anything can make a transformer: whoever comes to this folder, or to a worker, passes here
stay_offline()
