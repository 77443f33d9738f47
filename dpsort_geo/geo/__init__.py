"""Everything that needs more than numpy: geopandas, projections, files, maps."""
