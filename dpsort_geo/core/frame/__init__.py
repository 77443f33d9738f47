"""From a public area to a grid, and from the grid back to the ground."""
