"""The map page: one file that needs no network."""
