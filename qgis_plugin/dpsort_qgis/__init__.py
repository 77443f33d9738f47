"""Private points: publish point layers with a formal privacy guarantee, from QGIS."""


def classFactory(iface):
    """Give QGIS the plugin; this name is part of its plugin protocol."""
    from .plugin import PrivatePointsPlugin

    return PrivatePointsPlugin()
