"""Public knowledge: the Hilbert curve, the grid it runs through, and the mask."""
