"""The mechanisms and their readers, on numpy alone: what the QGIS plugin carries."""

__version__ = "0.1.0"
